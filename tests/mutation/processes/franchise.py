"""Wrong patches of franchises whose dishes are known."""

from mutation.mutation import Mutation

LM = "tests/exact/language/test_hierarchical_pitman_yor_lm.py"
LEARNT = f"{LM}::test_discounts_and_concentrations[one often-all]"
HYPER = "processes/_franchise_hyper.py"
FRANCHISE = "processes/_franchise.py"

MUTATIONS = [
    Mutation(
        "ngram-mass",
        "processes/_franchise_walker.py",
        "        mass = franchise.customers - self.discount[depth] * franchise.tables",
        "        mass = franchise.customers - self.discount[depth]",
        "Each table of a cell pays the discount.",
        f"{LM}::test_probabilities_given_samples[one often]",
    ),
    Mutation(
        "franchise-theta-jacobian",
        HYPER,
        "return shape * log_theta - rate * theta",
        "return (shape - 1.0) * log_theta - rate * theta",
        "The density of log(theta) is theta times that of theta.",
        LEARNT,
    ),
    Mutation(
        "franchise-discount-prior",
        HYPER,
        "density = (p - 1.0) * math.log(d) + (q - 1.0) * math.log1p(-d)",
        "density = p * math.log(d) + (q - 1.0) * math.log1p(-d)",
        "Beta(p, q) has the power p - 1.",
        LEARNT,
    ),
    Mutation(
        "ngram-capacity",
        FRANCHISE,
        "        return (np.flatnonzero(self.capacity[cells] > 1) + cells.start).astype(np.int32)",
        "        return (np.flatnonzero(self.capacity[cells] > 2) + cells.start).astype(np.int32)",
        "Two customers may sit together or apart.",
        f"{LM}::test_tables[bigrams]",
    ),
]
