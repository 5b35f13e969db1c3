"""Sequences of the benchmarks: chorales, cocktail parties, motion capture."""

import json
from pathlib import Path

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
