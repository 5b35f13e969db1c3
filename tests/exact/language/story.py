"""Franchises as their story goes: customers come one by one, every seat that they may take.

It knows neither Stirling numbers nor the joint distribution. A state maps cells to the sizes of
their tables; a cell is (context, outcome) here too, and a franchise keeps its own in `name`."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exact.language.franchise import Cell, Context

State = dict[tuple[str, Context, Hashable], tuple[int, ...]]


@dataclass(frozen=True)
class Franchise:
    """Discounts and concentrations by depth, and how the root draws the dish of a new table.
    `base(state, outcome)` yields probabilities, and what the state is after the draw."""

    discounts: Sequence
    concentrations: Sequence
    base: Callable[[State, Hashable], Iterable[tuple]]
    name: str = ""


def fixed_base(probabilities: Mapping) -> Callable[[State, Hashable], Iterable[tuple]]:
    """Return a base of known probabilities."""
    return lambda state, outcome: [(probabilities[outcome], state)]


def arrive(franchise: Franchise, state: State, context: Context, outcome: Hashable) -> Iterator:
    """Yield the probability of each way in which a customer is seated, and the state after it."""
    tables = {w: sizes for (name, u, w), sizes in state.items()
              if (name, u) == (franchise.name, context)}  # fmt: skip
    sizes = tables.get(outcome, ())
    n_customers, n_tables = sum(map(sum, tables.values())), sum(map(len, tables.values()))
    d, theta = franchise.discounts[len(context)], franchise.concentrations[len(context)]
    cell = franchise.name, context, outcome
    for i, size in enumerate(sizes):
        joined = (*sizes[:i], size + 1, *sizes[i + 1 :])
        yield (size - d) / (theta + n_customers), {**state, cell: joined}
    opens = (theta + d * n_tables) / (theta + n_customers) if n_customers else 1
    above = arrive(franchise, state, context[1:], outcome) if context else franchise.base(
        state, outcome
    )  # fmt: skip
    for probability, after in above:
        yield opens * probability, {**after, cell: (*sizes, 1)}


def seatings(franchise: Franchise, events: Iterable[Cell], state: State | None = None) -> Iterator:
    """Yield the probability of each way in which the events are seated, and the state at the end.
    Every seating of every customer is visited, so that probabilities sum to the evidence."""
    events = list(events)
    if not events:
        yield 1, state or {}
        return
    for probability, after in arrive(franchise, state or {}, *events[0]):
        for of_rest, last in seatings(franchise, events[1:], after):
            yield probability * of_rest, last
