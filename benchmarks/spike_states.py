"""Do states with a Poisson regression predict counts better than one regression?

Two neurons, two inputs, 3,000 time bins: 2,000 to fit and 1,000 held out. The coefficients depend
on one of three states, which a bin leaves with probability .02, or there is one state. One
regression is scikit-learn's `PoissonRegressor` for each neuron, without a penalty. "Truth" is the
log likelihood given the true states and coefficients.

    python benchmarks/spike_states.py --seeds 5
"""

import argparse
import time

import numpy as np
from report import print_header, print_table
from scipy.stats import poisson
from sklearn.linear_model import PoissonRegressor

from skdp.sequence import HDPHMMLT, RegressionEmission

N_FIT, N_STEPS, N_NEURONS = 2_000, 3_000, 2
COEFS = np.array(  # of states, neurons, inputs, with the intercept last
    [
        [[0.6, -0.2, 0.2], [0.0, 0.4, 1.0]],
        [[-0.5, 0.3, 1.0], [0.3, 0.0, 0.4]],
        [[0.1, 0.1, 0.6], [-0.6, -0.3, -0.3]],
    ]
)


def make_counts(n_states, seed):
    """Return rows of counts and inputs, and the log rates."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(N_STEPS, 2))
    states = np.zeros(N_STEPS, dtype=int)
    for t in range(1, N_STEPS):
        states[t] = states[t - 1] if rng.random() < 0.98 else rng.integers(n_states)
    rows = np.column_stack([inputs, np.ones(N_STEPS)])
    log_rates = np.einsum("ndk,nk->nd", COEFS[states], rows)
    return np.column_stack([rng.poisson(np.exp(log_rates)), inputs]).astype(float), log_rates


def compare(n_states, seed):
    """Return the held-out nats per bin, the number of states, and the CPU time of the fit."""
    values, log_rates = make_counts(n_states, seed)
    fitted, new = values[:N_FIT], values[N_FIT:]
    counts, inputs = new[:, :N_NEURONS], new[:, N_NEURONS:]
    alone = 0.0
    for d in range(N_NEURONS):
        regression = PoissonRegressor(alpha=0.0, max_iter=1000)
        regression.fit(fitted[:, N_NEURONS:], fitted[:, d])
        alone += poisson.logpmf(counts[:, d], regression.predict(inputs)).mean()
    truth = poisson.logpmf(counts, np.exp(log_rates[N_FIT:])).sum(axis=1).mean()
    emission = RegressionEmission(slice(0, N_NEURONS), output="poisson")
    begin = time.process_time()
    model = HDPHMMLT(10, emission=emission, random_state=seed).fit(fitted)
    seconds = time.process_time() - begin
    n_found = np.count_nonzero(model.state_shares_ > 0.01)
    return alone, model.score(new), truth, n_found, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    print_header()
    rows = [
        [n_states, seed, *compare(n_states, seed)]
        for n_states in (3, 1)
        for seed in range(args.seeds)
    ]
    print_table(
        ["states", "seed", "one regression", "HDPHMMLT", "truth", "states over 1 %", "CPU s"],
        [[*row[:2], *(f"{x:.4f}" for x in row[2:5]), row[5], f"{row[6]:.1f}"] for row in rows],
    )


if __name__ == "__main__":
    main()
