"""
Harmony from sequences of chords
================================

Pieces of music are sequences of chords, and each chord is a number. A hidden Markov model finds
keys or harmonic functions, and a classifier distinguishes kinds of pieces by the time that they
spend in each state. A grid search chooses the priors of the transitions.

::

    python plot_chords.py pieces.json

Without a file, the pieces are generated. A file has ``"sequences"``, a list of lists of numbers
from 0, and may have ``"labels"``, one per piece. Without labels, the search looks for the priors
that predict the chords of held-out pieces best.
"""

# %%
# Pieces that modulate, and pieces that wander
# --------------------------------------------
#
# Both kinds of pieces take chords from two keys, equally often from each. The first kind stays in a
# key for a while and then modulates. The second kind takes every chord from either key. The kinds
# cannot be distinguished by the frequencies of chords in a piece, only by the order of the chords.

import argparse
import json
from pathlib import Path

import numpy as np

from skdp.data import SequencePanel

N_CHORDS = 12


def draw_piece(rng, stay):
    """Return a piece of about 30 chords whose key stays with this probability."""
    chords = np.exp(-0.5 * (np.arange(N_CHORDS) - np.array([[3.0], [8.0]])) ** 2 / 1.6**2)
    chords /= chords.sum(axis=1, keepdims=True)
    key, piece = rng.integers(2), []
    for _ in range(rng.integers(20, 40)):
        piece.append(rng.choice(N_CHORDS, p=chords[key]))
        key = key if rng.random() < stay else 1 - key
    return piece


parser = argparse.ArgumentParser(description="Tell pieces by their harmony.")
parser.add_argument("pieces", nargs="?", help="JSON file; default: generated pieces")
parser.add_argument("--n-states", type=int, default=10, help="upper bound")
parser.add_argument("--max-iter", type=int, default=120)
parser.add_argument("--output", default="chords.png", help="file for the figure")
options = parser.parse_args()

if options.pieces is None:
    rng = np.random.default_rng(0)
    labels = np.repeat(["modulates", "wanders"], 60)
    sequences = [draw_piece(rng, 0.85 if label == "modulates" else 0.5) for label in labels]
else:
    content = json.loads(Path(options.pieces).read_text(encoding="utf-8"))
    sequences, labels = content["sequences"], content.get("labels")
panel = SequencePanel.from_sequences([np.array(sequence) for sequence in sequences])
n_symbols = int(panel.values.max()) + 1
print(f"{panel}, {n_symbols} chords")

# %%
# The search
# ----------
#
# A sample is a piece, so folds are sets of pieces. `transition_concentration` controls how similar
# the rows of the transition matrix are, `stickiness` the weight of staying. Every pair of values is
# scored by the log probability per chord in held-out pieces and, with labels, by the accuracy of a
# classifier that sees only the shares of time in the states.

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import Pipeline

from skdp.sequence import HDPHMMLT, CategoricalEmission


def log_probability(pipeline, X, y=None):
    """Return the held-out log probability per chord."""
    return pipeline[0].score(X)


model = HDPHMMLT(
    options.n_states,
    emission=CategoricalEmission(n_symbols=n_symbols),
    max_iter=options.max_iter,
    random_state=0,
)
steps, scoring = [("states", model)], {"log_probability": log_probability}
folds = KFold(3, shuffle=True, random_state=0)
if labels is not None:
    steps.append(("classifier", LogisticRegression(C=100, max_iter=1000)))
    scoring["accuracy"] = "accuracy"
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
concentrations, stickinesses = [1.0, 10.0], [0.0, 5.0, 25.0, 125.0]
search = GridSearchCV(
    Pipeline(steps),
    {
        "states__transition_concentration": concentrations,
        "states__stickiness": stickinesses,
    },
    scoring=scoring,
    refit="accuracy" if labels is not None else "log_probability",
    cv=folds,
    n_jobs=2,
)
search.fit(panel, labels)
print(f"best {search.refit}: {search.best_score_:.3f} with {search.best_params_}")

# %%
# A classifier that ignores the order would use how often each chord occurs:

if labels is not None:
    from sklearn.model_selection import cross_val_score

    counts = np.array([np.bincount(np.array(s, dtype=int), minlength=n_symbols) for s in sequences])
    accuracy = cross_val_score(LogisticRegression(max_iter=1000), counts, labels, cv=folds).mean()
    print(f"accuracy by how often each chord occurs: {accuracy:.2f}")

# %%
# The picture
# -----------
#
# The plots show the scores of the search, the transitions of the best model, and its states along a
# piece of each kind. Without stickiness, states that change from chord to chord explain both kinds
# of pieces equally well. With it, there are two lasting states, one for each key, and a third for
# chords from both: pieces that wander stay in it throughout.

import matplotlib.pyplot as plt

from skdp.inspection import StateSequenceDisplay, TransitionDisplay

best = search.best_estimator_[0]
figure = plt.figure(figsize=(12, 7.5), layout="constrained")
upper, lower = figure.subfigures(2, height_ratios=[1.4, 1])
axes = upper.subplots(1, len(scoring) + 1)
titles = {"log_probability": "held-out log p(chord)", "accuracy": "accuracy of the classifier"}
for ax, name in zip(axes, scoring, strict=False):
    scores = search.cv_results_[f"mean_test_{name}"].reshape(len(stickinesses), -1)
    image = ax.imshow(scores, aspect="auto", origin="lower", cmap="viridis")
    middle = (scores.min() + scores.max()) / 2
    for (i, j), score in np.ndenumerate(scores):
        bold = "bold" if score == scores.max() else None
        color = "white" if score <= middle else "black"
        ax.text(j, i, f"{score:.3f}", ha="center", va="center", color=color, weight=bold)
    ax.set_xticks(range(len(concentrations)), [f"{a:g}" for a in concentrations])
    ax.set_yticks(range(len(stickinesses)), [f"{kappa:g}" for kappa in stickinesses])
    ax.set(xlabel="transition_concentration", ylabel="stickiness", title=titles[name])
TransitionDisplay.from_estimator(best, ax=axes[-1])
axes[-1].set_title("transitions")
shown = [0, len(panel) - 1]
for ax, i in zip(lower.subplots(len(shown)), shown, strict=True):
    StateSequenceDisplay.from_estimator(best, panel, sequence=i, show_observations=False, ax=ax)
    ax.set_ylabel(f"piece {i}" if labels is None else f"piece {i}: {labels[i]}")
figure.savefig(options.output, dpi=100)
