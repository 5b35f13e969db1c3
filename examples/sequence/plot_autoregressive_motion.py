"""
Autoregressive motion
=====================

The tip of a limb moves about one place in three ways. Its position reveals little about the motion;
only the change from one position to the next does. States with Gaussian observations divide the
plane into places; autoregressive states find the motions.
"""

# %%
# A limb that circles
# -------------------
#
# The generated limb circles slowly to the left, circles fast to the right, or swings on a narrow
# ellipse. A motion lasts about fifty steps, then another one starts at the current position of the
# limb. All motions have the same center, and the positions are measured with noise.

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(4)
motions = ["slow, to the left", "fast, to the right", "narrow swing"]
speeds = np.array([0.15, -0.45, 0.3])
tilt = np.array([[0.8, 0.45], [0.45, 0.8]])
shapes = [np.eye(2), np.eye(2), tilt]  # images of the circle

n_steps = 2400
motion = np.zeros(n_steps, dtype=int)
tip = np.zeros((n_steps, 2))
position = np.array([1.0, 0.0])
for t in range(n_steps):
    if t and rng.random() < 1 / 50:
        motion[t] = (motion[t - 1] + rng.integers(1, 3)) % 3
    elif t:
        motion[t] = motion[t - 1]
    shape = shapes[motion[t]]
    x, y = np.linalg.solve(shape, position)  # on the circle
    angle = np.arctan2(y, x) + speeds[motion[t]] + 0.05 * rng.normal()
    radius = min(np.hypot(x, y), 1.3)
    radius += 0.1 * (1.0 - radius) + 0.05 * rng.normal()
    position = shape @ (radius * np.array([np.cos(angle), np.sin(angle)]))
    tip[t] = position + 0.02 * rng.normal(size=2)
print(f"{n_steps} steps, {np.count_nonzero(np.diff(motion)) + 1} motions one after the other")

# %%
# Two fits
# --------
#
# The two models differ only in their observations. With ``emission="autoregressive"``, each state
# predicts an observation from the previous one by its own linear map, plus noise;
# :class:`~skdp.emissions.AutoregressiveEmission` also supports more lags. Both models infer the
# number of states, but the Gaussian model uses all available states and issues a warning, because
# circles can be divided into any number of places. The adjusted Rand index compares states with the
# true motions: 1 is perfect, and 0 is expected by chance.

from sklearn.metrics import adjusted_rand_score

from skdp.sequence import HDPHMMLT

found, score, agreement = {}, {}, {}
for emission in ("gaussian", "autoregressive"):
    model = HDPHMMLT(20, emission=emission, stickiness="auto", max_iter=300, random_state=0)
    found[emission] = model.fit(tip).predict(tip)
    score[emission] = model.score(tip)
    agreement[emission] = adjusted_rand_score(motion, found[emission])
    print(
        f"{emission:>15s}: {model.n_active_components_} states, {score[emission]:.2f} nats a step, "
        f"adjusted Rand index {agreement[emission]:.2f}"
    )

# %%
# The maps of the states
# ----------------------
#
# The linear maps are in `emission_.coefs`. The angle of their complex eigenvalues is the speed of
# rotation, and their size shows whether the motion grows or fades.

for j in range(model.n_active_components_):
    value = np.linalg.eigvals(model.emission_.coefs[j]).astype(complex)[0]
    print(
        f"state {j}: turns by {abs(np.angle(value)):.2f} a step, size {abs(value):.2f}, "
        f"{100 * model.state_shares_[j]:.0f} % of the time"
    )

# %%
# The picture
# -----------
#
# The upper plots show the three states of the autoregressive model: the positions of the limb, and
# the flow along which the state expects it to move. The lower plot shows a part of the series, with
# the true motions and the states of both models.

from matplotlib.colors import ListedColormap

colors = ["#0072B2", "#E69F00", "#009E73", *plt.get_cmap("tab20").colors]
cmap = ListedColormap(colors[:20])
states = found["autoregressive"]
pairs = np.zeros((3, 20))
np.add.at(pairs, (motion, states), 1)

figure = plt.figure(figsize=(11, 8), layout="constrained")
grid = figure.add_gridspec(5, 3, height_ratios=[9, 3.5, 1, 1, 1])
places = np.linspace(-1.5, 1.5, 40)
x, y = np.meshgrid(places, places)
points = np.stack([x, y], axis=-1)
for k, name in enumerate(motions):
    j = pairs[k].argmax()
    axes = figure.add_subplot(grid[0, k])
    flow = points @ model.emission_.coefs[j].T + model.emission_.intercepts[j] - points
    axes.streamplot(x, y, flow[..., 0], flow[..., 1], color="0.6", linewidth=0.7, density=0.9)
    own = states == j
    axes.scatter(*tip[own].T, s=5, color=colors[j], linewidth=0)
    axes.set(title=name, xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal", xticks=[], yticks=[])

part = slice(0, 800)
steps = np.arange(n_steps)[part]
series = figure.add_subplot(grid[1, :])
series.plot(steps, tip[part, 0], color="black", linewidth=0.8, label="across")
series.plot(steps, tip[part, 1] - 2.6, color="0.5", linewidth=0.8, label="up")
series.set(yticks=[0, -2.6], yticklabels=["across", "up"], xticks=[])
series.margins(x=0)
names = {
    "motion": pairs.argmax(axis=1)[motion],
    f"autoregressive: {agreement['autoregressive']:.2f}": states,
    f"Gaussian: {agreement['gaussian']:.2f}": found["gaussian"],
}
for row, (name, values) in enumerate(names.items()):
    strip = figure.add_subplot(grid[2 + row, :], sharex=series)
    image = values[part][np.newaxis]
    extent = (-0.5, len(steps) - 0.5, 0, 1)
    strip.imshow(
        image, aspect="auto", cmap=cmap, vmin=-0.5, vmax=19.5, extent=extent, interpolation="none"
    )
    strip.set_yticks([0.5], [name])
    strip.tick_params(length=0, labelbottom=row == 2)
strip.set_xlabel("step")
figure.suptitle("One place, three ways to move")
figure.savefig("autoregressive_motion.png", dpi=100)
