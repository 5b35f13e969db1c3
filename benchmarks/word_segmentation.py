"""Words that NestedPitmanYorLM finds in text whose spaces were removed.

Single chains with the best words of their last sample, and pooled chains with the words of least
risk, against the true words: F of tokens, boundaries and types. Seconds are CPU times of one
thread; a sweep's is the median of those after the annealing.

    python benchmarks/word_segmentation.py --data br-phono.txt
    python benchmarks/word_segmentation.py --data brown/train.txt --lines 5000

br-phono.txt holds 9,790 utterances of the Bernstein-Ratner corpus in phonemes (Brent and
Cartwright, 1996), words apart by spaces.
"""

import argparse
import os
import time
import warnings

import numpy as np
from report import print_header, print_table
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from skdp.language import NestedPitmanYorLM, strip_spaces
from skdp.metrics import segmentation_scores


def row_of(name, model, X, true, seconds):
    begin = time.process_time()
    scores = segmentation_scores(true, model.predict(X))
    taken = time.process_time() - begin
    figures = scores.token_f, scores.boundary_f, scores.type_f
    return [name, *(f"{100 * f:.1f}" for f in figures), f"{seconds:.1f}", f"{taken:.2f}"], scores


def time_of_sweeps(X, seed, given):
    """Return the median CPU seconds of a sweep."""
    model = NestedPitmanYorLM(n_chains=1, random_state=seed, **given)
    times, begin = [], time.process_time()
    for _ in model.iter_sweeps(X):
        times.append(time.process_time() - begin)
        begin = time.process_time()
    return float(np.median(times[len(times) // 2 :])), float(np.median(times[1:6]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="a file with a sentence a line")
    parser.add_argument("--lines", type=int, default=None, help="only the first of them")
    parser.add_argument("--seeds", type=int, default=5, help="single chains")
    parser.add_argument("--groups", type=int, default=3, help="of four pooled chains")
    parser.add_argument("--set", nargs="*", default=[], help="parameters as name=number")
    options = parser.parse_args()
    given = {name: float(value) for name, value in (each.split("=") for each in options.set)}
    given = {
        name: int(v) if v == int(v) and name != "type_moves" else v for name, v in given.items()
    }
    with open(options.data, encoding="utf-8") as lines:
        texts = [line for line in lines.read().splitlines() if line.strip()][: options.lines]
    X, _ = strip_spaces(texts)
    true = [text.split() for text in texts]
    print_header()
    print("load of the machine: " + " ".join(f"{x:.1f}" for x in os.getloadavg()))
    print(f"{len(X)} strings, {sum(map(len, X))} characters, {sum(map(len, true))} words\n")
    rows, found = [], {"single": [], "pooled": []}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        NestedPitmanYorLM(n_chains=1, max_iter=2, anneal=None).fit(X[:50])  # compiles
        for seed in range(options.seeds):
            model = NestedPitmanYorLM(
                n_chains=1, predict_method="viterbi", random_state=seed, **given
            )
            begin = time.process_time()
            model.fit(X)
            seconds = time.process_time() - begin
            row, scores = row_of(f"one chain, seed {seed}", model, X, true, seconds)
            rows.append(row)
            found["single"].append(scores.token_f)
        for group in range(options.groups):
            model = NestedPitmanYorLM(random_state=100 + group, **given)
            begin = time.process_time()
            model.fit(X)
            seconds = time.process_time() - begin
            row, scores = row_of(f"four chains, seed {100 + group}", model, X, true, seconds)
            rows.append(row)
            found["pooled"].append(scores.token_f)
        print_table(["chains", "token F", "boundary F", "type F", "fit, s", "predict, s"], rows)
        for name, values in found.items():
            if values:
                print(f"\n{name}: mean token F {100 * np.mean(values):.2f} of {len(values)}")
        last, annealed = time_of_sweeps(X, 0, given)
        print(f"\na sweep: {last:.3f} s, {annealed:.3f} s while annealing")


if __name__ == "__main__":
    main()
