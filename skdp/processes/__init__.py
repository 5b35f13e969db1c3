"""Pitman-Yor processes: the toolkit that the models share."""

from skdp.processes._concentration import (
    concentration_for_table_count,
    expected_table_count,
    sample_concentration,
    sample_discount,
)
from skdp.processes._network_tables import (
    StirlingRatios,
    log_stirling_numbers,
    sample_network_tables,
    sample_table_counts,
    stirling_ratios,
)
from skdp.processes._partitions import gem_truncation_error, sample_crp, sample_gem

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
