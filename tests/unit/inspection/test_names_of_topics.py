"""Names that topics have from seed words or `name_topics` are shown in every display of topics."""

import matplotlib.pyplot as plt
import pytest

from skdp.inspection import TopicAlignmentDisplay, TopicEvolutionDisplay, TopicTreeDisplay
from skdp.topics import SegmentedTopicModel

WORDS = ["court", "judge", "goal", "match", "bank", "loan"]
SEEDS = {"Justice": [0], "Sport": [2]}
DOCUMENTS = [[[2 * (d % 3), 2 * (d % 3) + 1] * 4] * 3 for d in range(18)]


@pytest.fixture(scope="module")
def model():
    return SegmentedTopicModel(3, seed_words=SEEDS, max_iter=20, random_state=0).fit(DOCUMENTS)


def texts_of_displays(model, **options):
    for draw in (
        lambda: TopicEvolutionDisplay.from_estimator(model, DOCUMENTS, **options),
        lambda: TopicTreeDisplay.from_estimator(model, **options),
        lambda: TopicAlignmentDisplay.from_estimators(model, model, **options),
    ):
        draw()
        plt.gcf().canvas.draw()
        yield {text.get_text() for text in plt.gcf().findobj(plt.Text)}
        plt.close("all")


def test_displays(model):
    for texts in texts_of_displays(model):
        assert {"Justice", "Sport", "topic 2"} <= texts
    for texts in texts_of_displays(model, feature_names=WORDS):
        assert {text.split(":")[0] for text in texts if ":" in text} == {*SEEDS, "2"}
    own = model.name_topics(WORDS, n=1).get_feature_names_out().tolist()
    for texts in texts_of_displays(model):
        assert {*own} <= texts
