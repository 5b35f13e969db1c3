"""Where texts change their subject: TopicSegmenter, simple methods and published ones.

Choi's texts have ten parts each, from ten other documents. Pk (k is half the mean true part) and
WindowDiff are means over texts, then over the four sets of part lengths; lower is better. Words:
lower case, three letters or more, without scikit-learn's stop words. "TF-IDF" cuts where windows of
six sentences are least alike and is told the number of parts, as is `predict(n_parts=10)`.
TextTiling is nltk's, with each sentence as a paragraph. The figures of C99 are those that its
author published. "Words alone" is the division into ten parts of the largest probability if the
words of a part have a symmetric Dirichlet-multinomial distribution over the words of the text;
"LDA, then words' topics" is the same of the expected topics of the words under LDA of whole texts.
"One text alone" is a fit to each text without the others, "shuffled" the same of its words in
random order.

    python benchmarks/topic_segmentation.py --data DATA --seeds 0 1
    python benchmarks/topic_segmentation.py --data DATA --file clinical.jsonl.gz --alone
"""

import argparse
import gzip
import json
import re
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from report import print_header, print_table, report_done
from scipy.sparse import csr_array
from scipy.special import gammaln
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfTransformer
from sklearn.preprocessing import normalize

from skdp.data import SegmentedCorpus
from skdp.topics import GibbsLDA, TopicSegmenter

C99 = {"3-11": 0.12, "3-5": 0.11, "6-8": 0.10, "9-11": 0.08}  # by set
WIDTH = 6


def read(path):
    """Return the sets, the sentences and the true cuts of texts."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    sentences = [[s for part in record["segments"] for s in part] for record in records]
    truth = []
    for record in records:
        lengths = [len(part) for part in record["segments"]]
        cuts = np.zeros(sum(lengths) - 1, dtype=int)
        cuts[np.cumsum(lengths)[:-1] - 1] = 1
        truth.append(cuts)
    return np.array([record.get("set", "all") for record in records]), sentences, truth


def count(texts):
    """Return texts of sentences as a corpus."""
    words = [
        [
            [w for w in re.findall("[a-z]{3,}", s.lower()) if w not in ENGLISH_STOP_WORDS]
            for s in text
        ]
        for text in texts
    ]
    names = {w: i for i, w in enumerate(sorted({w for t in words for s in t for w in s}))}
    return SegmentedCorpus.from_documents(
        [[[names[w] for w in s] for s in text] for text in words], n_features=len(names)
    )


def errors(true, found):
    """Return Pk and WindowDiff of one text."""
    k = max(1, round((len(true) + 1) / (true.sum() + 1) / 2))
    a, b = (np.concatenate([[0], np.cumsum(cuts)]) for cuts in (true, found))
    a, b = a[k:] - a[:-k], b[k:] - b[:-k]
    return np.mean((a > 0) != (b > 0)), np.mean(a != b)


def describe(name, sets, truth, found, seconds=np.nan):
    """Return a row of the table."""
    each = np.array([errors(t, f) for t, f in zip(truth, found, strict=True)])
    by_set = [each[sets == name].mean(axis=0) for name in np.unique(sets)]
    pk, difference = np.mean(by_set, axis=0)
    cells = [f"{means[0]:.4f}" for means in by_set]
    time_cell = "" if np.isnan(seconds) else f"{seconds / len(truth):.3f}"
    row = [name, f"{pk:.4f}", *cells, f"{difference:.4f}", time_cell]
    report_done(row)
    return row


def cut_alone(sets, texts, truth):
    """Return rows of fits to each text without the others."""
    chances, cuts, told, shuffled, begin = [], [], [], [], time.process_time()
    rng = np.random.default_rng(0)
    for text, true in zip(texts, truth, strict=True):
        corpus = count([text])
        model = TopicSegmenter(random_state=0).fit(corpus)
        chances += model.cut_proba_
        cuts += model.predict(corpus)
        told += model.predict(corpus, n_parts=int(true.sum()) + 1)
    seconds = time.process_time() - begin
    for text in texts:
        corpus = count([text])
        mixed = SegmentedCorpus(
            rng.permutation(corpus.tokens), corpus.segment_ptr, corpus.doc_ptr, corpus.n_features
        )
        shuffled.append(len(TopicSegmenter(random_state=0).fit(mixed).predict(mixed)[0]))
    calibrate(chances, truth)
    gaps = [(p > 0.5).astype(int) for p in chances]
    print(
        f"shuffled: {np.mean(shuffled):.2f} cuts a text; not: {np.mean(list(map(len, cuts))):.2f}"
    )
    return [
        describe("one text alone, predict", sets, truth, as_marks(truth, cuts), seconds),
        describe("one text alone, gaps above .5", sets, truth, gaps),
        describe("one text alone, told the number", sets, truth, as_marks(truth, told)),
    ]


def cut_evenly(truth):
    """Return as many cuts as there are, at equal distances."""
    parts = [np.arange(1, t.sum() + 1) * (len(t) + 1) / (t.sum() + 1) for t in truth]
    return as_marks(truth, [np.round(cuts).astype(int) for cuts in parts])


def as_marks(truth, cuts):
    """Return first units of parts as 0 and 1 by gap."""
    marks = [np.zeros(len(t), dtype=int) for t in truth]
    for mark, first in zip(marks, cuts, strict=True):
        mark[np.asarray(first, dtype=int) - 1] = 1
    return marks


def cut_by_windows(corpus, truth):
    """Return the gaps at which the windows on both sides are least alike."""
    counts = TfidfTransformer().fit_transform(segment_counts(corpus))
    found = []
    for d, true in enumerate(truth):
        rows = counts[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]]
        alike = []
        for g in range(1, rows.shape[0]):
            left = normalize(np.asarray(rows[max(0, g - WIDTH) : g].sum(axis=0)))
            right = normalize(np.asarray(rows[g : g + WIDTH].sum(axis=0)))
            alike.append(float(left[0] @ right[0]))
        cuts = np.zeros(len(true), dtype=int)
        cuts[np.argsort(alike)[: true.sum()]] = 1
        found.append(cuts)
    return found


def cut_by_evidence(counts, doc_ptr, truth, prior):
    """Return the division into the true number of parts that has the largest evidence.

    `counts` has a row a unit and a column a word or topic, `prior` is that of a column.
    """
    found = []
    for d, true in enumerate(truth):
        rows = counts[doc_ptr[d] : doc_ptr[d + 1]]
        rows = np.asarray(rows[:, np.flatnonzero(rows.sum(axis=0))].todense())
        n_units, n_columns = rows.shape
        evidence = np.full((n_units, n_units + 1), -np.inf)
        for begin in range(n_units):
            sums = np.cumsum(rows[begin:], axis=0)
            whole = n_columns * prior
            evidence[begin, begin + 1 :] = (
                (gammaln(prior + sums) - gammaln(prior)).sum(axis=1)
                + gammaln(whole)
                - gammaln(whole + sums.sum(axis=1))
            )
        found.append(best_division(evidence, int(true.sum()) + 1))
    return found


def best_division(evidence, n_parts):
    """Return the best division into `n_parts` parts, as 0 or 1 for each gap."""
    n_units = len(evidence)
    best, before = evidence[0].copy(), []
    for _ in range(n_parts - 1):
        sums = best[:-1, None] + evidence
        before.append(sums.argmax(axis=0))
        best = sums.max(axis=0)
    cuts, end = np.zeros(n_units - 1, dtype=int), n_units
    for begins in before[::-1]:
        end = begins[end]
        cuts[end - 1] = 1
    return cuts


def expect_topics(corpus, n_components, seed):
    """Return the expected topics of the words of every unit under LDA of whole texts, sparse."""
    lda = GibbsLDA(n_components, level="document", max_iter=200, random_state=seed).fit(corpus)
    units = np.diff(corpus.segment_ptr)
    document_of = np.repeat(np.arange(len(corpus)), np.diff(corpus.segment_ptr[corpus.doc_ptr]))
    shares = lda.doc_topic_[document_of] * lda.components_.T[corpus.tokens]
    shares /= shares.sum(axis=1, keepdims=True)
    unit_of = np.repeat(np.arange(len(units)), units)
    gather = csr_array((np.ones(len(unit_of)), (unit_of, np.arange(len(unit_of)))))
    gather.resize((len(units), len(unit_of)))
    return csr_array(gather @ shares)


def segment_counts(corpus):
    """Return the words of every unit, sparse."""
    ones = np.ones(len(corpus.tokens))
    shape = len(corpus.segment_ptr) - 1, corpus.n_features
    return csr_array((ones, corpus.tokens, corpus.segment_ptr), shape=shape)


def tile(texts, truth):
    """Return the cuts of nltk's TextTiling."""
    from nltk.tokenize import TextTilingTokenizer

    tiling = TextTilingTokenizer(stopwords=list(ENGLISH_STOP_WORDS))
    found = []
    for text, true in zip(texts, truth, strict=True):
        pieces = tiling.tokenize("\n\n".join(" ".join(s.split()) for s in text))
        cuts, place = np.zeros(len(true), dtype=int), 0
        for piece in pieces[:-1]:
            place += len([s for s in piece.split("\n\n") if s.strip()])
            cuts[min(place, len(true)) - 1] = 1
        found.append(cuts)
    return found


def calibrate(probabilities, truth):
    """Print the share of true cuts by probability."""
    p, t = np.concatenate(probabilities), np.concatenate(truth)
    rows = []
    for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.7), (0.7, 0.9), (0.9, 1.01)):
        inside = (p >= low) & (p < high)
        if inside.any():
            cells = f"{p[inside].mean():.3f}", f"{t[inside].mean():.3f}", int(inside.sum())
            rows.append([f"{low} to {min(high, 1.0)}", *cells])
    print_table(["probability", "mean", "true cuts", "gaps"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with the file")
    parser.add_argument("--file", default="choi.jsonl.gz")
    parser.add_argument("--alone", action="store_true", help="only fits to one text alone")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--components", type=int, nargs="+", default=[200])
    parser.add_argument("--concentrations", type=float, nargs="+", default=[100.0])
    parser.add_argument("--priors", type=float, nargs="+", default=[0.1], help="of words alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    has_nltk = find_spec("nltk") is not None
    print_header(*(["nltk"] if has_nltk else []))
    sets, texts, truth = read(next(Path(options.data).rglob(options.file)))
    corpus = count(texts)
    rows = [
        describe("no cut", sets, truth, [0 * t for t in truth]),
        describe("even parts, told the number", sets, truth, cut_evenly(truth)),
        describe("TF-IDF windows, told ten", sets, truth, cut_by_windows(corpus, truth)),
    ]
    counts, ptr = segment_counts(corpus), corpus.doc_ptr
    for prior in options.priors:
        found = cut_by_evidence(counts, ptr, truth, prior)
        rows.append(describe(f"words alone, prior {prior:g}, told ten", sets, truth, found))
    rows += cut_alone(sets, texts, truth)
    if options.alone:
        print_table(["method", "Pk", *np.unique(sets), "WindowDiff", "CPU s a text"], rows)
        return
    topics = expect_topics(corpus, 100, options.seeds[0])
    found = cut_by_evidence(topics, ptr, truth, 0.1)
    rows.append(describe("LDA, then words' topics, told ten", sets, truth, found))
    if has_nltk:
        rows.append(describe("TextTiling", sets, truth, tile(texts, truth)))
    rows.append(["C99, published", f"{np.mean(list(C99.values())):.2f}", *map(str, C99.values())])
    TopicSegmenter(2, max_iter=2).fit(corpus[:2]).predict(corpus[:1])  # compiles
    for seed in options.seeds:
        for k in options.components:
            for b in options.concentrations:
                name = f"TopicSegmenter K = {k}, b = {b:g}, seed {seed}"
                model = TopicSegmenter(k, concentration=b, random_state=seed)
                begin = time.process_time()
                model.fit(corpus)
                seconds = time.process_time() - begin
                found = [(p > 0.5).astype(int) for p in model.cut_proba_]
                rows.append(describe(f"{name}, gaps above .5", sets, truth, found, seconds))
                begin = time.process_time()
                found = as_marks(truth, model.predict(corpus))
                seconds = time.process_time() - begin
                rows.append(describe(f"{name}, predict", sets, truth, found, seconds))
                begin = time.process_time()
                numbers = [int(t.sum()) + 1 for t in truth]
                told = as_marks(truth, model.predict(corpus, n_parts=numbers))
                seconds = time.process_time() - begin
                rows.append(describe(f"{name}, told ten", sets, truth, told, seconds))
                print(f"rho {model.cut_probability_:.3f}")
                calibrate(model.cut_proba_, truth)
    print_table(["method", "Pk", *np.unique(sets), "WindowDiff", "CPU s a text"], rows)


if __name__ == "__main__":
    main()
