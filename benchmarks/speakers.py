"""Who speaks at a cocktail party, and how many: `FactorialHMM` with its defaults.

Parties of `make_cocktail_party` with seeds of their own, and recordings of DATA if given. Factors
are matched to speakers one to one; those that are left over are wrong whenever they are on. F1 is
that of `predict`, from the stored sample of the best of several chains. Right: at least .95.

    python benchmarks/speakers.py --parties 5 6 7 8 9
    python benchmarks/speakers.py --data DATA --files paper_constant_s0 --parties --factors auto 16
"""

import argparse
import time

import numpy as np
from report import print_header, print_table, report_done
from scipy.optimize import linear_sum_assignment
from sequence_data import load_cocktail

from skdp.datasets import make_cocktail_party
from skdp.sequence import FactorialHMM


def f1_of_speakers(found, truth):
    """Return F1 of activities (T, G) against (T, F), factors being matched to speakers.

    A factor may stand for the silence of a speaker: its weights then have the other sign.
    """
    found, truth = found.astype(bool), truth.astype(bool)
    agreement = (found[:, :, np.newaxis] == truth[:, np.newaxis]).mean(axis=0)
    rows, columns = linear_sum_assignment(np.maximum(agreement, 1.0 - agreement), maximize=True)
    matched = found[:, rows] ^ (agreement[rows, columns] < 0.5)
    left_over = np.delete(found, rows, axis=1)
    extra = np.minimum(left_over.sum(axis=0), (~left_over).sum(axis=0)).sum()
    hits = (matched & truth[:, columns]).sum()
    return 2.0 * hits / (matched.sum() + extra + truth.sum())


def number_or_auto(text):
    return text if text == "auto" else int(text)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", help="folder with sequence/cocktail_*.npz")
    parser.add_argument("--files", nargs="*", default=[])
    parser.add_argument("--parties", nargs="*", type=int, default=[5, 6, 7, 8, 9], help="seeds")
    parser.add_argument("--factors", nargs="+", type=number_or_auto, default=["auto"])
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], help="of fits to --files")
    return parser.parse_args()


def find_sets(options):
    """Return names, observations, activities and seeds of fits."""
    for name in options.files:
        values, truth, _ = load_cocktail(options.data, name)
        for seed in options.seeds:
            yield name, values, truth, seed
    for seed in options.parties:
        party = make_cocktail_party(random_state=seed)
        yield f"party {seed}", party.data, party.states, seed


def main():
    options = parse_options()
    print_header()
    rows = []
    for name, values, truth, seed in find_sets(options):
        for n_factors in options.factors:
            begin = time.process_time()
            model = FactorialHMM(
                n_factors, n_chains=options.chains, n_samples=1, random_state=seed
            ).fit(values)
            spent = time.process_time() - begin
            f1 = f1_of_speakers(model.predict(values), truth)
            n_speakers = np.count_nonzero(truth.any(axis=0))
            rows.append(
                [
                    name,
                    seed,
                    n_factors,
                    n_speakers,
                    model.n_active_factors_,
                    f"{f1:.3f}",
                    f"{spent:.0f}",
                ]
            )
            report_done(rows[-1])
    columns = ["data", "seed", "n_factors", "speakers", "found", "F1", "CPU s"]
    print_table(columns, rows)


if __name__ == "__main__":
    main()
