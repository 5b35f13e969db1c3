"""Which sampler for which discount a and concentration b? Section 3.5, table 3.1, figures 3.6-3.8.

One Pitman-Yor process with a uniform base on K dishes, N = 10 K customers: data sets are drawn from
the process itself, each is sampled by `--runs` chains, and T is the total number of tables. After a
burn-in of a tenth of the time every chain has a running mean of T; the tables give the standard
deviation of these means over the chains (the root of the mean square over data sets), at the same
CPU time for all samplers: half of it is worth four times the sweeps. Ratios are the thesis's,
s / (s + s_SSA): below 0.5 it beats SSA. As all chains start at one table a dish, they may agree
and be wrong; so the last columns have the root mean square error against the exact mean of T.

Then the same samplers inside the segmented topic model: log joint probability and total number of
tables against CPU time, from random topics, with a and b held.

    python benchmarks/thesis/samplers.py --data DATA --figure samplers.png
"""

import time

import numpy as np
from common import build, load_split, make_parser, parse, print_table, spread

from skdp.processes import log_stirling_numbers, sample_crp, sample_table_counts

SAMPLERS = ["ssa", "cmgs", "btigs"]
NAMES = [sampler.upper() for sampler in SAMPLERS]
TABLE_3_1 = [(K, a, b) for K in (50, 100) for a, b in ((0.0, 10.0), (0.0, 100.0), (0.5, 100.0))]
GRID = [(50, a, b) for a in (0.0, 0.2, 0.5, 0.8) for b in (1.0, 10.0, 100.0, 1000.0)]
MODEL_SETTINGS = [(0.0, 1.0), (0.0, 10.0), (0.0, 100.0), (0.2, 10.0), (0.5, 10.0)]
PARTS = ["process", "model"]
FRACTIONS = [0.15, 0.25, 0.5, 1.0]


def draw_counts(K, a, b, seed):
    """Return the customers of each dish: dishes of the tables are uniform."""
    seats = sample_crp(10 * K, discount=a, concentration=b, random_state=seed)
    dishes = np.random.default_rng(seed).integers(K, size=seats.max() + 1)
    return np.bincount(dishes[seats], minlength=K)


def exact_mean(counts, a, b):
    """Return E[T | n]: p(T) is (b | a)_T times the convolution over dishes of S^n_t H^t."""
    tilt = b + a * counts.sum() / 4  # moves the mass of the convolution to where the product's is
    product = np.ones(1)
    for n in counts[counts > 0]:
        t = np.arange(1, n + 1)
        log_weights = log_stirling_numbers(int(n), t, a) + t * np.log(tilt / len(counts))
        product = np.convolve(product, np.exp(log_weights - log_weights.max()))
        product /= product.max()
    tables = np.arange(len(product)) + np.count_nonzero(counts)
    rising = np.cumsum(np.log(b + a * np.arange(tables[-1])))[tables - 1]
    with np.errstate(divide="ignore"):
        log_p = np.log(product) + rising - tables * np.log(tilt)
    p = np.exp(log_p - log_p.max())
    return p @ tables / p.sum()


def seconds_a_sweep(counts, arguments):
    """Return the CPU time of a sweep without what a call does once: the least of five."""
    times = []
    for n_sweeps in [50, 1050] * 5:
        begin = time.process_time()
        sample_table_counts(counts, n_sweeps=n_sweeps, **arguments)
        times.append(time.process_time() - begin)
    return max(min(times[1::2]) - min(times[::2]), 1e-6) / 1000


def run_process(K, a, b, options):
    """Return sweep times (samplers,), running means of T by fraction of the time, exact means."""
    base = np.full(K, 1.0 / K)
    data = [draw_counts(K, a, b, seed) for seed in options.seeds]
    seconds = []
    means = np.empty((len(SAMPLERS), len(data), options.runs, len(FRACTIONS)))
    for s, sampler in enumerate(SAMPLERS):
        arguments = {"base": base, "discount": a, "concentration": b, "sampler": sampler}
        seconds.append(np.median([seconds_a_sweep(counts, arguments) for counts in data]))
        n_sweeps = max(int(options.milliseconds * K / 50 / 1000 / seconds[s]), 20)
        burn_in = n_sweeps // 10
        ends = [max(int(fraction * n_sweeps), burn_in + 1) for fraction in FRACTIONS]
        for d, counts in enumerate(data):
            for r in range(options.runs):
                draws = sample_table_counts(
                    counts, n_sweeps=n_sweeps, random_state=1000 * d + r, **arguments
                )
                totals = draws.sum(axis=1)
                means[s, d, r] = [totals[burn_in:end].mean() for end in ends]
    return np.array(seconds), means, np.array([exact_mean(counts, a, b) for counts in data])


def measure_process(settings, fractions, options, results):
    """Yield the rows of some settings; add what was measured to `results`."""
    for K, a, b in settings:
        seconds, means, exact = results[K, a, b] = run_process(K, a, b, options)
        deviations = np.sqrt(means.var(axis=2, ddof=1).mean(axis=1))
        errors = np.sqrt(((means - exact[:, None, None]) ** 2).mean(axis=(1, 2)))
        for f in fractions:
            ssa, cmgs, btigs = deviations[:, f]
            ratios = [f"{s / (s + ssa):.2f}" for s in (cmgs, btigs)]
            yield [
                K, f"{a:g}", f"{b:g}", f"{exact.mean():.1f}",
                f"{FRACTIONS[f] * options.milliseconds * K / 50:g}",
                *(f"{s:.3f}" for s in deviations[:, f]), *ratios,
                *(f"{e:.3f}" for e in errors[:, f]),
                " / ".join(f"{1e6 * s:.1f}" for s in seconds),
            ]  # fmt: skip


def report_process(settings, fractions, options):
    """Print the table of some settings; return what was measured."""
    results = {}
    columns = ["K", "a", "b", "E[T]", "CPU ms", *(f"s {name}" for name in NAMES)]
    columns += [*(f"ratio {name}" for name in NAMES[1:]), *(f"error {name}" for name in NAMES)]
    rows = measure_process(settings, fractions, options, results)
    print_table([*columns, "\u00b5s a sweep"], rows)
    print()
    return results


def plot_process(results, options):
    """Save figure 3.8: standard deviations against CPU time, a panel for each setting."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    figure, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained")
    for ax, ((K, a, b), (_, means, _)) in zip(axes.flat, results.items(), strict=True):
        deviations = np.sqrt(means.var(axis=2, ddof=1).mean(axis=1))
        times = np.array(FRACTIONS) * options.milliseconds * K / 50
        for sampler, values in zip(SAMPLERS, deviations, strict=True):
            ax.loglog(times, values, marker="o", label=sampler.upper())
        ax.set(title=f"K = {K}, a = {a:g}, b = {b:g}", xlabel="CPU time, ms")
        ax.set_xticks(times, [f"{t:g}" for t in times])
        ax.set_xticks([], minor=True)
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter("")
    axes[0, 0].set_ylabel("s of mean T")
    axes[0, 0].legend()
    figure.savefig(options.figure, dpi=120)
    print(f"The figure is in {options.figure}.\n")


def run_model(corpus, sampler, a, b, seed, options):
    """Return CPU time, log joint a token, tables and sweeps at the ends of time slots."""
    model = build(
        "STM", options.components[0], sampler=sampler, discount=a, concentration=b,
        max_iter=10**6, burn_in=0, random_state=seed,
    )  # fmt: skip
    sweeps = model.iter_sweeps(corpus)
    spent, n_sweeps, rows = 0.0, 0, []
    for end in np.array(FRACTIONS) * options.model_seconds:
        while spent < end:
            begin = time.process_time()
            state = next(sweeps)
            spent += time.process_time() - begin
            n_sweeps += 1
        joint = state.log_joint() / len(corpus.tokens)
        rows.append([joint, state.tables_to_document.sum(), n_sweeps])
    return rows


def measure_model(corpus, options):
    """Yield the rows: all samplers at some CPU time with a and b."""
    for a, b in MODEL_SETTINGS:
        runs = [
            np.array([run_model(corpus, s, a, b, seed, options) for seed in options.model_seeds])
            for s in SAMPLERS
        ]
        for f, fraction in enumerate(FRACTIONS):
            cells = [run[:, f] for run in runs]
            yield [
                f"{a:g}", f"{b:g}", f"{fraction * options.model_seconds:.3g}",
                *(spread(cell[:, 0], 4) for cell in cells),
                *(f"{cell[:, 1].mean() / 1000:.1f}" for cell in cells),
                " / ".join(f"{cell[:, 2].mean():.0f}" for cell in cells),
            ]  # fmt: skip


def report_model(options):
    corpus = load_split(options)[0]
    for sampler in SAMPLERS:  # compiled
        build("STM", 2, sampler=sampler, max_iter=2).fit(corpus[:2])
    print(
        f"STM on {len(corpus.tokens):,} tokens, {options.components[0]} topics, priors learned; "
        f"seeds {options.model_seeds}\n"
    )
    columns = ["a", "b", "CPU s", *(f"log joint {name}" for name in NAMES)]
    columns += [*(f"1000 tables {name}" for name in NAMES), "sweeps"]
    print_table(columns, measure_model(corpus, options))


def main():
    parser = make_parser(__doc__, components=(50,), sweeps=None, seeds=range(9))
    parser.add_argument("--runs", type=int, default=20, help="chains on each data set")
    parser.add_argument("--milliseconds", type=float, default=40, help="a chain's, at K = 50")
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument("--model-seconds", type=float, default=12, help="a chain's")
    parser.add_argument("--model-seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--figure", help="where to save figure 3.8")
    options = parse(parser, seeds=[0, 1], milliseconds=20, model_seconds=3, model_seeds=[0])
    if "process" in options.parts:
        print(f"{len(options.seeds)} data sets (seeds), {options.runs} chains each\n")
        results = report_process(TABLE_3_1, range(len(FRACTIONS)), options)
        if options.figure:
            plot_process(results, options)
        report_process(GRID, [len(FRACTIONS) - 1], options)
    if "model" in options.parts:
        report_model(options)


if __name__ == "__main__":
    main()
