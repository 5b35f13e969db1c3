"""How many states `HDPHMMLT` finds in long, easy series, with its defaults.

Gaussian data of 3 to 8 states in three columns: means 3 N(0, I), unit noise, times in a state
geometric with mean 50. "Rand" is the adjusted Rand index of the states against the truth, beside
that of smoothing with the true parameters: means of some draws are less than a standard deviation
apart. Right: the number of states is, and the index is above .99 or within .003 of the other one.

    python benchmarks/number_of_states.py --steps 20000 --seeds 10
"""

import argparse
import time

import numpy as np
from report import print_header, print_table
from sklearn.metrics import adjusted_rand_score

from skdp.sequence import HDPHMMLT, hmm_posterior

LEAVING = 0.02


def make_series(n_states, n_steps, seed):
    """Return observations (T, 3), states (T,) and means."""
    rng = np.random.default_rng(seed)
    means = 3.0 * rng.normal(size=(n_states, 3))
    first = rng.integers(n_states)
    moves = np.where(rng.random(n_steps) < LEAVING, rng.integers(1, n_states, size=n_steps), 0)
    moves[0] = first
    states = np.cumsum(moves) % n_states
    return rng.normal(size=(n_steps, 3)) + means[states], states, means


def smooth(values, means):
    """Return the likeliest state of each step under the true parameters."""
    n_states = len(means)
    transmat = np.full((n_states, n_states), LEAVING / (n_states - 1))
    np.fill_diagonal(transmat, 1.0 - LEAVING)
    log_obs = -0.5 * ((values[:, np.newaxis] - means) ** 2).sum(axis=2)
    startprob = np.full(n_states, 1.0 / n_states)
    return hmm_posterior(startprob, transmat, log_obs, [0, len(values)]).argmax(axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--states", type=int, nargs="+", default=[3, 4, 5, 6, 7, 8])
    parser.add_argument("--init", default="auto")
    options = parser.parse_args()
    print_header()
    rows = []
    for n_states in options.states:
        found, indices, best, right, seconds = [], [], [], 0, []
        for seed in range(options.seeds):
            values, states, means = make_series(n_states, options.steps, seed)
            model = HDPHMMLT(init=options.init, random_state=seed)
            begin = time.process_time()
            predicted = model.fit(values).predict(values)
            seconds.append(time.process_time() - begin)
            found.append(model.n_active_components_)
            indices.append(adjusted_rand_score(states, predicted))
            best.append(adjusted_rand_score(states, smooth(values, means)))
            close = indices[-1] > min(0.99, best[-1] - 0.003)
            right += found[-1] == n_states and close
        rows.append(
            [
                n_states,
                f"{right} of {options.seeds}",
                " ".join(map(str, found)),
                f"{min(indices):.4f}",
                f"{max(np.subtract(best, indices)):.4f}",
                f"{np.median(seconds):.1f}",
            ]
        )
    print_table(
        ["states", "right", "found", "least Rand", "most below the true parameters'", "CPU s"], rows
    )


if __name__ == "__main__":
    main()
