"""Windows and tables: mistakes and their messages."""

import numpy as np

from skdp.context import HDPBackoffFeatures
from skdp.mixture import DPMixture
from skdp.preprocessing import WindowFeatures

X = np.sin(np.arange(60) / 3)[:, np.newaxis]


def windows(features="convolutions", X=X):
    return WindowFeatures(20, features=features, random_state=0).fit(X)


def clusters():
    return DPMixture(max_iter=5, random_state=0).fit(X)


def chains(chains):
    return HDPBackoffFeatures(chains, max_iter=2).fit([["a", "b"], ["a", "c"]] * 10, [0, 1] * 10)
