"""Kernel of the greedy merges of topics.

| array | symbol | shape | meaning |
|---|---|---|---|
| counts | c_kw | (K, W) float64 | words by topic; merged topics are added up in place |
| totals | c_k | (K,) float64 | sums of the rows |
| merges | | (K - 1, 2) int64 | merged clusters: 0 to K - 1 are topics, merge i makes K + i |
| losses | | (K, K) float64 | loss of log likelihood if two topics are merged |
| cluster_of_row | | (K,) int64 | number of the cluster in a row of `counts`, or -1 |
"""

# mypy: ignore-errors

import numpy as np

from skdp._numeric._numba import njit, njit_internal


@njit_internal
def _x_log_x(x):
    return x * np.log(x) if x > 0.0 else 0.0


@njit_internal
def _write_losses(a, counts, totals, cluster_of_row, words, losses):
    """Write the losses of merging row `a` with every other row; `words` (W,) is scratch."""
    n_words = 0
    for w in range(counts.shape[1]):
        if counts[a, w] > 0.0:
            words[n_words] = w
            n_words += 1
    for b in range(counts.shape[0]):
        if b == a or cluster_of_row[b] < 0:
            continue
        loss = _x_log_x(totals[a] + totals[b]) - _x_log_x(totals[a]) - _x_log_x(totals[b])
        for i in range(n_words):
            x, y = counts[a, words[i]], counts[b, words[i]]
            if y > 0.0:
                loss += _x_log_x(x) + _x_log_x(y) - _x_log_x(x + y)
        losses[a, b] = losses[b, a] = max(loss, 0.0)


@njit
def merge_topics(counts, totals, merges, losses_of_merges):
    """Merge the two topics whose merge loses least, until one topic is left.

    The loss of log likelihood, sum_kw c_kw log(c_kw / c_k), is the Jensen-Shannon divergence of
    the two topics, weighted by their numbers of words.
    """
    n_topics = counts.shape[0]
    cluster_of_row = np.arange(n_topics)
    words = np.empty(counts.shape[1], dtype=np.int64)
    losses = np.empty((n_topics, n_topics))
    for a in range(n_topics):
        _write_losses(a, counts, totals, cluster_of_row, words, losses)
    for i in range(n_topics - 1):
        first, second = -1, -1
        for a in range(n_topics):
            if cluster_of_row[a] < 0:
                continue
            for b in range(a):
                if cluster_of_row[b] < 0:
                    continue
                if first < 0 or losses[a, b] < losses[first, second]:
                    first, second = a, b
        merges[i, 0] = min(cluster_of_row[first], cluster_of_row[second])
        merges[i, 1] = max(cluster_of_row[first], cluster_of_row[second])
        losses_of_merges[i] = losses[first, second]
        for w in range(counts.shape[1]):
            counts[first, w] += counts[second, w]
        totals[first] += totals[second]
        cluster_of_row[first], cluster_of_row[second] = n_topics + i, -1
        _write_losses(first, counts, totals, cluster_of_row, words, losses)
