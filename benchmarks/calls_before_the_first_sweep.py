"""How many of skdp's functions does a fit call before its first sweep?

A newcomer who follows X from `fit` to the first sweep reads these functions. Counts the calls of
functions and kernels of the package from Python, the files that they are in, the returns to a file
that was left before, and the depth of the stack, in tiny fits with one chain::

    python benchmarks/calls_before_the_first_sweep.py
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import skdp
from skdp.grammar import HDPPCFG
from skdp.language import HierarchicalPitmanYorLM, NestedPitmanYorLM
from skdp.mixture import PitmanYorMixture
from skdp.sequence import HDPHMMLT
from skdp.topics import SegmentedTopicModel

PACKAGE = str(Path(skdp.__file__).parent)


FIRST_STEPS = {("_chain.py", "advance"), ("_ascent.py", "step"), ("_coordinate_ascent.py", "step")}
"""Files and functions that do a step."""


class FirstStepError(Exception):
    """The first step has been reached."""


def count_calls(estimator, X):
    """Return calls, files, returns to a file that was left before, and the largest depth."""
    calls, files, depth, deepest = 0, [], 0, 0

    def trace(frame, event, _):
        nonlocal calls, depth, deepest
        path, name = frame.f_code.co_filename, frame.f_code.co_name
        if not path.startswith(PACKAGE):
            return
        if event == "call":
            if (Path(path).name, name) in FIRST_STEPS:
                raise FirstStepError
            calls += 1
            depth += 1
            deepest = max(deepest, depth)
            if not files or files[-1] != path:
                files.append(path)
        elif event == "return":
            depth -= 1

    sys.setprofile(trace)
    try:
        estimator.fit(X)
    except FirstStepError:
        pass
    finally:
        sys.setprofile(None)
    return calls, len(set(files)), len(files) - len(set(files)), deepest


def make_fits():
    """Return names, estimators and data."""
    rng = np.random.default_rng(0)
    documents = [[[0, 1, 0, 2], [3, 3]], [[3, 2, 1], [0, 0, 1]], [[2], [1, 3]]]
    sentences = [[0, 1, 2], [1, 0], [2, 2, 1]]
    return [
        (SegmentedTopicModel(2, max_iter=4, random_state=0), documents),
        (HDPHMMLT(3, max_iter=4, random_state=0), rng.normal(size=(40, 2))),
        (PitmanYorMixture(max_iter=4, random_state=0), rng.normal(size=(40, 2))),
        (HDPPCFG(3, max_iter=4, random_state=0), sentences),
        (HierarchicalPitmanYorLM(max_iter=4, random_state=0), sentences),
        (NestedPitmanYorLM(max_iter=40, n_chains=1, random_state=0), ["abcab", "bcabc", "cab"]),
    ]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(f"{'':26}{'calls':>7}{'files':>7}{'returns':>9}{'depth':>7}")
    for estimator, X in make_fits():
        type(estimator)(**estimator.get_params()).fit(X)  # compiled, and everything is imported
        calls, n_files, returns, depth = count_calls(estimator, X)
        print(f"{type(estimator).__name__:26}{calls:7}{n_files:7}{returns:9}{depth:7}")
