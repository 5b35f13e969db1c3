"""When fits warn that they are not done: false alarms of settled chains, and power.

Data are drawn from each model (those of `HDPHMMLT` from an HMM with four states); a fit counts if
it gives scikit-learn's ConvergenceWarning. "settled" runs five times the default number of sweeps,
from a random start; "default" runs 500; "short" runs 40 and keeps the last 20 of them. "K = 50"
asks for far more topics than there are; "too few states" allows half of those there are. With
several chains a fit also counts if they disagree.

    python benchmarks/convergence.py --fits 50
    python benchmarks/convergence.py --fits 50 --chains 2 --budgets default --undone
"""

import argparse
import time
import warnings

import numpy as np
from report import print_header, print_table
from sklearn.exceptions import ConvergenceWarning

from skdp.data import SegmentedCorpus
from skdp.datasets import make_segmented_corpus, make_sticky_panel
from skdp.mixture import PitmanYorMixture
from skdp.sequence import HDPHMMLT
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    HDPTopicModel,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
)

SHORT = {"max_iter": 40, "thin": 1}
BUDGETS = {"settled": {"max_iter": 2500}, "default": {}, "short": SHORT}


def draw_corpus(model="segmented", **params):
    def draw(seed):
        sizes = {"n_components": 5, "n_features": 60, "n_segments": 4, "segment_length": 15}
        return make_segmented_corpus(30, model=model, random_state=seed, **sizes, **params).data

    return draw


def draw_co_clusters(seed, n_topics=5, n_clusters=4, n_words=60):
    """Draw 30 documents of 4 segments from latent Dirichlet co-clustering."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(n_words, 0.1), n_topics)
    alpha = rng.standard_exponential((n_clusters, n_topics))
    documents = []
    for theta in rng.dirichlet(np.full(n_clusters, 0.5), 30):
        segments = []
        for y in rng.choice(n_clusters, size=4, p=theta):
            topics = rng.choice(n_topics, size=rng.poisson(15), p=rng.dirichlet(alpha[y]))
            segments.append([rng.choice(n_words, p=phi[k]) for k in topics])
        documents.append(segments)
    return SegmentedCorpus.from_documents(documents, n_features=n_words)


def draw_panel(**params):
    def draw(seed):
        return make_sticky_panel(6, n_steps=60, random_state=seed, **params).data

    return draw


def draw_rows(seed):
    """Draw 200 rows of two columns from four components that overlap."""
    rng = np.random.default_rng(seed)
    centers = 3.0 * rng.normal(size=(4, 2))
    return centers[rng.integers(4, size=200)] + rng.normal(size=(200, 2))


def draw_default_corpus(seed):
    return make_segmented_corpus(random_state=seed).data


MODELS = {
    "GibbsLDA": (GibbsLDA(5), draw_corpus(concentration=1e6)),
    "SegmentedTopicModel": (SegmentedTopicModel(5), draw_corpus()),
    "AdaptiveTopicModel": (AdaptiveTopicModel(5), draw_corpus("adaptive")),
    "SequentialLDA": (SequentialLDA(5), draw_corpus("sequential")),
    "LDCC": (LatentDirichletCoClustering(5, 4), draw_co_clusters),
    "HDPHMMLT": (HDPHMMLT(10), draw_panel(stay=0.7)),
    "HDPHMMLT, sticky": (HDPHMMLT(10, stickiness="auto"), draw_panel()),
    "HDPTopicModel": (HDPTopicModel(), draw_corpus(concentration=1e6)),
    "PitmanYorMixture": (PitmanYorMixture(), draw_rows),
}
UNDONE = {
    "GibbsLDA, K = 50": (GibbsLDA(50, **SHORT), draw_default_corpus),
    "SegmentedTopicModel, K = 50": (SegmentedTopicModel(50, **SHORT), draw_default_corpus),
    "LDCC, K = 50": (LatentDirichletCoClustering(50, **SHORT), draw_default_corpus),
    "HDPHMMLT, too few states": (HDPHMMLT(4), draw_panel(n_states=8)),
}


def count_warnings(model, draw, n_fits):
    """Return how many fits warn, of too few states, of chains apart, and the CPU time of a fit."""
    n_warned = n_full = n_apart = 0
    begin = time.process_time()
    for seed in range(n_fits):
        data = draw(seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model.set_params(random_state=seed).fit(data)
        messages = [str(w.message) for w in caught if w.category is ConvergenceWarning]
        n_warned += bool(messages)
        n_full += any("Raise n_components" in message for message in messages)
        n_apart += any("chains disagree" in message for message in messages)
    return n_warned, n_full, n_apart, (time.process_time() - begin) / n_fits


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=50)
    parser.add_argument("--chains", type=int, default=1)
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=MODELS)
    parser.add_argument("--budgets", nargs="+", default=list(BUDGETS), choices=BUDGETS)
    parser.add_argument("--undone", nargs="*", default=list(UNDONE), choices=UNDONE)
    options = parser.parse_args()
    print_header()
    print_table(
        ["model", "sweeps", "fits", "warn", "of n_components", "of chains", "fit, CPU s"], []
    )
    for name in options.models:
        for budget in options.budgets:
            model, draw = MODELS[name]
            defaults = {"max_iter": 500, "thin": 10}
            report(name, budget, model.set_params(**{**defaults, **BUDGETS[budget]}), draw, options)
    for name in options.undone:
        report(name, "short" if "50" in name else "default", *UNDONE[name], options)


def report(name, budget, model, draw, options):
    model.set_params(n_chains=options.chains)
    *numbers, seconds = count_warnings(model, draw, options.fits)
    row = [name, budget, options.fits, *numbers, f"{seconds:.1f}"]
    print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
