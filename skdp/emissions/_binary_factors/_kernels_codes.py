r"""Switches of factors: jumps between runs as sums of at most two rows of the weights.

Code 0 is no factor. A factor can be switched on only if it is off, and off only if it is on. A beam
search finds the cheapest path of this kind over all jumps of a sequence.

| name | symbol | shape | meaning |
|---|---|---|---|
| jumps | | (n, D) | differences of the means of runs |
| precisions | | (n, D) | of the noise of jumps |
| atoms | | (F, D) | rows of the weights |
| codes | | (C, 2) int64 | up to two factors, numbered from 1, negative if they are switched off |
| kept | | (n, M) int64 | the best codes of each jump, the best one first |
| costs | | (n, M) | their costs |
| resets | | (n,) bool | jumps that are the first of a sequence |
| clash | | scalar | cost of switching a factor to its current value |
| states | | (2, B, F) int8 | scratch; -1: off, 1: on, 0: still unknown |
| totals, used | | (2, B), (B, M) | scratch |
| sources, choices, n_states | | (n, B), (n, B), (n,) | scratch |
| found | | (n,) int64 | the codes of the best path |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_loop


@njit_loop
def weigh_codes(jumps, precisions, atoms, codes, penalty, kept, costs):
    """Write the best codes of every jump: half its scaled squared distance, and a cost a factor."""
    most = kept.shape[1]
    for i in range(jumps.shape[0]):
        n = 0
        for c in range(codes.shape[0]):
            cost = 0.0
            for k in range(2):
                cost += penalty * (codes[c, k] != 0)
            for d in range(jumps.shape[1]):
                rest = jumps[i, d]
                for k in range(2):
                    f = codes[c, k]
                    if f > 0:
                        rest -= atoms[f - 1, d]
                    elif f < 0:
                        rest += atoms[-f - 1, d]
                cost += 0.5 * precisions[i, d] * rest * rest
            if n == most and cost >= costs[i, n - 1]:
                continue
            n = min(n + 1, most)
            place = n - 1
            while place > 0 and costs[i, place - 1] > cost:
                costs[i, place], kept[i, place] = costs[i, place - 1], kept[i, place - 1]
                place -= 1
            costs[i, place], kept[i, place] = cost, c


@njit_loop
def search_codes(
    kept, costs, codes, resets, clash, states, totals, sources, choices, used, n_states, found
):
    """Write the codes of the best path of all jumps."""
    width, n_factors = states.shape[1:]
    n_before = 1
    now = 0
    totals[now, 0] = 0.0
    for f in range(n_factors):
        states[now, 0, f] = 0
    for i in range(kept.shape[0]):
        after = 1 - now
        if resets[i]:
            for b in range(n_before):
                for f in range(n_factors):
                    states[now, b, f] = 0
        for b in range(n_before):
            for m in range(kept.shape[1]):
                used[b, m] = False
        n = 0
        n_tried = 0
        while n < width and n_tried < 8 * width:
            n_tried += 1
            # The best continuation that is left.
            best, source, choice = math.inf, -1, -1
            for b in range(n_before):
                if totals[now, b] + costs[i, 0] >= best:
                    break
                for m in range(kept.shape[1]):
                    total = totals[now, b] + costs[i, m]
                    if total >= best:
                        break
                    if used[b, m]:
                        continue
                    for k in range(2):
                        code = codes[kept[i, m], k]
                        if code != 0:
                            state = states[now, b, abs(code) - 1]
                            total += clash * (state * code > 0)
                    if total < best:
                        best, source, choice = total, b, m
            if source < 0:
                break
            used[source, choice] = True
            for f in range(n_factors):
                states[after, n, f] = states[now, source, f]
            for k in range(2):
                code = codes[kept[i, choice], k]
                if code != 0:
                    states[after, n, abs(code) - 1] = 1 if code > 0 else -1
            is_new = True
            for b in range(n):
                differs = False
                for f in range(n_factors):
                    if states[after, b, f] != states[after, n, f]:
                        differs = True
                        break
                if not differs:
                    is_new = False
                    break
            if is_new:
                totals[after, n] = best
                sources[i, n], choices[i, n] = source, kept[i, choice]
                n += 1
        n_states[i] = n
        n_before, now = n, after
    place = 0  # the best one: totals rise
    for i in range(kept.shape[0] - 1, -1, -1):
        found[i] = choices[i, place]
        place = sources[i, place]
