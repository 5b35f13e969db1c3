"""Wrong patches of franchises whose dishes are known."""

from mutation.mutation import Mutation

LM = "tests/exact/language/test_hierarchical_pitman_yor_lm.py"
ANY = "tests/exact/language/test_any_order.py"
FRANCHISE = "processes/_franchise.py"

MUTATIONS = [
    Mutation(
        "ngram-mass",
        "processes/_franchise_sampler.py",
        "        mass = franchise.customers - of_cells * franchise.tables",
        "        mass = franchise.customers - of_cells",
        "Each table of a cell pays the discount.",
        f"{LM}::test_probabilities_given_samples[one often]",
    ),
    Mutation(
        "ngram-capacity",
        FRANCHISE,
        "        return (np.flatnonzero(self.capacity[cells] > 1) + cells.start).astype(np.int32)",
        "        return (np.flatnonzero(self.capacity[cells] > 2) + cells.start).astype(np.int32)",
        "Two customers may sit together or apart.",
        f"{LM}::test_tables[bigrams]",
    ),
    Mutation(
        "ngram-chain-without-discount",
        "processes/_franchise_sampler.py",
        "        chain = (self.concentration + self.discount) / (self.concentration + 1.0)",
        "        chain = self.concentration / (self.concentration + 1.0)",
        "A table pays the discount to the restaurant above.",
        f"{ANY}::test_same_as_an_order_that_no_context_reaches[discounts0-False]",
    ),
    Mutation(
        "franchise-laws-begin-anew",
        FRANCHISE,
        "        return np.minimum(np.arange(self.n_depths), self.n_laws - 1)",
        "        return np.arange(self.n_depths) % self.n_laws",
        "The last law holds for all deeper restaurants.",
        f"{ANY}::test_same_as_an_order_that_no_context_reaches[discounts0-False]",
    ),
    Mutation(
        "franchise-last-law-of-one-depth",
        FRANCHISE,
        "        last = self.n_depths if law == self.n_laws - 1 else min(law + 1, self.n_depths)",
        "        last = min(law + 1, self.n_depths)",
        "All depths that share a law tell of it.",
        f"{ANY}::test_shared_laws[twice-discounts]",
    ),
]
