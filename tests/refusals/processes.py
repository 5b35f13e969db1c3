"""Processes: mistakes in calls of samplers and formulas, and their messages."""

import numpy as np

from skdp.processes import concentration_for_table_count as concentration_for
from skdp.processes import (
    gem_truncation_error,
    sample_concentration,
    sample_crp,
    sample_discount,
    sample_gem,
    sample_network_tables,
    sample_table_counts,
)

NETWORK = {
    "counts": [[0, 0, 0], [40, 1, 0], [0, 7, 3], [5, 2, 0]],
    "parents": [[], [0], [0], [1, 2]],
    "base": [0.5, 0.3, 0.2],
    "discount": 0.5,
    "concentration": 2.0,
}


def concentrations(**change):
    good = {"customers": [3, 2], "tables": [2, 1], "discount": 0.5}
    return sample_concentration(**{**good, **change})


def discounts(**change):
    good = {"customers": [[3, 2]], "tables": [[2, 1]], "concentration": 1.0}
    return sample_discount(**{**good, **change})


def network(**change):
    return sample_network_tables(**{**NETWORK, **change})


def table_counts(**change):
    good = {"counts": [5, 1, 0], "base": [0.5, 0.3, 0.2], "discount": 0.5, "concentration": 1.0}
    return sample_table_counts(**{**good, **change})


def crp(n=5, **change):
    return sample_crp(n, **{"discount": 0.5, "concentration": 1.0, **change})


def gem(*size, **change):
    return sample_gem(*size, **{"discount": 0.5, "concentration": 1.0, **change})


def truncation(n_components=5, **change):
    good = {"discount": 0.5, "concentration": 1.0, "n": 3}
    return gem_truncation_error(n_components, **{**good, **change})


TABLE = r"""
# Laws
concentrations(customers=[3.5, 2]) -> customers must hold integers >= 0, got [3.5, 2].
concentrations(customers=[3]) -> customers and tables must be 1-D and of the same
concentrations(customers=3, tables=1) -> customers and tables must be 1-D and of the
concentrations(tables=[$, 1]) for $ in 4 | 0 -> tables must be between 1 and customers (0 where
concentrations(tables=[1, -1]) -> tables must hold integers >= 0, got [1, -1].
concentrations(discount=1.0) -> discount must be a number in [0, 1), got 1.0.
concentrations(concentration=0.0) -> concentration must be a finite number > 0, got 0.0.
concentrations(prior=$) for $ in (0.0, 1.0) | (1.0, np.inf) | (1.0,) | ('1', 1.0) | 1.0
    prior must be two positive numbers (shape, rate), from
concentrations(n_sweeps=0) -> n_sweeps must be an integer >= 1, got 0.
concentrations(random_state='x') -> random_state must be None, an int, a numpy
discounts(customers=[[3.5, 2]]) -> customers must hold integers >= 0, got [[3.5, 2]].
discounts(customers=$) for $ in [[3]] | [3, 2] | 3, tables=1 | [[[3, 2]]], tables=[[[2, 1]]]
    customers and tables must be 1-D or 2-D and of the same
discounts(tables=[[4, 1]]) -> tables must be between 1 and customers (0 where customers
discounts(tables=[[0, 1]]) -> tables must be between 1 and customers (0 where customers
discounts(tables=[[1, -1]]) -> tables must hold integers >= 0, got [[1, -1]].
discounts(concentration=$) for $ in 0.0 | [1.0, 1.0] | [np.inf] | np.nan | '1'
    concentration must be a finite number > 0, or 1 of
discounts(discount=$) for $ in 1.0 | -0.1 -> discount must be a number in [0, 1), got $.
discounts(prior=$) for $ in (0.0, 1.0) | (1.0, np.inf) | (1.0,) | 1.0
    prior must be two positive numbers (p, q), from 1e-08 to
discounts(n_sweeps=0) -> n_sweeps must be an integer >= 1, got 0.
discounts(random_state='x') -> random_state must be None, an int, a numpy RandomState

# Tables
table_counts(counts=[5, $, 0]) for $ in 1.5 | -1 -> counts must hold integers >= 0, got [5, $, 0].
table_counts(counts=[5, 1]) -> counts and base must be 1-D, not empty and of the same
table_counts(counts=[], base=[]) -> counts and base must be 1-D, not empty and of the
table_counts(base=[$]) for $ in 0.5, 0.0, 0.5 | 0.5, 0.6, -0.1 | 0.5, np.nan, 0.5 | 'a', 'b', 'c'
    base must hold probabilities, positive where a
table_counts(discount=1.0) -> discount must be a number in [0, 1), got 1.0.
table_counts(concentration=-0.5) -> concentration must be a finite number > -0.5, got
table_counts(concentration='1') -> concentration must be a finite number > -0.5, got
table_counts(sampler='gibbs') -> sampler must be one of ('btigs', 'cmgs', 'ssa'), got
table_counts(n_sweeps=$) for $ in 0 | 2.0 -> n_sweeps must be an integer >= 1, got $.
network(counts=[1, 2, 3]) -> counts must be 2-D and not empty, got shape (3,).
network(counts=[[$, 1, 2]] * 4) for $ in 0.5 | -1 -> counts must hold integers >= 0, got [[$, 1, 2],
network(parents=[[], [0], [0]]) -> parents must have a list for each of the 4 rows of
network(parents=$) for $ in 3 | [[], [0], [0], 2] -> parents must be a list of lists of int, got $.
network(parents=[[], [0], [2], [1]]) -> parents[2] must hold different nodes below 2,
network(parents=[[], [0], [0], [1, 1]]) -> parents[3] must hold different nodes below
network(parents=[[], [0], [0], [-1]]) -> parents[3] must hold integers >= 0, got [-1].
network(base=[0.5, 0.5]) -> base must have a probability for each of the 3 dishes.
network(base=[0.0, 0.5, 0.5]) -> base must hold probabilities, positive where a dish
network(base=[np.nan, 0.5, 0.5]) -> base must hold probabilities, positive where a dish
network(discount=1.0) -> discount must be a number in [0, 1), got 1.0.
network(discount=[0.5, 0.5]) -> discount must be a number or 4 numbers, one for each
network(concentration=-0.5) -> concentration must be a finite number > -0.5, got -0.5.
network(concentration=[1.0, 1.0, 1.0, -0.6]) -> concentration must be a finite number >
network(weights='uniform') -> weights must be 'dirichlet' or a list of lists, got
network(weights=[[], [1.0], [1.0], [0.5]]) -> weights must have the form of parents: a
network(weights=[[], [1.0], [1.0], [0.5, 0.6]]) -> weights must hold numbers >= 0 with
network(weights=[[], [1.0], [1.0], [-0.5, 1.5]]) -> weights must hold numbers >= 0 with
network(weights=[[], ['a'], [1.0], [0.5, 0.5]]) -> weights must hold a list of numbers
network(weight_prior=0.0) -> weight_prior must be positive and finite.
network(weight_prior=[[], [1.0], [1.0], [np.inf, 1.0]]) -> weight_prior must be positive
network(weight_prior=True) -> weight_prior must hold a list of numbers for each node,
network(sampler='ssa') -> sampler must be one of ('btigs', 'cmgs'), got 'ssa'.
network(n_sweeps=0) -> n_sweeps must be an integer >= 1, got 0.

# Partitions
crp(counts=$) for $ in [0] | [2, 0] | [[1]] | 3
    counts must be 1-D and hold integers >= 1, got array($).
crp(counts=[$]) for $ in -1 | 1.5 -> counts must hold integers >= 0, got [$].
crp(counts=$) for $ in 'ab' | None -> counts must hold integers, got $.
crp(counts=[np.nan]) -> counts must hold integers, got [nan].
crp(3, counts=[10 ** 17, 2 ** 61]) -> n=3 seats and those of 2 counts would take
gem(discount=0.9, tolerance=1e-10) -> tolerance=1e-10 is out of reach: after 1000000
crp(discount=1.0) -> discount must be a number in [0, 1), got 1.0.
gem(5, discount=1.0) -> discount must be a number in [0, 1), got 1.0.
crp(concentration=-0.5) -> concentration must be a finite number > -0.5, got -0.5.
gem(5, concentration=-0.5) -> concentration must be a finite number > -0.5, got -0.5.
crp(concentration=np.nan) -> concentration must be a finite number > -0.5, got nan.
gem(5, concentration=np.nan) -> concentration must be a finite number > -0.5, got nan.
crp(concentration=np.inf) -> concentration must be a finite number > -0.5, got inf.
gem(5, concentration=np.inf) -> concentration must be a finite number > -0.5, got inf.
crp(-1) -> n must be an integer >= 0, got -1.
gem(0) -> n_components must be an integer >= 1, got 0.
gem() -> n_components may be None only with a tolerance > 0.
gem(5, tolerance=1.0) -> tolerance must be None or in [0, 1), got 1.0.

# Truncated weights
truncation(n_components=$) for $ in -1 | 1.5 -> n_components must hold integers >= 0, got $.
truncation(discount=1.0) -> discount must be a number in [0, 1), got 1.0.
truncation(concentration=-0.5) -> concentration must be a finite number > -0.5, got
truncation(concentration=np.inf) -> concentration must be a finite number > -0.5, got
truncation(n=$) for $ in 0 | 2.0 -> n must be an integer >= 1, got $.
truncation(10 ** 13) -> n_components=10000000000000 sticks would take

# Stirling numbers
stirling_ratios(-1, 1, 0.5) -> n must hold integers >= 0, got -1.
log_stirling_numbers(2.5, 1, 0.5) -> n must hold integers >= 0, got 2.5.
stirling_ratios(3, -1, 0.5) -> t must hold integers >= 0, got -1.
log_stirling_numbers(3, np.nan, 0.5) -> t must hold integers, got nan.
stirling_ratios(3, '2', 0.5) -> t must hold integers, got '2'.
log_stirling_numbers(3, 1, 1.0) -> discount must be a number in [0, 1), got 1.0.
stirling_ratios(3, 1, $) for $ in -0.1 | '0.5' -> discount must be a number in [0, 1), got $.
log_stirling_numbers(3, 1, np.nan) -> discount must be a number in [0, 1), got nan.
stirling_ratios(3, 4, 0.5) -> t must be between 1 and n (0 where n is 0): other ratios
stirling_ratios(3, 0, 0.5) -> t must be between 1 and n (0 where n is 0): other ratios
StirlingRatios.for_counts(-1, 0.5) -> n_max must be an integer >= 0, got -1.

# Expected numbers of tables
concentration_for([5, 5], [2.0, 2.0, 2.0]) -> n and table_count must broadcast, got
concentration_for(2 ** 61, 3.0, 0.9) -> table_count=3.0 cannot be reached: with
concentration_for(5, '2') -> table_count must hold real numbers, got '2'.
concentration_for(10, $) for $ in 1, 0.0 | 0.5, 0.5 | 10, 0.0 | 10.5, 0.5 | -1, 0.0 | np.nan, 0.5 |
        np.inf, 0.0 | [3, 10], 0.5 | [1.0, 3], 0.0
    table_count must hold numbers above 1 and below n, got
concentration_for($, 1.5) for $ in 0 | 1 | [5, 1]
    n must hold integers >= 2: a single customer has one table.
concentration_for($, 1.5) for $ in 2.5 | -1 -> n must hold integers >= 0, got $.
concentration_for('3', 1.5) -> n must hold integers, got '3'.
expected_table_count($, 0.5, 1.0) for $ in 2.5 | -1 -> n must hold integers >= 0, got $.
expected_table_count('3', 0.5, 1.0) -> n must hold integers, got '3'.
concentration_for(5, 2.0, $) for $ in 1.0 | -0.1 | None
    discount must be a number in [0, 1), got $.
expected_table_count(5, $, 1.0) for $ in 1.0 | -0.1 | None
    discount must be a number in [0, 1), got $.
expected_table_count(5, 0.5, $) for $ in -0.5 | np.nan | np.inf
    concentration must be a finite number > -0.5, got
"""
