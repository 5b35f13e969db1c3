"""
How many kinds of wine?
=======================

The data are thirteen chemical measurements of 178 bottles from three cultivars of one Italian
region. A mixture that is not given the number of components finds the cultivars, the posterior of
their number, and the regions in which it would expect something new.
"""

# %%
# A mixture of two columns
# ------------------------
#
# We use the first two principal components of the standardized measurements. The fit does not use
# the cultivars.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from skdp.inspection import ClusterTreeDisplay
from skdp.mixture import PitmanYorMixture

wine = load_wine()
X = PCA(2, random_state=0).fit_transform(StandardScaler().fit_transform(wine.data))
model = PitmanYorMixture(point_estimate="vi", n_chains=2, random_state=0).fit(X)
index = adjusted_rand_score(wine.target, model.labels_)
print(f"{model.n_components_} components of", np.bincount(model.labels_), "bottles")
print(f"adjusted Rand index against the cultivars: {index:.2f}")

# %%
# Density, clusters, and novelty
# ------------------------------
#
# The lines are contours of the predictive density, averaged over all sampled partitions. The gray
# shade is the probability that a bottle would be of an unseen kind: it increases away from the
# components. Colors show the components, and markers show the true cultivars.

low, high = X.min(axis=0) - 2.0, X.max(axis=0) + 2.0
x, y = np.meshgrid(np.linspace(low[0], high[0], 160), np.linspace(low[1], high[1], 160))
grid = np.column_stack([x.ravel(), y.ravel()])
density = model.score_samples(grid).reshape(x.shape)
novelty = model.novelty(grid).reshape(x.shape)

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 5), width_ratios=(2, 1), layout="constrained")
shade = left.contourf(x, y, novelty, levels=np.linspace(0, 1, 11), cmap="Greys", alpha=0.6)
fig.colorbar(shade, ax=left, label="probability of a new component")
top = density.max()
left.contour(
    x,
    y,
    density,
    levels=top - np.arange(8.0, 0.0, -1.0),
    colors="0.25",
    linewidths=0.8,
    linestyles="solid",
)
colors = np.array(["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"])
for cultivar, marker in enumerate("o^s"):
    rows = wine.target == cultivar
    left.scatter(
        *X[rows].T, marker=marker, color=colors[model.labels_[rows] % 7], edgecolor="white",
        linewidth=0.6, label=f"cultivar {cultivar + 1}",
    )  # fmt: skip
legend = left.legend(loc="upper right")
for handle in legend.legend_handles:
    handle.set_facecolor("0.4")  # colors are those of components
left.set(xlabel="first principal component", ylabel="second", title="Bottles by component")
right.bar(np.arange(len(model.n_components_distribution_)), model.n_components_distribution_)
right.set(xlabel="number of components", ylabel="posterior probability", title="How many?")
right.set_xlim(0.4, None)

plt.show()

# %%
# As many clusters as cultivars
# -----------------------------
#
# With all 13 columns there are a few components more than cultivars. The tree shows in which order
# their merges lose the evidence of the rows. Cut into three, it finds the cultivars.

full = PitmanYorMixture(random_state=0).fit(StandardScaler().fit_transform(wine.data))
ClusterTreeDisplay.from_estimator(full)
for labels in (full.labels_, full.labels_at(3)):
    index = adjusted_rand_score(wine.target, labels)
    print(f"{labels.max() + 1} clusters, adjusted Rand index {index:.2f}")

plt.show()
