"""The Pitman-Yor toolkit that the models share."""

from skdp.processes._concentration import draw_concentration, sample_concentration
from skdp.processes._kernels_stirling import log_stirling, open_ratio, share_ratio
from skdp.processes._partitions import expected_table_count, sample_crp, sample_gem
from skdp.processes._stirling import StirlingRatios, log_stirling_numbers, stirling_ratios
from skdp.processes._table_counts import sample_table_counts

__all__ = [
    "StirlingRatios",
    "draw_concentration",
    "expected_table_count",
    "log_stirling",
    "log_stirling_numbers",
    "open_ratio",
    "sample_concentration",
    "sample_crp",
    "sample_gem",
    "sample_table_counts",
    "share_ratio",
    "stirling_ratios",
]
