"""Tree of the observed contexts by level, with the outcomes observed in each context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Ints, Places
from skdp.context._backoff._levels import Levels
from skdp.data._categories import Column, Values
from skdp.processes._context_index import ContextIndex, count_up, pack
from skdp.processes._franchise import FranchiseLayout


@dataclass(frozen=True)
class ContextTree(ContextIndex):
    """All contexts and all cells; a cell is an outcome observed in a context.

    A context of level k has the values of the columns of levels 0 to k; all events reach the last
    level. A *step* lengthens contexts by one column; at the end of a level they are restaurants.
    """

    classes: NDArray[Any]  # (n_outcomes,)
    levels: Levels
    columns: list[Column]  # of all levels, in order
    keys: list[Places]  # sorted keys of the contexts after each step; an index is a context

    @classmethod
    def of(
        cls,
        columns: list[Column],
        codes: list[Places],
        levels: Levels,
        outcomes: Places,
        counts: Places,
        classes: NDArray[Any],
        *,
        has_root: bool,
    ) -> ContextTree:
        """Return the tree of events, given their codes in the columns of the levels, and counts."""
        n_outcomes = len(classes)
        node = np.zeros(len(outcomes), np.int64)
        keys = []
        for column, code in zip(columns, codes, strict=True):
            found, node = np.unique(node * len(column.values) + code, return_inverse=True)
            keys.append(found)
        cell_key, cell = np.unique(node * n_outcomes + outcomes, return_inverse=True)
        observed = np.bincount(cell, weights=counts, minlength=len(cell_key)).astype(np.int64)
        nodes, dishes = [cell_key // n_outcomes], [cell_key % n_outcomes]
        parents: list[Places] = []
        n_nodes = [len(keys[-1]) if keys else 1]
        for up in _parents(columns, keys, levels, has_root=has_root):  # from the deepest level on
            n_nodes.insert(0, int(up.max(initial=-1)) + 1)
            cell_key, above = np.unique(
                up[nodes[0]] * n_outcomes + dishes[0], return_inverse=True
            )  # fmt: skip
            parents.insert(0, above)
            nodes.insert(0, cell_key // n_outcomes)
            dishes.insert(0, cell_key % n_outcomes)
        node_ptr = np.cumsum([0, *n_nodes])
        cell_ptr = np.cumsum([0, *map(len, nodes)])
        parents = [part + first for part, first in zip(parents, cell_ptr, strict=False)]
        parents.insert(0, np.full(len(nodes[0]), -1))
        flat = np.concatenate([part + m for part, m in zip(nodes, node_ptr, strict=False)])
        n_before = int(cell_ptr[-2])
        layout = FranchiseLayout.of(
            cell_ptr, node_ptr, pack(parents), pack([flat]),
            pack([np.zeros(n_before, np.int64), observed]),
        )  # fmt: skip
        return cls(
            n_outcomes=n_outcomes,
            has_root=has_root,
            cell_ptr=count_up(flat, int(node_ptr[-1]), first=0),
            outcome=pack(dishes),
            layout=layout,
            classes=classes,
            levels=levels,
            columns=columns,
            keys=keys,
        )

    def find(self, values: list[Values]) -> Ints:
        """Return the contexts of rows of X by depth, (n_rows, n_depths); -1 for unseen contexts."""
        places = [place for level in self.levels for place in level]
        codes = [
            column.find(values[place]) for column, place in zip(self.columns, places, strict=True)
        ]
        return self.find_codes(codes, len(values[0]))

    def find_codes(self, codes: list[Places], n_rows: int) -> Ints:
        """Return the contexts of rows like `find`, given the codes in the columns of the levels."""
        contexts = np.full((n_rows, self.layout.n_depths), -1, np.int32)
        contexts[:, 0] = 0  # the root; without one it is overwritten below
        node, step = np.zeros(n_rows, np.int64), 0
        for m, level in enumerate(self.levels, start=int(self.has_root)):
            for _ in level:
                column, keys, code = self.columns[step], self.keys[step], codes[step]
                wanted = node * len(column.values) + code
                found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
                is_seen = (node >= 0) & (code >= 0) & (keys[found] == wanted)
                node = np.where(is_seen, found, -1)
                step += 1
            contexts[:, m] = np.where(node >= 0, node + self.layout.node_ptr[m], -1)
        return contexts

    def contexts_at(self, m: int) -> NDArray[Any]:
        """Return the contexts of depth m, (n, columns so far), as an array of objects."""
        n_steps = sum(map(len, self.levels[: m + 1 - self.has_root]))
        nodes = self.layout.nodes_at(m)
        place = np.arange(nodes.stop - nodes.start)
        contexts = np.empty((len(place), n_steps), dtype=object)
        for step in range(n_steps - 1, -1, -1):
            column = self.columns[step]
            place, code = np.divmod(self.keys[step][place], len(column.values))
            contexts[:, step] = column.values[code]
        return contexts


def _parents(
    columns: list[Column], keys: list[Places], levels: Levels, *, has_root: bool
) -> list[Places]:
    """Return the index of each context's parent in the level above, from the deepest level up."""
    parents = []
    step = len(keys)
    for k in range(len(levels) - 1, -1, -1):
        up = np.arange(len(keys[step - 1]))
        for _ in levels[k]:
            step -= 1
            up = keys[step][up] // len(columns[step].values)
        if k or has_root:
            parents.append(up)
    return parents
