"""Held-out perplexity and CPU time of tomotopy's dynamic topic model, with segments as time.

Document completion on State of the Union addresses, as in `topics_quality.py`: the same halves of
every paragraph are given and scored. Time is the place of a paragraph in its address, in `--slices`
equal parts (`--time place`), or the decade of the address (`--time decade`). A document of the
dynamic model is a paragraph, or with `--unit piece` all paragraphs of an address that have the same
time. Topics are those of the last iteration; shares are posterior means given the topics, which are
more exact than the single draws of tomotopy's `infer`.

    python benchmarks/dynamic_topics.py --data DATA --time place --components 25 --iterations 300
"""

import argparse
import json
import time
from itertools import product
from pathlib import Path

import numpy as np
import tomotopy
from report import print_header
from scipy.special import softmax
from sotu import load, read_records

from skdp.topics._shared._fold_in import split_words

START = 1790
"""Year of the first address."""


def read_decades(folder):
    """Return the decades of the training and of the test documents, counted from 0."""
    path = Path(folder, "topics")
    years = {record["id"]: record["year"] for record in read_records(path / "sotu.jsonl")}
    split = json.loads(path.joinpath("split_sotu.json").read_text())
    return [[(years[i] - START) // 10 for i in split[part]] for part in ("train", "test")]


def times_of(corpus, decades, n_slices):
    """Return the time of every segment: its place in its document, or the document's decade."""
    sizes = np.diff(corpus.doc_ptr)
    if decades is not None:
        return np.repeat(decades, sizes)
    return np.concatenate([np.arange(n) * n_slices // n for n in sizes])


def number_documents(corpus, times, unit):
    """Return the document of the dynamic model that every segment belongs to."""
    if unit == "paragraph":
        return np.arange(len(times))
    address = np.repeat(np.arange(len(corpus)), np.diff(corpus.doc_ptr))
    return np.unique(np.stack([address, times]), axis=1, return_inverse=True)[1].ravel()


def collect(tokens, segment_of, document_of, n_documents):
    """Return the words of each document of the dynamic model."""
    owner = document_of[segment_of]
    order = np.argsort(owner, kind="stable")
    ends = np.cumsum(np.bincount(owner, minlength=n_documents))[:-1]
    return np.split(tokens[order], ends)


def prepare(corpus, times, unit):
    """Return the number of documents, each segment's document, and each document's time."""
    document_of = number_documents(corpus, times, unit)
    when = np.zeros(document_of.max() + 1, dtype=int)
    when[document_of] = times
    return document_of, when


def fold_in(given, owner, priors, variance, rng, n_sweeps=100):
    """Return the posterior means of the shares of documents, by elliptical slice sampling.

    Logits of shares are normal around `priors` (n_documents, K). `given` (n, K) has the probability
    of every given word under each topic at its time, and `owner` its document.
    """

    def log_likelihood(deviations):
        shares = softmax(priors + deviations, axis=1)
        logs = np.log(np.einsum("nk,nk->n", shares[owner], given))
        return np.bincount(owner, logs, minlength=len(priors))

    now = np.zeros(priors.shape)
    height, mean = log_likelihood(now), np.zeros(priors.shape)
    for sweep in range(n_sweeps):
        other = np.sqrt(variance) * rng.standard_normal(priors.shape)
        level = height + np.log(rng.random(len(priors)))
        high = rng.uniform(0.0, 2.0 * np.pi, len(priors))
        angle, low = high, high - 2.0 * np.pi
        while True:
            made = now * np.cos(angle)[:, None] + other * np.sin(angle)[:, None]
            height = log_likelihood(made)
            is_low = height < level
            if not is_low.any():
                break
            low = np.where(is_low & (angle < 0.0), angle, low)
            high = np.where(is_low & (angle >= 0.0), angle, high)
            angle = np.where(is_low, rng.uniform(low, high), angle)
        now = made
        if sweep >= n_sweeps // 2:
            mean += softmax(priors + now, axis=1)
    return mean / mean.sum(axis=1, keepdims=True)


def score(model, test, times, options):
    """Return the mean log probability of the scored words."""
    observed, scored, segment_of = split_words(test)
    document_of, when = prepare(test, times, options.unit)
    n_times, n_topics = model.num_timepoints, model.k
    words = np.array(list(model.used_vocabs), dtype=int)
    topics = np.zeros((n_times, test.n_features, n_topics))
    for t, k in product(range(n_times), range(n_topics)):
        topics[t, words, k] = model.get_topic_word_dist(k, t, normalize=True)
    alpha = np.array([[model.get_alpha(t)] for t in range(n_times)]).reshape(n_times, n_topics)
    of_given = document_of[np.repeat(np.arange(len(times)), np.diff(observed.segment_ptr))]
    given = topics[when[of_given], observed.tokens]
    rng = np.random.default_rng(0)
    shares = fold_in(given, of_given, alpha[when], options.variances[1], rng)
    owner = document_of[segment_of]
    return np.log(np.einsum("nk,nk->n", shares[owner], topics[when[owner], scored])).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with topics/sotu.jsonl")
    parser.add_argument("--time", default="place", choices=["place", "decade"])
    parser.add_argument("--unit", default="paragraph", choices=["paragraph", "piece"])
    parser.add_argument("--slices", type=int, default=10)
    parser.add_argument("--components", type=int, default=25)
    parser.add_argument("--iterations", type=int, nargs="+", default=[300])
    parser.add_argument("--variances", type=float, nargs=3, default=[0.1, 0.1, 0.1],
                        help="of alpha, eta and phi")  # fmt: skip
    parser.add_argument("--rate", type=float, default=0.01, help="lr_a, of steps")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    options = parser.parse_args()
    train, test, _ = load(options.data)
    decades = read_decades(options.data) if options.time == "decade" else (None, None)
    n_slices = options.slices if decades[0] is None else 1 + max(map(max, decades))
    times = times_of(train, decades[0], n_slices)
    document_of, when = prepare(train, times, options.unit)
    own = np.repeat(np.arange(len(times)), np.diff(train.segment_ptr))
    documents = collect(train.tokens, own, document_of, len(when))
    print(options)
    print_header("tomotopy")
    print("| seed | iterations | perplexity | fit, CPU s |\n|---|---|---|---|")
    for seed in options.seeds:
        alpha, eta, phi = options.variances
        model = tomotopy.DTModel(
            k=options.components, t=n_slices, seed=seed, lr_a=options.rate,
            alpha_var=alpha, eta_var=eta, phi_var=phi,
        )  # fmt: skip
        for words, t in zip(documents, when, strict=True):
            model.add_doc([str(w) for w in words], timepoint=int(t))
        done, spent = 0, 0.0
        for iterations in options.iterations:
            begin = time.process_time()
            model.train(iterations - done, workers=1)
            spent += time.process_time() - begin
            done = iterations
            held_out = score(model, test, times_of(test, decades[1], n_slices), options)
            print(f"| {seed} | {done} | {np.exp(-held_out):.0f} | {spent:.0f} |", flush=True)


if __name__ == "__main__":
    main()
