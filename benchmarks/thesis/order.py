"""Does the order of the segments matter? Figure 6.3 (b), and figure 7.5 (f) for AdaTM.

Perplexity with the segments as they are (NP), permuted in the training and the test documents
(PTrTe), and in the test documents alone (PTe). Document completion scores the same words of every
segment in all three. Changes are relative to NP, means over seeds with their standard deviation; p
is that of a paired t-test over test documents of mean log probabilities. STM does not see the
order: its changes are the noise of the chains.

    python benchmarks/thesis/order.py --data DATA --components 50 --seeds 0 1 2
"""

import numpy as np
from common import (
    build,
    load_split,
    make_parser,
    parse,
    print_table,
    score_tokens,
    select,
    shuffle_segments,
    spread,
)
from scipy.stats import ttest_rel


def run(name, n_components, seed, train, test, sweeps):
    """Return log probabilities a token by document, and of all, of NP, PTrTe and PTe."""
    parameters = {"max_iter": sweeps, "random_state": seed}
    permuted = shuffle_segments(test, seed)
    model = build(name, n_components, **parameters).fit(train)
    other = build(name, n_components, **parameters).fit(shuffle_segments(train, seed))
    return [score_tokens(*pair) for pair in ((model, test), (other, permuted), (model, permuted))]


def measure(train, test, options):
    """Yield the rows of the table."""
    for n_components in options.components:
        for name in select(options.models):
            runs = [
                run(name, n_components, seed, train, test, options.sweeps) for seed in options.seeds
            ]
            perplexities = np.exp([[-total for _, total in cases] for cases in runs])
            documents = np.mean([[by_document for by_document, _ in cases] for cases in runs], 0)
            cells = [spread(perplexities[:, 0])]
            for case in (1, 2):
                change = 100 * (perplexities[:, case] / perplexities[:, 0] - 1)
                p = ttest_rel(documents[0], documents[case], nan_policy="omit").pvalue
                cells += [spread(perplexities[:, case]), spread(change, 1), f"{p:.1e}"]
            yield [n_components, name, *cells]


def main():
    parser = make_parser(__doc__, seeds=[0, 1, 2], models=["STM", "SeqLDA", "AdaTM"])
    options = parse(parser, seeds=[0], components=[10], sweeps=100, every=4)
    train, test = load_split(options)
    columns = ["K", "model", "NP", "PTrTe", "change, %", "p", "PTe", "change, %", "p"]
    print_table(columns, measure(train, test, options))


if __name__ == "__main__":
    main()
