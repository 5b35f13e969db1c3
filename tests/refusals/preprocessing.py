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


TABLE = r"""
windows(lambda w: [1e308, -1e308]) -> features must return numbers from -1e+100 to 1e+
windows(lambda w: -w[0, 0] * 1e200) -> features must return numbers from
windows(lambda w: []) -> features must return a number...got shape (0,)
windows(X=np.where(X == X[3], 1e300, X)) -> X must hold numbers up to 1e+120
windows("spectrum", X=1e200 * X) -> X must hold numbers up to 1e+120
windows().transform(1e200 * X) -> X must hold numbers up to 1e+120
windows().inverse_states(None, X) -> TypeError: states must be an array with an entry for each
windows().inverse_states(3, X) -> TypeError: states must be an array with an entry for each
windows().inverse_states([3, None], [X, X]) -> TypeError: states must be an array...or a list
clusters().explain($) for $ in 3 | "a" -> feature_names must hold 1 different names
chains([[9]]) -> chains[0]: X has 2 columns, from 0 to 1; got 9
chains([[0], ["b"]]) -> chains[1] has the name 'b', but X has no names
chains([[0, 0]]) -> chains[0] must have each column once
"""
