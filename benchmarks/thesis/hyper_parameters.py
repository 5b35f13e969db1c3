"""What the hyper-parameters do: figures 5.4-5.6 (STM), 7.3 and 7.4 (AdaTM).

STM with the concentration b varied at a fixed discount a (0.2 on paragraphs, 0 on sentences), and
with a varied at b = 10, alpha = 0.5 as in the thesis. AdaTM with b varied at a = 0, a varied at
b = 10, and lambda_S or lambda_T (`mixing_prior`) varied at a = 0.2 with b learned; its alpha is
learned, symmetric. The topic-word prior is learned throughout. Deviation: standard deviation of the
segments' topic shares around their document's; entropies of segments' and documents' shares, in
nats. They are those of the training documents, averaged over them, then over seeds.

    python benchmarks/thesis/hyper_parameters.py --data DATA --unit sentence --sets b a
"""

import numpy as np
from common import build, load_split, make_parser, parse, print_table, spread
from scipy.stats import entropy

from skdp.metrics import segment_deviation, segment_entropy

CONCENTRATIONS = [0.1, 1, 5, 10, 25, 50, 100, 300]
DISCOUNTS = [0, 0.2, 0.4, 0.6, 0.8, 0.9]
LAMBDAS = [0.1, 1, 10, 50, 100, 200]
ADAPTIVE = {"doc_topic_prior": "auto-symmetric"}


def make_sets(unit):
    """Return by name: the model, the name of what varies, and its values with all parameters."""
    segmented = {"doc_topic_prior": 0.5}
    discount = 0.2 if unit == "paragraph" else 0.0
    learned = {**ADAPTIVE, "discount": 0.2}
    return {
        "b": ("STM", "b", [
            (b, {**segmented, "discount": discount, "concentration": b}) for b in CONCENTRATIONS
        ]),
        "a": ("STM", "a", [
            (a, {**segmented, "discount": a, "concentration": 10.0}) for a in DISCOUNTS
        ]),
        "adaptive-b": ("AdaTM", "b", [
            (b, {**ADAPTIVE, "discount": 0.0, "concentration": b}) for b in CONCENTRATIONS
        ]),
        "adaptive-a": ("AdaTM", "a", [
            (a, {**ADAPTIVE, "discount": a, "concentration": 10.0}) for a in DISCOUNTS
        ]),
        "lambda-s": ("AdaTM", "lambda_S", [
            (value, {**learned, "mixing_prior": (value, 1.0)}) for value in LAMBDAS
        ]),
        "lambda-t": ("AdaTM", "lambda_T", [
            (value, {**learned, "mixing_prior": (1.0, value)}) for value in LAMBDAS
        ]),
    }  # fmt: skip


def measure(model, train, test):
    """Return perplexity, deviation, entropies, learned b, and the share of the segment before."""
    to_previous = 1.0 - np.mean(getattr(model, "segment_mixing_", np.nan))
    return [
        model.perplexity(test),
        np.nanmean(segment_deviation(model.doc_topic_, model.segment_topic_, train)),
        np.nanmean(segment_entropy(model.segment_topic_, train)),
        np.mean(entropy(model.doc_topic_, axis=1)),
        np.mean(model.concentration_),
        to_previous,
    ]


def run_set(model, settings, n_components, train, test, options):
    """Yield the rows of a table: a value of what varies each."""
    for value, parameters in settings:
        runs = []
        for seed in options.seeds:
            estimator = build(
                model, n_components, max_iter=options.sweeps, random_state=seed, **parameters
            )
            runs.append(measure(estimator.fit(train), train, test))
        *others, to_previous = np.mean(runs, axis=0)[1:]
        previous = "" if np.isnan(to_previous) else f"{to_previous:.2f}"
        perplexity = spread([run[0] for run in runs])
        yield [f"{value:g}", perplexity, *(f"{x:.2f}" for x in others), previous]


def main():
    parser = make_parser(__doc__, sweeps=200)
    parser.add_argument("--unit", default="paragraph", choices=["paragraph", "sentence"])
    names = list(make_sets("paragraph"))
    parser.add_argument("--sets", nargs="+", default=names, choices=names)
    options = parse(parser, components=[10], sweeps=30, every=4)
    train, test = load_split(options, options.unit)
    sets = make_sets(options.unit)
    for n_components in options.components:
        for key in options.sets:
            model, varied, settings = sets[key]
            print(f"{model}, K = {n_components}, {options.unit}s\n")
            columns = [varied, "perplexity", "deviation", "entropy of segments"]
            print_table(
                [*columns, "of documents", "b", "weight of the segment before"],
                run_set(model, settings, n_components, train, test, options),
            )
            print()


if __name__ == "__main__":
    main()
