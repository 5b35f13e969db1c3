"""Where chains begin: SeqLDA_D and SeqLDA_P of figure 6.3 (c), table 6.5, and AdaTM likewise.

Random topics; topics learned by LDA by document or by segment, into which the words are folded
(`init=lda.components_`); and ``init="lda"``, a short chain of LDA by segment inside the fit, whose
topics the words keep. Perplexity of the current state after some sweeps, and CPU seconds until
there, LDA's included, means over seeds.

    python benchmarks/thesis/initialization.py --data DATA --components 50
"""

import numpy as np
from common import Timer, build, load_split, make_parser, parse, print_table, select


def first_topics(init, n_components, train, seed, lda_sweeps):
    """Return the argument `init` and the CPU seconds that it took."""
    if init not in ("LDA_D", "LDA_S"):
        return init, 0.0
    with Timer() as timer:
        lda = build(init, n_components, max_iter=lda_sweeps, random_state=seed).fit(train)
    return lda.components_, timer.seconds


def run(name, init, n_components, seed, train, test, options):
    """Return perplexity and CPU seconds after each number of sweeps."""
    topics, seconds = first_topics(init, n_components, train, seed, options.lda_sweeps)
    model = build(name, n_components, init=topics, n_samples=1, warm_start=True, random_state=seed)
    results = []
    for sweeps in options.sweeps:
        model.set_params(max_iter=sweeps, burn_in=sweeps - 1)  # the last sweep is the only sample
        with Timer() as timer:
            model.fit(train)
        seconds += timer.seconds
        results.append([model.perplexity(test), seconds])
    return results


def measure(train, test, options):
    """Yield the rows of the table."""
    for n_components in options.components:
        for name in select(options.models):
            build(name, 2, max_iter=2, random_state=0).fit(train[:2])  # compiled
            for init in ("random", "LDA_D", "LDA_S", "lda"):
                runs = [
                    run(name, init, n_components, seed, train, test, options)
                    for seed in options.seeds
                ]
                cells = [f"{p:.0f} ({s:.0f} s)" for p, s in np.mean(runs, axis=0)]
                yield [n_components, name, init, *cells]


def main():
    parser = make_parser(__doc__, sweeps=None, models=["SeqLDA", "AdaTM"])
    parser.add_argument("--sweeps", type=int, nargs="+", default=[10, 25, 50, 100, 200, 400])
    parser.add_argument("--lda-sweeps", type=int, default=200)
    options = parse(parser, components=[10], sweeps=[10, 25, 50, 100], lda_sweeps=50, every=4)
    train, test = load_split(options)
    columns = ["K", "model", "init", *(f"{s} sweeps" for s in options.sweeps)]
    print_table(columns, measure(train, test, options))


if __name__ == "__main__":
    main()
