"""Wrong patches of reports."""

from mutation.mutation import Mutation

TOPICS = "tests/unit/inspection/test_topic_report.py"
STATES = "tests/unit/inspection/test_state_report.py"

MUTATIONS = [
    Mutation(
        "report-names-unescaped",
        "inspection/_reports/_page.py",
        '    for character in "<>&":  # they occur only in strings, in which an escape is equivalent',  # noqa: E501
        '    for character in "&":',
        "A word can end the script element.",
        f"{TOPICS}::test_names_cannot_break_out",
    ),
    Mutation(
        "report-policy-of-another-script",
        "inspection/_reports/_page.py",
        "        script_hash=_hash(program),",
        '        script_hash=_hash(program + " "),',
        "Browsers refuse to run the page's own script.",
        f"{TOPICS}::test_names_cannot_break_out",
    ),
    Mutation(
        "report-relevance-reversed",
        "inspection/_reports/_topic_data.py",
        "        relevance = log_phi[possible] - (1.0 - step / N_STEPS) * log_p[possible]",
        "        relevance = log_phi[possible] - (step / N_STEPS) * log_p[possible] / 2",
        "Words with a high lift are not in the page.",
        f"{TOPICS}::test_the_choice_of_words_is_complete",
    ),
    Mutation(
        "report-owners-without-shares",
        "inspection/_reports/_topic_data.py",
        "    joint = shares[order, None] * components[order]",
        "    joint = components[order]",
        "The topics of a word are weighted by their shares.",
        f"{TOPICS}::test_words_name_their_topics",
    ),
    Mutation(
        "report-columns-unweighted",
        "inspection/_reports/_topic_data.py",
        "weights=weights if weights.sum() > 0.0 else None",
        "weights=None",
        "A segment counts as its words.",
        f"{TOPICS}::test_long_documents_have_means_of_segments",
    ),
    Mutation(
        "report-cut-after-its-unit",
        "inspection/_reports/_topic_data.py",
        "        places = (np.arange(len(corpus.cut_proba[d])) + 1) // width",
        "        places = np.arange(len(corpus.cut_proba[d])) // width",
        "Gap g is before unit g + 1.",
        f"{TOPICS}::test_all_topic_models",
    ),
    Mutation(
        "report-runs-across-sequences",
        "inspection/_reports/_state_data.py",
        "    begins[ptr[:-1]] = True",
        "    begins[0] = True",
        "Each sequence begins a run.",
        f"{STATES}::test_rows_of_the_table",
    ),
    Mutation(
        "report-change-averaged-away",
        "inspection/_reports/_state_data.py",
        "_thousandths(np.maximum.reduceat(series.change_proba, edges))",
        "_thousandths(np.add.reduceat(series.change_proba, edges) / width)",
        "A certain change in a bin would look improbable.",
        f"{STATES}::test_long_sequences_are_drawn_in_bins",
    ),
    Mutation(
        "report-forecast-one-tail",
        "inspection/_reports/_states.py",
        "        tail = 0.5 * (1.0 - float(interval))",
        "        tail = 1.0 - float(interval)",
        "An interval leaves out both tails.",
        f"{STATES}::test_sequences_are_those_of_the_model",
    ),
]
