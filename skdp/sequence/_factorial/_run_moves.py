"""Moves of runs and of factors, with weights and transitions integrated out."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Places
from skdp._part import Part
from skdp.emissions._binary_factors._runs import Runs, find_runs
from skdp.sequence._factorial._kernels_evidence import Board, fill_board
from skdp.sequence._factorial._kernels_moves import make_exchanges, make_moves
from skdp.sequence._factorial._known_bits import pad_known
from skdp.sequence._factorial._priors import BuffetNumber, GivenNumber

N_ROUNDS = 10
"""Number of rounds of moves in a sweep."""


class RunMoves(Part):
    """Moves that change which factor has which runs, and the number of factors."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_is_first", "_marks", "runs")

    runs: Runs

    def attach(self, ptr: Places, values: Floats) -> None:
        """Store the observations."""
        # Proposals prefer runs between jumps of the observations. They are valid wherever the jumps
        # are taken from, even from other data.
        self.runs = find_runs(values, ptr)
        self._is_first = np.zeros(int(ptr[-1]) + 1, dtype=np.bool_)
        self._is_first[ptr] = True
        self._marks = as_readonly(np.union1d(self.runs.begins, ptr))

    def draw(
        self,
        bits: NDArray[np.int8],
        known: NDArray[np.int8] | None,
        seen: Floats,
        totals: Floats,
        precisions: Floats,
        scales: Floats,
        priors: GivenNumber | BuffetNumber,
        rng: NDArray[np.uint64],
    ) -> NDArray[np.int8]:
        """Return paths drawn from a chain that leaves p(paths given totals, precisions) invariant.
        Names are those of `Board`; a buffet may change F, and all factors are then ever on.
        """
        n_dims = totals.shape[1]
        if isinstance(priors, BuffetNumber):
            spare = min(2 * N_ROUNDS, max(priors.most - bits.shape[1], 0))
            bits = np.hstack([bits, np.zeros((len(bits), spare), dtype=np.int8)])
        else:
            bits = bits.copy()
        room = bits.shape[1]
        square = (room + 1, room + 1)
        board = Board(
            bits=bits,
            known=pad_known(known, room),
            is_first=self._is_first,
            counts=np.empty((room, 3, 2), dtype=np.int64),
            n_on=np.empty(room, dtype=np.int64),
            seen=seen,
            totals=totals,
            grams=np.empty((1 if seen.all() else n_dims, *square)),
            projections=np.empty((n_dims, room + 1)),
            precisions=precisions,
            inverse_variances=scales**-2.0,
            priors=priors.counts,
            is_infinite=priors.is_infinite,
            log_mass=priors.log_mass,
            active=np.empty(room + 1, dtype=np.int64),
            factor=np.empty(square),
            column=np.empty(room + 1),
        )
        fill_board(board)
        make_moves(board, self._marks, N_ROUNDS, np.empty(max(room, 4)), rng)
        if known is not None:
            make_exchanges(board, N_ROUNDS, rng)
        if priors.is_infinite:
            return np.ascontiguousarray(bits[:, board.n_on > 0])
        return bits
