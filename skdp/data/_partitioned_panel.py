"""Partitioned sequences of observations."""

from __future__ import annotations

from typing import Self

from skdp.data._partitioned import Partitioned, raise_without_constructor
from skdp.data._sequence_panel import SequencePanel


class PartitionedPanel(Partitioned):
    """A panel in partitions, each a `SequencePanel` that is opened by its user.

    Make one by `from_files`, `from_delayed`, `from_bag` or `from_panel`. Nothing is read before it
    is needed. `HDPHMMLT` can be fitted to it, with bit for bit the result of a fit to the whole
    panel; fitted models of sequences, except `StateDetector`, can predict and score it.

    Attributes
    ----------
    n_partitions : int
    partitions : sequence of SequencePanel
        ``X.partitions[i]`` opens partition i.
    n_features : int
        Number of columns of an observation.
    shape : (int or nan, int)
        Numbers of sequences (nan if unknown) and of columns.

    See Also
    --------
    SequencePanel : A panel in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.data import PartitionedPanel, SequencePanel
    >>> panel = SequencePanel.from_sequences([np.zeros((3, 2)), np.ones((1, 2))])
    >>> PartitionedPanel.from_panel(panel, n_partitions=2)
    <PartitionedPanel of 2 partitions, 2 sequences, 2 features>
    """

    _kind = SequencePanel

    def __init__(self) -> None:
        raise_without_constructor(type(self))

    @classmethod
    def from_panel(cls, panel: SequencePanel, n_partitions: int) -> Self:
        """Return a panel split into runs of whole sequences with about equal numbers of rows.

        Parameters
        ----------
        panel : SequencePanel
        n_partitions : int
            At most the number of sequences.

        Returns
        -------
        PartitionedPanel
        """
        return cls._split(panel, n_partitions)
