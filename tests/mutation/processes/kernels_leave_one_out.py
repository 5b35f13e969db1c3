"""Wrong patches of predictions of left-out customers."""

from mutation.mutation import Mutation

EXACT = "tests/exact/context/test_leave_one_out.py"
KERNEL = "processes/_kernels_leave_one_out.py"

MUTATIONS = [
    Mutation(
        "left-out-table",
        KERNEL,
        "        n_tables -= 1\n",
        "",
        "A table that closes leaves its restaurant.",
        f"{EXACT}::test_left_out_terms_of_a_sample[fixed-True]",
    ),
    Mutation(
        "left-out-customer",
        KERNEL,
        "        own_customers -= 1\n",
        "",
        "The event must not predict itself.",
        f"{EXACT}::test_left_out_terms_of_a_sample[fixed-True]",
    ),
    Mutation(
        "left-out-weight",
        KERNEL,
        "weight = chance / row[mine]",
        "weight = chance",
        "Samples given the event are weighted by 1 / p(event | the rest of the sample).",
        f"{EXACT}::test_left_out_terms_of_a_sample[fixed-True]",
    ),
    Mutation(
        "left-out-reach",
        KERNEL,
        "            left *= drops\n",
        "",
        "A table above can close only if the one below does.",
        f"{EXACT}::test_left_out_terms_of_a_sample[fixed-True]",
    ),
]
