"""
Regimes of a market
===================

A sticky infinite hidden Markov model divides 32 years of two stock indices into regimes: periods in
which the indices have the same volatility and the same correlation. Neither the number of regimes
nor their dates are given. The baseline is a mixture of Gaussians, which ignores the order of
months.
"""

# %%
# Monthly returns
# ---------------
#
# A sample file of matplotlib has the closing prices of each month from January 1990 to June 2022,
# with rows of dividends in between, which are dropped. The series are log returns in percent. A
# data frame is one sequence; its index holds the dates, and its columns hold the names.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import cbook

file = cbook.get_sample_data("Stocks.csv", asfileobj=False)
prices = pd.read_csv(file, skiprows=1, index_col="Date", parse_dates=True)
prices = prices.loc[prices.index.day == 1, ["^GSPC", "^IXIC"]].dropna()
prices.columns = ["S&P 500", "NASDAQ"]
returns = 100 * np.log(prices).diff().iloc[1:]
print(f"{len(returns)} months; standard deviations in percent:")
print(returns.std().round(1).to_string())

# %%
# The fit
# -------
#
# The default Gaussian states have full covariances: a regime consists of the volatility of each
# index and their correlation. A regime should last months or years, so staying has a prior weight
# of 50, and all moves together have a weight of 1. Both can be learned (``stickiness="auto"``), but
# with 389 months the chains then disagree on the length of a regime. Four chains with these
# settings agree.

from skdp.sequence import HDPHMMLT

settings = {"stickiness": 50.0, "transition_concentration": 1.0, "n_chains": 4, "random_state": 0}
model = HDPHMMLT(20, **settings).fit(returns)
states = model.predict(returns)

begins = np.flatnonzero(np.diff(states)) + 1
print("from     to       months  state   standard deviations   correlation")
for months in np.split(np.arange(len(states)), begins):
    first, last = returns.index[months[[0, -1]]].strftime("%Y-%m")
    (a, c), (_, b) = np.cov(returns.iloc[months].T)
    print(
        f"{first}  {last}  {len(months):6d} {states[months[0]]:6d} "
        f"{np.sqrt(a):10.1f} {np.sqrt(b):10.1f} {c / np.sqrt(a * b):13.2f}"
    )

# %%
# The indices move a lot until spring 1992, little for four years, and more again until late 1998.
# Then the NASDAQ diverges: during the internet bubble and its end it is half again as volatile as
# at any other time, while the S&P 500 is no more volatile than before. Calm returns in 2003 and
# ends in 2007, the financial crisis lasts two years, and volatility returns in 2020. The ten years
# in between are a separate regime, less calm than earlier calm periods, in which the two indices
# move nearly together. The years around 1991, 1997, 2002, 2008 and 2021 belong to one regime, which
# a list of change points would not show. With other seeds, most changes move by a month or two, and
# the start of the bubble by up to eight: ``model.predict_proba`` gives the uncertainty of each
# month.
#
# Comparison with the baseline
# ----------------------------
#
# The states of a Gaussian mixture are of the same kind, but months are independent: a quiet month
# during a crisis counts as calm, and there are a hundred changes. The log density of future months,
# given the past, measures the quality of both descriptions: the regimes gain about .1 nats per
# month over the best mixture. The model predicts the volatility of returns, not the returns.

from sklearn.mixture import GaussianMixture

print("nats per month    regimes   mixtures with 1, 2, 3 and 4 components")
for year in ("2006", "2010", "2014"):
    past, future = returns[:year], returns[str(int(year) + 1) :]
    score = HDPHMMLT(20, **settings).fit(past).score(future)
    mixtures = [GaussianMixture(k, n_init=5, random_state=0).fit(past) for k in range(1, 5)]
    others = " ".join(f"{mixture.score(future):7.2f}" for mixture in mixtures)
    print(f"after {year} {score:13.2f}   {others}")

mixture = GaussianMixture(len(np.unique(states)), n_init=5, random_state=0).fit(returns)
components = mixture.predict(returns)
print(f"{len(begins)} changes of regime, {np.count_nonzero(np.diff(components))} of component")

# %%
# The picture
# -----------
#
# The returns are drawn above the regimes; below is the mixture, whose components have the colors
# of the regimes with which they share most months. On the right, a dot is a month; ellipses show
# two standard deviations of each regime.

from matplotlib.patches import Ellipse
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from skdp.inspection import StateSequenceDisplay

kinds = np.unique(states)
shared = contingency_matrix(components, states)
matched = kinds[linear_sum_assignment(-shared)[1]][components]

figure, axes = plt.subplot_mosaic(
    [["regimes", "months"], ["mixture", "months"]],
    figsize=(11, 5.5),
    layout="constrained",
    width_ratios=[2.2, 1],
    height_ratios=[5, 1.1],
)
display = StateSequenceDisplay.from_estimator(
    model, returns, show_observations=True, ax=axes["regimes"]
)
baseline = StateSequenceDisplay.from_predictions(matched, ax=axes["mixture"])
patches = dict(zip(display.labels_, display.legend_.get_patches(), strict=True))

for j in kinds:
    color = patches[f"state {j}"].get_facecolor()
    own = returns.to_numpy()[states == j]
    axes["months"].plot(*own.T, ".", color=color, markersize=4, alpha=0.7)
    variances, directions = np.linalg.eigh(np.cov(own.T))
    ellipse = Ellipse(
        own.mean(axis=0),
        *(4 * np.sqrt(variances)),
        angle=np.degrees(np.arctan2(directions[1, 0], directions[0, 0])),
        facecolor="none",
        edgecolor=color,
        linewidth=2.0,
        label=f"state {j}",
    )
    axes["months"].add_patch(ellipse)

januaries = np.flatnonzero((returns.index.month == 1) & (returns.index.year % 5 == 0))
for shown, name in ((display, "regimes"), (baseline, "mixture")):
    shown.legend_.remove()
    shown.ax_.set_yticks(shown.ax_.get_yticks(), [name], rotation=90, va="center")
    shown.ax_.set_xticks(januaries, returns.index.year[januaries])
    shown.ax_.set_xlabel("")
display.observations_ax_.set_ylabel("monthly return in %")
display.lines_[1].set_zorder(1)
axes["months"].set(xlabel="S&P 500, return in %", ylabel="NASDAQ, return in %")
axes["months"].spines[["top", "right"]].set_visible(False)
axes["months"].legend(loc="upper left", frameon=False)
figure.suptitle("Regimes of two stock indices, 1990 to 2022")
figure.savefig("market_regimes.png", dpi=100)
