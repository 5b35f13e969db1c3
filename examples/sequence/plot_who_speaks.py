"""
Who is speaking?
================

Two conversations in one room, five people, three microphones. Who speaks at a time is a set of
people, and the set changes by one person or two. A hidden Markov model whose states prefer states
that are alike makes use of it.
"""

# %%
# A party
# -------
#
# The data are made up, by :func:`~skdp.datasets.make_cocktail_party`: in each conversation at most
# one person speaks. How loud everybody is at each microphone is known. So the set of speakers that
# fits best can be read off for each step; but with fewer microphones than people many sets fit, and
# a step alone does not tell which. Who is in which conversation is not known to any model.

from itertools import product

import matplotlib.pyplot as plt
import numpy as np

from skdp.datasets import make_cocktail_party

party = make_cocktail_party(
    1500, conversation_sizes=(2, 3), n_features=3, turn_length=25, pause_length=5, random_state=1
)
train, test = party.data[:1000], party.data[1000:]
truth = party.states[1000:]

sets = np.array(list(product([0, 1], repeat=5)))
heard = np.column_stack([np.ones(len(sets)), sets]) @ party.weights
nearest = sets[((test[:, np.newaxis] - heard) ** 2).sum(axis=2).argmin(axis=1)]
wrong = {"nearest set": [100 * np.mean(nearest != truth)]}
print(f"nearest set: {wrong['nearest set'][0]:.1f} % are wrong")

# %%
# Sets that follow each other
# ---------------------------
#
# The states of :class:`~skdp.emissions.BinaryFactorEmission` are sets of speakers; the model finds
# out which of them occur. :class:`~skdp.sequence.LaplacianSimilarity` makes a move less probable
# with every person who begins or stops. How much less is learned. Three chains of each model, on
# the first two thirds; what counts are the speakers of the rest.

from skdp.emissions import BinaryFactorEmission
from skdp.sequence import HDPHMMLT, LaplacianSimilarity

emission = BinaryFactorEmission(5, weights=party.weights)
models = {
    "plain": HDPHMMLT(30, emission=emission, max_iter=400),
    "sticky": HDPHMMLT(30, emission=emission, stickiness="auto", max_iter=400),
    "similar sets": HDPHMMLT(30, emission=emission, similarity=LaplacianSimilarity(), max_iter=400),
}
found = {}
for name, model in models.items():
    wrong[name], scores = [], []
    for seed in range(3):
        model.set_params(random_state=seed).fit(train)
        found[name] = model.factors_[model.predict(test)]
        wrong[name].append(100 * np.mean(found[name] != truth))
        scores.append(model.score(test))
    print(f"{name}: {np.mean(wrong[name]):.1f} % are wrong, {np.mean(scores):.3f} nats a step")

# %%
# With each person who begins or stops, a move is so many times less probable, a priori:

print(f"{np.exp(models['similar sets'].decay_):.0f} times")

# %%
# What it gains
# -------------
#
# Stickiness alone says that sets last, but not which set comes next. On the right are the first 200
# steps of the test: gray is the truth, a line is what the model finds.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 4), layout="constrained", width_ratios=[1.0, 1.8]
)
for place, values in enumerate(wrong.values()):
    left.plot(values, np.full(len(values), place), "o", color="#0072B2", alpha=0.6)
left.set_yticks(range(len(wrong)), list(wrong))
left.invert_yaxis()
left.grid(axis="x", alpha=0.3)
left.set(xlabel="wrong entries, %", title="Who speaks, in held-out time", xlim=(0, None))
colors = {"nearest set": "#D55E00", "similar sets": "#0072B2"}
for person in range(5):
    right.fill_between(
        range(200), person - 0.4, person - 0.4 + 0.8 * truth[:200, person],
        step="mid", color="#BBBBBB", linewidth=0,
    )  # fmt: skip
    for shift, (name, guess) in enumerate({"nearest set": nearest, **found}.items()):
        if name in colors:
            steps = np.flatnonzero(guess[:200, person])
            height = person + (0.12 if shift else -0.12)
            right.scatter(
                steps, np.full(len(steps), height), s=9, marker="s", color=colors[name],
                label=name if person == 0 else None,
            )  # fmt: skip
right.set_yticks(range(5), [f"person {k + 1}" for k in range(5)])
right.set(xlabel="step", title="Who speaks when (gray: truth)", xlim=(0, 200), ylim=(4.6, -1.3))
right.legend(loc="upper center", ncols=2, frameon=False, markerscale=2)
figure.savefig("who_speaks.png", dpi=100)

# %%
# :class:`~skdp.inspection.FactorDisplay` shows the states of the last model, the most frequent on
# top: each row is a set of speakers, with a bar for its share of the time. A set may have several
# states, which differ in what follows them.

from skdp.inspection import FactorDisplay

names = [f"person {k + 1}" for k in range(5)]
display = FactorDisplay.from_estimator(models["similar sets"], factor_names=names)
display.figure_.savefig("sets_of_speakers.png", dpi=100)
