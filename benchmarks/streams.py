"""Data that arrive in batches: `partial_fit`, one fit, and scikit-learn's online models.

Texts: 20 batches of 500 documents of 60 words from 10 topics, the last of which begins in the tenth
batch; documents mix topics, or have one each. Perplexity is that of a batch before it is taken in.
Rows: 20 batches of 500 from 6 normal clusters, the last of which begins in the tenth; the adjusted
Rand index of all rows with the truth, and with one fit to all of them in another order. Sentences
of 20 words and series of 100 steps: what a call costs after a long past.

    python benchmarks/streams.py
    python benchmarks/streams.py --costs
"""

import sys
import time
import warnings

import numpy as np
from report import print_header, print_table
from sklearn.cluster import MiniBatchKMeans
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from skdp.language import HierarchicalPitmanYorLM
from skdp.mixture import DPMixture
from skdp.sequence import HDPHMMLT
from skdp.topics import GibbsLDA, HDPTopicModel

N_BATCHES, N_ROWS, N_WORDS, N_TOPICS, BEGINS = 20, 500, 2000, 10, 9


def draw_texts(rng, words, n_topics, prior):
    """Return word counts, and the main topic of each text."""
    shares = rng.dirichlet(np.full(n_topics, prior), N_ROWS)
    return rng.multinomial(60, shares @ words[:n_topics]), shares.argmax(axis=1)


def perplexity(model, X):
    """Return that of the second half of the words of each text, given the first."""
    if not isinstance(model, LatentDirichletAllocation):
        return model.perplexity(X)
    rng = np.random.default_rng(0)
    first = rng.binomial(X, 0.5)
    words = model.components_ / model.components_.sum(axis=1, keepdims=True)
    second = X - first
    logs = second * np.log(model.transform(first) @ words)
    return np.exp(-logs.sum() / second.sum())


def compare_topics(seed, prior):
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(N_WORDS, 0.05), N_TOPICS)
    batches = [draw_texts(rng, words, N_TOPICS - (i < BEGINS), prior)[0] for i in range(N_BATCHES)]
    chain = {"max_iter": 200, "random_state": seed}
    models = {
        "HDPTopicModel": HDPTopicModel(**chain),
        "HDPTopicModel, no bursts": HDPTopicModel(burst_concentration=None, **chain),
        "GibbsLDA, 10 topics": GibbsLDA(N_TOPICS, **chain),
        "scikit-learn, 10 topics": LatentDirichletAllocation(
            N_TOPICS, doc_topic_prior=0.1, topic_word_prior=0.05, random_state=seed,
            total_samples=N_BATCHES * N_ROWS,
        ),
    }  # fmt: skip
    rows = []
    for name, model in models.items():
        scores, seconds, found = [], [], None
        for i, X in enumerate(batches):
            if i:
                scores.append(perplexity(model, X))
            start = time.process_time()
            model.partial_fit(X)
            seconds.append(time.process_time() - start)
            topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
            if found is None and (np.sqrt(topics) @ np.sqrt(words[-1])).max() > 0.8:
                found = i + 1
        mean = [np.mean(scores[:8]), scores[8], np.mean(scores[9:])]
        rows.append([
            name, *(f"{value:.0f}" for value in mean), found or "never",
            len(model.components_), f"{seconds[0]:.1f}", f"{np.mean(seconds[1:6]):.2f}",
            f"{np.mean(seconds[-5:]):.2f}",
        ])  # fmt: skip
    head = [f"seed {seed}, prior {prior}", "perplexity, 2-9", "10", "11-20", "new topic in batch"]
    print_table([*head, "topics", "CPU s: first call", "2-6", "16-20"], rows)


def compare_clusters(seed):
    rng = np.random.default_rng(seed)
    centers = rng.normal(0.0, 4.0, (6, 4))
    truth = [rng.integers(6 - (i < BEGINS), size=N_ROWS) for i in range(N_BATCHES)]
    batches = [centers[z] + rng.normal(size=(N_ROWS, 4)) for z in truth]
    X, z, order = (
        np.concatenate(batches),
        np.concatenate(truth),
        rng.permutation(N_BATCHES * N_ROWS),
    )
    whole = DPMixture(random_state=seed).fit(X[order]).labels_
    whole = whole[np.argsort(order)]
    rows = []
    for model in (DPMixture(random_state=seed), MiniBatchKMeans(6, random_state=seed)):
        seconds, number = [], []
        for rows_of_batch in batches:
            start = time.process_time()
            model.partial_fit(rows_of_batch)
            seconds.append(time.process_time() - start)
            number.append(getattr(model, "n_clusters_", 6))
        labels = model.predict(X)
        rows.append([
            type(model).__name__, *number[BEGINS - 1 : BEGINS + 1], number[-1],
            *(f"{adjusted_rand_score(labels, other):.3f}" for other in (z, whole)),
            f"{seconds[0]:.1f}", f"{np.mean(seconds[1:6]):.2f}", f"{np.mean(seconds[-5:]):.2f}",
        ])  # fmt: skip
    head = [f"seed {seed}", "clusters after batch 9", "10", "20", "ARI, truth", "ARI, one fit"]
    print_table([*head, "CPU s: first call", "2-6", "16-20"], rows)


def draw_sentences(rng, n):
    """Return sentences of a language in which each word is followed by few others."""
    follows = np.random.default_rng(0).dirichlet(np.full(300, 0.02), 300).cumsum(axis=1)
    words = [rng.integers(300, size=n)]
    for _ in range(19):
        chosen = (follows[words[-1]] < rng.uniform(size=(n, 1))).sum(axis=1)
        words.append(np.minimum(chosen, 299))
    return np.stack(words, axis=1).tolist()


def draw_series(rng, n):
    """Return series of two columns, whose three states last ten steps on average."""
    begins = rng.uniform(size=(n, 100)) < 0.1
    states = np.where(begins, rng.integers(3, size=(n, 100)), -1)
    for t in range(1, 100):
        states[:, t] = np.where(states[:, t] < 0, np.maximum(states[:, t - 1], 0), states[:, t])
    return list(4.0 * states[:, :, np.newaxis] + rng.normal(size=(n, 100, 2)))


def time_calls():
    """Print the seconds of a call after pasts of several lengths, and of sweeps over all data."""
    cases = [
        ("200 sentences", HierarchicalPitmanYorLM, {}, draw_sentences, 200, (2000, 20000)),
        ("20 series", HDPHMMLT, {"merge_overlapping": False}, draw_series, 20, (200, 2000, 10000)),
    ]
    rows = []
    for name, make, options, draw, n_new, pasts in cases:
        for n_past in pasts:
            rng, seconds = np.random.default_rng(0), []
            model = make(max_iter=20, random_state=0, **options)
            for n in (n_past, n_new, n_new, n_new):
                X = draw(rng, n)
                start = time.process_time()
                model.partial_fit(X)
                seconds.append(time.process_time() - start)
            rows.append([name, n_past, f"{np.mean(seconds[2:]):.2f}", f"{seconds[0]:.1f}"])
    print_table(["batch", "past", "CPU s of a call", "of a fit of 20 sweeps to the past"], rows)


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    print_header()
    if "--costs" in sys.argv:
        time_calls()
        return
    for seed in range(3):
        compare_topics(seed, 0.1)
        compare_topics(seed, 0.001)
        compare_clusters(seed)


if __name__ == "__main__":
    main()
