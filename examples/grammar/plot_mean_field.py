"""
Mean field, EM and the truth
============================

Mean field, the inference of :class:`~skdp.grammar.HDPPCFG`, replaces the posterior by a product of
simple distributions. EM replaces it by a point. In mixtures of multinomials so small that the exact
posterior can be computed, the example shows the losses of both: the uncertainty of the parameters,
and whether superfluous components disappear. The latter depends on both prior and inference [1]_.

.. [1] P. Liang, M. I. Jordan and D. Klein, "Probabilistic grammars and hierarchical Dirichlet
   processes", 2009, appendix A.3.
"""

# %%
# One loop for both
# -----------------
#
# All priors are Dirichlet distributions of rows, with one row for the multinomial of each component
# and one for the weights. With GEM weights, each break of the stick is a row of two cells, the
# piece and the rest. Given expected counts, mean field uses E[log p] for the next step, and EM the
# logarithm of the mode. Every step raises a bound, which includes a penalty: KL(q, prior) or, for
# EM, minus the log density of the prior. For mean field, it is a lower bound on the log evidence.

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import betaln, gammaln, logsumexp, psi, softmax, xlog1py, xlogy


def update(prior, counts, inference):
    """Return the logs for the next step, the mean or mode, and the penalty, for rows of counts."""
    prior = np.broadcast_to(prior, counts.shape)
    total = prior.sum(axis=1, keepdims=True)
    log_constant = np.sum(gammaln(total)) - np.sum(gammaln(prior))
    if inference == "EM":
        mode = (counts + prior - 1) / (counts + prior - 1).sum(axis=1, keepdims=True)
        return np.log(mode), mode, -log_constant - np.sum(xlogy(prior - 1, mode))
    q, total = counts + prior, total + counts.sum(axis=1, keepdims=True)
    logs = psi(q) - psi(total)
    divergence = np.sum(gammaln(total)) - np.sum(gammaln(q)) - log_constant + np.sum(counts * logs)
    return logs, q / total, divergence


def to_breaks(counts):
    """Return counts of the piece and of the rest, for each break of the stick."""
    return np.column_stack([counts, counts[::-1].cumsum()[::-1] - counts])[:-1]


def from_breaks(logs):
    """Return the logs of all pieces, given those of the piece and of the rest of each break."""
    pieces = np.insert(logs[..., 0], logs.shape[-2], 0.0, axis=-1)
    return pieces + np.insert(logs[..., 1].cumsum(axis=-1), 0, 0.0, axis=-1)


def fit(X, prior, inference, q, n_iter):
    """Return q(z), and weights and bounds of all steps. Without a prior, weights are equal."""
    n_components = q.shape[1]
    weights, penalty = np.full(n_components, 1 / n_components), 0.0
    log_weights = np.log(weights)
    path, bounds = [q.mean(axis=0)], []
    for _ in range(n_iter):
        counts = q.sum(axis=0)
        if prior == "GEM(1)":
            logs, estimate, penalty = update(1.0, to_breaks(counts), inference)
            log_weights, weights = from_breaks(logs), np.exp(from_breaks(np.log(estimate)))
        elif prior is not None:
            logs, estimate, penalty = update(prior, counts[np.newaxis], inference)
            log_weights, weights = logs[0], estimate[0]
        log_phi, _, penalty_phi = update(1.0, q.T @ X, inference)
        scores = log_weights + X @ log_phi.T
        bounds.append(np.sum(logsumexp(scores, axis=1)) - penalty - penalty_phi)
        path.append(weights)
        q = softmax(scores, axis=1)
    assert np.all(np.diff(bounds) > -1e-9)
    return q, np.array(path), bounds


# %%
# Two components, three rows
# --------------------------
#
# Each row has five trials, and belongs to either component with probability 1/2. The evidence is a
# sum over the eight ways to assign the rows; the posterior of the two parameters is a product over
# rows, computed on a grid.

X = np.array([[1.0, 4.0], [1.0, 4.0], [4.0, 1.0]])
log_terms = []
for z in product([0, 1], repeat=len(X)):
    counts = np.eye(2)[list(z)].T @ X
    log_terms.append(betaln(*(1 + counts).T).sum() - len(X) * np.log(2))
log_evidence = logsumexp(log_terms)

grid = (np.arange(400) + 0.5) / 400
log_p = xlogy(X[:, :1], grid) + xlog1py(X[:, 1:], -grid)
posterior = np.exp(np.logaddexp(log_p[:, np.newaxis], log_p[:, :, np.newaxis]) - np.log(2))
posterior = posterior.prod(axis=0)  # the second parameter runs along its rows
assert np.isclose(np.log(posterior.mean()), log_evidence, atol=1e-4)

start = np.array([[0.4, 0.6], [0.4, 0.6], [0.6, 0.4]])
q, _, bounds = fit(X, None, "mean field", start, 50)
assert bounds[-1] < log_evidence
a, b = (1 + q.T @ X).T[..., np.newaxis]
marginals = np.exp(xlogy(a - 1, grid) + xlog1py(b - 1, -grid) - betaln(a, b))
assignment, _, _ = fit(X, None, "EM", start, 100)
point = update(1.0, assignment.T @ X, "EM")[1][:, 0]

half = np.triu(posterior) / np.triu(posterior).sum()  # where the first parameter is larger
print(f"log evidence {log_evidence:.3f}, bound {bounds[-1]:.3f}")
print("standard deviations  first  second")
for name, p in {
    "truth, one half": np.stack([half.sum(axis=0), half.sum(axis=1)]),
    "mean field": marginals / marginals.sum(axis=1, keepdims=True),
}.items():
    deviations = np.sqrt(p @ grid**2 - (p @ grid) ** 2)
    print(f"{name:20s} {deviations[0]:5.3f} {deviations[1]:7.3f}")

# %%
# The true posterior has two modes, because the components are exchangeable. Mean field covers one
# of them, is slightly too narrow, and is less certain of the component with a single row. EM does
# not represent uncertainty. This affects the assignment of a further trial: with counts (20, 20)
# and (.5, .2), EM prefers the second component, which has hardly any data, and mean field prefers
# the first. Weights exp(E[log p]) need not sum to 1: a large count is reduced by about half a
# count, and a small count nearly to zero.

for inference in ("EM", "mean field"):
    logs, _, _ = update(1.0, np.array([[20.0, 20.0], [0.5, 0.2]]), inference)
    print(f"{inference:10s} weights of the two components: {np.exp(logs[:, 0]).round(3)}")

figure, axes = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained")
axes[0].contourf(grid, grid, posterior, 8, cmap="Blues")
axes[1].contourf(grid, grid, np.outer(marginals[1], marginals[0]), 8, cmap="Blues")
axes[2].plot(*point, "o", color="#08519c")
for ax, title in zip(axes, ["truth", "mean field", "EM"], strict=False):
    ax.plot([0, 1], [0, 1], color="0.8", linewidth=0.8)
    ax.set(title=title, xlabel=r"$\phi_1$", ylabel=r"$\phi_2$", xlim=(0, 1), ylim=(0, 1), aspect=1)
count = np.linspace(0.01, 3, 200)
axes[3].plot(count, count, color="0.6", label="count")
axes[3].plot(count, np.exp(psi(count)), color="#08519c", label=r"exp $\Psi$(count)")
axes[3].set(title="what is left of a count", xlabel="count", aspect=1)
axes[3].legend()

# %%
# Superfluous components
# ----------------------
#
# Now there is only one word, so every component fits every row, and one component suffices. Nothing
# is learned: the posterior of the weights is the prior, and the log evidence is 0, which the bounds
# of mean field do not reach. All fits start with the same unequal weights. Under a symmetric prior
# the posterior has the same mean for all components, so the bars show means of weights that were
# sorted in every draw, from the true posterior and from q.
#
# Under Dir(1), the same for all components, EM stays at its start, and mean field makes all weights
# equal: it adds one count to each and subtracts about half a count. EM does the same, slowly, under
# Dir(1.1). Under Dir(1/8) the largest component takes nearly everything; EM has no unique mode
# there. Under GEM(1) mean field also keeps one large component and some small ones, but EM again
# stays at its start, because all breaks are equally likely. The true posterior is less extreme:
# mean field exaggerates the prior, whether it favors equal components or few large ones.
# :class:`~skdp.grammar.HDPPCFG` has both sparse priors (`top_prior`), but uses a point estimate for
# the weights and q for the rules.

rng = np.random.default_rng(0)
n_rows, n_components, n_iter = 20, 8, 100
start = np.tile(np.linspace(1.5, 0.5, n_components) / n_components, (n_rows, 1))


def sorted_sizes(prior, counts):
    """Return means of the sorted weights, given the counts added to the prior."""
    if prior == "GEM(1)":
        piece = rng.beta(*(1 + to_breaks(counts)).T, size=(10_000, n_components - 1))
        draws = np.exp(from_breaks(np.log(np.stack([piece, 1 - piece], axis=-1))))
    else:
        draws = rng.dirichlet(prior + counts, size=10_000)
    return np.sort(draws, axis=1).mean(axis=0)[::-1]


panels = [("EM", 1.0), ("EM", 1.1), ("EM", "GEM(1)")]
panels += [("mean field", 1.0), ("mean field", 1 / 8), ("mean field", "GEM(1)")]
names = {1.0: "Dir(1)", 1.1: "Dir(1.1)", 1 / 8: "Dir(1/8)", "GEM(1)": "GEM(1)"}
colors = plt.get_cmap("viridis")(np.linspace(0.1, 1, n_components))
figure, axes = plt.subplots(2, 3, figsize=(11, 6), sharey=True, layout="constrained")
for ax, (inference, prior) in zip(axes.flat, panels, strict=True):
    q, path, bounds = fit(np.ones((n_rows, 1)), prior, inference, start, n_iter)
    bars = {"truth": sorted_sizes(prior, np.zeros(n_components))}
    title = f"{inference}, {names[prior]}"
    if inference == "mean field":
        assert bounds[-1] < 0
        bars["q"] = sorted_sizes(prior, q.sum(axis=0))
        title += f", bound \N{MINUS SIGN}{-bounds[-1]:.1f}"
    ax.stackplot(np.arange(n_iter + 1), path.T, colors=colors)
    for i, sizes in enumerate(bars.values()):
        ax.bar(115 + 16 * i, sizes, 12, np.cumsum(sizes) - sizes, color=colors)
    ax.set_xticks([0, 50, 100, *(115 + 16 * np.arange(len(bars)))], ["0", "50", "100", *bars])
    ax.set(title=title, xlim=(0, 140), ylim=(0, 1))
figure.supxlabel("iterations, then means of sorted draws")
figure.supylabel("weights of the components")

# sphinx_gallery_thumbnail_number = 2
plt.show()
