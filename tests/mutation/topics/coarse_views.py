"""Wrong patches of coarse views."""

from mutation.mutation import Mutation

VIEWS = "topics/_coarse_views.py"
TESTS = "tests/unit/topics/test_coarse_views.py"

MUTATIONS = [
    Mutation(
        "merged-topics-regardless-of-sizes",
        VIEWS,
        "        means = (is_part * tokens).T @ self.components_",
        "        means = is_part.T @ self.components_",
        "Topics are means weighted by their tokens.",
        f"{TESTS}::TestView::test_sums[GibbsLDA(n_components=6)]",
    ),
]
