"""Numbers of windows in which words occur, alone and together.

| name | symbol | shape | meaning |
|---|---|---|---|
| tokens | w | (N,) | word ids |
| part_ptr | | (P + 1,) | offsets of the parts that windows do not cross |
| size | s | scalar | tokens in a window; a shorter part is one window |
| topics | v_kr | (K, M) | top words of the topics |
| places, place_ptr | | (K M,), (V + 1,) | where in `topics`, as k M + r, each word occurs |
| present | | (V,) | scratch, 0 before: tokens of the word in the window |
| since | | (V,) | scratch: window in which the word entered |
| n_w | n(w) | (V,) | windows that hold the word; of words in `topics` only |
| n_krq | n(v_kr, v_kq) | (K, M, M) | windows that hold both words; 0 for r = q |
"""

# mypy: ignore-errors

from skdp._numeric._numba import njit


@njit
def enter(word, now, place_ptr, present, since):
    """Let a token of `word` into window `now`."""
    if place_ptr[word] < place_ptr[word + 1]:
        if present[word] == 0:
            since[word] = now
        present[word] += 1


@njit
def leave(word, now, topics, places, place_ptr, present, since, n_w, n_krq):
    """Take a token of `word` out of window `now`, and count what ends with it."""
    if place_ptr[word] == place_ptr[word + 1]:
        return
    present[word] -= 1
    if present[word] > 0:
        return
    n_w[word] += now - since[word]
    n_words = topics.shape[1]
    for i in range(place_ptr[word], place_ptr[word + 1]):
        k, r = places[i] // n_words, places[i] % n_words
        for q in range(n_words):
            other = topics[k, q]
            if present[other] > 0:
                both = now - max(since[word], since[other])
                n_krq[k, r, q] += both
                n_krq[k, q, r] += both


@njit
def count_windows(tokens, part_ptr, size, topics, places, place_ptr, present, since, n_w, n_krq):
    """Add the windows of all parts to `n_w` and `n_krq`; return how many windows there are.

    Window t of a part holds its tokens t, ..., t + s - 1. When its last token drops out, a word is
    counted for all windows since it entered, so a step to the next window costs work for two words.
    """
    n_windows = 0
    for part in range(part_ptr.shape[0] - 1):
        begin, end = part_ptr[part], part_ptr[part + 1]
        if begin == end:
            continue
        last = max(end - size, begin)
        for i in range(begin, min(begin + size, end)):
            enter(tokens[i], 0, place_ptr, present, since)
        for i in range(begin, last):
            leave(tokens[i], i + 1 - begin, topics, places, place_ptr, present, since, n_w, n_krq)
            enter(tokens[i + size], i + 1 - begin, place_ptr, present, since)
        n_part = last - begin + 1
        for i in range(last, end):
            leave(tokens[i], n_part, topics, places, place_ptr, present, since, n_w, n_krq)
        n_windows += n_part
    return n_windows
