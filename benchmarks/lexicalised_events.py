"""Lexicalized events of a treebank: how well classifiers foresee each kind, and rank two parses.

Models learn from train.mrg and are judged on dev.mrg. Words that occur fewer than --min-words times
in train.mrg are one of four classes: with a digit, a capital, a hyphen, or none of these.

- Log-loss (nats an event) of each kind of event, over the events whose outcomes occur in training;
  "unknown": the number of others, which have the probability 0, and "trees lost": of trees with
  one. The marginal distribution for comparison.
- Attachment: wherever a verb phrase of dev.mrg has a noun phrase followed by a prepositional
  phrase, or a noun phrase made of these two, the other one of the two trees is made, too. Which of
  both does a model give the larger probability? Whole trees are scored; ties (both 0) are half
  right. For comparison: always the noun, and a maximum-likelihood PCFG with half a count added to
  each rule.

- Ranking (--ranking): of the 20 best parses of a refined grammar, F1 of the first, of the one that
  the grammar finds the most probable, of the one that the events find so, of the one with the
  largest product of both probabilities, and of the best.

    python benchmarks/lexicalised_events.py --data DATA
    python benchmarks/lexicalised_events.py --data DATA --ranking 8
"""

import argparse
import re
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from report import print_header, print_table
from sklearn.dummy import DummyClassifier

from skdp.context import (
    CollinsBackoffClassifier,
    HDPBackoffClassifier,
    LexicalizedEventModel,
    extract_events,
)
from skdp.grammar import HDPPCFGRefiner, ParseTree, read_trees
from skdp.metrics import bracket_scores

EVENTS = ("root1", "root2", "unary", "mod1", "mod2")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", required=True, help="folder with grammar/train.mrg and dev.mrg")
    parser.add_argument("--min-words", type=int, default=2)
    parser.add_argument("--sweeps", type=int, default=40)
    parser.add_argument("--ranking", type=int, metavar="K", help="subsymbols: rank parses instead")
    return parser.parse_args()


def word_class(word):
    """Return what stands for a rare word."""
    for name, pattern in (("digit", "[0-9]"), ("capital", "^[A-Z]"), ("hyphen", ".-.")):
        if re.search(pattern, word):
            return f"<{name}>"
    return "<other>"


def load(folder):
    """Return training and test trees."""
    return [read_trees(Path(folder, "grammar", f"{part}.mrg")) for part in ("train", "dev")]


def replace_rare_words(train, min_words, *others):
    """Return lists of trees with classes in the place of words that are rare in the first."""
    counts = Counter(word for tree in train for word in tree.leaves)

    def replace(tree):
        return tree.with_leaves(w if counts[w] >= min_words else word_class(w) for w in tree.leaves)

    return [[replace(tree) for tree in trees] for trees in (train, *others)]


def make_models(n_sweeps):
    chain = {"max_iter": n_sweeps, "n_samples": 10, "random_state": 0}
    return {
        "marginal": DummyClassifier(),
        "Collins, gamma 5": CollinsBackoffClassifier(gamma=5.0),
        "Collins, gamma 1": CollinsBackoffClassifier(gamma=1.0),
        "HDP (discount 0)": HDPBackoffClassifier(discount=0.0, **chain),
        "Pitman-Yor": HDPBackoffClassifier(**chain),
    }


def log_losses(model, trees):
    """Return mean losses of known outcomes by event, and the number of unknown ones."""
    losses, n_unknown = [], 0
    for event in EVENTS:
        events = extract_events(trees, event)
        X = events.X if event != "root1" else np.full((len(events.y), 1), "", dtype=object)
        classifier = model.classifiers_[event]
        columns = {y: i for i, y in enumerate(classifier.classes_)}
        known = np.array([y in columns for y in events.y])
        n_unknown += np.sum(~known)
        X, y = X[known], events.y[known]
        if hasattr(classifier, "score_samples"):
            logs = classifier.score_samples(X, y)
        else:
            row = classifier.predict_proba(X[:1])[0]
            logs = np.log(row[[columns[outcome] for outcome in y]])
        losses.append(-np.mean(logs))
    return losses, n_unknown


def with_children(tree, begin, end, *children):
    """Return a tree with other children in the place of some."""
    return ParseTree(tree.label, [*tree.children[:begin], *children, *tree.children[end:]])


def attachments(tree):
    """Yield trees with one prepositional phrase moved, and whether it hung on the noun."""
    for i, child in enumerate(tree.children):
        if isinstance(child, str):
            continue
        for moved, on_noun in attachments(child):
            yield (
                ParseTree(tree.label, [*tree.children[:i], moved, *tree.children[i + 1 :]]),
                on_noun,
            )
        if tree.label != "VP":
            continue
        labels = [part if isinstance(part, str) else part.label for part in child.children]
        if child.label == "NP" and labels == ["NP", "PP"]:
            yield with_children(tree, i, i + 1, *child.children), True
        after = tree.children[i + 1 : i + 2]
        if child.label == "NP" and after and after[0].label == "PP":
            joined = ParseTree("NP", [child, *after])
            yield (
                ParseTree(tree.label, [*tree.children[:i], joined, *tree.children[i + 2 :]]),
                False,
            )


def rules_of(tree):
    return Counter(
        (node.label, *(child if isinstance(child, str) else child.label for child in node.children))
        for node in tree.subtrees()
        if not node.is_preterminal
    )


def pcfg_scores(train, trees):
    """Return log probabilities of the rules above the words."""
    counts = sum(map(rules_of, train), Counter())
    totals = defaultdict(float)
    for rule, n in counts.items():
        totals[rule[0]] += n
    return np.array(
        [
            sum(
                n * np.log((counts[rule] + 0.5) / (totals[rule[0]] + 0.5))
                for rule, n in rules_of(tree).items()
            )
            for tree in trees
        ]
    )


def share_right(true, moved):
    with np.errstate(invalid="ignore"):
        return np.mean(np.where(true == moved, 0.5, true > moved))


def rank_parses(train, dev, options):
    """Print F1 of parses that are chosen from the 20 best in several ways."""
    grammar = HDPPCFGRefiner(options.ranking, random_state=0)
    grammar.fit([tree.leaves for tree in train], train)
    ranked = grammar.k_best([tree.leaves for tree in dev], 20)
    parses = [tree for trees in ranked for tree, _ in trees]
    of_train, of_parses = replace_rare_words(train, options.min_words, parses)
    ends = np.cumsum([len(trees) for trees in ranked])[:-1]
    by_grammar = [np.array([log_prob for _, log_prob in trees]) for trees in ranked]
    ways = {"first": [-np.arange(len(trees)) for trees in ranked], "grammar": by_grammar}
    for name, classifier in make_models(options.sweeps).items():
        if name == "marginal":
            continue
        scores = LexicalizedEventModel(classifier).fit(of_train).score_samples(of_parses)
        ways[name] = np.split(scores, ends)
        ways[f"grammar x {name}"] = [a + b for a, b in zip(by_grammar, ways[name], strict=True)]
    ways["best"] = [
        np.array([bracket_scores([true], [tree]).f1 for tree, _ in trees])
        for true, trees in zip(dev, ranked, strict=True)
    ]
    rows = []
    for name, scores in ways.items():
        chosen = [
            trees[int(np.argmax(each))][0] for trees, each in zip(ranked, scores, strict=True)
        ]
        n_lost = sum(bool(np.isneginf(each).all()) for each in scores)
        rows.append([name, f"{100.0 * bracket_scores(dev, chosen).f1:.2f}", n_lost])
    print_table(["by", "F1", "all impossible: the first"], rows)


def main():
    options = parse_options()
    print_header()
    train, dev = load(options.data)
    if options.ranking:
        rank_parses(train, dev, options)
        return
    train, dev = replace_rare_words(train, options.min_words, dev)
    start = time.process_time()
    sizes = [len(extract_events(train, event).y) for event in EVENTS]
    print(f"Events of {len(train)} trees: {dict(zip(EVENTS, sizes, strict=True))},", end=" ")
    print(f"{time.process_time() - start:.2f} CPU s to extract\n")
    pairs = [(tree, *moved) for tree in dev for moved in attachments(tree)]
    true, moved = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    on_noun = np.mean([pair[2] for pair in pairs])
    rules = share_right(pcfg_scores(train, true), pcfg_scores(train, moved))
    rows = []
    for name, classifier in make_models(options.sweeps).items():
        start = time.process_time()
        model = LexicalizedEventModel(classifier).fit(train)
        seconds = time.process_time() - start
        losses, n_unknown = log_losses(model, dev)
        right = share_right(model.score_samples(true), model.score_samples(moved))
        scores = model.score_samples(dev)
        n_lost = np.sum(np.isinf(scores))
        rows.append(
            [name, *(f"{loss:.3f}" for loss in losses), n_unknown, n_lost, f"{right:.3f}",
             f"{seconds:.1f}"]
        )  # fmt: skip
    print_table(["classifier", *EVENTS, "unknown", "trees lost", "attached", "fit, CPU s"], rows)
    print(f"\n{len(pairs)} attachments: always the noun {on_noun:.3f}, PCFG {rules:.3f}")


if __name__ == "__main__":
    main()
