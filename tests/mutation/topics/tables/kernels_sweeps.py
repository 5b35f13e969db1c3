"""Wrong patches of hyper-parameters drawn in a sweep."""

from mutation.mutation import Mutation

LIKELIHOODS = "tests/exact/topics/test_log_likelihood.py"
DISCOUNTS = "tests/exact/topics/test_discount.py"
SCOPES = "tests/exact/topics/test_concentration_scope.py"

SWEEPS = "topics/_tables/_kernels_sweeps.py"

MUTATIONS = [
    Mutation(
        "concentration-of-the-corpus",
        SWEEPS,
        "            customers[begin:end], tables[begin:end], discount,",
        "            customers, tables, discount,",
        "The concentration of a segment is drawn given that segment's customers and tables.",
        f"{SCOPES}::test_random_concentration[btigs-segmented-unequal segments]",
    ),
    Mutation(
        "concentration-of-the-first-segment",
        SWEEPS,
        "prior.concentration[j] = drawn[g]",
        "prior.concentration[j] = drawn[first]",
        "Each segment of a new document has a concentration of its own.",
        f"{SCOPES}::test_transform[btigs-sequential-segment]",
    ),
    Mutation(
        "discount-without-tables",
        SWEEPS,
        "            of_tables += draw_table_evidence(n_tables, prior.concentration[j], a, rng)\n",
        "",
        "(b | a)_T speaks of the discount.",
        f"{DISCOUNTS}::test_random_discount[btigs-segmented-segments of one topic]",
    ),
    Mutation(
        "discount-without-tables-to-previous",
        SWEEPS,
        "                if prior.to_previous > 0.0:\n                    t +=",
        "                if prior.to_previous < 0.0:\n                    t +=",
        "The seatings of both kinds of tables speak of the discount.",
        f"{DISCOUNTS}::test_random_discount[btigs-adaptive-mixed segments]",
    ),
    Mutation(
        "likelihood-concentration-of-tables",
        SWEEPS,
        "group_ptr, groups.customers, groups.tables, prior.discount, drawn[first:last],",
        "group_ptr, 0 * groups.customers, groups.tables, prior.discount, drawn[first:last],",
        "The concentrations of particles are drawn given customers and tables so far.",
        f"{LIKELIHOODS}::test_mean_is_the_probability[1-segmented-document's concentration]",
    ),
]
