"""Chinese restaurants in a tree, straight from the joint distribution of outcomes and tables.

An event is a pair (context, outcome): a tuple of the symbols before it, in reading order, and what
came after them. Every context has a restaurant. Its parent is the context without the first symbol;
the parent's customers are the tables of its children and its own events. The root is (); with
`top`, every context of that many symbols is a root. A cell is a pair of a restaurant and a dish.
With c customers and t tables in a cell,

    p(events, t) = prod_u (theta_u|d_u)_{t_u.} / (theta_u)_{c_u.} prod_w S_{d_u}(c_uw, t_uw)
                   prod_{u a root} prod_w H(w)^{t_uw}.

Discounts and concentrations are lists by depth, or mappings of contexts.

Numbers may be floats, fractions or arrays of nodes of a quadrature."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from math import log, prod
from typing import Any

Context = tuple[Any, ...]
Cell = tuple[Context, Any]
Counts = dict[Cell, int]

BEGIN = -1
"""What stands once before a sentence or a word; nothing is padded."""


def events_of(symbols: Sequence, order: int, end: Hashable = None) -> list[Cell]:
    """Return an event a symbol, and that of the end if there is one."""
    before = [BEGIN, *symbols]
    outcomes = list(symbols) if end is None else [*symbols, end]
    return [(tuple(before[max(0, i + 2 - order) : i + 1]), w) for i, w in enumerate(outcomes)]


def of_restaurant(values: Sequence | Mapping, u: Context, top: int = 0):
    """Return the discount or concentration of a restaurant."""
    return values[u] if isinstance(values, Mapping) else values[len(u) - top]


def cells_of(events: Counter[Cell], top: int = 0) -> list[Cell]:
    """Return all cells that hold a customer whatever the seats, contexts before their suffixes."""
    found = {(u[i:], w): None for u, w in events for i in range(len(u) + 1 - top)}
    return sorted(found, key=lambda cell: -len(cell[0]))


def table_counts(events: Counter[Cell], top: int = 0) -> Iterator[tuple[Counts, Counts]]:
    """Yield the customers and tables of all cells, for every possible choice of the tables."""
    cells = cells_of(events, top)

    def choose(i: int, customers: Counts, tables: Counts) -> Iterator[tuple[Counts, Counts]]:
        if i == len(cells):
            yield customers, tables
            return
        u, w = cells[i]
        for t in range(1, customers[u, w] + 1):
            above = dict(customers)
            if len(u) > top:
                above[u[1:], w] += t
            yield from choose(i + 1, above, {**tables, (u, w): t})

    yield from choose(0, {cell: events[cell] for cell in cells}, {})


def rising(x, n: int, step=1):
    """Pochhammer symbol (x|step)_n = x (x + step) ... (x + (n - 1) step)."""
    return prod((x + i * step for i in range(n)), start=1 + 0 * x)


def stirling(n: int, d) -> list[list]:
    """Return the generalized Stirling numbers S_d(i, t), i = 0, ..., n, t = 0, ..., i."""
    rows = [[1 + 0 * d]]
    for i in range(n):
        last = [*rows[-1], 0 * d]
        rows.append(
            [0 * d, *(last[t - 1] + (i - d * t) * last[t] for t in range(1, i + 2))]
        )  # fmt: skip
    return rows


def restaurant_weight(cells: Sequence[tuple[int, int]], d, theta, numbers: list[list]):
    """Return the factor of a restaurant with (customers, tables) a cell; `numbers` are S_d. The
    first factors of (theta|d)_T and (theta)_C cancel, so that theta may be 0."""
    if not cells:
        return 1
    n_customers, n_tables = map(sum, zip(*cells, strict=True))
    seated = rising(theta + d, n_tables - 1, d) / rising(theta + 1, n_customers - 1)
    return seated * prod(numbers[c][t] for c, t in cells)


@cache
def tables_of(customers: frozenset, d, theta) -> list[tuple[dict, Any]]:
    """Return all tables {dish: t} of a restaurant with (dish, customers), and their factors."""
    dishes, counts = zip(*customers, strict=True) if customers else ((), ())
    numbers = stirling(max(counts, default=0), d)
    return [
        (
            dict(zip(dishes, tables, strict=True)),
            restaurant_weight(list(zip(counts, tables, strict=True)), d, theta, numbers),
        )
        for tables in product(*(range(1, c + 1) for c in counts))
    ]


def by_restaurant(customers: Counts, tables: Counts) -> dict[Context, list[tuple[int, int]]]:
    """Return the (customers, tables) of the cells of each restaurant."""
    result = defaultdict(list)
    for (u, w), c in customers.items():
        result[u].append((c, tables[u, w]))
    return result


def joint(
    customers: Counts, tables: Counts, discounts, concentrations, base: Mapping, top: int = 0
):
    """Return p(events, t)."""
    weight = prod(base[w] ** t for (u, w), t in tables.items() if len(u) == top)
    for u, cells in by_restaurant(customers, tables).items():
        d, theta = (of_restaurant(each, u, top) for each in (discounts, concentrations))
        most = max(c for c, _ in cells)
        weight = weight * restaurant_weight(cells, d, theta, stirling(most, d))
    return weight


def log_seats(sizes: Mapping[Cell, Sequence[int]], discounts, concentrations) -> float:
    """Return log p(events, seats) without the base's factors, customer by customer. `sizes` are
    those of a cell's tables."""
    total = 0.0
    restaurants = defaultdict(list)
    for (u, _), of in sizes.items():
        restaurants[u] += of
    for u, of in restaurants.items():
        d, theta = discounts[len(u)], concentrations[len(u)]
        total += sum(log(theta + i * d) for i in range(1, len(of)))
        total -= sum(log(theta + i) for i in range(1, sum(of)))
        total += sum(log(i - d) for n in of for i in range(1, n))
    return total


def customers_of(events: Counter[Cell], tables: Mapping[Cell, int], top: int = 0) -> Counter[Cell]:
    """Return the customers of all cells: the events, and the tables of the cells below."""
    customers = Counter(events)
    for (u, w), t in tables.items():
        if len(u) > top:
            customers[u[1:], w] += t
    return customers


def predictive(
    context: Context, w: Hashable, customers: Counts, tables: Counts, discounts, concentrations,
    base: Mapping, top: int = 0,
):  # fmt: skip
    """Return the probability of the next outcome given all seats; `base` maps w to H(w)."""
    above = (
        predictive(context[1:], w, customers, tables, discounts, concentrations, base, top)
        if len(context) > top else base[w]
    )  # fmt: skip
    n_customers = sum(c for (u, _), c in customers.items() if u == context)
    if not n_customers:
        return above
    n_tables = sum(t for (u, _), t in tables.items() if u == context)
    d, theta = (of_restaurant(each, context, top) for each in (discounts, concentrations))
    own = customers.get((context, w), 0) - d * tables.get((context, w), 0)
    return (own + (theta + d * n_tables) * above) / (theta + n_customers)
