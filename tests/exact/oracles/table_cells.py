"""Rows of a table in a mixture: densities in plain Python, and sums and trapezoids over cells.

A sample is (shares, components), and a component a list of densities, one for each group of
columns: ("t", columns, location, scale matrix, df), ("nb", column, mean, shape),
("category", column, probabilities), or ("weighted t", columns, location, scale matrix, df, c, nu):
a vector whose scale is multiplied by 1 / u + 1 / c, where u ~ Gamma(nu / 2, nu / 2)."""

from math import exp, lgamma, log, pi

import numpy as np
from scipy.special import gammaln


def student(x, location, scale, df):
    """Return the density of a Student t vector of one or two numbers, each of which may be many."""
    away = [np.asarray(value) - center for value, center in zip(x, location, strict=True)]
    if len(x) == 1:
        ((determinant,),) = scale
        distance = away[0] ** 2 / determinant
    else:
        (a, b), (_, c) = scale
        determinant = a * c - b * b
        distance = (c * away[0] ** 2 - 2.0 * b * away[0] * away[1] + a * away[1] ** 2) / determinant
    n = len(x)
    logs = lgamma(0.5 * (df + n)) - lgamma(0.5 * df) - 0.5 * n * log(df * pi)
    logs -= 0.5 * log(determinant)
    return np.exp(logs - 0.5 * (df + n) * np.log1p(distance / df))


def weighted_student(x, location, scale, df, c, nu):
    """Return the density of a vector with a random scale, by trapezoids in log u."""
    shape, total = 0.5 * nu, 0.0
    for log_u in np.arange(-15.0, 5.0, 0.1):
        weight = shape * log_u - shape * exp(log_u) + shape * log(shape) - lgamma(shape)
        factor = exp(-log_u) + 1.0 / c
        wide = [[value * factor for value in line] for line in scale]
        total = total + 0.1 * exp(weight) * student(x, location, wide, df)
    return total


def negative_binomial(x, mean, shape):
    """Return the probability of counts."""
    x = np.asarray(x, dtype=float)
    logs = gammaln(shape + x) - gammaln(shape) - gammaln(x + 1.0)
    return np.exp(logs + shape * log(shape / (shape + mean)) + x * log(mean / (shape + mean)))


def density(component, row):
    """Return the density of the observed cells of a row; None: a missing cell. A cell may be an
    array of values: then so is the result."""
    result = 1.0
    for kind, columns, *known in component:
        if kind in ("t", "weighted t"):
            location, scale, *others = known
            seen = [i for i, d in enumerate(columns) if row[d] is not None]
            x = [row[columns[i]] for i in seen]
            own = [location[i] for i in seen], [[scale[i][j] for j in seen] for i in seen]
            if seen:
                result = result * (student if kind == "t" else weighted_student)(x, *own, *others)
        elif row[columns] is not None:
            x = row[columns]
            if kind == "nb":
                result = result * negative_binomial(x, *known)
            else:
                result = result * np.array(known[0])[np.asarray(x).astype(int)]
    return result


def mixed_density(samples, row):
    """Return the mean over samples of the density of the observed cells of a row."""
    return sum(
        sum(share * density(component, row) for share, component in zip(*sample, strict=True))
        for sample in samples
    ) / len(samples)


def conditional(samples, row, d, grid):
    """Return the probabilities of the values of a grid in a missing cell, up to a constant."""
    filled = list(row)
    filled[d] = np.asarray(grid)
    return mixed_density(samples, filled)


def divergence(component, sample, d, n_columns, grid, step=1.0):
    """Return KL(p(x_d | component) || p(x_d)), summed over an even grid."""
    row = [None] * n_columns
    row[d] = np.asarray(grid)
    own, mixed = density(component, row), mixed_density([sample], row)
    some = own > 1e-300
    return float(step * np.sum(own[some] * np.log(own[some] / mixed[some])))
