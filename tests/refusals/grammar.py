"""Grammars and trees: mistakes and their messages."""

import gzip
import io

import nltk
import numpy as np

from refusals.samples import TREES, WORDS, refine
from skdp.data import PartitionedSentences, TokenSequences
from skdp.grammar import HDPPCFG, ParseTree, inside_outside

tree_of = ParseTree.from_brackets

MARKED = tree_of("(@S (A c) (B d))")


def refiner():
    return refine(WORDS, TREES)


def tagged(tags):
    return refiner().predict(WORDS, tags)


BRACKETED = [[0, 1, 1], [1, 0]]


def known(y):
    return HDPPCFG(2, max_iter=1).fit(BRACKETED, y)


def parts(sentences, n_words=None):
    whole = TokenSequences.from_sequences(sentences, n_words)
    return PartitionedSentences.from_sentences(whole, min(2, len(whole)))


def weigh(sentences=([0, 1],), **weights):
    shapes = {"root": 2, "rule_type": (2, 2), "emission": (2, 4), "binary": (2, 2, 2)}
    return inside_outside(sentences, **{k: np.ones(v) for k, v in shapes.items()} | weights)
