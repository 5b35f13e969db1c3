"""Learned hyper-parameters, and the size of the training set: figures 6.3 (a) and (d), table 6.4.

First SeqLDA (and STM, AdaTM) with the thesis's fixed values, a = 0.2, b = 10, alpha = 0.1, with
other values of b, and with alpha, b or both learned; then what the thesis leaves out: an asymmetric
alpha, a learned discount, a concentration for every document or segment. Then the perplexity of all
models with 20 to 100 per cent of the training documents, those of a smaller share being among those
of a larger one.

    python benchmarks/thesis/learning.py --data DATA --components 50
"""

from itertools import chain

import numpy as np
from common import (
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

FIXED = {"discount": 0.2, "concentration": 10.0, "doc_topic_prior": 0.1}
SETTINGS = {
    "all fixed": {},
    **{f"b = {b:g}": {"concentration": b} for b in (50.0, 100.0, 150.0, 300.0)},
    "alpha": {"doc_topic_prior": "auto-symmetric"},
    "b": {"concentration": "auto"},
    "alpha, b": {"doc_topic_prior": "auto-symmetric", "concentration": "auto"},
    "alpha by topic, b": {"doc_topic_prior": "auto", "concentration": "auto"},
    "the same, b by document": {
        "doc_topic_prior": "auto",
        "concentration": "auto",
        "concentration_scope": "document",
    },
    "the same, b by segment": {
        "doc_topic_prior": "auto",
        "concentration": "auto",
        "concentration_scope": "segment",
    },
    "alpha by topic, b, a": {
        "doc_topic_prior": "auto",
        "concentration": "auto",
        "discount": "auto",
    },
}
TABLE_MODELS = ["STM", "SeqLDA", "AdaTM"]


def measure_learning(name, train, test, options):
    """Yield the rows of one model."""
    reference = None
    for setting, learned in SETTINGS.items():
        parameters = {**FIXED, **learned, "max_iter": options.sweeps}
        perplexities, documents, values = [], [], []
        for seed in options.seeds:
            model = build(name, options.components[0], random_state=seed, **parameters).fit(train)
            by_document, total = score_tokens(model, test)
            perplexities.append(np.exp(-total))
            documents.append(by_document)
            b = np.mean(model.concentration_)
            values.append([model.doc_topic_prior_.mean(), b, model.discount_])
        documents = np.mean(documents, axis=0)
        reference = documents if reference is None else reference
        p = ttest_rel(documents, reference, nan_policy="omit").pvalue
        p = "" if np.isnan(p) else f"{p:.1e}"
        alpha, b, a = np.mean(values, axis=0)
        yield [name, setting, spread(perplexities), p, f"{alpha:.3f}", f"{b:.2f}", f"{a:.3f}"]


def measure_proportions(names, train, test, options):
    """Yield the rows: a share of the training documents each."""
    for proportion in options.proportions:
        row = [f"{proportion:g}"]
        for name in names:
            perplexities, seconds = [], []
            for seed in options.seeds:
                order = np.random.default_rng(seed).permutation(len(train))
                chosen = np.sort(order[: round(len(train) * proportion / 100)])
                model = build(
                    name, options.components[0], max_iter=options.sweeps, random_state=seed
                )
                with Timer() as timer:
                    model.fit(train[chosen])
                seconds.append(timer.seconds)
                perplexities.append(model.perplexity(test))
            row.append(f"{spread(perplexities)} ({np.mean(seconds):.0f} s)")
        yield row


def main():
    parser = make_parser(
        __doc__, components=[25], sweeps=200, models=["LDA_D", "LDA_S", *TABLE_MODELS]
    )
    parser.add_argument("--proportions", type=float, nargs="+", default=[20, 40, 60, 80, 100])
    options = parse(parser, components=[10], sweeps=40, proportions=[20, 60, 100], every=4)
    train, test = load_split(options)
    names = select(options.models)
    learners = [name for name in names if name in TABLE_MODELS]
    print_table(
        ["model", "learned", "perplexity", "p against fixed", "mean alpha", "mean b", "a"],
        chain.from_iterable(measure_learning(name, train, test, options) for name in learners),
    )
    print()
    columns = ["documents, %", *names]
    print_table(columns, measure_proportions(names, train, test, options))


if __name__ == "__main__":
    main()
