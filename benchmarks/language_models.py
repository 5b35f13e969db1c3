"""Language models of words on the Brown corpus: perplexity, speed, memory.

`DATA/language/brown/train.txt` is learned from, `dev.txt` scored: a sentence a line, words between
spaces, rare words replaced by classes already. Perplexity counts words and ends. All times are CPU
times of one thread.

- index: the trie of all contexts and the first tables, until the first sweep;
- sweep: tokens (words and ends) per CPU second, of the kept half of the sweeps, with draws of
  discounts and concentrations; and the share of the time that these draws take. The log joint of
  the trace, one evaluation a sweep, is not counted;
- scoring: events per CPU second and stored sample;
- memory: bytes an event of the trie and the state of a chain, and of one stored sample.

    python benchmarks/language_models.py --data DATA
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
from report import print_header, print_table, report_done
from sklearn.exceptions import ConvergenceWarning

from skdp.feature_extraction import TokenVectorizer
from skdp.language import HierarchicalPitmanYorLM, KneserNeyLM
from skdp.processes._franchise import Franchise


def read_order(text):
    """Return an order; None is of any length."""
    return None if text == "any" else int(text)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", required=True, help="folder with language/brown")
    parser.add_argument("--orders", type=read_order, nargs="+", default=[3, 4, 5, None])
    parser.add_argument("--sweeps", type=int, default=60)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def read_brown(folder):
    """Return the sentences to learn from and to score."""
    folder = Path(folder, "language", "brown")
    train, dev = (
        [line.split() for line in (folder / name).read_text("utf-8").splitlines()]
        for name in ("train.txt", "dev.txt")
    )
    vectorizer = TokenVectorizer(min_count=1, unknown_words="single")
    return vectorizer.fit_transform(train), vectorizer.transform(dev)


class Clock:
    """CPU time of calls of a method, one number a call, while the `with` block runs."""

    def __init__(self, cls, name):
        self.cls, self.name, self.times = cls, name, []

    def __enter__(self):
        method = self.method = getattr(self.cls, self.name)

        def timed(*args):
            begin = time.process_time()
            result = method(*args)
            self.times.append(time.process_time() - begin)
            return result

        setattr(self.cls, self.name, timed)
        return self

    def __exit__(self, *error):
        setattr(self.cls, self.name, self.method)


def timed(function, *args):
    """Return CPU time and result."""
    begin = time.process_time()
    result = function(*args)
    return time.process_time() - begin, result


def array_bytes(thing, seen=None):
    """Return the bytes of all arrays that an object of ours holds."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if isinstance(thing, (list, tuple)):
        return sum(array_bytes(part, seen) for part in thing)
    if type(thing).__module__.startswith("skdp"):
        return sum(array_bytes(part, seen) for part in vars(thing).values())
    return 0


def fit(order, X, options):
    """Return a fitted model, and rows of times and sizes."""
    model = HierarchicalPitmanYorLM(
        order, max_iter=options.sweeps, n_chains=options.chains, random_state=options.seed
    )
    index, sampler = timed(
        lambda: model._start_sampler(model._index(X), np.random.SeedSequence(0), 0)
    )
    n_events = int(sampler.context_index.layout.observed.sum())
    size = array_bytes(sampler) / n_events
    with (
        Clock(Franchise, "sweep") as sweeps,
        Clock(Franchise, "_draw_laws") as laws,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)
        total, _ = timed(model.fit, X)
    kept = slice(options.sweeps // 2, options.sweeps)  # of the first chain
    times = np.array(sweeps.times).reshape(options.chains, -1)[:, kept]
    laws_times = np.array(laws.times).reshape(options.chains, -1)[:, kept]
    speed = [
        "any" if order is None else order,
        f"{index:.1f}",
        f"{n_events / np.median(times) / 1e6:.2f}",
        f"{laws_times.sum() / times.sum():.2f}",
        f"{total / options.chains:.0f}",
    ]
    memory = [f"{size:.0f}", f"{array_bytes(model._models[0]) / n_events:.1f}"]
    laws = [" ".join(f"{d:.3f}" for d in model.discounts_)]
    laws += [" ".join(f"{theta:.2g}" for theta in model.concentrations_)]
    return model, speed, memory, laws


def perplexities(model, X, n_chains):
    """Return those of one sample, of one chain's, and of all; and scored events per second."""
    models = model._models
    each = len(models) // n_chains
    found = []
    for part in (models[each - 1 : each], models[:each], models):
        model._models = part
        seconds, perplexity = timed(model.perplexity, X)
        found.append(perplexity)
    model._models = models
    n_events = len(X.tokens) + len(X)
    return found, n_events * len(models) / seconds


def main():
    options = parse_options()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    print_header()
    X, X_dev = read_brown(options.data)
    print(f"train {X}, dev {X_dev}\n")
    HierarchicalPitmanYorLM(2, max_iter=3).fit(X[:200]).perplexity(X_dev[:10])  # compile
    quality, speed = [], []
    for order in options.orders:
        kneser_ney = ["", ""]
        if order is not None:
            kn_time, kn = timed(KneserNeyLM(order).fit, X)
            kneser_ney = [f"{kn.perplexity(X_dev):.1f}", f"{kn_time:.1f}"]
        model, times, memory, laws = fit(order, X, options)
        found, rate = perplexities(model, X_dev, options.chains)
        quality.append([times[0], kneser_ney[0], *(f"{p:.1f}" for p in found), *laws])
        speed.append([*times, f"{rate / 1e6:.1f}", kneser_ney[1], *memory])
        report_done(quality[-1] + speed[-1])
    n = len(model._models) // options.chains
    columns = ["order", "Kneser-Ney", "one sample", f"{n} samples", f"{options.chains} x {n}"]
    print_table([*columns, "discounts", "concentrations"], quality)
    print()
    print_table(
        [
            *("order", "index, s", "million tokens a second", "share of hyper-parameters"),
            *("s a chain", "million events scored a second", "Kneser-Ney's fit, s"),
            *("bytes an event", "bytes an event, stored sample"),
        ],
        speed,
    )


if __name__ == "__main__":
    main()
