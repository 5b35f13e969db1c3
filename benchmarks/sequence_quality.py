"""What hidden Markov models find in chorales, cocktail parties and motion capture.

`chorales`: log probability of held-out chorales, in nats a chord, with a bigram beside it whose
discount comes from training counts. `priors`: the same of a part of the training data, for a number
of Dirichlet priors of chords. `cocktail`: who speaks, from microphones; activities of each
state against the truth, every 50 sweeps. `noise`: the same for a number of fixed noise levels, with
the log density of a held-out end, which does not know the truth. `control`: data of a plain HDP-HMM
with binary factors, where similarities should do nothing. `mocap`: share of frames whose
state is not the action, states matched to actions, for Gaussian states (0 lags) and
autoregressive ones, with held-out nats a step beside. `sets`: held-out nats a step on motion
capture and short series, beside what BIC chooses of hmmlearn's models and of scikit-learn's
mixtures; needs hmmlearn and statsmodels.

    python benchmarks/sequence_quality.py chorales --data DATA --components 50 100 --chains 4
    python benchmarks/sequence_quality.py cocktail --data DATA --files paper_constant_s0
    python benchmarks/sequence_quality.py mocap --data DATA --models sticky --lags 0 1 2 --held-out
    python benchmarks/sequence_quality.py sets --data DATA --seeds 0 1 2
"""

import argparse
import time
from collections import Counter
from itertools import pairwise, product

import numpy as np
from report import mean_and_error, print_header, print_table, report_done
from scipy.optimize import linear_sum_assignment
from sequence_data import (
    load_chorales,
    load_cocktail,
    load_mocap,
    load_motion_splits,
    split_chorales,
)
from sequence_sets import print_sets

from skdp.sequence import (
    HDPHMMLT,
    AutoregressiveEmission,
    BinaryFactorEmission,
    CategoricalEmission,
    FactorialHMM,
    GaussianEmission,
    GaussianSimilarity,
    LaplacianSimilarity,
)

MODELS = {
    "plain": (False, False),
    "sticky": (True, False),
    "LT": (False, True),
    "sticky-LT": (True, True),
}
"""Whether sticky, whether transitions are local."""

FACTORIAL = "factorial"
"""One more model of the cocktail party: a chain for every speaker."""

VAGUE = (0.1, 0.1)
"""Gamma prior of concentrations and precisions of the cocktail party."""


def make_model(name, n_components, similarity, **parameters):
    sticky, local = MODELS[name]
    return HDPHMMLT(
        n_components,
        stickiness="auto" if sticky else 0.0,
        similarity=similarity if local else None,
        **parameters,
    )


def print_differences(scores, options):
    """Print what local transitions add to the scores, paired by split and seed."""
    rows = [
        [j, f"{better} less {base}", mean_and_error(scores[j, better] - scores[j, base])]
        for j in options.components
        for better, base in (("LT", "plain"), ("sticky-LT", "sticky"))
        if better in options.models and base in options.models
    ]
    if rows:
        print()
        print_table(["J", "test score", "paired difference"], rows)


# Chorales


def bigram_score(train, test, n_symbols):
    """Return nats a symbol of a bigram model that backs off to frequencies, then to all symbols.

    Absolute discounting, its discount n1 / (n1 + 2 n2) from the numbers of pairs (of symbols) that
    occur once and twice. A sequence begins after a symbol of its own.
    """

    def pairs(panel):
        for sequence in panel:
            symbols = [-1, *np.ravel(sequence).astype(int).tolist()]
            yield from pairwise(symbols)

    def discount(counts):
        once, twice = (sum(n == times for n in counts.values()) for times in (1, 2))
        return once / (once + 2.0 * twice)

    joint = Counter(pairs(train))
    single, before, followers = Counter(), Counter(), Counter()
    for (left, right), n in joint.items():
        single[right] += n
        before[left] += n
        followers[left] += 1
    cut, cut_single = discount(joint), discount(single)
    n_tokens = sum(single.values())
    spare_single = cut_single * len(single) / n_tokens

    def unigram(symbol):
        return max(single[symbol] - cut_single, 0.0) / n_tokens + spare_single / n_symbols

    def bigram(left, right):
        if not before[left]:
            return unigram(right)
        own = max(joint[left, right] - cut, 0.0) + cut * followers[left] * unigram(right)
        return own / before[left]

    scores = np.array([(np.log(bigram(*pair)), np.log(unigram(pair[1]))) for pair in pairs(test)])
    return scores.mean(axis=0)


def chorale_model(name, n_components, n_symbols, prior, seed, options):
    return make_model(
        name,
        n_components,
        GaussianSimilarity(options.dims),
        emission=CategoricalEmission(n_symbols, prior=prior),
        max_iter=options.sweeps,
        n_samples=options.samples,
        n_chains=options.chains,
        random_state=seed,
    )


def score_of_samples(model, panel):
    """Return the mean score of single stored samples of the best chain."""
    known = panel.ptr, panel.values
    sums = [sample.log_likelihoods(*known).sum() for sample in model.samples_]
    return np.mean(sums) / len(panel.values)


def print_chorales(options):
    sequences, n_symbols, test_part = load_chorales(options.data)
    splits = {s: split_chorales(sequences, test_part, s) for s in range(options.splits)}
    print(
        f"sweeps {options.sweeps}, half of them burn-in, every 10th kept; {options.samples} stored "
        f"samples of each of {options.chains} chains are averaged; prior {options.prior[0]}, "
        f"{options.dims} dimensions\n"
    )
    for s, (train, test) in splits.items():
        bigram, unigram = bigram_score(train, test, n_symbols)
        print(f"split {s}: bigram {bigram:.3f}, unigram {unigram:.3f} nats a test chord")
    print(flush=True)
    fits = {key: [] for key in product(options.components, options.models)}
    for seed, s in product(options.seeds, splits):  # all models, then what is next
        train, test = splits[s]
        for n_components, name in fits:
            begin = time.process_time()
            model = chorale_model(
                name, n_components, n_symbols, options.prior[0], seed, options
            ).fit(train)
            row = (
                model.score(test),
                score_of_samples(model, test),
                model.score(train),
                model.n_active_components_,
                getattr(model, "decay_", np.nan),
                model.stickiness_,
                model.transition_concentration_,
                time.process_time() - begin,
            )
            fits[n_components, name].append(row)
            report_done([s, seed, n_components, name, *(f"{x:.3f}" for x in row)])
    rows, scores = [], {}
    for (n_components, name), own in fits.items():
        tests, singles, trains, active, decays, kappas, alphas, seconds = np.array(own).T
        scores[n_components, name] = tests
        rows.append(
            [
                n_components,
                name,
                mean_and_error(tests),
                " ".join(f"{x:.3f}" for x in tests),
                f"{singles.mean():.3f}",
                f"{trains.mean():.3f}",
                f"{active.mean():.0f}",
                f"{decays.mean():.2f}",
                f"{kappas.mean():.2f}",
                f"{alphas.mean():.1f}",
                f"{seconds.mean():.0f}",
            ]
        )
    columns = ["J", "model", "test", "by seed and split", "one sample", "train", "states", "decay"]
    print_table([*columns, "kappa", "alpha", "CPU s"], rows)
    print_differences(scores, options)


def print_priors(options):
    """Print scores of chorales held out of the training data, for a number of priors of chords."""
    sequences, n_symbols, test_part = load_chorales(options.data)
    train, _ = split_chorales(sequences, test_part, 0)
    order = np.random.default_rng(0).permutation(len(train))
    kept, held_out = train[order[20:]], train[order[:20]]
    rows = []
    for prior, j, name in product(options.prior, options.components, options.models):
        scores = [
            chorale_model(name, j, n_symbols, prior, seed, options).fit(kept).score(held_out)
            for seed in options.seeds
        ]
        rows.append([prior, j, name, mean_and_error(scores)])
        report_done(rows[-1])
    print_table(["prior", "J", "model", "score of 20 training chorales"], rows)


# Cocktail party


def match_factors(found, truth):
    """Return found activities (T, F) with factors in the order of the true ones, 1 as there."""
    found, truth = found.astype(bool), truth.astype(bool)
    agreement = (found[:, :, np.newaxis] == truth[:, np.newaxis]).mean(axis=0)
    order = linear_sum_assignment(np.maximum(agreement, 1.0 - agreement).T, maximize=True)[1]
    flipped = agreement[order, np.arange(len(order))] < 0.5
    return found[:, order] ^ flipped


def compare(found, truth):
    """Return F1 and the share of entries that differ."""
    found, truth = found.astype(bool), truth.astype(bool)
    hits, wrong = (found & truth).sum(), (found != truth).sum()
    return 2.0 * hits / (2.0 * hits + wrong), wrong / truth.size


def cocktail_model(name, n_components, truth, weights, options, noise_variance, **parameters):
    emission = BinaryFactorEmission(
        truth.shape[1],
        weights=weights if options.weights == "given" else None,
        noise_variance=noise_variance,
        noise_prior=VAGUE,
        amplitude_variance=options.amplitudes,
        amplitude_prior=VAGUE,
        init=options.init,
    )
    if name == FACTORIAL:
        return FactorialHMM(truth.shape[1], emission=emission, **parameters)
    return make_model(
        name,
        n_components,
        LaplacianSimilarity(decay_prior=tuple(options.decay_prior)),
        emission=emission,
        top_concentration_prior=VAGUE,
        transition_concentration_prior=VAGUE,
        **parameters,
    )


def read_state(state):
    """Return activities (T, F), mean noise, spread of amplitudes, decay, number of states."""
    if hasattr(state, "activities"):
        found, noise = state.activities, np.sqrt(state.noise_variance).mean()
        return found, noise, 0.0, np.nan, len(np.unique(found, axis=0))
    emission = state.emission
    noise = np.sqrt(1.0 / emission.precisions).mean()
    spread = np.sqrt(emission.amplitude_variance)
    n_states = len(np.unique(state.states))
    return emission.factors[state.states], noise, spread, state.decay, n_states


def follow_chain(model, values, truth, options):
    """Return a row of figures every `options.every` sweeps, and F1 of the mean of the last half."""
    rows, mean = [], np.zeros(truth.shape)
    for i, state in enumerate(model.iter_sweeps(values), 1):
        if i % options.every:
            continue
        found, *figures = read_state(state)
        if options.weights == "drawn":
            found = match_factors(found, truth)
        if i > options.sweeps // 2:
            mean += found
        rows.append((i, *compare(found, truth), *figures))
    n_averaged = sum(row[0] > options.sweeps // 2 for row in rows)
    return rows, compare(mean > n_averaged / 2, truth)[0]


def print_cocktail(options):
    print(
        f"sweeps {options.sweeps}, init {options.init}, weights {options.weights}, "
        f"noise variance {options.noise[0]}, variance of amplitudes {options.amplitudes}, "
        f"seeds {options.seeds}\n"
    )
    curves, summary = [], []
    for file, j, name in product(options.files, options.components, options.models):
        values, truth, weights = load_cocktail(options.data, file)
        begin = time.process_time()
        chains, averaged = [], []
        for seed in options.seeds:
            model = cocktail_model(
                name, j, truth, weights, options, options.noise[0],
                max_iter=options.sweeps, random_state=seed,
            )  # fmt: skip
            rows, of_mean = follow_chain(model, values, truth, options)
            chains.append(rows)
            averaged.append(of_mean)
        each = (time.process_time() - begin) / len(options.seeds) / options.sweeps
        chains = np.array(chains)  # seeds, evaluations, figures
        for figures in chains.mean(axis=0):
            curves.append([file, j, name, f"{figures[0]:.0f}", *(f"{x:.3g}" for x in figures[1:])])
        late = chains[:, chains[0, :, 0] > options.sweeps // 2]
        summary.append(
            [
                file,
                j,
                name,
                mean_and_error(late[:, :, 1].mean(axis=1)),
                mean_and_error(averaged),
                f"{late[:, :, 2].mean():.4f}",
                f"{late[:, :, 1].mean(axis=1).min():.3f}",
                f"{late[:, :, 3].mean():.3f}",
                f"{late[:, :, 4].mean():.3f}",
                f"{late[:, :, 5].mean():.2f}",
                f"{late[:, :, 6].mean():.0f}",
                f"{each * 1e3:.0f}",
            ]
        )
        report_done(summary[-1])
    print()
    figures = ["F1", "Hamming", "noise", "amplitudes", "decay", "states"]
    print_table(["file", "J", "model", "sweep", *figures], curves)
    print("\nMeans over the second half of the sweeps:\n")
    columns = ["file", "J", "model", "F1", "F1 of the mean", "Hamming", "worst F1", *figures[2:]]
    columns.append("CPU ms a sweep")
    print_table(columns, summary)


def print_noise(options):
    """Print F1 and held-out score for a number of noise variances, the last quarter held out."""
    rows = []
    for file, j, name in product(options.files, options.components, options.models):
        values, truth, weights = load_cocktail(options.data, file)
        n_train = len(values) * 3 // 4
        for noise in options.noise:
            own = []
            for seed in options.seeds:
                model = cocktail_model(
                    name, j, truth, weights, options, noise,
                    max_iter=options.sweeps, random_state=seed,
                ).fit([values[:n_train]])  # fmt: skip
                found = model.predict([values[:n_train]])[0]
                if name != FACTORIAL:
                    found = model.factors_[found]
                if options.weights == "drawn":
                    found = match_factors(found, truth[:n_train])
                score = model.score([values[n_train:]])
                own.append((score, compare(found, truth[:n_train])[0]))
            scores, f1 = np.array(own).T
            rows.append([file, j, name, noise, mean_and_error(scores), mean_and_error(f1)])
            report_done(rows[-1])
    print()
    print_table(["file", "J", "model", "noise variance", "held-out score", "F1"], rows)


# No locality


def draw_control(seed, n_steps, n_factors=16, n_dims=12, noise=0.3):
    """Return values and binary vectors of a plain HDP-HMM, and weights as in the cocktail."""
    rng = np.random.default_rng(seed)
    n_states, gamma, alpha = 100, 10.0, 5.0
    top = rng.dirichlet(np.full(n_states, gamma / n_states))
    transmat = rng.dirichlet(np.maximum(alpha * top, 1e-6), size=n_states)
    factors = (rng.random((n_states, n_factors)) < 0.3).astype(np.int8)
    weights = rng.random((n_factors + 1, n_dims))
    states = [rng.choice(n_states, p=top)]
    for _ in range(n_steps - 1):
        states.append(rng.choice(n_states, p=transmat[states[-1]]))
    truth = factors[states]
    means = weights[0] + truth @ weights[1:]
    return means + noise * rng.standard_normal(means.shape), truth, weights


def visited_similarity(model, values):
    """Return the mean similarity over pairs of different states that follow each other."""
    states = model.predict([values])[0]
    pairs = np.unique([*pairwise(states)], axis=0)
    left, right = pairs[pairs[:, 0] != pairs[:, 1]].T
    return np.mean([sample.similarity[left, right].mean() for sample in model.samples_])


def print_control(options):
    """Print scores of models on data without locality, and mean similarities."""
    n_train, n_test = 2000, 1000
    print(
        f"sweeps {options.sweeps}, chains {options.chains}, prior of decay {options.decay_prior}, "
        f"init {options.init}, weights {options.weights}, seeds {options.seeds}\n"
    )
    rows, scores = [], {}
    for j, name in product(options.components, options.models):
        own = []
        for seed in options.seeds:
            values, truth, weights = draw_control(seed, n_train + n_test)
            model = cocktail_model(
                name, j, truth, weights, options, options.noise[0],
                max_iter=options.sweeps, n_chains=options.chains, random_state=seed,
            ).fit([values[:n_train]])  # fmt: skip
            found = model.factors_[model.predict([values[:n_train]])[0]]
            if options.weights == "drawn":
                found = match_factors(found, truth[:n_train])
            local = MODELS[name][1]
            own.append(
                (
                    model.score([values[n_train:]]),
                    compare(found, truth[:n_train])[0],
                    getattr(model, "decay_", np.nan),
                    visited_similarity(model, values[:n_train]) if local else np.nan,
                    model.n_active_components_,
                    model.transition_concentration_,
                )
            )
        tests, f1, decays, similarities, active, alphas = np.array(own).T
        scores[j, name] = tests
        rows.append(
            [
                j,
                name,
                mean_and_error(tests),
                mean_and_error(f1),
                f"{decays.mean():.3f}",
                f"{similarities.mean():.3f}",
                " ".join(f"{x:.2f}" for x in similarities),
                f"{active.mean():.0f}",
                f"{alphas.mean():.1f}",
            ]
        )
        report_done(rows[-1])
    columns = ["J", "model", "held-out score", "F1", "decay", "similarity of visited pairs"]
    print_table([*columns, "by seed", "states", "alpha"], rows)
    print_differences(scores, options)


# Motion capture


def matched_error(found, truth):
    """Return the share of steps whose state is not the one matched to the true one."""
    pairs = np.zeros((found.max() + 1, truth.max() + 1), dtype=int)
    np.add.at(pairs, (found, truth), 1)
    return 1.0 - pairs[linear_sum_assignment(pairs, maximize=True)].sum() / len(truth)


def print_mocap(options):
    """Print Hamming distances of all recordings, and scores of those held out, two at a time."""
    panel, actions = load_mocap(options.data, lag=options.lag)
    splits = load_motion_splits(options.data)
    print(
        f"sweeps {options.sweeps}, chains {options.chains}, {panel.n_features} columns, "
        "standardised; scores in the units of the file\n"
    )
    rows = []
    for j, name, n_lags in product(options.components, options.models, options.lags):
        own, scores = [], []
        begin = time.process_time()
        for seed in options.seeds:
            model = make_model(
                name,
                j,
                GaussianSimilarity(options.dims),
                emission=AutoregressiveEmission(n_lags)
                if n_lags
                else GaussianEmission(options.covariance),
                max_iter=options.sweeps,
                n_chains=options.chains,
                random_state=seed,
            )
            states = np.concatenate(model.fit(panel).predict(panel))
            own.append((matched_error(states, actions), model.n_active_components_))
            seconds = (time.process_time() - begin) / len(own)
            if options.held_out:
                scores.append([model.fit(train).score(test) for train, test in splits])
        errors, active = np.array(own).T
        by_seed = " ".join(f"{x:.3f}" for x in errors)
        row = [j, name, n_lags, mean_and_error(errors), by_seed, f"{active.mean():.0f}"]
        held_out = [mean_and_error(x) for x in np.transpose(scores)] if scores else [""] * 3
        rows.append([*row, f"{seconds:.0f}", *held_out])
        report_done(rows[-1])
    columns = ["J", "model", "lags", "Hamming distance", "by seed", "states", "CPU s"]
    print_table([*columns, "score 0-1", "2-3", "4-5"], rows)


PARTS = {
    "chorales": (print_chorales, {"components": [50, 100], "sweeps": 1000, "chains": 4}),
    "priors": (print_priors, {"components": [50], "sweeps": 300, "chains": 2}),
    "cocktail": (print_cocktail, {"components": [200], "sweeps": 5000, "chains": 1}),
    "noise": (print_noise, {"components": [200], "sweeps": 1000, "chains": 1}),
    "control": (print_control, {"components": [100], "sweeps": 1000, "chains": 1}),
    "mocap": (print_mocap, {"components": [30], "sweeps": 1000, "chains": 4}),
    "sets": (print_sets, {"components": [15], "sweeps": 300, "chains": 1}),
}
QUICK = {"components": [20], "sweeps": 20, "chains": 1, "seeds": [0], "every": 5, "splits": 1}


def number_or_auto(text):
    return text if text == "auto" else float(text)


_IN_CHAINS = ("chorales", "priors", "control", "mocap", "sets")
"""Parts that may have several chains."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--data", required=True, help="folder with sequence/")
    parser.add_argument("--models", nargs="+", choices=[*MODELS, FACTORIAL], help="default: all")
    parser.add_argument("--components", type=int, nargs="+", help="default: depends on the part")
    parser.add_argument("--sweeps", type=int, help="default: depends on the part")
    parser.add_argument("--chains", type=int, help="of a fit; default: depends on the part")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--samples", type=int, default=20, help="stored samples a chain")
    parser.add_argument("--dims", type=int, default=3, help="of latent locations")
    parser.add_argument("--splits", type=int, default=1, help="chorales: 0 is that of the file")
    parser.add_argument(
        "--prior", nargs="+", type=number_or_auto, default=["auto"], help="of chords; default: auto"
    )
    parser.add_argument(
        "--files", nargs="+", default=["paper_constant_s0"], help="cocktail: endings"
    )
    parser.add_argument("--init", default="data", choices=["data", "random"])
    parser.add_argument("--weights", default="given", choices=["given", "drawn"])
    parser.add_argument(
        "--noise", nargs="+", type=number_or_auto, default=["auto"], help="variances"
    )
    parser.add_argument(
        "--amplitudes", type=number_or_auto, default=0.0, help="their variance, or auto"
    )
    parser.add_argument(
        "--decay-prior", type=float, nargs=2, default=[1.0, 1.0], help="shape and rate, Laplacian"
    )
    parser.add_argument("--every", type=int, default=50, help="cocktail: sweeps between figures")
    parser.add_argument("--covariance", default="full", choices=["full", "diag"])
    parser.add_argument("--lag", action="store_true", help="mocap: previous frame as columns, too")
    parser.add_argument(
        "--lags", type=int, nargs="+", default=[0], help="mocap: of states; 0: Gaussian ones"
    )
    parser.add_argument("--held-out", action="store_true", help="mocap: scores, too")
    parser.add_argument("--sets", nargs="+", help="sets: their names; default: all")
    parser.add_argument(
        "--priors", nargs="+", default=["default", "diag"], help="sets: of Gaussian states"
    )
    parser.add_argument("--quick", action="store_true", help="a few sweeps, to see that it runs")
    options = parser.parse_args()
    if options.part != "noise" and len(options.noise) > 1:
        parser.error("several noise variances are for the part 'noise'")
    if options.models is None:
        options.models = [*MODELS, *([FACTORIAL] if options.part == "cocktail" else [])]
    elif FACTORIAL in options.models and options.part not in ("cocktail", "noise"):
        parser.error("the factorial model is for the parts 'cocktail' and 'noise'")
    if options.part != "priors" and len(options.prior) > 1:
        parser.error("several priors are for the part 'priors'")
    if options.chains not in (None, 1) and options.part not in _IN_CHAINS:
        parser.error(f"several chains are for the parts {', '.join(_IN_CHAINS)}")
    run, defaults = PARTS[options.part]
    for name, value in (QUICK if options.quick else defaults).items():
        if options.quick or getattr(options, name) is None:
            setattr(options, name, value)
    print_header()
    run(options)


if __name__ == "__main__":
    main()
