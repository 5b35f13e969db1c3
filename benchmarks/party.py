"""Which party does the president belong to? Topic shares as features, as a user would have them.

State of the Union addresses since 1860 by presidents of the two large parties. Everything is fitted
inside a Pipeline on each training fold, vocabulary and topics too, and folds are grouped by
president: none is in the training and in the test part. Topic features are square roots of an
address's topic shares (between them Euclid's distance is Hellinger's), standardized. TF-IDF, on the
same words, is the usual alternative. The classifier is logistic regression in all; its penalty is
chosen inside the training fold, by president too. Means over all folds of all seeds (a seed
shuffles the folds and starts the chains) with their standard deviation, and in how many of these
folds the log loss is lower than that of the parties' shares in the training fold, the first row.

    python benchmarks/party.py --data DATA --components 50 --seeds 0 1
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import sklearn
from report import print_header, print_table
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedGroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sotu import read_records

from skdp.feature_extraction import SegmentVectorizer
from skdp.topics import AdaptiveTopicModel, GibbsLDA, SegmentedTopicModel

METRICS = {"accuracy": "accuracy", "balanced": "balanced_accuracy", "log loss": "neg_log_loss"}
PARTIES = ("Democratic", "Republican")
N_FOLDS = 5


def load_addresses(folder):
    """Return paragraphs, parties and presidents of the addresses."""
    records = [
        record
        for record in read_records(Path(folder, "topics", "sotu.jsonl"))
        if record["year"] >= 1860 and record["party"] in PARTIES
    ]
    documents = [record["segments"] for record in records]
    parties = np.array([record["party"] for record in records])
    return documents, parties, np.array([record["president"] for record in records])


def count_words(corpus):
    return corpus.to_bow()


def make_vectorizer():
    return SegmentVectorizer(stop_words="english", token_pattern="[^\\W\\d_]{3,}", min_df=5)


def make_classifier(seed):
    return LogisticRegressionCV(
        Cs=[1e-3, 1e-2, 0.1, 1.0, 10.0],
        cv=StratifiedGroupKFold(N_FOLDS, shuffle=True, random_state=seed),
        l1_ratios=(0.0,),
        class_weight="balanced",
        scoring="neg_log_loss",
        use_legacy_attributes=False,
        max_iter=2000,
    )


def topic_pipeline(model, seed):
    return make_pipeline(
        make_vectorizer(),
        model,
        FunctionTransformer(np.sqrt),
        StandardScaler(),
        make_classifier(seed),
    )


def make_contestants(options, seed):
    """Return pipelines by features and number of topics."""
    contestants = {
        ("none: shares of the parties", ""): DummyClassifier(strategy="prior"),
        ("TF-IDF", ""): make_pipeline(
            make_vectorizer(),
            FunctionTransformer(count_words),
            TfidfTransformer(sublinear_tf=True),
            make_classifier(seed),
        ),
    }
    common = {"max_iter": options.sweeps, "random_state": seed}
    for n_components in options.components:
        models = {
            "LDA by document": GibbsLDA(n_components, level="document", **common),
            "LDA by segment": GibbsLDA(n_components, level="segment", **common),
            "STM": SegmentedTopicModel(n_components, **common),
            "AdaTM": AdaptiveTopicModel(n_components, **common),
        }
        for name, model in models.items():
            contestants[name, n_components] = topic_pipeline(model, seed)
    return contestants


def measure(data, options):
    """Yield the rows of the table."""
    documents, parties, presidents = data
    contestants = {seed: make_contestants(options, seed) for seed in options.seeds}
    baseline = None
    for name, n_components in contestants[options.seeds[0]]:
        scores = {metric: [] for metric in METRICS}
        begin = time.process_time()
        for seed in options.seeds:
            result = cross_validate(
                contestants[seed][name, n_components],
                documents,
                parties,
                cv=StratifiedGroupKFold(N_FOLDS, shuffle=True, random_state=seed),
                params={"groups": presidents},
                scoring=METRICS,
                error_score="raise",
            )
            for metric in METRICS:
                scores[metric].append(np.abs(result[f"test_{metric}"]))
        seconds = (time.process_time() - begin) / (N_FOLDS * len(options.seeds))
        folds = {metric: np.concatenate(values) for metric, values in scores.items()}
        baseline = folds["log loss"] if baseline is None else baseline
        better = f"{np.count_nonzero(folds['log loss'] < baseline)} of {len(baseline)}"
        cells = [f"{f.mean():.3f} \u00b1 {f.std(ddof=1):.3f}" for f in folds.values()]
        yield [name, n_components, *cells, better, f"{seconds:.0f}"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="folder with topics/sotu.jsonl")
    parser.add_argument("--components", type=int, nargs="+", default=[50])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="about two minutes")
    if "--quick" in sys.argv:
        parser.set_defaults(components=[10], seeds=[0], sweeps=20)
    options = parser.parse_args()
    print(f"party.py {' '.join(sys.argv[1:])}\n")
    print_header()
    sklearn.set_config(enable_metadata_routing=True)  # presidents reach the inner folds too
    documents, parties, presidents = load_addresses(options.data)
    counts = [f"{np.count_nonzero(parties == party)} {party}" for party in PARTIES]
    print(f"{' and '.join(counts)} addresses, {len(set(presidents))} presidents\n")
    columns = ["features", "K", *METRICS, "lower loss in", "CPU s a fold"]
    print_table(columns, measure((documents, parties, presidents), options))


if __name__ == "__main__":
    main()
