"""
Appliances behind one meter
===========================

A meter shows the power consumption of a house, but not of its appliances. Each appliance is on or
off, and the powers of active appliances add up. :class:`~skdp.sequence.FactorialHMM` finds such
binary causes: their number, the power that each adds, and the times when it was on.
"""

# %%
# A month of readings
# -------------------
#
# The generated readings are of real and reactive power, every half hour for thirty days. Each
# appliance is switched on with its own probability, and then stays on for a while.

import matplotlib.pyplot as plt
import numpy as np

from skdp.sequence import FactorialHMM

APPLIANCES = {  # real and reactive power, probabilities of being switched on and off
    "fridge": (120, 60, 0.15, 0.30),
    "kettle": (2000, 0, 0.02, 0.60),
    "washer": (500, 300, 0.01, 0.08),
    "television": (90, 10, 0.02, 0.05),
    "heater": (1000, 20, 0.01, 0.04),
}
N_STEPS = 30 * 48
table = np.array(list(APPLIANCES.values()))
power, switch_on, switch_off = table[:, :2], table[:, 2], table[:, 3]

rng = np.random.default_rng(0)
is_on = np.zeros((N_STEPS, len(table)), dtype=bool)
for t in range(1, N_STEPS):
    is_changed = rng.random(len(table)) < np.where(is_on[t - 1], switch_off, switch_on)
    is_on[t] = is_on[t - 1] ^ is_changed
background = np.array([60.0, 60.0])
readings = background + is_on @ power + rng.normal(size=(N_STEPS, 2)) * [12.0, 6.0]

# %%
# The fit
# -------
#
# Eight is an upper bound. Superfluous factors are never on, or only at one or two steps: factors
# that are on less than a hundredth of the time are omitted here. The model is given neither names
# nor powers of appliances; known powers could be passed as `weights` of a `BinaryFactorEmission`.
# The unit of the readings does not matter.

model = FactorialHMM(8, max_iter=400, random_state=0).fit(readings)
n_found = int(np.sum(model.factor_shares_ > 0.01))  # they are sorted by their shares
found = model.weights_[1 : n_found + 1]
print(f"{n_found} appliances; watts and reactive power of each:")
print(np.round(found).astype(int))

# %%
# Each factor gets the name of the appliance with the most similar power. Factors and truth agree at
# almost all times:

names = list(APPLIANCES)
nearest = [int(np.argmin(np.abs(power - row).sum(axis=1))) for row in found]
activity = model.predict(readings)[:, :n_found]
for k, row in zip(nearest, activity.T, strict=True):
    right = np.mean(row == is_on[:, k])
    print(f"{names[k]:10s} is on {row.mean():.3f} of the time, {right:.3f} of the steps are right")

# %%
# Two days
# --------
#
# The plot stacks the powers of the inferred active factors; the black line is the meter.

begin, end = 48 + 24, 3 * 48 + 24
hours = np.arange(end - begin) / 2
colors = dict(zip(names, ["#56B4E9", "#D55E00", "#009E73", "#CC79A7", "#E69F00"], strict=True))
figure, (top, bottom) = plt.subplots(
    2, figsize=(10, 5.5), sharex=True, layout="constrained", height_ratios=[2.2, 1.0]
)
shares = (activity * found[:, 0])[begin:end]
order = np.argsort(-activity.mean(axis=0))
top.stackplot(
    hours,
    np.full(len(hours), model.weights_[0, 0]),
    *shares[:, order].T,
    labels=["background", *(names[nearest[f]] for f in order)],
    colors=["#BBBBBB", *(colors[names[nearest[f]]] for f in order)],
    step="post",
)
top.step(hours, readings[begin:end, 0], color="black", linewidth=0.9, where="post", label="meter")
top.set(ylabel="watts", title="What is on?", xlim=(0, hours[-1]), ylim=(0, 3000))
top.legend(loc="upper left", ncols=4)
for place, f in enumerate(order):
    k = nearest[f]
    for row, height, color in (
        (activity[:, f], 0.1, colors[names[k]]),
        (is_on[:, k], -0.3, "black"),
    ):
        edges = np.flatnonzero(np.diff([0, *row[begin:end], 0]))
        bars = [(a / 2, (b - a) / 2) for a, b in edges.reshape(-1, 2)]
        bottom.broken_barh(bars, (place + height, 0.3 if height > 0 else 0.12), color=color)
bottom.set_yticks(range(len(order)), [names[nearest[f]] for f in order])
bottom.set(xlabel="hours", title="Found (colors) and true (black)")
figure.savefig("appliances.png", dpi=100)
