"""
How long will the machine run?
==============================

A machine wears in stages. The stages are hidden, only a noisy reading is observed, and a machine
never improves. Five machines have run until they failed, which is little data. Does it help to
tell the model what we know: that wear has an order, that stages last, and the stage at a few
inspections?
"""

# %%
# Readings until failure
# ----------------------
#
# The readings are generated, with four stages of 60, 40, 25 and 12 hours on average. The noise is
# larger than the steps between consecutive stages.

import matplotlib.pyplot as plt
import numpy as np

LEVELS = np.array([0.0, 0.6, 1.4, 2.3])
HOURS = np.array([60, 40, 25, 12])


def run_machine(rng):
    """Return hourly readings until a machine fails, and its stages."""
    hours = 1 + rng.negative_binomial(8, 8 / (7 + HOURS))
    stages = np.repeat(np.arange(4), hours)
    return (LEVELS[stages] + rng.normal(size=len(stages))).reshape(-1, 1), stages


# %%
# What we know
# ------------
#
# With ``transitions="left-right"``, a state is never followed by a state with a lower number.
# :class:`~skdp.sequence.NegativeBinomialDuration` replaces geometric durations, of which the
# shortest is the most probable. With a duration, every state ends, and so the last one is followed
# by the first one: the machine is replaced. Inspections reveal the stage in 5 % of the hours: ``y``
# of ``fit`` holds the stages at these hours, and -1 at all others. There are six sets of five
# machines, to show the effect of chance; the score is that of thirty further machines.

import warnings

from skdp.sequence import HDPHMMLT, NegativeBinomialDuration

N_STATES = 6
order = np.triu(np.ones((N_STATES, N_STATES), dtype=bool))
order[-1, 0] = True
duration = {"duration": NegativeBinomialDuration(8, max_duration=150)}
settings = {
    "sticky": ({"stickiness": "auto"}, False),
    "sticky, in order": ({"stickiness": "auto", "transitions": "left-right"}, False),
    "durations": (duration, False),
    "durations, in order": ({**duration, "transitions": order}, False),
    "sticky, inspected": ({"stickiness": "auto"}, True),
    "durations, inspected": (duration, True),
}


def fit(lives, y=None, **parameters):
    """Return a model of some machines."""
    model = HDPHMMLT(N_STATES, max_iter=300, random_state=0, **parameters)
    with warnings.catch_warnings(action="ignore"):  # some of the 36 fits have not converged
        return model.fit(lives, y)


scores = {name: [] for name in settings}
for seed in range(6):
    rng = np.random.default_rng(seed)
    machines = [run_machine(rng) for _ in range(35)]
    readings = [machine[0] for machine in machines]
    inspected = [np.where(rng.random(len(own)) < 0.05, own, -1) for _, own in machines[:5]]
    for name, (parameters, has_labels) in settings.items():
        model = fit(readings[:5], inspected if has_labels else None, **parameters)
        scores[name].append(model.score(readings[5:]))
scores = {name: np.array(values) for name, values in scores.items()}
for name, values in scores.items():
    print(f"{name:20s} {values.mean():.3f} nats an hour")

# %%
# Neither the order nor durations alone help: five lives are enough to learn that states do not
# return to earlier ones. Together they gain a little with almost every set of machines. A few
# inspections gain more than anything else, with every set: without them, the model finds three
# stages and has one state for the last two; with them, it finds all four.

# %%
# A machine that still runs
# -------------------------
#
# ``filter_proba`` gives the probabilities of the stages from the readings up to each time; the
# means of stages turn them into a level of wear. The last model, with durations and inspections,
# was not trained on this machine. Its states are the stages: known states keep their numbers.

k = int(np.argmax([len(life) for life in readings[5:]])) + 5
life, stages = machines[k]
levels = model.filter_proba(life) @ model.emission_.means
print("means of stages 0 to 3:", *model.emission_.means[:4].ravel().round(1))
stage = np.concatenate(model.predict(readings[5:]))
right = stage == np.concatenate([own for _, own in machines[5:]])
print(f"hours of further machines whose stage is right: {right.mean():.0%}")

figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 4), layout="constrained", width_ratios=[1.0, 1.6]
)
for place, values in enumerate(scores.values()):
    gains = values - scores["sticky"]
    left.plot(gains, np.full(6, place), "o", color="#56B4E9")
    left.plot(gains.mean(), place, "|", color="black", markersize=18, markeredgewidth=2)
left.axvline(0, color="#BBBBBB", zorder=0)
left.set_yticks(range(6), list(scores))
left.invert_yaxis()
left.set(xlabel="nats an hour more than sticky", title="Held-out machines (bars: means)")
right.plot(life, ".", color="#999999", markersize=4, label="reading")
right.step(range(len(life)), LEVELS[stages], color="black", where="mid", label="truth")
right.plot(levels, color="#D55E00", label="as it could be told at the time")
right.set(xlabel="hour", ylabel="wear", title="A machine not seen before")
right.legend(loc="upper left")
figure.savefig("wear.png", dpi=100)
