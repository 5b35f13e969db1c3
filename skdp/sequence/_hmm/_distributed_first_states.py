"""First states without impossible transitions, for a panel in partitions.

Candidates and current states stay in the process of a partition. Only sums are exchanged:
transitions and statistics of observations.
"""

from __future__ import annotations

from typing import Any

from skdp._numeric._typing import Floats, Places
from skdp.sequence._hmm._distributed import DistributedPanel
from skdp.sequence._hmm._hints import Mask
from skdp.sequence._hmm._partition import PanelPartition
from skdp.sequence._hmm._possible_states import PossibleStates


class PartitionPossibleStates(PossibleStates):
    """Refined states of chain `c` in a partition."""

    def __init__(self, partition: PanelPartition, c: int, allowed: Mask):
        chain = partition.chains[c]
        super().__init__(
            partition.panel.ptr, chain.states, allowed, chain.emission, partition.known
        )

    def count_candidates(self) -> tuple[list[int]]:
        """Return the number of candidates, which is that of all partitions, in a list."""
        return ([self.n_candidates],)

    def measure(self) -> tuple[Any]:
        """Return the measures of the emission for the current states."""
        return (self.emission.measure(self.states),)

    def add_up(self, measured: tuple[Any]) -> tuple[Any, ...]:
        """Return the sums of the emission, given the measures of all partitions."""
        sums: tuple[Any, ...] = self.emission.add_up(self.states, measured[0])
        return sums

    def count_all(self) -> tuple[Places]:
        """Return the transitions of the current states."""
        return (self.count(),)

    def decode_given(
        self, measured: tuple[Any], sums: tuple[Any, ...], startprob: Floats, transmat: Floats
    ) -> tuple[int]:
        """Make the most probable paths the current states, and return whether any is impossible."""
        self.emission.take(measured[0], sums)
        return (int(not self.decode(startprob, transmat)),)


class DistributedPossibleStates:
    """First states of a panel in partitions, with the methods of `PossibleStates`."""

    def __init__(self, data: DistributedPanel, c: int, allowed: Mask, emission: Any):
        self._data, self._c = data, c
        self._emission = emission.of_states(allowed.shape[1])
        data.run("begin_move", c, PartitionPossibleStates, allowed)
        ((self.n_candidates, *_),) = self._sum("count_candidates")

    def _sum(self, method: str, *args: Any) -> tuple[Any, ...]:
        """Return the sum of the results of all partitions."""
        return self._data.sum("call_move", self._c, method, *args)

    def _run(self, method: str, *args: Any) -> None:
        self._data.run("call_move", self._c, method, *args)

    def choose(self, i: int) -> None:
        self._run("choose", i)

    def condition(self) -> None:
        measured = self._data.total("call_move", self._c, "measure")
        sums = self._data.total("call_move", self._c, "add_up", measured)
        self._learned = measured, sums
        self._emission.take(self._data.result(measured)[0], self._data.result(sums))

    def log_evidence(self) -> float:
        return float(self._emission.log_evidence())

    def count(self) -> Places:
        counts: Places = self._sum("count_all")[0]
        return counts

    def decode(self, startprob: Floats, transmat: Floats) -> bool:
        return not self._sum("decode_given", *self._learned, startprob, transmat)[0]

    def keep(self) -> None:
        self._run("keep")

    def write(self) -> None:
        self._run("write")
        self._data.run("end_move", self._c)
