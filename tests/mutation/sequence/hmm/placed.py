"""Wrong patches of chains over panels in partitions."""

from mutation.mutation import Mutation

FITS = "tests/unit/sequence/test_partitioned_fits.py"
BITS = f"{FITS}::test_bits_are_those_of_the_whole"
STARTS = f"{FITS}::test_starts_of_large_panels"
PLACED_MOVES = f"{FITS}::test_states_are_split_and_merged"

MUTATIONS = [
    Mutation(
        "placed-paths-learn-from-their-partition-alone",
        "sequence/_hmm/_placed_first_states.py",
        "        self.emission.take(measured[0], sums)\n",
        "        self.emission.condition(self.states)\n",
        "Possible first paths follow the observations of all partitions.",
        "tests/unit/sequence/test_hints.py::TestPossibleTransitions::test_partitions[None-params0]",
    ),
    Mutation(
        "placed-paths-of-the-first-candidate",
        "sequence/_hmm/_placed_first_states.py",
        "        self.choose(i)\n",
        "        self.choose(0)\n",
        "The most probable of all candidates wins.",
        "tests/unit/sequence/test_hints.py::TestPossibleTransitions::test_partitions[None-params0]",
    ),
    Mutation(
        "partitions-missing-by-local-number",
        "sequence/_hmm/_placed.py",
        "chain.emission.complete_with(states, orders.missing_key, part.first)",
        "chain.emission.complete_with(states, orders.missing_key, 0)",
        "Missing values have streams of the numbers of their steps in the whole panel.",
        f"{BITS}[missing]",
    ),
    Mutation(
        "partitions-groups-by-local-number",
        "sequence/_hmm/_placed_moves.py",
        "self._n_states, self._first, self._states = n_states, part.first, chain.states",
        "self._n_states, self._first, self._states = n_states, 0, chain.states",
        "A run has the stream of the number of its last step in the whole panel.",
        f"{PLACED_MOVES}[gaussian]",
    ),
    Mutation(
        "partitions-windows-of-one-partition",
        "sequence/_hmm/_placed_moves.py",
        "tuple(i - begin if begin <= i < end else -1 for i in windows)",
        "tuple(i - begin if begin < i < end else -1 for i in windows)",
        "The first window of a partition is one of its windows.",
        f"{PLACED_MOVES}[gaussian]",
    ),
    Mutation(
        "partitions-start-of-local-numbers",
        "sequence/_hmm/_placed.py",
        "    chosen, _ = list_chosen(part.panel.ptr, stride, part.number)",
        "    chosen, _ = list_chosen(part.panel.ptr, stride)",
        "Every so many sequences of the whole panel are chosen.",
        f"{STARTS}[poisson]",
    ),
    Mutation(
        "partitions-joined-sequences",
        "sequence/_hmm/_placed.py",
        "    return sum_part(part, f, (part.panel.ptr, *args))\n",
        "    return sum_part(part, f, (part.panel.ptr[[0, -1]], *args))\n",
        "The prior comes from sequences, wherever partitions end.",
        f"{BITS}[autoregressive]",
    ),
    Mutation(
        "partitions-draw-known-states",
        "sequence/_hmm/_placed.py",
        "        part.known.clamp(log_obs)\n",
        "        pass\n",
        "Known states stay in partitions, too.",
        "tests/unit/sequence/test_hints.py::TestKnownStates::test_partitions",
    ),
    Mutation(
        "partitions-first-segments",
        "sequence/_hmm/_placed_sampler.py",
        "        duration.take(self._found[4:])\n",
        "",
        "Durations are those of the states that were drawn last.",
        f"{BITS}[poisson durations]",
    ),
    Mutation(
        "partitions-old-counts-after-a-move",
        "sequence/_hmm/_placed_sampler.py",
        "        if has_moved:\n            self._take_counts()\n",
        "",
        "A move changes the states, and all sums.",
        f"{PLACED_MOVES}[gaussian]",
    ),
]
