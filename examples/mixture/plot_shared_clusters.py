"""
Clusters that groups share
==========================

Six cellars hold bottles of three cultivars of wine, but three of the cellars have none of the
third. A mixture of groups finds the kinds of wine, which all cellars share, and the share of each
kind in a cellar.
"""

# %%
# Six cellars
# -----------
#
# The bottles come from scikit-learn's wine data, with three of the measurements; the cellars are
# drawn at random. A group is an array of rows, and is one sample.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from skdp.mixture import DPMixture, HDPMixture

wine = load_wine(as_frame=True)
rows = wine.data[["alcohol", "flavanoids", "color_intensity"]].to_numpy()
cultivar = wine.target.to_numpy()
cellar = np.random.default_rng(0).permuted(np.arange(len(rows)) % 6)
is_left_out = (cultivar == 2) & (cellar < 3)
members = [np.flatnonzero((cellar == j) & ~is_left_out) for j in range(6)]
groups = [rows[where] for where in members]
print("bottles:", [len(group) for group in groups])

# %%
# One mixture for all, one for each, or shared components
# -------------------------------------------------------
#
# A mixture of all bottles ignores the cellars. One mixture for each cellar has about thirty bottles
# to learn from, and its components are unrelated to those of the others. In the third model, a
# hierarchical Dirichlet process, cellars share components but not their weights.

pooled = DPMixture(random_state=0).fit(np.concatenate(groups))
alone = [DPMixture(random_state=0).fit(group) for group in groups]
shared = HDPMixture(random_state=0).fit(groups)
shares = shared.transform(groups)
print("one mixture:", pooled.n_components_, "components")
print("one for each cellar:", [model.n_components_ for model in alone])
print("shared:", shared.n_components_)
print(shares.round(2))

# %%
# Shares of a cellar
# ------------------
#
# Bars are the shares of the components in each cellar, crosses the true shares of the cultivars: a
# component belongs to the cultivar of most of its bottles.

labels = np.concatenate(shared.predict(groups))
truth = cultivar[np.concatenate(members)]
counts = np.array([np.bincount(truth[labels == k], minlength=3) for k in range(shares.shape[1])])
true_shares = np.array([np.bincount(cultivar[m], minlength=3) / len(m) for m in members])
colors = ["#0072B2", "#E69F00", "#009E73"]

figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
everything = np.concatenate(groups)
for k, marker in enumerate("o^s"):
    own = counts[labels].argmax(axis=1) == k
    axes[0].scatter(
        *everything[own][:, 1:].T, s=22, marker=marker, color=colors[k], label=f"cultivar {k + 1}"
    )
axes[0].set(xlabel="flavanoids", ylabel="color intensity", title="components, all cellars")
axes[0].legend()
places = np.arange(6)
for k in range(3):
    of_cultivar = shares[:, (counts.argmax(axis=1) == k) & (counts.sum(axis=1) > 0)].sum(axis=1)
    axes[1].bar(places + 0.27 * (k - 1), of_cultivar, width=0.25, color=colors[k])
    axes[1].plot(places + 0.27 * (k - 1), true_shares[:, k], "kx")
axes[1].set_xticks(places, [f"cellar {j + 1}" for j in places])
axes[1].set(ylabel="share", title="shares (bars) and the truth (crosses)")
figure.savefig("shared_clusters.png", dpi=100)
