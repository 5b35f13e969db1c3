"""The Pitman-Yor toolkit that the models share."""

from skdp.processes._concentration import sample_concentration
from skdp.processes._discount import sample_discount
from skdp.processes._partitions import expected_table_count, sample_crp, sample_gem
from skdp.processes._stirling import StirlingRatios, log_stirling_numbers, stirling_ratios
from skdp.processes._table_counts import sample_table_counts

__all__ = [
    "StirlingRatios",
    "expected_table_count",
    "log_stirling_numbers",
    "sample_concentration",
    "sample_crp",
    "sample_discount",
    "sample_gem",
    "sample_table_counts",
    "stirling_ratios",
]
