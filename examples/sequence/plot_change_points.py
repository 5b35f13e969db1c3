"""
Change points of a series
=========================

A sticky infinite hidden Markov model divides a series into homogeneous stretches and identifies
stretches of the same kind. Neither the number of change points nor the number of kinds is given.
"""

# %%
# Daily returns of a share
# ------------------------
#
# The data are the prices of one share from August 2004 to October 2008, a sample file of
# matplotlib. The mean of the daily returns changes little over time, but their spread does: there
# are calm and nervous times. The series, a matrix of one column, holds log returns in percent.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import cbook

prices = np.load(cbook.get_sample_data("goog.npz", asfileobj=False))["price_data"]
dates = prices["date"][1:]
series = 100 * np.diff(np.log(prices["adj_close"])).reshape(-1, 1)
print(f"{len(series)} days, standard deviation {series.std():.2f} %")

# %%
# The fit
# -------
#
# An array is one sequence. Twenty is an upper bound on the number of states. `stickiness` is the
# prior weight of staying, `transition_concentration` that of all moves together: at 200 to 1, it
# takes several days of evidence to outweigh the cost of a change. With smaller values, short
# stretches get their own states; ``stickiness="auto"`` learns a small value, and single days of
# large moves become a kind that is visited often and left immediately.

from skdp.sequence import HDPHMMLT

model = HDPHMMLT(20, stickiness=200.0, transition_concentration=1.0, random_state=0)
states = model.fit(series).predict(series)

begins = np.flatnonzero(np.diff(states)) + 1
stretches = list(zip([0, *begins], [*begins, len(states)], strict=True))
print(f"{model.n_active_components_} kinds of days, {len(begins)} change points")
print("      from          to  days  kind  standard deviation")
for begin, end in stretches:
    spread = f"{series[begin:end].std():.2f} %"
    print(f"{dates[begin]}  {dates[end - 1]} {end - begin:5d} {states[begin]:5d} {spread:>10s}")

# %%
# The picture
# -----------
#
# The plots show the price, with the days of the most nervous kind in the background; the returns,
# with bands of two standard deviations of their stretch; and the probability that a day is nervous,
# given the whole series. Most nervous stretches of a week or two lie around quarterly figures; the
# last one is the fall of 2008.

kinds = np.unique(states)
nervous = kinds[np.argmax([series[states == j].std() for j in kinds])]
probability = model.predict_proba(series)[:, nervous]

figure, (top, middle, bottom) = plt.subplots(
    3, figsize=(10, 6.5), sharex=True, layout="constrained", height_ratios=[2.0, 2.0, 0.8]
)
days = np.arange(len(series))
top.semilogy(days, prices["adj_close"][1:], color="black", linewidth=1.0)
top.set_yticks([100, 200, 400, 700], ["100", "200", "400", "700"])
top.minorticks_off()
middle.plot(days, series, color="black", linewidth=0.6)
for begin, end in stretches:
    is_nervous = states[begin] == nervous
    color = "#E69F00" if is_nervous else "#56B4E9"
    if is_nervous:
        top.axvspan(begin - 0.5, end - 0.5, color=color, alpha=0.35, linewidth=0)
    band = 2 * series[begin:end].std()
    middle.fill_between([begin - 0.5, end - 0.5], -band, band, color=color, alpha=0.45, linewidth=0)
bottom.fill_between(days, probability, color="#E69F00", step="mid", linewidth=0)
top.set(ylabel="price in $", title="Calm and nervous times of a share")
middle.set(ylabel="daily return in %")
bottom.set(ylabel="P(nervous)", ylim=(0, 1), xlim=(-0.5, len(series) - 0.5))
years = np.flatnonzero(np.diff(dates.astype("datetime64[Y]").astype(int))) + 1
bottom.set_xticks(years, dates[years].astype("datetime64[Y]").astype(str))
figure.savefig("change_points.png", dpi=100)
