"""Wrong patches of topics and cuts."""

from mutation.mutation import Mutation

CUTS = "topics/_segmenter/_kernels_cuts.py"
SWEEPS = "topics/_segmenter/_kernels_sweeps.py"
DIVIDE = "topics/_segmenter/_kernels_divide.py"
SAMPLER = "topics/_segmenter/_sampler.py"
EXACT = "tests/exact/topics/test_topic_segmenter.py"
UNIT = "tests/unit/topics/test_topic_segmenter.py"
FILTER = f"{EXACT}::test_filters[None-None]"
POSTERIOR = f"{EXACT}::test_posterior[one]"
NEW = f"{EXACT}::test_new_documents[[[0, 0], [1], [0, 1]]]"
MORE = f"{EXACT}::test_posterior_again[two]"

MUTATIONS = [
    Mutation(
        "cuts-without-the-probability-of-joins",
        CUTS,
        "                log += prior.log_join\n            start, end",
        "            start, end",
        "A gap within a part has the factor 1 - rho.",
        FILTER,
    ),
    Mutation(
        "cuts-without-a-factor-of-rho",
        CUTS,
        "        log = forward[s] + (prior.log_cut if s > 0 else 0.0)\n",
        "        log = forward[s]\n",
        "A cut has the factor rho.",
        FILTER,
    ),
    Mutation(
        "cuts-count-a-word-too-many",
        CUTS,
        "        product *= (work.base[k] + work.n_k[k]) * work.inverse[n]\n"
        "        work.n_k[k] += 1\n",
        "        work.n_k[k] += 1\n"
        "        product *= (work.base[k] + work.n_k[k]) * work.inverse[n]\n",
        "A word is weighed by the words before it.",
        FILTER,
    ),
    Mutation(
        "cuts-known-are-joined",
        CUTS,
        "                if prior.known[first + e - 1] == 1:\n                    break\n",
        "",
        "A part does not go on beyond a known cut.",
        f"{EXACT}::test_filters[known3-None]",
    ),
    Mutation(
        "cuts-where-none-may-be",
        CUTS,
        "            if e == n_units or prior.known[first + e] != 0:\n",
        "            if True:\n",
        "A part does not end where no cut is known to be.",
        f"{EXACT}::test_filters[known1-None]",
    ),
    Mutation(
        "cuts-are-drawn-without-what-comes-before",
        CUTS,
        "            work.logs[s] += work.forward[s]\n",
        "",
        "The beginning of a part is weighed by the units before it.",
        POSTERIOR,
    ),
    Mutation(
        "cuts-shares-are-not-drawn",
        SWEEPS,
        "            shares[d, k] = draw_gamma(alpha[k] + served[k], rng)\n",
        "            shares[d, k] = alpha[k] + served[k]\n",
        "mu is drawn given the tables, not its mean.",
        MORE,
    ),
    Mutation(
        "cuts-one-table-a-topic",
        SWEEPS,
        "                n_tables = draw_table_count(work.n_k[k], work.base[k], rng)\n",
        "                n_tables = 1\n",
        "Tables are drawn given topics and mu.",
        MORE,
    ),
    Mutation(
        "cuts-shares-of-units-without-those-of-the-document",
        SWEEPS,
        "unit_topic[u, k] += (work.base[k] + work.n_k[k]) * scale",
        "unit_topic[u, k] += (b / n_topics + work.n_k[k]) * scale",
        "The shares of a part vary around those of its document.",
        NEW,
    ),
    Mutation(
        "cuts-of-new-documents-do-not-move",
        SWEEPS,
        "                d, place[1] >= n_whole, units,",
        "                d, False, units,",
        "Only the first sweeps of a new document have no cuts.",
        NEW,
    ),
    Mutation(
        "cuts-shares-of-documents-without-prior",
        SWEEPS,
        "        doc_topic[d, k] += (prior.alpha[k] + state.served[d, k]) / total\n",
        "        doc_topic[d, k] += (1.0 + state.served[d, k]) / total\n",
        "The shares of a document given its tables have the prior alpha.",
        NEW,
    ),
    Mutation(
        "cuts-probability-without-prior",
        SAMPLER,
        "draw_bounded_beta(p + n_cuts, q + n_gaps - n_cuts, stream)",
        "draw_bounded_beta(1.0 + n_cuts, 1.0 + n_gaps - n_cuts, stream)",
        "rho has the prior Beta(p, q).",
        POSTERIOR,
    ),
    Mutation(
        "divisions-longer-than-allowed",
        DIVIDE,
        " and n_words + sizes[end] <= most_words:\n",
        ":\n",
        "No part of several units has more words than are allowed.",
        f"{UNIT}::TestCuts::test_parts_of_so_many_words",
    ),
    Mutation(
        "divisions-forget-cuts",
        DIVIDE,
        "                log += log_cut\n",
        "                log += log_rest\n",
        "A cut has probability rho.",
        f"{UNIT}::test_divisions[0]",
    ),
    Mutation(
        "divisions-of-one-sample",
        DIVIDE,
        "    for m in range(n_samples):\n",
        "    for m in range(1):\n",
        "The evidence is averaged over samples.",
        f"{UNIT}::test_divisions[0]",
    ),
    Mutation(
        "divisions-longer-than-possible",
        DIVIDE,
        " and end - s < most_units",
        "",
        "No part has more units than max_units.",
        f"{UNIT}::test_divisions[2]",
    ),
    Mutation(
        "divisions-without-prior-shares",
        "topics/_segmenter/_divide.py",
        "            model.concentration * mu[d]",
        "            model.concentration * np.ones_like(mu[d]) / len(mu[d])",
        "The shares of parts vary around those of their document.",
        f"{UNIT}::test_divisions[0]",
    ),
]
