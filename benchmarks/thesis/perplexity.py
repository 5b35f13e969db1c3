"""Held-out perplexity against the number of topics: figures 5.8, 6.3 (c), 7.5; tables 5.4-7.3.

LDA by document and by segment, LDCC, STM, SeqLDA and AdaTM on the same documents, cut into
paragraphs or into sentences (`--unit`); `--length 5` makes documents of five of these units. Priors
and concentrations are learned, the discount is 0. Coherence is the mean over topics of the
normalized pointwise mutual information of their ten top words, within the training segments.
Below the perplexities, for each number of topics, what a model gains on another: the mean over test
documents of the difference in log probability a token (row minus column: positive is better), with
the two-sided p of a paired t-test over these documents.

    python benchmarks/thesis/perplexity.py --data DATA --unit sentence
    python benchmarks/thesis/perplexity.py --data DATA --unit sentence --length 5
"""

import numpy as np
from common import (
    MODELS,
    Timer,
    build,
    load_split,
    make_parser,
    parse,
    print_table,
    score_tokens,
    select,
    spread,
)
from scipy.stats import ttest_rel

from skdp.data import SegmentedCorpus
from skdp.metrics import topic_coherence

COHERENCE = {"measure": "npmi", "window": "segment"}


def compare(names, documents):
    """Print the matrix of paired differences of `documents`, log probabilities by model."""
    rows = []
    for i, name in enumerate(names[1:], start=1):
        row = [name]
        for other in names[:i]:
            test = ttest_rel(documents[name], documents[other], nan_policy="omit")
            difference = np.nanmean(documents[name] - documents[other])
            row.append(f"{difference:+.3f} ({test.pvalue:.1e})")
        rows.append(row + [""] * (len(names) - 1 - i))
    print_table(["gain of", *(f"on {name}" for name in names[:-1])], rows)
    print()


def cut(corpus, length):
    """Return a corpus whose documents are runs of `length` segments of those of `corpus`."""
    documents = [
        document[i : i + length] for document in corpus for i in range(0, len(document), length)
    ]
    return SegmentedCorpus.from_documents(documents, corpus.n_features)


def measure(names, train, test, options, matrices):
    """Yield the rows of the table; add log probabilities by document and model to `matrices`."""
    for n_components in options.components:
        matrices.append({})
        for name in names:
            perplexities, by_document, coherences, seconds, learned = [], [], [], [], []
            for seed in options.seeds:
                model = build(name, n_components, max_iter=options.sweeps, random_state=seed)
                with Timer() as timer:
                    model.fit(train)
                scores, total = score_tokens(model, test)
                perplexities.append(np.exp(-total))
                by_document.append(scores)
                coherences.append(topic_coherence(model.components_, train, **COHERENCE).mean())
                seconds.append(timer.seconds)
                learned.append(getattr(model, "concentration_", np.nan))
            matrices[-1][name] = np.mean(by_document, axis=0)
            b = "" if np.isnan(learned).all() else f"{np.mean(learned):.2f}"
            coherence = spread(coherences, 3)
            seconds = f"{np.mean(seconds):.0f}"
            yield [n_components, name, spread(perplexities), coherence, b, seconds]


def main():
    parser = make_parser(__doc__, components=[10, 25, 50, 100], models=list(MODELS))
    parser.add_argument("--unit", default="paragraph", choices=["paragraph", "sentence"])
    parser.add_argument("--length", type=int, help="cut addresses into documents of so many units")
    options = parse(parser, components=[10], sweeps=100, every=4)
    train, test = load_split(options, options.unit)
    if options.length:
        train, test = (cut(corpus, options.length) for corpus in (train, test))
    names = select(options.models)
    print(f"{len(train):,} documents to train on, {len(test):,} to test; ", end="")
    print(f"{options.unit}s: {len(train.segment_ptr) - 1:,} to train on, ", end="")
    print(f"{len(test.segment_ptr) - 1:,} to test\n")
    matrices = []
    print_table(
        ["K", "model", "perplexity", "coherence", "concentration", "fit, CPU s"],
        measure(names, train, test, options, matrices),
    )
    for n_components, documents in zip(options.components, matrices, strict=True):
        print(f"\nK = {n_components}\n")
        compare(names, documents)


if __name__ == "__main__":
    main()
