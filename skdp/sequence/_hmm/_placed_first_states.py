"""First states without impossible transitions, for a panel in partitions.

Candidates and current states stay in the process of a partition. Only sums are exchanged:
transitions and statistics of observations.
"""

from __future__ import annotations

from typing import Any

from skdp._numeric._typing import Floats, Places
from skdp.sequence._hmm._hints import Mask
from skdp.sequence._hmm._placed import PanelPart, PlacedPanel
from skdp.sequence._hmm._placed_moves import ask_part, settle_part
from skdp.sequence._hmm._possible_states import PossibleStates


class PossibleStatesOfPart(PossibleStates):
    """States of a partition that are refined."""

    def begin(self, i: int) -> tuple[int]:
        """Begin with a candidate."""
        self.choose(i)
        return (0,)

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

    def keep_all(self) -> tuple[int]:
        """Keep the current states."""
        self.keep()
        return (0,)

    def finish(self) -> tuple[int]:
        """Replace the first states by the states kept last."""
        self.write()
        return (0,)


def begin_possible_part(part: PanelPart, c: int, allowed: Mask) -> tuple[list[int]]:
    """List the candidates; return their number."""
    chain = part.chains[c]
    chain.move = PossibleStatesOfPart(
        part.panel.ptr, chain.states, allowed, chain.emission, part.known
    )
    return ([chain.move.n_candidates],)


class PlacedPossibleStates:
    """First states of a panel in partitions, with the methods of `PossibleStates`.

    Parameters
    ----------
    data : PlacedPanel
    c : int
        Index of the chain.
    allowed : (J + 1, J) array of bool
    emission : SummedEmission
        Sampler without observations.
    """

    def __init__(self, data: PlacedPanel, c: int, allowed: Mask, emission: Any):
        self._data, self._c = data, c
        self._emission = emission.of_states(allowed.shape[1])
        ((self.n_candidates, *_),) = data.sum(begin_possible_part, c, allowed)

    def _ask(self, question: str, *args: Any) -> tuple[Any, ...]:
        """Return the sum of the results of all partitions."""
        return self._data.sum(ask_part, self._c, question, *args)

    def choose(self, i: int) -> None:
        self._ask("begin", i)

    def condition(self) -> None:
        measured = self._data.total(ask_part, self._c, "measure")
        sums = self._data.total(ask_part, self._c, "add_up", measured)
        self._learned = measured, sums
        self._emission.take(self._data.result(measured)[0], self._data.result(sums))

    def log_evidence(self) -> float:
        return float(self._emission.log_evidence())

    def count(self) -> Places:
        counts: Places = self._ask("count_all")[0]
        return counts

    def decode(self, startprob: Floats, transmat: Floats) -> bool:
        return not self._ask("decode_given", *self._learned, startprob, transmat)[0]

    def keep(self) -> None:
        self._ask("keep_all")

    def write(self) -> None:
        self._ask("finish")
        self._data.sum(settle_part, self._c)
