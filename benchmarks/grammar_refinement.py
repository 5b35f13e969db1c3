"""Refined treebank grammars: F1 and size by the number of subsymbols, and what is recovered.

`table`: F1 on dev.mrg, active rules and seconds of maximum likelihood, smoothed maximum likelihood,
the HDP (Liang et al. 2009, table 2), and cycles of splits and merges. `concentration`: F1 against
alpha^B, on the last part of train.mrg after a fit on the rest (table 1, figure 9). `orders`: F1 on
dev.mrg of the HDP by what labels remember of siblings and ancestors. `synthetic`: subsymbols and
active rules of the grammar of figure 7. `speed`: an iteration on all trees of train.mrg.

    python benchmarks/grammar_refinement.py table --data DATA --components 1 2 4 8 16
    python benchmarks/grammar_refinement.py concentration --data DATA --components 4 8
    python benchmarks/grammar_refinement.py orders --data DATA --components 1 4
    python benchmarks/grammar_refinement.py synthetic
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from report import print_header, print_table

from skdp.grammar import HDPPCFGRefiner, ParseTree, read_trees

METHODS = {
    "EM": {"inference": "em"},
    "smoothed EM": {"inference": "em", "pseudo_count": 0.01},
    "HDP": {"inference": "vb"},
    "split-merge": {"inference": "split-merge"},
}

TUNING_SHARE = 0.82
"""Of train.mrg, to fit on where hyper-parameters are chosen; the rest is scored."""


def leaves_of(trees):
    return [tree.leaves for tree in trees]


def evaluate(model, train, test):
    """Fit and score; return F1 in percent, seconds of both and the sentences without a parse."""
    start = time.process_time()
    model.fit(leaves_of(train), train)
    fitted = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f1 = model.score(leaves_of(test), test)
    flat = next((str(w.message).split()[0] for w in caught if "parse" in str(w.message)), "0")
    return 100.0 * f1, fitted - start, time.process_time() - fitted, flat


def compare(args):
    train = read_trees(Path(args.data) / "train.mrg")
    test = read_trees(Path(args.data) / "dev.mrg")
    columns = ["K", "", "products", "seed", "F1", "subsymbols", "active rules", "iterations"]
    print_table([*columns, "fit, s", "parse, s", "unparsed"], [])
    for n_components in args.components:
        for name in args.methods:
            scores = []
            for seed in range(args.seeds):
                model = HDPPCFGRefiner(
                    n_components,
                    min_word_count=args.min_word_count,
                    max_iter="auto" if name == "split-merge" else args.iterations,
                    n_products=args.products,
                    random_state=seed,
                    **METHODS[name],
                )
                f1, fit, parse, flat = evaluate(model, train, test)
                scores.append(f1)
                row = [n_components, name, args.products, seed, f"{f1:.2f}"]
                row += [model.n_active_components_.sum(), model.n_active_rules_, model.n_iter_]
                row += [f"{fit:.1f}", f"{parse:.1f}", flat]
                print("| " + " | ".join(map(str, row)) + " |", flush=True)
            if args.seeds > 1:
                print(f"mean of {args.seeds} seeds: {np.mean(scores):.2f}", flush=True)


def order(args):
    train = read_trees(Path(args.data) / "train.mrg")
    test = read_trees(Path(args.data) / "dev.mrg")
    columns = ["K", "horizontal", "vertical", "F1", "symbols", "rules of phrases", "active rules"]
    print_table([*columns, "fit, s", "parse, s", "unparsed"], [])
    for n_components in args.components:
        for vertical in (1, 2):
            for horizontal in (0, 1):
                model = HDPPCFGRefiner(
                    n_components,
                    min_word_count=args.min_word_count,
                    max_iter=args.iterations,
                    horizontal_order=horizontal,
                    vertical_order=vertical,
                    random_state=0,
                )
                f1, fit, parse, flat = evaluate(model, train, test)
                rules = model._parser.rules
                row = [n_components, horizontal, vertical, f"{f1:.2f}", len(rules.symbols)]
                row += [len(rules.binary) + len(rules.unary), model.n_active_rules_]
                row += [f"{fit:.1f}", f"{parse:.1f}", flat]
                print("| " + " | ".join(map(str, row)) + " |", flush=True)


def tune(args):
    trees = read_trees(Path(args.data) / "train.mrg")
    cut = int(TUNING_SHARE * len(trees))
    print_table(["K", "alpha^B", "F1", "active rules"], [])
    for n_components in args.components:
        for concentration in args.concentrations:
            model = HDPPCFGRefiner(
                n_components,
                binary_concentration=concentration,
                min_word_count=args.min_word_count,
                max_iter=args.iterations,
                random_state=0,
            )
            f1 = evaluate(model, trees[:cut], trees[cut:])[0]
            print(f"| {n_components} | {concentration:g} | {f1:.2f} | {model.n_active_rules_} |",
                  flush=True)  # fmt: skip


def draw_synthetic(n_trees, rng):
    """Return trees S -> X X whose two words are of one of four kinds."""
    trees = []
    for kind in rng.integers(4, size=n_trees):
        words = [f"{'abcd'[i]}{kind}" for i in rng.integers(4, size=2)]
        trees.append(ParseTree("S", [ParseTree("X", [word]) for word in words]))
    return trees


def recover(args):
    trees = draw_synthetic(2000, np.random.default_rng(0))
    rows = []
    for name in ("EM", "HDP"):
        for seed in range(args.seeds):
            model = HDPPCFGRefiner(
                20, binary_concentration=1.0, symbol_prior=1.0, min_word_count=1, max_iter=100,
                tol=0.0, random_state=seed, **METHODS[name],
            )  # fmt: skip
            start = time.process_time()
            model.fit(leaves_of(trees), trees)
            spent = time.process_time() - start
            active = np.count_nonzero(model.subsymbol_counts_ >= 1e-3, axis=1)
            rules = [model.count_active_rules(threshold) for threshold in (1e-6, 1e-3)]
            bound = f"{model.lower_bound_:.1f}"
            rows.append([name, seed, *active[::-1], *rules, bound, f"{spent:.1f}"])
    print_table(["", "seed", "of X", "of S", "rules at 1e-6", "at 1e-3", "bound", "seconds"], rows)


def measure(args):
    trees = read_trees(Path(args.data) / "train.mrg")
    HDPPCFGRefiner(2, max_iter=1).fit(leaves_of(trees), trees)  # loads or compiles the kernels
    rows = []
    for n_components in args.components:
        row = [n_components]
        for name in ("EM", "HDP"):
            spent = []
            for n_iter in (5, 25):
                model = HDPPCFGRefiner(
                    n_components, max_iter=n_iter, tol=0.0, random_state=0, **METHODS[name]
                )
                start = time.process_time()
                model.fit(leaves_of(trees), trees)
                spent.append(time.process_time() - start)
            row.append(f"{(spent[1] - spent[0]) / 20 * 1000:.0f}")
        rows.append(row)
    print_table(["K", "EM, ms an iteration", "HDP, ms an iteration"], rows)


TASKS = {
    "table": compare, "concentration": tune, "orders": order, "synthetic": recover,
    "speed": measure,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("task", choices=list(TASKS))
    parser.add_argument("--data", help="folder of train.mrg and dev.mrg")
    parser.add_argument("--components", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--concentrations", type=float, nargs="+", default=[4, 8, 16, 32, 64, 128])
    parser.add_argument("--min-word-count", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--products", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    args = parser.parse_args()
    if args.task != "synthetic" and args.data is None:
        sys.exit("--data is needed")
    print_header()
    TASKS[args.task](args)


if __name__ == "__main__":
    main()
