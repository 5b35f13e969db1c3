"""
Which emission, which similarity?
=================================

Days at a stock exchange are calm or nervous, and a calm day is seldom followed by a very nervous
one. What is the distribution of a day's numbers, given its kind? Does it help to model that similar
kinds follow each other? Cross-validation of a pipeline answers both questions.
"""

# %%
# Three numbers a day
# -------------------
#
# A sample file of matplotlib has four years of data for one share. The columns are the return of
# each day, the logarithm of the range between its lowest and highest price, and the logarithm of
# the number of shares sold. A sequence is a quarter of a year, so whole quarters are held out.

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import cbook

from skdp.data import SequencePanel

prices = np.load(cbook.get_sample_data("goog.npz", asfileobj=False))["price_data"]
days = pd.DataFrame(
    {
        "return": np.diff(np.log(prices["adj_close"])),
        "range": np.log(np.log(prices["high"] / prices["low"]))[1:],
        "volume": np.log(prices["volume"][1:]),
    },
    index=pd.DatetimeIndex(prices["date"][1:]),
)
days["quarter"] = days.index.to_period("Q").astype(str)
panel = SequencePanel.from_frame(days, by="quarter")
print(panel)

# %%
# A pipeline
# ----------
#
# The columns have different units. :class:`~skdp.preprocessing.PanelTransformer` applies a
# scikit-learn scaler to sequences; in a pipeline it learns means and standard deviations from the
# training quarters alone. Scores are then log densities of scaled numbers, with the same scale for
# all models.

from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdp.emissions import GaussianEmission, StudentTEmission
from skdp.preprocessing import PanelTransformer
from skdp.sequence import HDPHMMLT, EmissionSimilarity, GaussianSimilarity

model = HDPHMMLT(25, max_iter=200, random_state=0)
pipeline = make_pipeline(PanelTransformer(StandardScaler()), model)

full, diagonal = GaussianEmission(), GaussianEmission(covariance_type="diag")
settings = {
    "Student t, full": (StudentTEmission(degrees_of_freedom="auto"), None),
    "Gaussian, diagonal": (diagonal, None),
    "Gaussian, full": (full, None),
    "full, similar locations": (full, GaussianSimilarity()),
    "full, similar emissions": (full, EmissionSimilarity()),
}
folds = KFold(6, shuffle=True, random_state=0)
scores = {}
for name, (emission, similarity) in settings.items():
    pipeline.set_params(hdphmmlt__emission=emission, hdphmmlt__similarity=similarity)
    with warnings.catch_warnings(action="ignore"):  # some of the thirty fits have not converged
        scores[name] = cross_val_score(pipeline, panel, cv=folds)
    print(f"{name:24s} {scores[name].mean():.3f} nats a day")

# %%
# Results
# -------
#
# Full covariances gain most, because volume and range rise together even within one kind of day.
# Heavy tails with learned degrees of freedom gain nothing; with two, the default, they would lose
# more than diagonal covariances do. Similarities may gain a little, hardly more than their standard
# error over six folds. :class:`~skdp.sequence.GaussianSimilarity` gives each state a location, and
# moves between nearby states are more probable; :class:`~skdp.sequence.EmissionSimilarity` treats
# states as similar if their distributions overlap. The picture on the right shows the kinds of days
# of the last model.

fitted = pipeline.fit(panel)
scaled, last = pipeline[0].transform(panel), pipeline[-1]
states = np.concatenate(last.predict(scaled))
kinds = np.unique(states)
kinds = kinds[np.argsort(last.emission_.means[kinds, 1])]  # by their range
rank = [np.flatnonzero(kinds == state)[0] for state in states]

figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 4.2), layout="constrained", width_ratios=[1.0, 1.6]
)
gains = np.array([score - scores["Gaussian, full"] for score in scores.values()])
places = np.arange(len(scores))
error = gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
left.errorbar(gains.mean(axis=1), places, xerr=error, fmt="o", color="#0072B2", capsize=4)
left.axvline(0, color="#BBBBBB", zorder=0)
left.set_yticks(places, list(scores))
left.set(xlabel="nats a day more than full Gaussians", title="Held-out quarters")
shades = plt.get_cmap("viridis")(np.linspace(0, 1, len(kinds)))
right.scatter(days.index, 100 * np.exp(days["range"]), c=shades[rank], s=9)
right.set_yscale("log")
right.set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
right.minorticks_off()
years = pd.to_datetime([f"{year}-01-01" for year in range(2005, 2009)])
right.set_xticks(years, years.year)
right.set(ylabel="range of the day in %", title=f"{len(kinds)} kinds of days, from calm to nervous")
figure.savefig("trading_days.png", dpi=100)
