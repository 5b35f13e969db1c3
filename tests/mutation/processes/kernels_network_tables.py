"""Wrong patches of the kernels of networks."""

from mutation.mutation import Mutation

NETWORK = "processes/_kernels_network_tables.py"
TEST = "tests/exact/processes/test_network_tables.py::test_network"

MUTATIONS = [
    Mutation(
        "network-special-rule",
        NETWORK,
        "    if t > 1:\n        weight *= (n + 1.0 - t)",
        "    if t > 0:\n        weight *= (n + 1.0 - t)",
        "Erratum 3: the rule that keeps a dish's last table, without the weight that belongs to "
        "it.",
        f"{TEST}[chain-btigs]",
    ),
    Mutation(
        "network-dirichlet-of-first-edge",
        NETWORK,
        "    return (net.weights[e] + state.edge_totals[e]) / (net.weight_sums[i] + n_tables)",
        "    return (net.weights[e] + state.edge_totals[e]) / (net.weight_sums[i] + n_tables + 1)",
        "The denominator of the Dirichlet weights counts a table too many, so opening is too rare.",
        f"{TEST}[three parents-btigs]",
    ),
    Mutation(
        "network-multiplicity-left-out",
        NETWORK,
        "        ratio *= (t + 1.0) / (new + 1.0) * (net.b[i] + net.a[i] * n_tables)",
        "        ratio *= net.b[i] + net.a[i] * n_tables",
        "The number of ways to order from several parents is left out of (3.17).",
        f"{TEST}[three parents-cmgs]",
    ),
    Mutation(
        "network-parent-ignored",
        NETWORK,
        "            above = state.customers[parent, k] + shift",
        "            above = state.customers[parent, k]",
        "The Stirling ratio of the parent does not follow the tables that are added.",
        f"{TEST}[chain-cmgs]",
    ),
    Mutation(
        "network-opening-of-new-dishes-alone",
        NETWORK,
        "    weight *= (t + 1.0) / (n + 1.0)\n",
        "    weight *= (t + 1.0) / (n + 1.0) if n == t else 0.0\n",
        "Erratum 4: a table may be opened whatever the customers of the others.",
        f"{TEST}[parents that serve a dish only now and then-cmgs]",
    ),
]
