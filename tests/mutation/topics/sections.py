"""Wrong patches of the sections of documents."""

from mutation.mutation import Mutation

KERNELS = "topics/_sections/_kernels.py"
SAMPLER = "topics/_sections/_sampler.py"
EXACT = "tests/exact/topics/test_sectioned.py"
POSTERIOR = f"{EXACT}::test_posterior[one-discounted]"
LONG = f"{EXACT}::test_posterior_again[long-discounted]"

MUTATIONS = [
    Mutation(
        "sections-last-table-leaves",
        KERNELS,
        "    return t == n or (t > 1 and next_double(rng) * n < t)\n",
        "    return t == n or next_double(rng) * n < t\n",
        "The last table of a topic stays if it has other customers.",
        POSTERIOR,
    ),
    Mutation(
        "sections-tables-leave-only-if-they-must",
        KERNELS,
        "                    if loses_table(n_of_section, s, rng):\n",
        "                    if n_of_section == s:\n",
        "A table leaves by the distribution of table indicators, whose weights are used.",
        POSTERIOR,
    ),
    Mutation(
        "sections-without-their-size",
        KERNELS,
        "                inverse = 1.0 / (sections.concentration + n_customers)\n",
        "                inverse = 1.0 / sections.concentration\n",
        "The weight of a section's base has the denominator b + N.",
        POSTERIOR,
    ),
    Mutation(
        "sections-without-discount-of-opening",
        KERNELS,
        "via_document = sections.concentration + sections.discount * n_above\n",
        "via_document = sections.concentration\n",
        "A section opens a table with weight b + a T.",
        POSTERIOR,
    ),
    Mutation(
        "paragraphs-without-discount-of-opening",
        KERNELS,
        "via_section = paragraphs.concentration + paragraphs.discount * n_tables\n",
        "via_section = paragraphs.concentration\n",
        "A paragraph opens a table with weight b + a T.",
        POSTERIOR,
    ),
    Mutation(
        "sections-have-no-tables-to-share",
        KERNELS,
        "        up[k] = scale * (share_above[k] + open_above[k] * (through * base[k]))\n",
        "        up[k] = scale * (open_above[k] * (through * base[k]))\n",
        "A customer of a section shares a table or opens one.",
        POSTERIOR,
    ),
    Mutation(
        "sections-open-without-shares-of-the-document",
        KERNELS,
        "                via = open_above[k] * via_document * base[k]\n",
        "                via = open_above[k] * via_document\n",
        "A new table's dish is drawn from the document's shares.",
        POSTERIOR,
    ),
    Mutation(
        "paragraphs-around-their-document",
        KERNELS,
        "        via = opening[k] * via_section * up[k]\n",
        "        via = opening[k] * via_section * base[k] / total\n",
        "A paragraph's new table is a customer of the section.",
        LONG,
    ),
    Mutation(
        "sections-count-customers-that-left",
        KERNELS,
        "                    n_customers -= 1\n",
        "",
        "A paragraph's table that leaves is no customer of the section any more.",
        LONG,
    ),
    Mutation(
        "sections-estimated-without-their-tables",
        KERNELS,
        "(n - sections.discount * state.section_tables[r, k]) * scale + rest * mu",
        "n * scale + rest * mu",
        "E[nu] discounts each table of the section.",
        POSTERIOR,
    ),
    Mutation(
        "sections-of-the-joint-left-out",
        KERNELS,
        "            result += log_prior_of_node(in_section, state.section_totals[r], sections)\n",
        "",
        "The log joint has a factor for every section.",
        f"{EXACT}::test_log_joint",
    ),
    Mutation(
        "sections-draw-the-concentration-of-paragraphs",
        SAMPLER,
        "        ends = np.concatenate([[0], np.cumsum(self.shards[0].paragraph_totals)])[ptr]\n",
        "        ends = self._documents.paragraph_ptr[ptr]\n",
        "The customers of a section are tables, not words.",
        f"{EXACT}::test_learned_parameters[b of sections]",
    ),
    Mutation(
        "sections-discount-without-seatings",
        KERNELS,
        "            evidence[0, 1] += draw_seating_evidence(\n",
        "            evidence[0, 1] += 0.0 * draw_seating_evidence(\n",
        "Customers who join a table contribute powers of 1 - a.",
        f"{EXACT}::test_learned_parameters[a of sections]",
    ),
]
