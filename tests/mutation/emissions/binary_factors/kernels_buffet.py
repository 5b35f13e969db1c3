"""Wrong patches: binary factors whose number is inferred, kernels."""

from mutation.mutation import Mutation

KERNELS = "emissions/_binary_factors/_kernels_buffet.py"
BUFFET = "tests/exact/emissions/test_factor_buffet.py::test_factors"

MUTATIONS = [
    Mutation(
        "buffet-singles-in-order",
        KERNELS,
        "math.log(rate / after) if step > 0 else math.log(n_single / rate)",
        "math.log(rate) if step > 0 else math.log(1.0 / rate)",
        "Factors are a set: k singles have the weight 1 / k!.",
        f"{BUFFET}[normal]",
    ),
    Mutation(
        "buffet-weights-of-singles-fixed",
        KERNELS,
        "variance = n_single * scales[d] ** 2 + noise\n",
        "variance = noise\n",
        "The weights of singles are integrated out while bits are drawn.",
        f"{BUFFET}[normal]",
    ),
    Mutation(
        "buffet-singles-uncoupled",
        KERNELS,
        "                for k in range(n_states):\n                    links.change[k] = step\n",
        "                for k in range(n_states):\n                    links.change[k] = 0.0\n",
        "A single makes its state less similar to all others.",
        f"{BUFFET}[coupled]",
    ),
    Mutation(
        "buffet-exchange-without-weights",
        KERNELS,
        "            gain += 0.5 * (old * old - new * new)\n",
        "",
        "An exchange of meanings changes the prior density of weights.",
        f"{BUFFET}[normal]",
    ),
    Mutation(
        "buffet-equals-as-if-all-had-them",
        KERNELS,
        "        log_rate -= math.lgamma(n_counted + prior_off)\n",
        "",
        "The rate of new factors with given states is alpha q B(m, n - m + q).",
        f"{BUFFET}[normal]",
    ),
]
