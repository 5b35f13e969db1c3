"""
Actions in motion capture
=========================

Several recordings of people exercising, with twelve joint angles each, are divided into actions.
The number of actions is not given, and the model recognizes the actions of one recording in the
others.

::

    python examples/sequence/plot_motion_capture.py recordings.npz

Without a file, the recordings are generated. A file has the arrays ``X`` (n_steps, n_sensors), all
recordings end to end; ``doc_range`` (n_recordings + 1,), where they begin and end; and, if the
actions are known, ``TrueZ`` (n_steps,), their numbers, and ``true_state_names``, their names. The
data set https://github.com/michaelchughes/mocap6dataset comes in this form.
"""

# %%
# A panel of sequences
# --------------------

import argparse

import numpy as np

from skdp.data import SequencePanel
from skdp.datasets import make_sticky_panel

parser = argparse.ArgumentParser(description="Cut recordings into actions.")
parser.add_argument("recordings", nargs="?", help=".npz file; default: generated ones")
parser.add_argument("--covariance-type", choices=["full", "diag"], default="diag")
parser.add_argument("--max-iter", type=int, default=500)
parser.add_argument("--output", default="motion_capture.png", help="file for the figure")
options = parser.parse_args()

if options.recordings is None:
    generated = make_sticky_panel(
        6, n_steps=(200, 400), n_states=8, n_features=12, stay=0.98, separation=3.0, random_state=0
    )
    panel, actions = generated.data, generated.states
else:
    with np.load(options.recordings) as file:
        panel, actions = SequencePanel(file["X"], file["doc_range"]), None
        if "TrueZ" in file:
            names = file["true_state_names"].astype(str)
            actions = names[file["TrueZ"] - file["TrueZ"].min()]
print(panel)

# %%
# The fit
# -------
#
# The sensors are scaled to a variance of 1 to make scores comparable; the default priors adapt to
# the scale of the data anyway. An action lasts seconds, a step a tenth of a second, so states are
# sticky; the amount of stickiness is learned. A diagonal covariance is enough for sensors that vary
# independently within an action. With full covariances there are 78 numbers to learn per state, and
# slightly unusual steps get states of their own.

from sklearn.preprocessing import StandardScaler

from skdp.sequence import HDPHMMLT, GaussianEmission

panel = SequencePanel(StandardScaler().fit_transform(panel.values), panel.ptr)
model = HDPHMMLT(
    30,
    emission=GaussianEmission(covariance_type=options.covariance_type),
    stickiness="auto",
    max_iter=options.max_iter,
    random_state=0,
)
model.fit(panel)
print(f"{model.n_active_components_} states")

# %%
# States shared by recordings
# ---------------------------
#
# In the feature matrix, a row is a recording and a column is the share of time in a state. Some
# states occur in several recordings.

shares = model.transform(panel)
common = (shares > 0.01).sum(axis=0)
for j in np.flatnonzero(common):
    print(f"state {j}: {shares[:, j].mean():.2f} of the time, in {common[j]} recordings")

# %%
# The picture
# -----------
#
# The upper plot shows all recordings end to end, with the states above the annotated actions.
# States are matched with actions one to one. In real recordings, an action is a cycle of several
# poses, each with its own state, and only the most frequent of these is matched: Gaussian states
# describe the positions of limbs, not their movements. The lower plots show the transitions between
# states, and the share of time that each recording spends in each state.

import matplotlib.pyplot as plt

from skdp.inspection import StateSequenceDisplay, TransitionDisplay

figure, panels = plt.subplot_mosaic(
    [["states", "states"], ["transitions", "shares"]],
    figsize=(11, 8.5),
    height_ratios=[1, 2],
    layout="constrained",
)
display = StateSequenceDisplay.from_estimator(
    model,
    panel,
    actions,
    sequence=None,
    show_observations=False,
    n_states=20,
    ax=panels["states"],
)
labels = display.labels_
handles = display.legend_.legend_handles
display.legend_.remove()  # a legend of many states would take half of the width
figure.legend(handles, labels, loc="outside upper center", ncols=6, frameon=False)
TransitionDisplay.from_estimator(model, include_values=False, ax=panels["transitions"])

shown = np.flatnonzero(common)
image = panels["shares"].imshow(
    shares[:, shown], cmap="YlGnBu", vmin=0.0, aspect="auto", interpolation="nearest"
)
panels["shares"].set_xticks(np.arange(len(shown)), shown)
panels["shares"].set_yticks(np.arange(len(shares)))
panels["shares"].set(xlabel="state", ylabel="recording")
figure.colorbar(image, ax=panels["shares"], label="share of the time")
figure.savefig(options.output, dpi=100)
if actions is not None:
    print(f"{100 * display.agreement:.1f} % of the steps are in the state of their action")
