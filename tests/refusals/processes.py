"""Processes: mistakes in calls of samplers and formulas, and their messages."""

from skdp import processes
from skdp.processes import concentration_for_table_count as concentration_for

NETWORK = {
    "counts": [[0, 0, 0], [40, 1, 0], [0, 7, 3], [5, 2, 0]],
    "parents": [[], [0], [0], [1, 2]],
    "base": [0.5, 0.3, 0.2],
    "discount": 0.5,
    "concentration": 2.0,
}


def concentrations(**change):
    good = {"customers": [3, 2], "tables": [2, 1], "discount": 0.5}
    return processes.sample_concentration(**{**good, **change})


def discounts(**change):
    good = {"customers": [[3, 2]], "tables": [[2, 1]], "concentration": 1.0}
    return processes.sample_discount(**{**good, **change})


def network(**change):
    return processes.sample_network_tables(**{**NETWORK, **change})


def table_counts(**change):
    good = {"counts": [5, 1, 0], "base": [0.5, 0.3, 0.2], "discount": 0.5, "concentration": 1.0}
    return processes.sample_table_counts(**{**good, **change})


def crp(n=5, **change):
    return processes.sample_crp(n, **{"discount": 0.5, "concentration": 1.0, **change})


def gem(*size, **change):
    return processes.sample_gem(*size, **{"discount": 0.5, "concentration": 1.0, **change})


def truncation(n_components=5, **change):
    good = {"discount": 0.5, "concentration": 1.0, "n": 3}
    return processes.gem_truncation_error(n_components, **{**good, **change})
