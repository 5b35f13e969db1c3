"""Wrong patches of the model with collocations."""

from mutation.mutation import Mutation

EXACT = "tests/exact/language/test_collocations.py"
POSTERIOR = f"{EXACT}::test_posterior_of_cuts"
TABLES = "language/_collocations/_kernels_tables.py"
SEATS = "language/_collocations/_kernels_seats.py"
FILTER = "language/_collocations/_kernels_filter.py"
SWEEPS = "language/_collocations/_kernels_sweeps.py"
PREDICT = "language/_collocations/_kernels_predict.py"
WALKER = "language/_collocations/_sampler.py"

MUTATIONS = [
    Mutation(
        "collocations-every-draw-is-accepted",
        SWEEPS,
        "accepted = not is_exact or math.log(next_open_double(rng)) < new - old",
        "accepted = True",
        "ERRATA D4: a blocked draw with frozen seats needs a Metropolis-Hastings step.",
        f"{POSTERIOR}[two strings]",
    ),
    Mutation(
        "collocations-step-without-the-words-of-a-closed-table",
        SEATS,
        "    if closes:\n        log_ratio -= frozen\n",
        "    log_ratio = 0.0\n",
        "Words of one collocation change each other's probabilities, also when they go.",
        f"{POSTERIOR}[two strings]",
    ),
    Mutation(
        "collocations-step-without-the-words-of-a-new-table",
        SEATS,
        "    return total + add_words_of(f, text, prices, at, m, mask, rng) - frozen",
        "    add_words_of(f, text, prices, at, m, mask, rng)\n    return total",
        "The same for new words.",
        f"{EXACT}::test_posterior_of_tables[['aa', 'aa', 'a']]",
    ),
    Mutation(
        "collocations-tables-close-without-their-words",
        SEATS,
        "    log_ratio = remove_words_of(f, text, prices, at, m, mask, rng) if closes else 0.0",
        "    log_ratio = 0.0",
        "Each table of a collocation sends a customer for each of its words.",
        f"{EXACT}::test_log_joint[given]",
    ),
    Mutation(
        "collocations-base-with-a-link-too-many",
        SEATS,
        "        total += (n_words - 1) * math.log(c.shares[2])",
        "        total += n_words * math.log(c.shares[2])",
        "n words have n - 1 links and one stop.",
        f"{EXACT}::test_draws[0.6]",
    ),
    Mutation(
        "collocations-filter-with-a-link-too-many",
        FILTER,
        "    outer = power * (math.log(back) + math.log(c.shares[1]) - math.log(c.shares[2]))",
        "    outer = power * (math.log(back) + math.log(c.shares[1]))",
        "The same in the sum over new collocations.",
        f"{EXACT}::test_score",
    ),
    Mutation(
        "collocations-filter-forgets-those-seen",
        FILTER,
        "                        log_weight = add_logs(log_weight, extra)\n",
        "                        log_weight = add_logs(log_weight, -math.inf)\n",
        "A collocation that has tables has more than its share of the base.",
        f"{EXACT}::test_score",
    ),
    Mutation(
        "collocations-seen-elsewhere-pass-over-known-cuts",
        FILTER,
        "    return mask & must == must and mask & ~may == 0",
        "    return True",
        "What is known of a string holds for collocations that others have, too.",
        f"{EXACT}::test_known_cuts",
    ),
    Mutation(
        "collocations-tables-pass-over-known-cuts",
        TABLES,
        "            if known == 0:\n",
        "            if known == 5:\n",
        "A table is cut anew as all of its tokens allow.",
        f"{EXACT}::test_known_cuts",
    ),
    Mutation(
        "collocations-every-cut-of-a-table-is-accepted",
        TABLES,
        "    if math.log(next_open_double(rng)) >= new - old:",
        "    if next_open_double(rng) < 0.0:",
        "A table's words are drawn with frozen seats, too.",
        f"{POSTERIOR}[self-overlapping]",
    ),
    Mutation(
        "collocations-tables-of-others-stay",
        TABLES,
        "        at = tokens.places[first + j]\n        for i in range(m - 1):\n",
        "        at = tokens.places[first]\n        for i in range(m - 1):\n",
        "All tokens of a table are cut as the table is.",
        f"{EXACT}::test_log_joint[given]",
    ),
    Mutation(
        "collocations-posterior-of-new-ones-alone",
        PREDICT,
        "                            spans[start + b + begin, j - begin] += share\n",
        "                            spans[start + b + begin, j - begin] += 0.0 * share\n",
        "Words of collocations that have tables have a share of the posterior.",
        f"{EXACT}::test_cut_probabilities",
    ),
    Mutation(
        "collocations-best-of-new-ones-alone",
        PREDICT,
        "            if value > best:\n                best, best_cell = value, cell\n",
        "            if value > math.inf:\n                best, best_cell = value, cell\n",
        "The best collocation may be one that has tables.",
        f"{EXACT}::test_most_probable_words",
    ),
    Mutation(
        "collocations-stop-learned-from-tokens",
        WALKER,
        "            n, n_words = self._new_collocations()\n            logs",
        "            n, n_words = float(self.ends.sum()), float(self.cuts.sum())\n            logs",
        "Only new tables are draws from the base.",
        f"{EXACT}::test_posterior_of_probabilities",
    ),
]
