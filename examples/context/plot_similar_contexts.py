"""
Which columns matter?
=====================

A classifier based on similar contexts learns the importance of differences between rows, column by
column, and needs no order of the columns. The rows come from scikit-learn's wine data, with each
column in three bins, and have two additional columns of noise.
"""

# %%
# Categories
# ----------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from skdp.context import DistanceDependentCRPClassifier, HDPBackoffClassifier

wine = load_wine()
names = ["ash", "alcohol", "magnesium", "flavanoids", "color_intensity"]
rows = wine.data[:, [wine.feature_names.index(name) for name in names]]
bins = [np.digitize(column, np.quantile(column, [1 / 3, 2 / 3])) for column in rows.T]
noise = np.random.default_rng(0).integers(0, 3, (len(rows), 2))
X, y = np.column_stack([*bins, noise]), wine.target
names = [*names, "noise 1", "noise 2"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)

# %%
# Two classifiers
# ---------------
#
# :class:`~skdp.context.HDPBackoffClassifier` uses the columns in the given order, with the most
# important first, and this order is a poor one.

by_order = HDPBackoffClassifier(list(range(7)), max_iter=100, random_state=0)
similar = DistanceDependentCRPClassifier(max_iter=300, random_state=0)
for model in (by_order, similar):
    accuracy = model.fit(X_train, y_train).score(X_test, y_test)
    print(f"{type(model).__name__:32} {accuracy:.2f} correct")

# %%
# The cost of a difference
# ------------------------
#
# Two rows that differ in a column are less similar by a factor exp(-decay): a decay near 0 means
# that the column does not matter.

order = np.argsort(similar.decay_)
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
colors = np.where(order >= 5, "#999999", "#0072B2")
ax.barh([names[k] for k in order], similar.decay_[order], color=colors)
ax.set(xlabel="decay (posterior mean)", title="what it matters that two bottles differ")
figure.savefig("similar_contexts.png", dpi=100)
