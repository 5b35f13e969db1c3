"""Grammar induction from real sentences: unlabelled brackets, beside branching to the right.

Sentences of at most --max-words words of the treebank sample, punctuation deleted. What is learned
from are part-of-speech tags ("tags"), or classes of words that `HDPHMMLT` finds in the words of all
sentences of train.mrg ("classes"). F1 in percent: brackets of all sentences together, those of a
single word and of whole sentences left out, unlabelled. Trees are those of the sentences learned
from, as is the custom; the highest lower bound or log joint chooses among seeds.

    python benchmarks/real_sentences.py --data DATA
    python benchmarks/real_sentences.py --data DATA --words classes --components 10
"""

import argparse
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from report import print_header, print_table, report_done

from skdp.data import SequencePanel, TokenSequences
from skdp.grammar import HDPPCFG, ParseTree, read_trees
from skdp.metrics import bracket_scores
from skdp.sequence import HDPHMMLT

TYPES = {"equal": (1, 1, 1, 1), "nested": (1, 1, 1, 10), "right": (1, 10, 1, 10)}
"""Priors of rules of types PP, PC, CP, CC, times the concentration."""


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", required=True, help="folder with grammar/*.mrg")
    parser.add_argument("--max-words", type=int, default=10)
    parser.add_argument("--words", nargs="+", default=["tags"], choices=["tags", "classes"])
    parser.add_argument("--classes", type=int, default=40, help="states, at most")
    parser.add_argument("--components", nargs="+", type=int, default=[5, 10, 20])
    parser.add_argument("--preterminals", type=int, default=20)
    parser.add_argument("--inference", nargs="+", default=["vb"])
    parser.add_argument("--child-prior", nargs="+", default=["joint", "independent"])
    parser.add_argument("--rule-types", nargs="+", default=list(TYPES), choices=TYPES)
    parser.add_argument("--init", nargs="+", default=["random", "annealed"])
    parser.add_argument("--concentration", type=float, nargs="+", default=[1.0])
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=5)
    return parser.parse_args()


def without_punctuation(tree):
    """Return the tree without tags that are no words, None if nothing is left."""
    if tree.is_preterminal:
        return tree if tree.label[0].isalpha() else None
    children = [child for child in map(without_punctuation, tree.children) if child is not None]
    return ParseTree(tree.label, children) if children else None


def tags_of(tree):
    return [node.label for node in tree.subtrees() if node.is_preterminal]


def number(sequences):
    """Return sequences of names as numbers."""
    index = {name: i for i, name in enumerate(sorted({x for each in sequences for x in each}))}
    return [[index[name] for name in each] for each in sequences], len(index)


def classes_of_words(everything, max_states):
    """Return the state of every word, and how many states there are."""
    words, _ = number([[word.lower() for word in tree.leaves] for tree in everything])
    panel = SequencePanel.from_sequences([np.array(each)[:, np.newaxis] for each in words])
    model = HDPHMMLT(max_states, emission="categorical", max_iter=500, random_state=0).fit(panel)
    states = model.predict(panel)
    return number([list(each) for each in states])


def branches(n, *, right):
    """Return a tree that always branches to one side."""
    leaves = [ParseTree("x", [str(i)]) for i in range(n)]
    if right:
        leaves.reverse()
    tree = leaves[0]
    for leaf in leaves[1:]:
        tree = ParseTree("x", [leaf, tree] if right else [tree, leaf])
    return tree


def f1(trees, predicted):
    renamed = [guess.with_leaves(true.leaves) for true, guess in zip(trees, predicted, strict=True)]
    return 100 * bracket_scores(trees, renamed, labelled=False, trivial=False).f1


def fit(sentences, trees, options, way, seed):
    """Return bound, F1 and seconds of one start."""
    inference, k, children, types, init, concentration = way
    model = HDPPCFG(
        k,
        n_preterminals=options.preterminals,
        inference=inference,
        child_prior=children,
        init=init,
        rule_type_prior=[concentration * times for times in TYPES[types]],
        emission_prior=concentration,
        binary_concentration=concentration,
        max_iter=options.iterations,
        random_state=seed,
    )
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(sentences)
    seconds = time.process_time() - begin
    bound = model.trace_["log_joint"].max() if inference == "gibbs" else model.lower_bound_
    return bound, f1(trees, model.predict(sentences)), seconds


def main():
    options = parse_options()
    print_header()
    folder = Path(options.data, "grammar")
    everything = [without_punctuation(tree) for tree in read_trees(folder / "train.mrg")]
    everything = [tree for tree in everything if tree is not None]
    is_short = [1 < len(tree.leaves) <= options.max_words for tree in everything]
    trees = [tree for tree, short in zip(everything, is_short, strict=True) if short]
    print(f"{len(trees)} sentences; F1 of branching to the right "
          f"{f1(trees, [branches(len(t.leaves), right=True) for t in trees]):.1f}, to the left "
          f"{f1(trees, [branches(len(t.leaves), right=False) for t in trees]):.1f}\n")  # fmt: skip
    rows = []
    for kind in options.words:
        if kind == "tags":
            numbers, n = number([tags_of(tree) for tree in everything])
        else:
            numbers, n = classes_of_words(everything, options.classes)
        short = [each for each, is_one in zip(numbers, is_short, strict=True) if is_one]
        sentences = TokenSequences.from_sequences(short, n_features=n)
        for way in product(
            options.inference, options.components, options.child_prior, options.rule_types,
            options.init, options.concentration,
        ):  # fmt: skip
            found = np.array(
                [fit(sentences, trees, options, way, seed) for seed in range(options.seeds)]
            )
            chosen = found[found[:, 0].argmax(), 1]
            each = " ".join(f"{x:.1f}" for x in found[:, 1])
            rows.append([kind, *way, each, f"{chosen:.1f}", f"{found[:, 2].mean():.1f}"])
            report_done(rows[-1])
    ways = ["words", "inference", "K", "children", "types", "start", "prior"]
    print_table([*ways, "F1 by seed", "highest bound", "CPU s"], rows)


if __name__ == "__main__":
    main()
