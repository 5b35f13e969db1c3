"""What similarities of states add that come from their own observations.

Held-out nats a step, CPU milliseconds a sweep, decay and acceptance, beside no similarity and
latent locations (`GaussianSimilarity`). `near`: generated panels of Gaussian states in a plane
whose transitions prefer states with similar observations (phi = BC^.5). `apart`: panels of
`make_lt_panel`, where locations have nothing to do with observations. `chorales`, `mocap`: real
sequences.

    python benchmarks/emission_similarity.py near apart chorales mocap --data DATA --seeds 0 1 2
"""

import argparse
import time
from dataclasses import replace

import numpy as np
from report import mean_and_error, print_header, print_table, report_done
from scipy.special import logsumexp
from sequence_data import load_chorales, load_motion_splits, split_chorales

from skdp.data import SequencePanel
from skdp.datasets import make_lt_panel
from skdp.sequence import (
    HDPHMMLT,
    CategoricalEmission,
    EmissionSimilarity,
    GaussianSimilarity,
)

MODELS = {
    "plain": None,
    "locations": GaussianSimilarity(),
    "hellinger": EmissionSimilarity(),
    "bhattacharyya": EmissionSimilarity("bhattacharyya"),
}


def make_near_panel(seed, n_states=30, n_sequences=120, n_steps=40, decay=0.5, spread=4.0):
    """Return sequences whose states prefer those with similar observations."""
    rng = np.random.default_rng(seed)
    means = spread * rng.normal(size=(n_states, 2))
    squares = np.sum((means[:, None] - means) ** 2, axis=2)
    rates = rng.gamma(10.0 / n_states, size=(n_states, n_states)) * np.exp(-decay * squares / 8.0)
    ends = np.cumsum(rates, axis=1) / rates.sum(axis=1, keepdims=True)
    sequences = []
    for _ in range(n_sequences):
        z = [rng.integers(n_states)]
        for u in rng.random(n_steps - 1):
            z.append(min(np.searchsorted(ends[z[-1]], u), n_states - 1))
        sequences.append(means[z] + rng.normal(size=(n_steps, 2)))
    return sequences


def list_pairs(name, options):
    """Return training and test panels, the number of states and further parameters, by seed."""
    if name == "mocap":
        splits = load_motion_splits(options.data)
        return [(*splits[i % 3], 15, {"stickiness": "auto"}) for i in options.seeds]
    if name == "chorales":
        sequences, n_symbols, test = load_chorales(options.data)
        emission = {"emission": CategoricalEmission(n_symbols)}
        return [(*split_chorales(sequences, test, i), 50, emission) for i in options.seeds]
    pairs = []
    for seed in options.seeds:
        if name == "near":
            sequences = make_near_panel(seed)
        else:
            panel = make_lt_panel(120, n_steps=40, n_states=20, random_state=seed)
            sequences = list(panel.data)
        panels = [SequencePanel.from_sequences(x) for x in (sequences[:20], sequences[20:])]
        pairs.append((*panels, 40, {}))
    return pairs


def score_with_drawn(model, panel):
    """Return the score with the parameters of the observations as drawn."""
    known = panel.ptr, panel.values
    samples = [replace(x, emission=x.geometry.emission) for x in model._models]
    logs = np.array([x.log_likelihoods(*known) for x in samples])
    return (logsumexp(logs, axis=0) - np.log(len(logs))).sum() / len(panel.values)


def run(name, options):
    rows, scores = [], {}
    pairs = list_pairs(name, options)
    for kind in options.models:
        found = []
        for seed, (train, test, n_states, more) in zip(options.seeds, pairs, strict=True):
            model = HDPHMMLT(
                n_states,
                similarity=MODELS[kind],
                max_iter=options.sweeps,
                random_state=seed,
                **more,
            )
            HDPHMMLT(**{**model.get_params(deep=False), "max_iter": 4}).fit(train)  # compiles
            begin = time.process_time()
            model.fit(train)
            cost = 1e3 * (time.process_time() - begin) / options.sweeps
            drawn = np.nan
            if kind in ("hellinger", "bhattacharyya"):
                drawn = score_with_drawn(model, test)
            trace = model.trace_
            rate = trace["acceptance"].mean() if "acceptance" in trace else np.nan
            found.append(
                (
                    model.score(test), drawn, model.n_active_components_,
                    getattr(model, "decay_", np.nan), rate, cost,
                )
            )  # fmt: skip
            report_done([name, kind, seed, *np.round(found[-1], 3)])
        found = np.array(found)
        scores[kind] = found[:, 0]
        means = found.mean(axis=0)
        gain = "" if kind == "plain" else mean_and_error(scores[kind] - scores["plain"])
        rows.append(
            [
                kind, f"{means[0]:.3f}", gain, f"{means[1]:.3f}", f"{means[2]:.1f}",
                f"{means[3]:.2f}", f"{means[4]:.2f}", f"{means[5]:.1f}",
            ]
        )  # fmt: skip
    print_table(
        [name, "test", "less plain", "with drawn parameters", "states", "decay", "acceptance",
         "CPU ms a sweep"], rows
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sets", nargs="+", choices=["near", "apart", "chorales", "mocap"])
    parser.add_argument("--data")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--sweeps", type=int, default=500)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    options = parser.parse_args()
    print_header()
    for name in options.sets:
        run(name, options)
        print()


if __name__ == "__main__":
    main()
