"""Sequences of the benchmarks: chorales, cocktail parties, motion capture, short series."""

import json
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from skdp.data import SequencePanel


def load_chorales(folder):
    """Return sequences of chords (a list of arrays), the number of chords, and the test part."""
    with open(Path(folder, "sequence", "bach_major_2017.json")) as file:
        data = json.load(file)
    sequences = [np.array(sequence, dtype=float) for sequence in data["sequences"]]
    return sequences, len(data["chords"]), np.array(data["test"])


def split_chorales(sequences, test, split):
    """Return training and test panels: split 0 is that of the file, others are drawn."""
    if split:
        test = np.random.default_rng(split).permutation(len(sequences))[: len(test)]
    held_out = set(test.tolist())
    kept = [x for i, x in enumerate(sequences) if i not in held_out]
    return (
        SequencePanel.from_sequences(kept),
        SequencePanel.from_sequences([sequences[i] for i in test]),
    )


def load_cocktail(folder, name):
    """Return what microphones heard (T, D), who spoke (T, F), and weights (F + 1, D)."""
    with np.load(Path(folder, "sequence", f"cocktail_{name}.npz")) as data:
        return data["Y"], data["states"], data["W"]


def load_mocap(folder, *, lag):
    """Return a panel of sensors, with those one step before if `lag`, and actions (N,)."""
    with np.load(Path(folder, "sequence", "mocap6", "dataset.npz")) as data:
        values = np.hstack([data["X"], data["Xprev"]]) if lag else data["X"]
        ptr, actions = data["doc_range"], data["TrueZ"]
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    return SequencePanel(values, ptr), np.unique(actions, return_inverse=True)[1]


def load_motion_splits(folder):
    """Return training and test panels of motion capture, two of six recordings held out."""
    with np.load(Path(folder, "sequence", "mocap6", "dataset.npz")) as data:
        motions = np.split(data["X"], data["doc_range"][1:-1])
    return [
        (as_panel(*motions[:first], *motions[first + 2 :]), as_panel(*motions[first : first + 2]))
        for first in (0, 2, 4)
    ]


class HeldOutSet(NamedTuple):
    """Series of one kind, in pairs of training and test panels.

    `kind` is "gaussian", "poisson" or "categorical".
    """

    kind: str
    splits: list[tuple[SequencePanel, SequencePanel]]


def split_in_time(values, n_folds=3):
    """Return panels with one of `n_folds` stretches held out, and the rest in pieces."""
    ends = np.linspace(0, len(values), n_folds + 1).round().astype(int)
    splits = []
    for begin, end in pairwise(ends):
        rest = [piece for piece in (values[:begin], values[end:]) if len(piece)]
        splits.append((SequencePanel.from_sequences(rest), as_panel(values[begin:end])))
    return splits


def as_panel(*sequences):
    return SequencePanel.from_sequences(list(sequences))


def read_series(folder, name):
    """Return a column of one of the series in "other", by its file."""
    path = Path(folder, "sequence", "other", name)
    if path.suffix == ".csv":
        return np.loadtxt(path, delimiter=",", skiprows=1)
    if path.suffix == ".npz":
        with np.load(path) as data:
            values = data["x"] if "x" in data else data["data"]
    else:
        data = json.loads(path.read_text())
        values = data["counts"] if "counts" in data else data["series"][0]["raw"]
    return np.array(values, dtype=float).reshape(-1, 1)


def read_macrodata():
    """Return growth of product, consumption and investment, and inflation, in % a quarter."""
    from statsmodels.datasets import macrodata

    data = macrodata.load_pandas().data
    logs = np.log(data[["realgdp", "realcons", "realinv", "cpi"]].to_numpy(dtype=float))
    return 100.0 * np.diff(logs, axis=0)


def read_sunspots():
    """Return yearly numbers of sunspots."""
    from statsmodels.datasets import sunspots

    return sunspots.load_pandas().data[["SUNACTIVITY"]].to_numpy(dtype=float)


def load_sets(folder):
    """Return all sets of held-out steps by name; of motion capture each split is one of its own."""
    sets = {}
    for i, split in enumerate(load_motion_splits(folder)):
        sets[f"mocap6 {2 * i}-{2 * i + 1}"] = HeldOutSet("gaussian", [split])
    for name, kind, file in (
        ("well log", "gaussian", "well_log.json"),
        ("Nile", "gaussian", "nile.json"),
        ("Old Faithful", "gaussian", "old_faithful.csv"),
        ("ECG", "gaussian", "ecg_mitbih_pywt.npz"),
        ("earthquakes", "poisson", "earthquakes.json"),
        ("casino", "categorical", "casino.npz"),
    ):
        sets[name] = HeldOutSet(kind, split_in_time(read_series(folder, file)))
    sets["sunspots"] = HeldOutSet("gaussian", split_in_time(read_sunspots()))
    sets["macrodata"] = HeldOutSet("gaussian", split_in_time(read_macrodata()))
    return sets
