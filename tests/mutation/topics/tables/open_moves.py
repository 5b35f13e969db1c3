"""Wrong patches of what splits and merges of topics of table models change."""

from mutation.mutation import Mutation

UNIT = "tests/unit/topics/tables/test_open_models.py"

MUTATIONS = [
    Mutation(
        "open-moved-tables-stay",
        "topics/_tables/_open_moves.py",
        "        (assignments.document_tables, documents),\n",
        "",
        "Tables that change their topic do so at their document, too.",
        f"{UNIT}::TestMoves::test_seats[0.0]",
    ),
]
