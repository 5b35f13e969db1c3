"""
How long will the machine run?
==============================

A machine wears in stages. The stages are hidden, only a noisy reading is observed, and a machine
never improves. Five machines have run until they failed, which is little data. Does it help to add
prior knowledge to the model, namely that wear has an order and that stages last?
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
# Prior knowledge
# ---------------
#
# :class:`~skdp.sequence.FixedSimilarity` takes a matrix with one row for each source state: here
# later states have the largest similarity, and earlier states are unreachable.
# :class:`~skdp.sequence.NegativeBinomialDuration` replaces geometric durations, of which the
# shortest is the most probable. The order requires ordered initial states: `init` divides each life
# into six parts. There are six sets of five machines, to show the effect of chance; the score is
# that of thirty further machines.

import warnings

from skdp.sequence import HDPHMMLT, FixedSimilarity, NegativeBinomialDuration

N_STATES = 6
places = np.arange(N_STATES)
order = FixedSimilarity(np.where(places[:, np.newaxis] <= places, 1.0, 1e-6))
duration = NegativeBinomialDuration(8, max_duration=150)
settings = {
    "sticky": {"stickiness": "auto"},
    "sticky, in order": {"stickiness": "auto", "similarity": order},
    "durations": {"duration": duration},
    "durations, in order": {"duration": duration, "similarity": order},
}


def fit(lives, **parameters):
    """Return a model of some machines."""
    begin = [np.arange(len(life)) * N_STATES // len(life) for life in lives]
    model = HDPHMMLT(N_STATES, init=begin, max_iter=300, random_state=0, **parameters)
    with warnings.catch_warnings(action="ignore"):  # some of the 24 fits have not converged
        return model.fit(lives)


scores = {name: [] for name in settings}
for seed in range(6):
    rng = np.random.default_rng(seed)
    machines = [run_machine(rng) for _ in range(35)]
    readings = [machine[0] for machine in machines]
    for name, parameters in settings.items():
        model = fit(readings[:5], **parameters)
        scores[name].append(model.score(readings[5:]))
scores = {name: np.array(values) for name, values in scores.items()}
for name, values in scores.items():
    print(f"{name:20s} {values.mean():.3f} nats an hour")

# %%
# Durations gain a little with every set of machines. The order alone gains with one set of six and
# loses with the others, and in addition to durations it makes little difference: five lives are
# apparently enough to learn that states do not return to earlier ones.

# %%
# A machine that still runs
# -------------------------
#
# ``filter_proba`` gives the probabilities of the stages from the readings up to each time; the
# means of stages turn them into a level of wear. The last model was not trained on this machine.
# With five lives the model distinguishes three stages, not four: it has one state for the last two.

k = int(np.argmax([len(life) for life in readings[5:]])) + 5
life, stages = machines[k]
levels = model.filter_proba(life) @ model.emission_.means
print(
    "means of the stages found:",
    *np.sort(model.emission_.means[: model.n_active_components_].ravel()).round(1),
)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 4), layout="constrained", width_ratios=[1.0, 1.6]
)
for place, values in enumerate(scores.values()):
    gains = values - scores["sticky"]
    left.plot(gains, np.full(6, place), "o", color="#56B4E9")
    left.plot(gains.mean(), place, "|", color="black", markersize=18, markeredgewidth=2)
left.axvline(0, color="#BBBBBB", zorder=0)
left.set_yticks(range(4), list(scores))
left.invert_yaxis()
left.set(xlabel="nats an hour more than sticky", title="Held-out machines (bars: means)")
right.plot(life, ".", color="#999999", markersize=4, label="reading")
right.step(range(len(life)), LEVELS[stages], color="black", where="mid", label="truth")
right.plot(levels, color="#D55E00", label="as it could be told at the time")
right.set(xlabel="hour", ylabel="wear", title="A machine not seen before")
right.legend(loc="upper left")
figure.savefig("wear.png", dpi=100)
