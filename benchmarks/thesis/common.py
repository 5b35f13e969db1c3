"""What the scripts of this folder share: options, models by the thesis's names, held-out scores."""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from report import print_header, print_table
from sotu import load, read_records

import skdp.topics
from skdp.data import SegmentedCorpus

__all__ = [
    "Timer",
    "build",
    "load_split",
    "make_parser",
    "parse",
    "print_header",
    "print_table",
    "read_records",
    "score_tokens",
    "select",
    "shuffle_segments",
    "spread",
]

MODELS = {
    "LDA_D": ("GibbsLDA", {"level": "document"}),
    "LDA_S": ("GibbsLDA", {"level": "segment"}),
    "LDCC": ("LatentDirichletCoClustering", {}),
    "STM": ("SegmentedTopicModel", {}),
    "SeqLDA": ("SequentialLDA", {}),
    "AdaTM": ("AdaptiveTopicModel", {}),
}
"""Models by the thesis's names: class in `skdp.topics` and parameters."""


def make_parser(description, *, components=(25,), sweeps=300, seeds=(0,), models=(), every=True):
    """Return a parser with the options that most scripts have."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="folder with topics/*.jsonl")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(seeds))
    if every:
        parser.add_argument("--every", type=int, default=1, help="use every n-th address only")
    if components:
        parser.add_argument("--components", type=int, nargs="+", default=list(components))
    if sweeps:
        parser.add_argument("--sweeps", type=int, default=sweeps)
    if models:
        parser.add_argument("--models", nargs="+", default=list(models), choices=list(MODELS))
    return parser


def parse(parser, **quick):
    """Return the options; `quick` are defaults of a run of about two minutes."""
    parser.add_argument("--quick", action="store_true", help="about two minutes")
    if "--quick" in sys.argv:
        parser.set_defaults(**quick)
    options = parser.parse_args()
    print(f"{Path(sys.argv[0]).name} {' '.join(sys.argv[1:])}\n")
    print_header()
    return options


def load_split(options, unit="paragraph"):
    """Return the training and the test corpus: State of the Union addresses."""
    train, test, _ = load(options.data, unit)
    return train[:: options.every], test[:: options.every]


def build(name, n_components, **parameters):
    """Return a model by its name in the thesis."""
    class_name, given = MODELS[name]
    return getattr(skdp.topics, class_name)(n_components, **{**given, **parameters})


def select(names):
    """Return the models that there are; say which are not."""
    missing = [name for name in names if not hasattr(skdp.topics, MODELS[name][0])]
    for name in missing:
        print(f"{name} is left out: skdp.topics has no {MODELS[name][0]}.\n")
    return [name for name in names if name not in missing]


def score_tokens(model, corpus):
    """Return the mean held-out log probability of a token in each document, and all tokens'."""
    lengths = np.diff(corpus.segment_ptr) // 2  # half of the tokens of a segment are scored
    scored = np.add.reduceat(np.append(lengths, 0), corpus.doc_ptr[:-1])
    scored[np.diff(corpus.doc_ptr) == 0] = 0
    log_probabilities = model.score_samples(corpus)
    with np.errstate(invalid="ignore"):
        by_document = log_probabilities / scored
    return by_document, log_probabilities.sum() / scored.sum()


def shuffle_segments(corpus, seed):
    """Return a corpus whose documents have their segments in random order."""
    rng = np.random.default_rng(seed)
    documents = [[document[j] for j in rng.permutation(len(document))] for document in corpus]
    return SegmentedCorpus.from_documents(documents, corpus.n_features)


def spread(values, digits=0):
    """Return the mean of some runs, with their standard deviation if there are several."""
    values = np.asarray(values, dtype=float)
    mean = f"{values.mean():.{digits}f}"
    return mean if len(values) == 1 else f"{mean} \u00b1 {values.std(ddof=1):.{max(digits, 1)}f}"


class Timer:
    """CPU seconds of this process that a block took."""

    def __enter__(self):
        self._begin = time.process_time()
        return self

    def __exit__(self, *_):
        self.seconds = time.process_time() - self._begin
