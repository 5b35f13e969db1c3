"""Wrong patches of franchises whose dishes are known."""

from mutation.mutation import Mutation

LM = "tests/exact/language/test_hierarchical_pitman_yor_lm.py"
ANY = "tests/exact/language/test_any_order.py"
FRANCHISE = "processes/_franchise.py"
START = "processes/_franchise_start.py"
STARTS = "tests/unit/processes/test_franchise_start.py"

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
    Mutation(
        "franchise-start-discount",
        START,
        "(1.0 - d) * (theta + 1.0) - 1.0",
        "theta",
        "A process with a discount varies less, so the concentration is smaller.",
        f"{STARTS}::test_start[0.3]",
    ),
    Mutation(
        "franchise-start-evidence",
        START,
        "gammaln(prior + mine) - gammaln(prior)",
        "gammaln(prior + mine)",
        "Customers of restaurants are Dirichlet-multinomial.",
        f"{STARTS}::test_start[0.0]",
    ),
    Mutation(
        "franchise-start-tables",
        START,
        "    log_ratio -= gammaln(prior + discount) - gammaln(prior)\n",
        "",
        "Tables have their expected numbers.",
        f"{STARTS}::test_start[0.3]",
    ),
]
