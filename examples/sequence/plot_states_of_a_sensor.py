"""
States of a sensor
==================

A wearable sensor records waves: steps of a walk, a jog, a run. Single values look the same in all
of them. `StateDetector` finds how many kinds of waves there are, where one kind ends and another
begins, and how sure it is.
"""

# %%
# A recording
# -----------
#
# The acceleration is generated, so the truth is known: a person walks, jogs, walks again, runs and
# stands. The tempo varies from step to step; noise and a slow drift of the sensor are added.

import matplotlib.pyplot as plt
import numpy as np

from skdp.sequence import StateDetector

rng = np.random.default_rng(0)
KINDS = {
    "walk": (50, 1.0, 0.4),
    "jog": (36, 1.8, 0.8),
    "run": (30, 2.2, 1.4),
    "stand": (40, 0.1, 0),
}
PARTS = [("walk", 1500), ("jog", 1200), ("walk", 1000), ("run", 900), ("stand", 800)]

parts = []
for kind, n_steps in PARTS:
    period, height, edge = KINDS[kind]
    tempo = 2 * np.pi / period * (1 + 0.05 * rng.normal(size=n_steps))
    phase = np.cumsum(tempo)
    parts.append(height * np.sin(phase) + edge * np.sin(2 * phase + 1) + edge * np.cos(3 * phase))
truth = np.repeat([list(KINDS).index(kind) for kind, _ in PARTS], [n for _, n in PARTS])
x = np.concatenate(parts) + 0.3 * rng.normal(size=len(truth))
x += 0.5 * np.sin(np.arange(len(x)) / 900)

# %%
# The states
# ----------
#
# Neither the number of states nor the length of a wave is given. Windows of about two waves are
# described by random filters, and a sticky infinite hidden Markov model divides them into states.

detector = StateDetector(random_state=0).fit(x.reshape(-1, 1))
print(f"windows of {detector.features_.window_} steps, {detector.n_active_components_} states")
print("true changes: ", np.flatnonzero(np.diff(truth)) + 1)
print("found changes:", detector.change_points_)

# %%
# The picture
# -----------
#
# The walk in the middle gets the state of the walk at the beginning. The probability of a change is
# given at the middle between two windows; most changes are certain up to a window or two.

probability = detector.predict_change_proba(x.reshape(-1, 1))
figure, axes = plt.subplots(4, 1, figsize=(9, 6), sharex=True, height_ratios=[3, 1, 1, 2])
axes[0].plot(x, lw=0.5)
axes[0].set_ylabel("acceleration")
for axis, states, label in ((axes[1], truth, "truth"), (axes[2], detector.labels_, "states")):
    axis.imshow(states[np.newaxis], aspect="auto", cmap="tab10", vmin=0, vmax=9)
    axis.set(yticks=[], ylabel=label)
axes[3].vlines(np.arange(len(x)), 0, probability)
axes[3].set(ylabel="P(change)", xlabel="step", ylim=(0, 1))
figure.align_ylabels()
figure.tight_layout()

# %%
# A page with the same content, and a table of the states, for readers who have a browser but no
# Python:

from skdp.inspection import state_report

print("The page is in", state_report(detector, x.reshape(-1, 1), "states_of_a_sensor.html"))

# %%
# Another recording
# -----------------
#
# A fitted detector recognizes its states in other recordings. The features of whole recordings, the
# shares of time in each state, can enter a classifier.

other = [x[2000:4000].reshape(-1, 1), x[4000:].reshape(-1, 1)]
print(detector.transform(other)[:, : detector.n_active_components_].round(2))
