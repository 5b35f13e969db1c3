"""Wrong patches of the nested Pitman-Yor model."""

from mutation.mutation import Mutation

EXACT = "tests/exact/language/test_nested.py"
LONG = "tests/exact/language/test_nested_long.py::test_two_long_words"
POSTERIOR = f"{EXACT}::test_posterior_of_cuts"
JOINT = f"{EXACT}::test_log_joint"
SWEEPS = "language/_nested/_kernels_sweeps.py"
WORDS = "language/_nested/_kernels_words.py"
SEATS = f"{EXACT}::test_posterior_of_tables"
FILTER = "language/_nested/_kernels_filter.py"
PREDICT = "language/_nested/_kernels_predict.py"
LENGTHS = "language/_nested/_kernels_lengths.py"
WALKER = "language/_nested/_sampler.py"
TYPES = "language/_nested/_kernels_types.py"
TRIPLES = "language/_nested/_kernels_triples.py"
MODEL = "language/_nested/_model.py"

MUTATIONS = [
    Mutation(
        "nested-every-draw-is-accepted",
        SWEEPS,
        "accepted = not is_exact or math.log(next_open_double(rng)) < new - old",
        "accepted = True",
        "ERRATA D4: a blocked draw with frozen seats needs a Metropolis-Hastings step.",
        f"{POSTERIOR}[two strings-strings-(2, 2)]",
    ),
    Mutation(
        "nested-step-without-the-filter-of-the-old-words",
        SWEEPS,
        "        old -= log_path(f, text, prices, s.words, n_words, s)\n",
        "",
        "The ratio has the probability of drawing the old words, too.",
        f"{POSTERIOR}[two strings-strings-(2, 2)]",
    ),
    Mutation(
        "nested-step-without-the-filter-of-the-new-words",
        SWEEPS,
        "        new -= log_path(f, text, prices, s.new_words, n_new, s)\n",
        "",
        "The ratio has the probability of drawing the new words.",
        f"{POSTERIOR}[two strings-strings-(2, 2)]",
    ),
    Mutation(
        "nested-removed-words-are-weighed-before-they-go",
        WORDS,
        "        removed = remove_event(f, text, w, v, pair, depth, rng)\n"
        "        if log_wanted:\n"
        "            total += log_removed(f, text, prices, w, v, pair, depth, removed)\n",
        "        base = base_probability(f, text, prices, w)\n"
        "        before = math.log(event_probability(f, text, w, v, pair, depth, base))\n"
        "        takes, letters = remove_event(f, text, w, v, pair, depth, rng)\n"
        "        base = base_probability(f, text, prices, w)\n"
        "        if log_wanted:\n"
        "            total += before\n"
        "            if takes:\n"
        "                total += letters - log_letters(text, prices, w, base)\n",
        "A word's probability is that without itself.",
        f"{POSTERIOR}[self-overlapping-strings-(1, 1)]",
    ),
    Mutation(
        "nested-spelling-of-a-new-table-counts-once-frozen",
        WORDS,
        "    return probability, add_spelling(f, text, w, rng) - "
        "log_letters(text, prices, w, base)",
        "    add_spelling(f, text, w, rng)\n    return probability, 0.0",
        "Letters of a new table change each other's probabilities.",
        f"{POSTERIOR}[two strings-strings-(2, 2)]",
    ),
    Mutation(
        "nested-spelling-of-a-closed-table-counts-once-frozen",
        WORDS,
        "        log_ratio -= log_letters(text, prices, w, base)\n",
        "        log_ratio = 0.0\n",
        "The same for the old words.",
        f"{POSTERIOR}[two strings-strings-(2, 2)]",
    ),
    Mutation(
        "nested-long-stretches-are-not-lifted",
        FILTER,
        "            s.scale_log[i] = max(math.log(LIFTED) - total, 0.0)",
        "            s.scale_log[i] = 0.0",
        "Without a lift all ways to cut a long stretch have weight 0.",
        f"{LONG}[online]",
    ),
    Mutation(
        "nested-lifts-of-some-words",
        FILTER,
        "            if s.scale_log[i] > 0.0 and s.reach[i] >= b:",
        "            if s.scale_log[i] > 0.0 and s.reach[i] == b:",
        "All words that hold a stretch are lifted, not only those that begin with it.",
        f"{LONG}[online]",
    ),
    Mutation(
        "nested-tables-close-without-their-spelling",
        WORDS,
        "    if not remove_customer(f, cell, rng) or w == text.n_spans:",
        "    if remove_customer(f, cell, rng) or True:",
        "Each table at the root is one spelling in the letters' restaurants.",
        f"{JOINT}[given-(2, 2)]",
    ),
    Mutation(
        "nested-filter-forgets-the-pairs-seen",
        FILTER,
        "                        weight += s.alpha[b, j - 1] * extra\n",
        "                        weight += 0.0 * extra\n",
        "A word seen after v has more than its share of the back-off.",
        f"{EXACT}::test_score[(2, 2)]",
    ),
    Mutation(
        "nested-filter-looks-back-one-letter-less",
        FILTER,
        "        for k in range(1, min(longest, t) + 1):\n            if not is_open:",
        "        for k in range(1, min(longest, t - 1) + 1):\n            if not is_open:",
        "ERRATA D3: k = 1, ..., min(L, t).",
        f"{EXACT}::test_score[(2, 2)]",
    ),
    Mutation(
        "nested-filter-without-a-start",
        FILTER,
        "    s.alpha[0, 0] = 1.0",
        "    s.alpha[0, 0] = 0.5",
        "ERRATA D3: alpha[0][0] = 1.",
        f"{EXACT}::test_score[(2, 2)]",
    ),
    Mutation(
        "nested-last-word-without-the-end-of-the-sentence",
        FILTER,
        "                    probability = end_probability(f, text, prices, v)\n",
        "                    probability = 1.0\n",
        "ERRATA D3: the last word is drawn with p($ | word).",
        f"{POSTERIOR}[an empty one-strings-(2, 2)]",
    ),
    Mutation(
        "nested-longest-span-that-occurs-twice-is-not-looked-up",
        FILTER,
        "    return k <= text.shared[at]",
        "    return k < text.shared[at]",
        "A span that occurs in another string may have customers there.",
        f"{POSTERIOR}[two strings-strings-(2, 2)]",
    ),
    Mutation(
        "nested-known-cuts-are-passed-over",
        FILTER,
        "            is_open = not must_end(text, start, b)",
        "            is_open = True",
        "A word does not extend over a known cut.",
        f"{EXACT}::test_known_cuts[strings-(2, 2)]",
    ),
    Mutation(
        "nested-posterior-of-the-back-off-alone",
        PREDICT,
        "                    spans[start + b - j, j - 1] += share * s.alpha[b, j - 1] * extra",
        "                    spans[start + b - j, j - 1] += 0.0 * share * extra",
        "Pairs that were seen have a share of the posterior.",
        f"{EXACT}::test_cut_probabilities[(2, 2)]",
    ),
    Mutation(
        "nested-words-have-no-price",
        PREDICT,
        "spans[start + t - k, k - 1] - price",
        "spans[start + t - k, k - 1]",
        "The words of least risk pay a price each.",
        f"{EXACT}::test_words_of_least_risk[(2, 2)-0.6]",
    ),
    Mutation(
        "nested-drawn-words-stop-at-the-longest",
        LENGTHS,
        "        counts[k if k <= longest else 0] += 1",
        "        counts[min(k, longest)] += 1",
        "ERRATA D4: words longer than L are no words of L letters.",
        f"{EXACT}::test_factors_of_lengths_that_drawn_words_have",
    ),
    Mutation(
        "nested-poisson-lengths-beyond-the-longest",
        WALKER,
        "            poisson = np.exp(logs - np.logaddexp.reduce(logs))",
        "            poisson = np.exp(logs - self.word_length)",
        "ERRATA D4: the Poisson distribution is cut off at 1 and L.",
        f"{EXACT}::test_factors_of_lengths_that_drawn_words_have",
    ),
    Mutation(
        "nested-joint-without-factors-of-lengths",
        WALKER,
        "        total += float(self._root_lengths() @ np.log(self.prices[1:]))\n",
        "        total += float(self._root_lengths().sum() * np.log1p(-self.prices[0]))\n",
        "Each table at the root has the factor of its word's length.",
        f"{JOINT}[learned-(1, 1)]",
    ),
    Mutation(
        "nested-joint-with-ends-by-customer",
        WALKER,
        "float(f.cells[text.hashed_cell - 1, TABLES]) * math.log",
        "float(f.cells[text.hashed_cell - 1, CUSTOMERS]) * math.log",
        "The base has a factor for each table of the end, not for each string.",
        f"{JOINT}[given-(1, 1)]",
    ),
    Mutation(
        "nested-types-flip-to-other-sites",
        TYPES,
        "    same = n_after == n and joined_after != joined\n",
        "    same = True\n    n_after = n\n",
        "The reverse move starts from the same sites.",
        f"{POSTERIOR}[self-overlapping-types-(2, 2)]",
    ),
    Mutation(
        "nested-every-flip-is-accepted",
        TYPES,
        "    accepted = math.log(next_open_double(rng)) < power * (new - old)",
        "    accepted = True",
        "A flip needs a Metropolis-Hastings step.",
        f"{POSTERIOR}[two strings-types-(2, 2)]",
    ),
    Mutation(
        "nested-flips-leave-what-follows",
        TYPES,
        "        is_same = is_same and before_at[at, m] == _word_before(text, words, e, m + 1)\n",
        "        is_same = is_same and m < 2\n",
        "The word behind a site changes its context.",
        f"{SEATS}[one string-types-(2, 2)]",
    ),
    Mutation(
        "nested-end-learned-from-customers",
        WALKER,
        "        n_ends = self._f.cells[self._layout.text.hashed_cell - 1, TABLES]",
        "        n_ends = self._f.cells[self._layout.text.hashed_cell - 1, CUSTOMERS]",
        "The probability of the end is that of a draw from the base: a table of the root.",
        f"{EXACT}::test_posterior_of_the_probability_of_the_end[strings1-orders1-prior1]",
    ),
    Mutation(
        "nested-triples-forget-the-words-seen-after-pairs",
        TRIPLES,
        "extra += pairs.weights[b, before - 1, i] * _extra_after(f, text, pair, w, p, power)",
        "extra += 0.0 * _extra_after(f, text, pair, w, p, power)",
        "A word seen after two others has more than its share of their back-off.",
        f"{EXACT}::test_score[(3, 2)]",
    ),
    Mutation(
        "nested-triples-pairs-back-off-wholly",
        TRIPLES,
        "            reach += (shared + extra) * _back_off_after(f, text, pair, power)\n",
        "            reach += shared + extra\n",
        "After a pair that was seen only a part of the probability is left for other words.",
        f"{EXACT}::test_score[(3, 2)]",
    ),
    Mutation(
        "nested-triples-pairs-counted-twice",
        TRIPLES,
        "            rest -= shared\n",
        "",
        "A pair that was seen is not among the others.",
        f"{EXACT}::test_score[(3, 2)]",
    ),
    Mutation(
        "nested-step-with-the-filter-of-pairs",
        FILTER,
        "        if depth == 2 and pair >= 0:\n",
        "        if depth == 3 and pair >= 0:\n",
        "The step needs the probability with which words were drawn.",
        f"{POSTERIOR}[an empty one-strings-(3, 2)]",
    ),
    Mutation(
        "nested-triples-posterior-of-the-back-off-alone",
        TRIPLES,
        "        pairs.shares[b, before - 1, i] += share * pairs.weights[b, before - 1, i] * extra",
        "        pairs.shares[b, before - 1, i] += 0.0 * extra",
        "Triples that were seen have a share of the posterior.",
        f"{EXACT}::test_cut_probabilities[(3, 2)]",
    ),
    Mutation(
        "nested-triples-best-words-by-pairs",
        TRIPLES,
        "        value += math.log(probability_after(f, text, pair, w, p))",
        "        value += math.log(p)",
        "The best words depend on the two before.",
        f"{EXACT}::test_most_probable_words[(3, 2)]",
    ),
    Mutation(
        "nested-stored-pairs-without-customers",
        MODEL,
        "        f.nodes[text.pair_node + place[both]] = totals[both]\n",
        "",
        "What follows a pair has its customers, those of words that the strings lack among them.",
        f"{EXACT}::test_score[(3, 2)]",
    ),
    Mutation(
        "nested-draws-of-triples-without-what-follows",
        TRIPLES,
        "                q = p if pair < 0 else probability_after(f, text, pair, following, p)\n",
        "                q = p\n",
        "The word before decides how likely the word two places on is, too.",
        f"{EXACT}::test_draws[(3, 2)-1.0]",
    ),
    Mutation(
        "nested-draws-without-what-follows",
        FILTER,
        "                weight *= raise_power(probability, power)\n            weights[j - 1]",
        "                weight *= 1.0\n            weights[j - 1]",
        "Words are drawn given the word behind them.",
        f"{EXACT}::test_draws[(2, 2)-1.0]",
    ),
]
