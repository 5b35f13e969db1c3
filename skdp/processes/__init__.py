"""Pitman-Yor processes: the toolkit that the models share."""

from skdp.processes._concentration import sample_concentration
from skdp.processes._discount import sample_discount
from skdp.processes._expected_tables import concentration_for_table_count, expected_table_count
from skdp.processes._network_tables import sample_network_tables
from skdp.processes._partitions import sample_crp, sample_gem
from skdp.processes._stirling import StirlingRatios, log_stirling_numbers, stirling_ratios
from skdp.processes._table_counts import sample_table_counts
from skdp.processes._truncation import gem_truncation_error

__all__ = [
    "StirlingRatios",
    "concentration_for_table_count",
    "expected_table_count",
    "gem_truncation_error",
    "log_stirling_numbers",
    "sample_concentration",
    "sample_crp",
    "sample_discount",
    "sample_gem",
    "sample_network_tables",
    "sample_table_counts",
    "stirling_ratios",
]
