"""
Eruptions: clusters, their number, and what is uncertain
========================================================

The data are generated eruptions of a geyser that resemble Old Faithful: short eruptions after short
waits, long ones after long waits, and a few of another kind. A mixture infers the number of kinds,
and the probability that two eruptions belong together.
"""

# %%
# Three hundred eruptions
# -----------------------
#
# Two kinds are common. A third kind, a dozen long eruptions after short waits, is rare.

import matplotlib.pyplot as plt
import numpy as np

from skdp.inspection import ClusterDisplay, CoAssignmentDisplay, ComponentCountDisplay
from skdp.mixture import PitmanYorMixture

rng = np.random.default_rng(0)
kinds = [
    ((2.05, 54.0), ((0.07, 0.45), (0.45, 34.0)), 100),
    ((4.3, 80.0), ((0.17, 0.95), (0.95, 36.0)), 188),
    ((4.1, 57.0), ((0.05, 0.1), (0.1, 9.0)), 12),
]
X = np.concatenate([rng.multivariate_normal(*kind) for kind in kinds])

# %%
# A fit
# -----
#
# Columns need no scaling. Two chains agree on the number of components if they mix; samples of both
# are pooled.

model = PitmanYorMixture(n_chains=2, random_state=0).fit(X)
print(f"{model.n_components_} components of", np.bincount(model.labels_), "eruptions")
print("mean number of components, by chain:", model.trace_["n_components"].mean(axis=1).round(2))

# %%
# Three pictures
# --------------
#
# The lines enclose 50, 80 and 95 % of the predictive density. In the matrix, each pixel shows how
# often two eruptions were in the same component: eruptions of the rare kind are nearly always
# together, and few others are with them. The bars count kept sweeps by their number of components,
# which is larger when single eruptions temporarily form separate components.

fig = plt.figure(figsize=(12, 4.6), layout="constrained")
left, middle, right = fig.subplots(1, 3, width_ratios=(5, 4, 2.4))
display = ClusterDisplay.from_estimator(model, X, labels=model.labels_, ax=left)
display.legend_.remove()
left.set(xlabel="eruption (minutes)", ylabel="wait before (minutes)", title="Clusters and density")
CoAssignmentDisplay.from_estimator(model, ax=middle)
middle.set_title("Which eruptions are together?")
ComponentCountDisplay.from_estimator(model, ax=right)
right.set_title("How many kinds?")
plt.show()
