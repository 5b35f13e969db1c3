"""Wrong patches of what topic models share."""

from mutation.mutation import Mutation

WARM = "tests/unit/topics/test_partitioned_warm_starts.py"
ARRAYS = "tests/unit/topics/shared/test_arrays.py"
LIKELIHOODS = "tests/exact/topics/test_log_likelihood.py"
TOPICS = "tests/exact/topics/test_segmented.py"

COMPLETION = "topics/_shared/_completion.py"
PARTICLES = "topics/_shared/_kernels_particles.py"
PRIORS = "topics/_shared/_priors.py"
PARTITIONS = "tests/unit/topics/test_partitioned.py"
CHECKPOINTS = "tests/unit/topics/test_partitioned_checkpoints.py"
WORDS = "topics/_shared/_kernels.py"


def _joint(sampler: str, case: str, of: str = TOPICS) -> str:
    return f"{of}::test_state_is_consistent_and_knows_its_joint[{sampler}-{case}]"


MERGES = "topics/_shared/_kernels_merges.py"
TREE = "topics/_shared/_topic_tree.py"
COARSE_VIEWS = "tests/unit/topics/test_coarse_views.py"
PILOTS = "topics/_shared/_pilots.py"
PILOT_TESTS = "tests/unit/topics/shared/test_pilots.py"

SEED_TESTS = "tests/exact/topics/test_seed_words.py"
SEED_UNIT = "tests/unit/topics/test_seed_words.py"

LABEL_TESTS = "tests/exact/topics/test_labels.py"

MUTATIONS = [
    Mutation(
        "warm-starts-look-into-the-means",
        "topics/_shared/_placed_averages.py",
        "        self._sampler.fork_sums(self._key, other._key)\n",
        "        other._key = self._key\n",
        "The last sweep counts only while it is the last, also for the means of documents.",
        f"{WARM}::test_bits_are_those_of_a_straight_run[learned]",
    ),
    Mutation(
        "warm-starts-open-partitions-again",
        "topics/_shared/_placed.py",
        "        return self._source() is X\n",
        "        return False\n",
        "Partitions of the same X are where they are.",
        f"{WARM}::test_nothing_is_opened_again",
    ),
    Mutation(
        "state-is-not-packed",
        "topics/_shared/_placed.py",
        "        return self._n_state > max(_ROOM, n_bytes)\n",
        "        return False\n",
        "State of partitions that are not swept takes little room.",
        "tests/unit/topics/test_partitioned.py::"
        "test_state_takes_little_room_between_sweeps[SegmentedTopicModel]",
    ),
    Mutation(
        "counts-that-were-full-are-forgotten",
        "topics/_shared/_arrays.py",
        "    overflows = (sums != words.totals) | (largest >= MAX_COUNT)\n",
        "    overflows = largest >= MAX_COUNT\n",
        "A count that was full has lost a word, although it has fallen since.",
        f"{ARRAYS}::test_a_count_that_was_full_and_lost_a_word",
    ),
    Mutation(
        "counts-of-merged-shards-are-not-checked",
        "topics/_shared/_shards.py",
        "            check_counts(total)\n",
        "            pass\n",
        "The sum of shards can be too large where none of them is.",
        f"{ARRAYS}::test_sums_of_shards",
    ),
    Mutation(
        "counts-of-partitions-are-not-checked",
        "topics/_shared/_placed.py",
        "                check_counts(self.words)\n",
        "",
        "The sum of partitions can be too large where none of them is.",
        f"{ARRAYS}::test_sums_of_partitions",
    ),
    Mutation(
        "priors-rises-of-large-counts-are-lost",
        "topics/_shared/_priors.py",
        "at_least / (prior + np.arange(largest))) + rest)",
        "at_least / (prior + np.arange(largest))))",
        "Counts beyond 2^20 are taken one by one.",
        "tests/unit/topics/shared/test_priors.py::test_the_largest_counts_are_rare[0.02]",
    ),
    Mutation(
        "hdp-worst-sample-is-shown",
        "topics/_shared/_best_sample.py",
        "if log_joint <= self.log_joint:",
        "if log_joint > self.log_joint > -math.inf:",
        "The kept sample with the highest log joint is shown.",
        "tests/unit/topics/test_hdp_topic_model.py::TestAttributes::test_the_best_sample_is_shown",
    ),
    Mutation(
        "shards-words-are-not-taken-back",
        "topics/_shared/_shards.py",
        "        move_words(tokens, after, before, own.counts, own.totals)\n",
        "        move_words(tokens, after, after, own.counts, own.totals)\n",
        "Every shard of a group begins with the counts from before the sweep.",
        "tests/unit/topics/shared/test_shards.py::"
        "test_counts_are_those_of_the_topics_after_every_sweep",
    ),
    Mutation(
        "shards-changes-without-sign",
        "topics/_shared/_kernels_changes.py",
        "return cell + gap, (number >> 1) ^ -(number & 1), n",
        "return cell + gap, number >> 1, n",
        "Differences are zigzag numbers.",
        "tests/unit/topics/shared/test_shards.py::TestChanges::test_changes_add_up_in_any_order",
    ),
    Mutation(
        "sum-of-codes-keeps-blocks",
        "topics/_shared/_kernels_changes.py",
        "                block[j] = 0\n",
        "",
        "A block begins with zeros.",
        "tests/unit/topics/shared/test_shards.py::TestChanges::test_sums_of_many_codes[1.0-3]",
    ),
    Mutation(
        "sum-of-codes-keeps-gaps",
        "topics/_shared/_kernels_changes.py",
        "                n = _put(begin + j - last, out, n)\n",
        "                n = _put(begin + j - last + 1, out, n)\n",
        "Gaps are from the cell before.",
        "tests/unit/topics/shared/test_shards.py::TestChanges::test_sums_of_codes[2]",
    ),
    Mutation(
        "partitions-all-have-the-prior",
        "topics/_shared/_placed.py",
        "part.chains[c] = chain = PlacedTopicChain(sampler, replica, is_first=is_first)",
        "part.chains[c] = chain = PlacedTopicChain(sampler, replica, is_first=True)",
        "The prior of the concentration counts once.",
        f"{PARTITIONS}::test_partitions_have_the_bits_of_shards[3-learned-SegmentedTopicModel]",
    ),
    Mutation(
        "partitions-see-each-other",
        "topics/_shared/_sampler.py",
        "        own = Counted.copy(words)\n",
        "        own = words\n",
        "Within a sweep a shard sees the words of the others as they were before.",
        f"{PARTITIONS}::test_words_have_the_topics_that_they_have_in_shards",
    ),
    Mutation(
        "partitions-learn-from-old-counts",
        "topics/_shared/_placed.py",
        "    words = part.chains[c].replica.after(n_changes, change)\n    rises",
        "    words = part.chains[c].replica.words\n    rises",
        "The prior of the words is learned from the counts after the sweep.",
        f"{PARTITIONS}::test_partitions_have_the_bits_of_shards[3-learned-SegmentedTopicModel]",
    ),
    Mutation(
        "partitions-means-stay-in-old-order",
        "topics/_shared/_placed_averages.py",
        "            self._sampler.reorder(self._key, axes, order)\n",
        "            pass\n",
        "The shares of documents follow the topics.",
        f"{PARTITIONS}::test_topics_that_trade_places_are_followed",
    ),
    Mutation(
        "completion-is-given-the-scored-words",
        COMPLETION,
        "    observed = corpus._like(corpus.tokens[~is_scored], (corpus.doc_ptr, segment_ptr))\n",
        "    observed = corpus\n",
        "Words are scored given the others.",
        "tests/unit/topics/shared/test_completion.py::test_halves",
    ),
    Mutation(
        "completion-forgets-breaks",
        COMPLETION,
        "(corpus.doc_ptr, segment_ptr))\n",
        "(corpus.doc_ptr, segment_ptr))._set_parts(None)\n",
        "The halves of a document have its parts.",
        "tests/exact/topics/test_sequential.py::test_completion[btigs-breaks]",
    ),
    Mutation(
        "completion-depends-on-the-order-of-words",
        COMPLETION,
        "    corpus = sort_words(corpus)\n",
        "",
        "The models do not know the order of words within segments.",
        "tests/unit/topics/shared/test_completion.py::"
        "test_order_of_words_does_not_matter[GibbsLDA(max_iter=6, random_state=0)]",
    ),
    Mutation(
        "parts-forget-their-means",
        "topics/_shared/_placed.py",
        "            part.chains[c].sums[key] = {",
        "            part.chains[c].sums[key + ' of old'] = {",
        "The means of documents go on from where they were.",
        f"{CHECKPOINTS}::test_after_an_error[learned]",
    ),
    Mutation(
        "parts-all-go-on-with-the-prior",
        "topics/_shared/_placed.py",
        "        return sampler, self.is_first, self.sums\n",
        "        return sampler, True, self.sums\n",
        "The prior of the concentration counts once.",
        f"{CHECKPOINTS}::test_after_an_error[learned]",
    ),
    Mutation(
        "joint-without-words",
        WORDS,
        "result += math.lgamma(gamma + counts[w, k]) - at_zero",
        "result += math.lgamma(gamma + counts[w, k])",
        "The constant Gamma(gamma) of the word factor (5.2).",
        _joint("btigs", "asymmetric"),
    ),
    Mutation(
        "alpha-without-shape",
        PRIORS,
        "return np.clip((shape - 1.0 + prior * ups) / (rate + down), FLOOR, CEILING)",
        "return np.clip(prior * ups / (rate + down), FLOOR, CEILING)",
        "The shape of alpha's Gamma prior.",
        f"{TOPICS}::test_doc_topic_prior_fixed_point_has_zero_gradient[documents 2.0-auto]",
    ),
    Mutation(
        "alpha-without-rate",
        PRIORS,
        "return np.clip((shape - 1.0 + prior * ups) / (rate + down), FLOOR, CEILING)",
        "return np.clip((shape - 1.0 + prior * ups) / down, FLOOR, CEILING)",
        "The rate of alpha's Gamma prior.",
        f"{TOPICS}::test_doc_topic_prior_fixed_point_has_zero_gradient[documents 1.0-auto]",
    ),
    Mutation(
        "frequencies-of-large-counts-forgotten",
        PRIORS,
        "        if _count_small(counts, small):\n",
        "        if _count_small(counts, small) < 0:\n",
        "Counts beyond the array are sorted.",
        "tests/unit/topics/shared/test_priors.py"
        "::test_frequencies_of_parts_add_up_to_those_of_the_whole[large-int32]",
    ),
    Mutation(
        "symmetric-alpha-without-size",
        PRIORS,
        "(shape - 1.0 + prior[0] * ups.sum()) / (rate + prior.size * down)",
        "(shape - 1.0 + prior[0] * ups.sum()) / (rate + down)",
        "A symmetric alpha moves all K entries at once.",
        f"{TOPICS}::test_doc_topic_prior_fixed_point_has_zero_gradient"
        "[documents 2.0-auto-symmetric]",
    ),
    Mutation(
        "gamma-without-prior",
        PRIORS,
        "return min(max((shape - 1.0 + prior * rises) / (rate + down), FLOOR), CEILING)",
        "return min(max(prior * rises / down, FLOOR), CEILING)",
        "Gamma's own Gamma prior.",
        f"{TOPICS}::test_topic_word_prior_fixed_point_has_zero_gradient[documents 2.0]",
    ),
    Mutation(
        "likelihood-without-resampled-mean",
        PARTICLES,
        "            ancestors[r] = source\n    return log_mean",
        "            ancestors[r] = source\n    return 0.0",
        "The mean of the weights at each resampling is a factor of the estimate.",
        f"{LIKELIHOODS}::test_long_documents[120-segmented]",
    ),
    Mutation(
        "likelihood-weights-after-resampling",
        PARTICLES,
        "        log_weights[r] = 0.0",
        "        log_weights[r] += 0.0",
        "Particles that were resampled weigh the same: their weights have been used.",
        f"{LIKELIHOODS}::test_long_documents[120-segmented]",
    ),
    Mutation(
        "likelihood-mean-of-logs",
        "topics/_shared/_likelihood.py",
        "return np.logaddexp.reduce(estimates, axis=0) - np.log(len(models))",
        "return estimates.mean(axis=0)",
        "Stored samples are averaged as probabilities.",
        f"{LIKELIHOODS}::test_mean_is_the_probability_lda[1-document]",
    ),
    Mutation(
        "merges-regardless-of-sizes",
        MERGES,
        " _x_log_x(totals[a] + totals[b]) - _x_log_x(totals[a]) - _x_log_x(totals[b])",
        " 0.0",
        "The loss is that of probabilities of words, not of counts.",
        f"{COARSE_VIEWS}::test_merges_are_those_by_hand[0]",
    ),
    Mutation(
        "merges-with-old-losses",
        MERGES,
        "        cluster_of_row[first], cluster_of_row[second] = n_topics + i, -1\n"
        "        _write_losses(first, counts, totals, cluster_of_row, words, losses)",
        "        cluster_of_row[first], cluster_of_row[second] = n_topics + i, -1",
        "A merged topic has other losses than its first part.",
        f"{COARSE_VIEWS}::test_merges_are_those_by_hand[1]",
    ),
    Mutation(
        "merges-of-prior-words",
        TREE,
        "    counts = components - components.min(axis=1, keepdims=True)",
        "    counts = components.copy()",
        "Words that a topic does not have are no counts.",
        f"{COARSE_VIEWS}::test_merges_are_those_by_hand[2]",
    ),
    Mutation(
        "pilots-see-all-words",
        PILOTS,
        "    rest = corpus._like(corpus.tokens[~is_out], (corpus.doc_ptr, offsets(lengths)))\n",
        "    rest = corpus\n",
        "Pilots are judged by words that they have not seen.",
        f"{PILOT_TESTS}::TestHeldOutWords::test_all_words_are_somewhere",
    ),
    Mutation(
        "pilots-climb-for-ever",
        PILOTS,
        "    return max(contenders) if compared.is_climbing else min(compared.as_good)",
        "    return max(contenders)",
        "Where the best has stopped climbing, the smallest good number is chosen.",
        f"{PILOT_TESTS}::TestLadder::test_the_smallest_where_the_best_stops_late",
    ),
    Mutation(
        "pilots-never-climb",
        PILOTS,
        "    return max(contenders) if compared.is_climbing else min(compared.as_good)",
        "    return min(compared.as_good)",
        "Chains from more topics need more sweeps.",
        f"{PILOT_TESTS}::TestLadder::test_the_largest_contender_of_those_that_climb_to_the_end",
    ),
    Mutation(
        "pilots-mean-over-sweeps",
        PILOTS,
        "        logs = np.log(sums / ROUNDS_OF_BLOCK)",
        "        logs = np.log(sums / SWEEPS_OF_ROUND)",
        "Words are scored once a round.",
        f"{PILOT_TESTS}::test_probabilities_of_blocks",
    ),
    Mutation(
        "pilots-of-few-documents-as-sure",
        PILOTS,
        "    return float(np.std(differences) * math.sqrt(len(differences)))",
        "    return float(np.std(differences) / math.sqrt(len(differences)))",
        "The error of a sum, not of a mean.",
        f"{PILOT_TESTS}::TestComparison::test_chance_is_no_climb",
    ),
    Mutation(
        "seeds-are-counted-twice",
        "topics/_shared/_sampler.py",
        "            self.seeds.add_to(self._words)\n",
        "            self.seeds.add_to(self._words)\n            self.seeds.add_to(self._words)\n",
        "The prior of a word is gamma + s_kw.",
        f"{SEED_TESTS}::test_lda[dense]",
    ),
    Mutation(
        "seed-totals-are-forgotten",
        "topics/_shared/_seeds.py",
        "        words.totals[:] += sign * self.totals(len(words.totals))\n",
        "",
        "The word factor has s_k in its denominator.",
        f"{SEED_TESTS}::test_lda[dense]",
    ),
    Mutation(
        "seeds-have-a-likelihood",
        "topics/_shared/_sampler.py",
        "            result -= self.seeds.log_likelihood(self.topic_word_prior)\n",
        "            pass\n",
        "The probability of pseudo-counts is no part of the joint.",
        f"{SEED_TESTS}::test_log_joint_of_lda[dense-False]",
    ),
    Mutation(
        "seeds-raise-gamma",
        "topics/_shared/_sampler.py",
        "                rises -= self.seeds.rises(self.topic_word_prior)\n",
        "",
        "Pseudo-counts are no data for gamma.",
        f"{SEED_TESTS}::test_learned_prior_of_words[dense]",
    ),
    Mutation(
        "seeds-lower-gamma",
        "topics/_shared/_sampler.py",
        "                seed_totals = self.seeds.totals(0)\n",
        "",
        "Totals of pseudo-counts are no data for gamma.",
        f"{SEED_TESTS}::test_learned_prior_of_words[dense]",
    ),
    Mutation(
        "seeds-are-words-of-topics",
        "topics/_shared/_sampler.py",
        "[self.seeds.topics, self.seeds.words] -= np.float32(self.seeds.weight)\n",
        "[self.seeds.topics, self.seeds.words] -= np.float32(0.0)\n",
        "Sizes of topics are numbers of words.",
        f"{SEED_UNIT}::test_seeds_are_no_words",
    ),
    Mutation(
        "seeds-make-topics-active",
        "topics/_shared/_sampler.py",
        "            totals = totals - self.seeds.totals(len(totals))\n",
        "            pass\n",
        "A topic that has only seeds has no words.",
        f"{SEED_UNIT}::test_seeds_are_no_words",
    ),
    Mutation(
        "every-partition-has-seeds",
        "topics/_shared/_sampler.py",
        "        if self.seeds is not None and not is_first:\n",
        "        if self.seeds is not None and False:\n",
        "The sum of the counts of partitions has the seeds once.",
        f"{SEED_UNIT}::test_partitions_have_the_bits_of_shards[3-GibbsLDA]",
    ),
    Mutation(
        "words-begin-anywhere",
        "topics/_shared/_seeds.py",
        "        weights[np.searchsorted(seed_words, self.words), self.topics] += self.weight\n",
        "",
        "The first topics of words are drawn by the prior mean.",
        f"{SEED_UNIT}::test_first_state_respects_the_prior",
    ),
    Mutation(
        "seeded-topics-trade-places",
        "topics/_shared/_averages.py",
        "    if seeds is None:\n",
        "    if True:\n",
        "A topic with seed words has its number in all samples.",
        f"{SEED_UNIT}::test_means_follow_topics_without_seeds_only",
    ),
    Mutation(
        "seeded-topics-are-sorted-by-size",
        "topics/_shared/_best_sample.py",
        "            sizes[sampler.seeds.topics] = np.inf\n",
        "            pass\n",
        "Topics with seed words come first.",
        f"{SEED_UNIT}::test_seeded_topics_never_die[hdp]",
    ),
    Mutation(
        "shares-of-topics-outside-labels",
        "topics/_shared/_allowed.py",
        "        shares = np.where(self.sets[self.set_of], shares, 0.0)\n",
        "        shares = shares.copy()\n",
        "Another word of the document has no topic outside its set.",
        f"{LABEL_TESTS}::test_posterior[document-plain]",
    ),
]
