r"""Words that NestedPitmanYorLM finds in text whose spaces were removed.

Single chains with the best words of their last sample, and four pooled chains with the words of
least risk, against the true words: F of tokens, boundaries and types. Two corpora: br-phono, 9,790
utterances of the Bernstein-Ratner corpus in phonemes (Brent and Cartwright, 1996), on which the
defaults were chosen, and the first sentences of the Brown corpus, on which nothing was. Then, on
the latter, what the knobs do, with one chain each. ``--collocations`` has the model with a level of
collocations instead. ``--known 0.01 0.1`` tells the fit, for a random share of the places between
characters, whether a word ends there; predictions do not see this.

Seconds are CPU times of one thread; a sweep's is the median of those after the annealing. Memory
is what a chain holds after its fit, and a stored sample.

    python benchmarks/word_segmentation.py --data DATA
    python benchmarks/word_segmentation.py --data DATA --collocations
    python benchmarks/word_segmentation.py --data DATA --corpora brown --lines 1000 \
        --seeds --groups --knobs
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
from report import mean_and_error, print_header, print_table, report_done
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from skdp.language import CollocationPitmanYorLM, NestedPitmanYorLM, strip_spaces
from skdp.metrics import segmentation_scores

FILES = {"br-phono": "br-phono.txt", "brown": "brown/train.txt"}
SEEDS = {
    "br-phono": (range(100, 115), range(1000, 1003)),
    "brown": (range(100, 102), range(100, 101)),
}
"""Of single chains and of four pooled ones."""

SEEDS_OF_COLLOCATIONS = {**SEEDS, "br-phono": (range(100, 105), range(1000, 1003))}

SINGLE = {"n_chains": 1, "predict_method": "viterbi"}
PRICES = 0.0, 0.2, 0.4, 0.6
KNOBS = (
    {"word_length": 4.0},
    {"word_length": 8.0},
    {"end_probability": 0.5},
    {"end_probability": 0.99},
)
COLUMNS = "chains", "token F", "boundary F", "type F", "words", "fit, s", "predict, s"


def read_corpus(path, n_lines):
    """Return strings without spaces, and their words."""
    texts = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    texts = texts[:n_lines]
    return strip_spaces(texts)[0], [text.split() for text in texts]


def known_cuts(true, share, seed):
    """Return for each string 1, 0 or -1 (unknown) for each place between two characters."""
    rng, found = np.random.default_rng(seed), []
    for words in true:
        ends = np.cumsum([len(word) for word in words])
        cuts = np.zeros(ends[-1] - 1, dtype=np.int64)
        cuts[ends[:-1] - 1] = 1
        found.append(np.where(rng.random(len(cuts)) < share, cuts, -1))
    return found


def fitted(kind, X, seed, y=None, **params):
    """Return a fitted model of a class and its CPU seconds."""
    begin = time.process_time()
    model = kind(random_state=seed, **params).fit(X, y)
    return model, time.process_time() - begin


def row_of(name, model, X, true, seconds):
    """Return a row of the table, and token F in percent."""
    begin = time.process_time()
    words = model.predict(X)
    taken = time.process_time() - begin
    scores = segmentation_scores(true, words)
    figures = [100.0 * f for f in (scores.token_f, scores.boundary_f, scores.type_f)]
    row = [
        name,
        *(f"{figure:.1f}" for figure in figures),
        sum(map(len, words)),
        "" if seconds is None else f"{seconds:.1f}",
        f"{taken:.2f}",
    ]
    report_done(row)
    return row, figures[0]


def print_chains(kind, X, true, seeds, groups):
    """Print the rows of single and of pooled chains."""
    rows, found = [], {"single": [], "pooled": []}
    for seed in seeds:
        model, seconds = fitted(kind, X, seed, **SINGLE)
        row, f = row_of(f"one, seed {seed}", model, X, true, seconds)
        rows.append(row)
        found["single"].append(f)
    for seed in groups:
        model, seconds = fitted(kind, X, seed)
        row, f = row_of(f"four, seed {seed}", model, X, true, seconds)
        rows.append(row)
        found["pooled"].append(f)
    print_table(COLUMNS, rows)
    for name, values in found.items():
        if values:
            print(f"\n{name}: mean token F {mean_and_error(values)} of {len(values)}")


def print_known(kind, X, true, shares, seeds):
    """Print what known cuts are worth: one chain each, words of least risk."""
    rows = []
    for share in (0.0, *shares):
        for seed in seeds:
            y = known_cuts(true, share, seed) if share else None
            model, seconds = fitted(kind, X, seed, y, n_chains=1)
            rows.append(row_of(f"{share:.0%} known, seed {seed}", model, X, true, seconds)[0])
    print_table(COLUMNS, rows)


def print_knobs(kind, X, true, seed):
    """Print what other parameters make of a corpus: one chain each, words of least risk."""
    rows = []
    for knob in ({}, *KNOBS):
        model, seconds = fitted(kind, X, seed, n_chains=1, **knob)
        for price in (0.2,) if knob else PRICES:
            name = ", ".join(f"{n}={value}" for n, value in {**knob, "word_price": price}.items())
            model.set_params(word_price=price)
            rows.append(row_of(f"one, {name}", model, X, true, seconds)[0])
    print()
    print_table(COLUMNS, rows)


def held_bytes(thing, seen):
    """Return the bytes of all arrays that an object of ours holds, views counted once."""
    if isinstance(thing, np.ndarray):
        while isinstance(thing.base, np.ndarray):
            thing = thing.base
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if isinstance(thing, list | tuple):
        return sum(held_bytes(part, seen) for part in thing)
    if type(thing).__module__.startswith("skdp"):
        return sum(held_bytes(part, seen) for part in vars(thing).values())
    return 0


def print_cost(kind, X, seed):
    """Print the seconds of a sweep and the memory of a chain."""
    model = kind(n_chains=1, random_state=seed)
    times, begin = [], time.process_time()
    for state in model.iter_sweeps(X):
        sampler = state._sampler
        times.append(time.process_time() - begin)
        begin = time.process_time()
    chain = held_bytes(sampler, set()) / sum(map(len, X))
    sample = sampler.model()
    of_types = held_bytes(sample, set()) / len(sample.tokens)
    print(
        f"\na sweep: {np.median(times[len(times) // 2 :]):.3f} s, "
        f"{np.median(times[1:6]):.3f} s while annealing; "
        f"{chain:.0f} bytes a character, {of_types:.0f} bytes a word type in a stored sample"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with language/")
    parser.add_argument("--corpora", nargs="*", choices=FILES, default=list(FILES))
    parser.add_argument("--lines", type=int, default=5000, help="of Brown")
    parser.add_argument("--seeds", type=int, nargs="*", help="single chains")
    parser.add_argument("--groups", type=int, nargs="*", help="seeds of four pooled chains")
    parser.add_argument("--knobs", action="store_true", help="on Brown")
    parser.add_argument("--known", type=float, nargs="*", help="shares of places")
    parser.add_argument("--collocations", action="store_true", help="a level of collocations")
    options = parser.parse_args()
    kind = CollocationPitmanYorLM if options.collocations else NestedPitmanYorLM
    print_header()
    print("load of the machine: " + " ".join(f"{x:.1f}" for x in os.getloadavg()))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for corpus in options.corpora:
            is_brown = corpus == "brown"
            path = Path(options.data, "language", FILES[corpus])
            X, true = read_corpus(path, options.lines if is_brown else None)
            n_characters, n_words = sum(map(len, X)), sum(map(len, true))
            print(f"\n{corpus}: {len(X)} strings, {n_characters} characters, {n_words} words\n")
            kind(n_chains=1, max_iter=2, anneal=None).fit(X[:50])  # compiles
            seeds, groups = (SEEDS_OF_COLLOCATIONS if options.collocations else SEEDS)[corpus]
            if options.seeds is not None:
                seeds = options.seeds
            if options.groups is not None:
                groups = options.groups
            if options.known is not None:
                print_known(kind, X, true, options.known, seeds)
                continue
            print_chains(kind, X, true, seeds, groups)
            if is_brown and options.knobs:
                print_knobs(kind, X, true, 100)
            print_cost(kind, X, 0)


if __name__ == "__main__":
    main()
