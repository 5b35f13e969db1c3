"""Cost a token by the length of segments: training sweeps and transform of the table models.

A corpus has 20,000 tokens, or those of one longer segment, in segments of one length, each a
document of its own. Words are uniform: topics stay mixed, and all of them have many customers.
Times are CPU times of the process, the best of a few repeats.

    python benchmarks/segment_lengths.py --samplers btigs cmgs ssa
"""

import argparse
import time

import numpy as np
from report import print_header, print_table

from skdp.data import SegmentedCorpus
from skdp.topics import AdaptiveTopicModel, SegmentedTopicModel, SequentialLDA

MODELS = {
    model.__name__: model for model in (SegmentedTopicModel, SequentialLDA, AdaptiveTopicModel)
}
SWEEPS = 8
CONCENTRATION = 5.0


def make_corpus(length, n_words, rng):
    n_documents = max(20_000 // length, 1)
    documents = [[rng.integers(0, n_words, length)] for _ in range(n_documents)]
    return SegmentedCorpus.from_documents(documents, n_features=n_words)


def best(repeats, run):
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return min(times)


def measure(model, sampler, discount, length, args):
    """Return ns a token of a transform of SWEEPS sweeps, of a training sweep, and tables."""
    rng = np.random.default_rng(0)
    corpus = make_corpus(length, args.words, rng)
    topics = rng.dirichlet(np.full(args.words, 0.1), args.components)
    parameters = {
        "doc_topic_prior": 0.5, "discount": discount, "concentration": CONCENTRATION,
        "sampler": sampler, "random_state": 0,
    }  # fmt: skip
    given = model.from_topics(topics, transform_max_iter=SWEEPS, **parameters)
    given.transform(make_corpus(10, args.words, rng)[:1])  # compiles
    transform = best(args.repeats, lambda: given.transform(corpus))
    chain = model(
        args.components, topic_word_prior=0.1, init=topics, max_iter=10**6, burn_in=10**6 - 1,
        **parameters,
    ).iter_sweeps(corpus)  # fmt: skip
    state = next(chain)
    sweep = best(max(args.repeats, 3), lambda: next(chain))
    n = len(corpus.tokens)
    tables = state.tables_to_document.sum() / len(corpus)
    return 1e9 * transform / n, 1e9 * sweep / n, tables


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=["SegmentedTopicModel"], choices=MODELS)
    parser.add_argument("--samplers", nargs="+", default=["btigs", "cmgs", "ssa"])
    parser.add_argument("--discounts", nargs="+", type=float, default=[0.0, 0.5])
    parser.add_argument(
        "--lengths", nargs="+", type=int,
        default=[100, 1_000, 10_000, 30_000, 100_000, 1_000_000],
    )  # fmt: skip
    parser.add_argument("--components", type=int, default=3)
    parser.add_argument("--words", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    print_header()
    for name in args.models:
        for sampler in args.samplers:
            for discount in args.discounts:
                rows, short = [], None
                for length in args.lengths:
                    found = measure(MODELS[name], sampler, discount, length, args)
                    short = short or found
                    rows.append([
                        f"{length:,}", f"{found[0]:.0f}", f"{found[0] / short[0]:.1f}",
                        f"{found[1]:.0f}", f"{found[1] / short[1]:.1f}", f"{found[2]:.0f}",
                    ])  # fmt: skip
                print(f"\n{name}, {sampler}, a = {discount:g}; ns a token\n")
                print_table(
                    ["tokens a segment", f"transform, {SWEEPS} sweeps", "ratio", "training sweep",
                     "ratio", "tables a segment"],
                    rows,
                )  # fmt: skip


if __name__ == "__main__":
    main()
