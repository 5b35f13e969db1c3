"""Speed of sweeps of hidden Markov models beside an EM iteration of hmmlearn's on the same data.

Two-dimensional Gaussian observations of 15 states that stay, full covariances in all models. Sweeps
are those of `fit` after its burn-in, concentrations, stickiness and decay learned. One thread; all
take turns, so that a noisy machine slows all. Times are CPU times of the process; figures are
medians. Without hmmlearn, or without --data for the chorales, their rows are left out.

    python benchmarks/sequence_speed.py --data DATA
"""

import argparse
import copy
import logging
import os
import time
from importlib.util import find_spec

import numpy as np
from report import print_header, print_table
from sequence_data import load_chorales
from threadpoolctl import threadpool_limits

from skdp.data import SequencePanel
from skdp.datasets import make_sticky_panel
from skdp.sequence import (
    HDPHMMLT,
    AutoregressiveEmission,
    CategoricalEmission,
    FixedSimilarity,
    GaussianEmission,
    GaussianSimilarity,
    PoissonDuration,
)

N_TRUE_STATES = 15
BLOCK = 4

STICKY = {"stickiness": "auto"}
LT = {"similarity": GaussianSimilarity()}


def generated_panel(n_steps, separation=3.0, n_sequences=1):
    """Return sequences of 15 states in the plane, mean time in a state 20 steps.

    Means are at least `separation` standard deviations apart.
    """
    return make_sticky_panel(
        n_sequences,
        n_steps=n_steps // n_sequences,
        n_states=N_TRUE_STATES,
        n_features=2,
        separation=separation,
        random_state=0,
    ).data


def fixed_similarity(n_components):
    """Return similarities of states on a line."""
    places = np.linspace(0.0, 3.0, n_components)
    return FixedSimilarity(np.exp(-np.abs(places[:, np.newaxis] - places)))


def make_skdp(panel, n_components, burn_in, emission=None, **parameters):
    """Return a function that does `BLOCK` sweeps and returns the CPU time of one."""
    model = HDPHMMLT(
        n_components,
        emission=GaussianEmission() if emission is None else emission,
        **parameters,
        max_iter=10**6,
        burn_in=burn_in,  # concentrations are held for half of it
        random_state=0,
    )
    sweeps = model.iter_sweeps(panel)
    for _ in range(burn_in):
        next(sweeps)

    def advance():
        begin = time.process_time()
        for _ in range(BLOCK):
            next(sweeps)
        return (time.process_time() - begin) / BLOCK

    return advance


def make_hmmlearn(panel, n_components):
    """Return a function that does one EM iteration and returns its CPU time."""
    from hmmlearn.hmm import GaussianHMM

    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    start = GaussianHMM(
        n_components, "full", n_iter=2, random_state=0, implementation="scaling", init_params="mc"
    )
    start.startprob_ = np.full(n_components, 1.0 / n_components)
    start.transmat_ = np.full((n_components, n_components), 1.0 / n_components)
    lengths = np.diff(panel.ptr)
    start.fit(panel.values, lengths)
    start.set_params(n_iter=1, init_params="")

    def advance():
        model = copy.deepcopy(start)  # always the same iteration: it must not converge
        begin = time.process_time()
        model.fit(panel.values, lengths)
        return time.process_time() - begin

    return advance


def contestants(options):
    """Return functions that time a sweep, by (J, T, name)."""

    def add(panel, n_components, name, *args, **parameters):
        key = n_components, len(panel.values), name
        result[key] = make_skdp(panel, n_components, options.burn_in, *args, **parameters)

    result = {}
    long, short = generated_panel(20_000), generated_panel(2000)
    if find_spec("hmmlearn"):
        result[100, 20_000, "hmmlearn EM"] = make_hmmlearn(long, 100)
    for panel, n_components in ((long, 100), (short, 200), (short, 50)):
        similarity = fixed_similarity(n_components)
        add(panel, n_components, "plain")
        add(panel, n_components, "sticky", **STICKY)
        add(panel, n_components, "sticky, FixedSimilarity", **STICKY, similarity=similarity)
        add(panel, n_components, "sticky, GaussianSimilarity", **STICKY, **LT)
        add(panel, n_components, "sticky, beam", **STICKY, state_sampler="beam")
    add(generated_panel(20_000, 0.0), 100, "sticky, states overlap", **STICKY)
    add(generated_panel(20_000, n_sequences=20), 100, "sticky, 20 sequences", **STICKY)
    add(short, 50, "durations to 60", duration=PoissonDuration(max_duration=60))
    if options.data:
        sequences, n_symbols, _ = load_chorales(options.data)
        panel = SequencePanel.from_sequences(sequences)
        emission = CategoricalEmission(n_symbols)
        add(panel, 50, "chorales, sticky", emission, **STICKY)
        add(panel, 50, "chorales, sticky, GaussianSimilarity", emission, **STICKY, **LT)
    return result


def take_turns(advance, n_rounds):
    """Return the median time of each, and all times."""
    times = {name: [] for name in advance}
    for _ in range(n_rounds):
        for name in advance:
            times[name].append(advance[name]())
    return {name: np.array(values) for name, values in times.items()}


def print_contest(options):
    times = take_turns(contestants(options), options.rounds)
    peer = times.get((100, 20_000, "hmmlearn EM"))
    rows = []
    for (n_components, n_steps, name), own in times.items():
        same = n_components, n_steps
        sticky = times[*same, "chorales, sticky" if "chorales" in name else "sticky"]
        has_peer = peer is not None and same == (100, 20_000)
        rows.append(
            [
                n_components,
                f"{n_steps:,}",
                name,
                f"{np.median(own) * 1e3:.2f}",
                f"{own.min() * 1e3:.2f}",
                f"{np.median(own / sticky):.2f}",
                f"1/{np.median(peer / own):.1f}" if has_peer else "",
            ]
        )
    columns = ["J", "T", "sweep", "ms", "least", "time / sticky's", "time / hmmlearn's"]
    print_table(columns, rows)


def print_growth(options):
    """Print how the time grows with T and with J."""
    sizes = [(50, n_steps) for n_steps in (2000, 8000, 32_000)]
    sizes += [(n_components, 8000) for n_components in (25, 100, 200, 400)]
    panels = {n_steps: generated_panel(n_steps) for _, n_steps in sizes}
    advance = {
        (j, n_steps): make_skdp(panels[n_steps], j, options.burn_in, **STICKY)
        for j, n_steps in sizes
    }
    times = take_turns(advance, options.rounds)
    rows = []
    for j, n_steps in sorted(times, key=lambda size: (size[1], size[0])):
        each = np.median(times[j, n_steps])
        per_step = each / n_steps * 1e9
        rows.append(
            [j, f"{n_steps:,}", f"{each * 1e3:.2f}", f"{per_step:.0f}", f"{per_step / j**2:.3f}"]
        )
    print_table(["J", "T", "ms a sticky sweep", "ns a step", "ns a step / J^2"], rows)


def draw_motion(n_steps, n_dims=12, n_states=15, mean_stay=20):
    """Return one sequence that moves about points in one of some ways."""
    rng = np.random.default_rng(0)
    maps = rng.normal(size=(n_states, n_dims, n_dims))
    maps *= 0.9 / np.abs(np.linalg.eigvals(maps)).max(axis=1)[:, np.newaxis, np.newaxis]
    points = 3.0 * rng.normal(size=(n_states, n_dims))
    states = np.repeat(rng.integers(n_states, size=n_steps // mean_stay), mean_stay)
    values = np.zeros((len(states), n_dims))
    for t, j in enumerate(states):
        values[t] = points[j] + maps[j] @ (values[t - 1] - points[j]) + rng.normal(size=n_dims)
    return SequencePanel.from_sequences([values])


def print_lags(options):
    """Print the time of sweeps of autoregressive states beside Gaussian ones on the same data."""
    n_components, n_steps = 50, 10_000
    panel, rows = draw_motion(n_steps), []
    emissions = {"Gaussian": None}
    emissions |= {f"lags: {n}": AutoregressiveEmission(n) for n in (1, 2)}
    for init in ("auto", "random"):
        advance = {
            name: make_skdp(panel, n_components, options.burn_in, emission, **STICKY, init=init)
            for name, emission in emissions.items()
        }
        times = take_turns(advance, options.rounds)
        for name, own in times.items():
            ratio = np.median(own / times["Gaussian"])
            rows.append([init, name, f"{np.median(own) * 1e3:.2f}", f"{ratio:.2f}"])
    print(f"{panel.n_features} columns, J = {n_components}, T = {n_steps:,}, sticky\n")
    print_table(["first states", "states", "ms a sweep", "time / Gaussian"], rows)


def print_load(when):
    print(f"load of the machine {when}: " + " ".join(f"{x:.1f}" for x in os.getloadavg()))


PARTS = {"contest": print_contest, "growth": print_growth, "lags": print_lags}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with sequence/bach_major_2017.json")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--burn-in", type=int, default=100)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=["contest", "growth", "lags"])
    options = parser.parse_args()
    print_header(*(["hmmlearn"] if find_spec("hmmlearn") else []))
    print_load("before")
    with threadpool_limits(1):
        for part in options.parts:
            print()
            PARTS[part](options)
    print()
    print_load("after")


if __name__ == "__main__":
    main()
