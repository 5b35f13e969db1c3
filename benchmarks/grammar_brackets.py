"""Grammar induction with none, a third, or all of the brackets: unlabelled F1 of other sentences.

Sentences of at most --max-words words of the treebank sample, as part-of-speech tags, punctuation
deleted. Grammars are learned from train.mrg. What is given is a random share of the brackets of
every training sentence, those of a single word and of the whole sentence not counted, and the same
ones for all seeds. F1 in percent is that of the trees of dev.mrg, of which no brackets are given,
and of the training sentences, predicted without their brackets. The highest lower bound or log
joint chooses among seeds. "best possible": binary trees that have all true brackets.

    python benchmarks/grammar_brackets.py --data DATA
"""

import argparse
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from real_sentences import TYPES, branches, f1, number, tags_of, without_punctuation
from report import print_header, print_table, report_done

from skdp.data import TokenSequences
from skdp.grammar import HDPPCFG, ParseTree, read_trees


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", required=True, help="folder with grammar/*.mrg")
    parser.add_argument("--max-words", type=int, default=10)
    parser.add_argument("--shares", nargs="+", type=float, default=[0, 1 / 3, 1])
    parser.add_argument("--inference", nargs="+", default=["vb", "em"])
    parser.add_argument("--child-prior", nargs="+", default=["joint", "independent"])
    parser.add_argument("--rule-types", nargs="+", default=["equal", "right"], choices=TYPES)
    parser.add_argument("--components", type=int, default=10)
    parser.add_argument("--preterminals", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=5)
    return parser.parse_args()


def read_short(path, max_words):
    """Return the trees of short sentences of at least two words."""
    trees = [without_punctuation(tree) for tree in read_trees(path)]
    return [tree for tree in trees if tree is not None and 1 < len(tree.leaves) <= max_words]


def brackets_of(tree):
    """Return the spans of more than a word and less than the sentence."""
    n = len(tree.leaves)
    return sorted({(i, j) for _, i, j in tree.spans() if 1 < j - i < n})


def draw_share(trees, share, rng):
    """Return a random share of the brackets of every tree, rounded up or down at random."""
    given = []
    for tree in trees:
        spans = brackets_of(tree)
        n = int(len(spans) * share + rng.random()) if share < 1 else len(spans)
        given.append([spans[i] for i in rng.permutation(len(spans))[:n]])
    return given


def binary(tree):
    """Return a binary tree with all brackets of a tree, others branching to the right."""
    if tree.is_preterminal:
        return tree
    below = [binary(child) for child in tree.children]
    joined = below[-1]
    for child in below[-2::-1]:
        joined = ParseTree("x", [child, joined])
    return joined


def fit(train, test, sentences, given, options, way, seed):
    """Return bound, F1 of other sentences and of those learned from, and seconds of a fit."""
    inference, children, types = way
    model = HDPPCFG(
        options.components, n_preterminals=options.preterminals, inference=inference,
        max_iter=options.iterations, random_state=seed,
    )  # fmt: skip
    if inference in ("vb", "gibbs"):
        model.set_params(child_prior=children, rule_type_prior=TYPES[types])
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence
        model.fit(sentences[0], given)
        seconds = time.process_time() - begin
        scores = [
            f1(trees, model.predict(each))
            for trees, each in zip((test, train), sentences[::-1], strict=True)
        ]
    bound = model.trace_["log_joint"].max() if inference == "gibbs" else model.lower_bound_
    return bound, *scores, seconds


def main():
    options = parse_options()
    print_header()
    folder = Path(options.data, "grammar")
    train, test = (
        read_short(folder / f"{part}.mrg", options.max_words) for part in ("train", "dev")
    )
    numbers, n = number([tags_of(tree) for tree in [*train, *test]])
    parts = numbers[: len(train)], numbers[len(train) :]
    sentences = [TokenSequences.from_sequences(part, n_features=n) for part in parts]
    n_given = sum(len(brackets_of(tree)) for tree in train)
    print(f"{len(train)} sentences with {n_given} brackets to learn from, {len(test)} others.\n")
    rows = []
    for name, guess in {
        "to the left": lambda tree: branches(len(tree.leaves), right=False),
        "to the right": lambda tree: branches(len(tree.leaves), right=True),
        "best possible": binary,
    }.items():
        scores = [f"{f1(trees, [*map(guess, trees)]):.1f}" for trees in (test, train)]
        rows.append([name, *"----", *scores, "-"])
    ways = [
        (inference, *way)
        for inference in options.inference
        for way in (
            product(options.child_prior, options.rule_types)
            if inference in ("vb", "gibbs")
            else ["--"]
        )
    ]
    for way, share in product(ways, options.shares):
        given = draw_share(train, share, np.random.default_rng(0))
        found = np.array(
            [
                fit(train, test, sentences, given, options, way, seed)
                for seed in range(options.seeds)
            ]
        )
        best = found[found[:, 0].argmax()]
        each = " ".join(f"{x:.1f}" for x in found[:, 1])
        chosen = [f"{x:.1f}" for x in best[1:3]]
        rows.append([*way, f"{share:.2f}", each, *chosen, f"{found[:, 3].mean():.1f}"])
        report_done(rows[-1])
    columns = ["inference", "children", "rule types", "share given", "F1 by seed"]
    print_table(
        [*columns, "F1 of the highest bound", "F1 of the sentences learned from", "CPU s a fit"],
        rows,
    )


if __name__ == "__main__":
    main()
