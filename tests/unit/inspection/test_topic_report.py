"""Reports of topic models hold the numbers of the model, and nothing breaks out of their data."""

import numpy as np
import pandas as pd
import pytest
from pages import Page, check_page
from registry import CASES, fitted

from skdp.data import SegmentedCorpus
from skdp.inspection import topic_report
from skdp.inspection._reports import _page
from skdp.inspection._reports._topics import N_STEPS, choose_words, first_words
from skdp.topics import GibbsLDA, TopicSegmenter

HOSTILE = [
    "</script><script>alert(1)</script>", "<!--", "&lt;b&gt; & <b>", "\u2028 \u2029", "]]>",
    '" onload="x', "\\u003c/script>", "日本語",
]  # fmt: skip


@pytest.fixture(scope="module")
def page(model, corpus, tmp_path_factory):
    found = Page(topic_report(model, corpus, tmp_path_factory.mktemp("page") / "topics.html"))
    check_page(found)
    return found


def unpack(flat, n):
    """Return shares from positions and thousandths, which take turns."""
    shares = np.zeros(n)
    shares[flat[::2]] = np.array(flat[1::2]) / 1000.0
    return shares


def test_topics_are_those_of_the_model(page, model):
    topics = page.data["topics"]
    summary = model.summary()
    assert [topic["id"] for topic in topics] == [row.topic for row in summary]
    np.testing.assert_allclose([t["share"] for t in topics], [row.share for row in summary], 1e-8)
    for topic in topics:
        ids = [int(page.data["words"][i]) for i in topic["words"]]
        np.testing.assert_allclose(
            np.exp(topic["log_phi"]), model.components_[topic["id"], ids], 1e-7
        )


def test_words_are_ordered_by_relevance(page, model):
    """At each position of the slider they are those of `top_words`."""
    n = page.data["n_words"]
    for step in range(N_STEPS + 1):
        expected = model.top_words(n=n, relevance=step / N_STEPS)
        for topic in page.data["topics"]:
            found = first_words(topic, page.data, step)
            assert found == [str(word) for word in expected[topic["id"]]]


def test_the_choice_of_words_is_complete():
    """Against a full sort, with equal and impossible words."""
    rng = np.random.default_rng(0)
    log_phi = np.log(rng.dirichlet(np.full(60, 0.1)))
    log_phi[:20] = log_phi[20:40]
    log_phi[50:] = -np.inf
    log_p = np.log(rng.dirichlet(np.full(60, 0.3)))
    log_p[:20] = log_p[20:40]
    expected = set()
    for step in range(N_STEPS + 1):
        expected.update(
            np.argsort(-(log_phi - (1 - step / N_STEPS) * log_p), kind="stable")[:4].tolist()
        )
    assert choose_words(log_phi, log_p, 4).tolist() == sorted(expected)
    assert len(choose_words(log_phi, log_p, 60)) == 50


def test_strips_are_the_shares_of_segments(page, model, corpus):
    order = [topic["id"] for topic in page.data["topics"]]
    shares = model.transform_segments(corpus)[:, order]
    row = 0
    for d, document in enumerate(page.data["documents"]):
        assert document["t"] == f"document {d}"
        assert document["s"] == len(document["c"]) == corpus.doc_ptr[d + 1] - corpus.doc_ptr[d]
        for column, length in zip(document["c"], document["l"], strict=True):
            expected = np.where(np.rint(1000 * shares[row]) < 5, 0.0, shares[row])
            np.testing.assert_allclose(unpack(column, len(order)), expected, atol=5.1e-4)
            assert length == corpus.segment_ptr[row + 1] - corpus.segment_ptr[row]
            row += 1
        tokens = corpus.tokens[
            corpus.segment_ptr[corpus.doc_ptr[d]] : corpus.segment_ptr[corpus.doc_ptr[d + 1]]
        ]
        found = [int(page.data["words"][i]) for i in document["w"]]
        assert found == sorted(set(tokens.tolist()))
    assert row == len(shares)


def test_words_name_their_topics(page, model):
    """By Bayes' rule, from the shares of topics."""
    order = [topic["id"] for topic in page.data["topics"]]
    shares = np.array([row.share for row in model.summary()])
    assert page.data["words"] == [str(w) for w in range(model.n_features_in_)]
    joint = shares[:, None] * model.components_[order]
    posterior = joint / joint.sum(axis=0)
    np.testing.assert_allclose(np.exp(page.data["log_p"]), joint.sum(axis=0), 1e-7)
    for flat, expected in zip(page.data["owners"], posterior.T, strict=True):
        np.testing.assert_allclose(unpack(flat, len(order)), expected, atol=5.1e-3)


def test_names_cannot_break_out(model, corpus, tmp_path):
    titles = ["</script>", "<img src=x onerror=alert(1)>", "'\"", "a\x00b\udc80"]
    path = topic_report(
        model, corpus, str(tmp_path / "a.html"), feature_names=HOSTILE, titles=titles,
        title="</title><script>", n_words=8,
    )  # fmt: skip
    page = Page(path)
    check_page(page)
    assert page.data["words"] == HOSTILE
    assert [d["t"] for d in page.data["documents"]] == [*titles[:3], "a\ufffdb\ufffd"]
    assert not page.all("img")
    assert not page.all("b") or all(not attributes for attributes in page.all("b"))
    for name in HOSTILE:  # readers without scripts see them as text
        assert name.strip() in page.text
    assert "</title><script>" in page.text


@pytest.mark.parametrize(
    "name",
    [
        *("SequentialLDA", "AdaptiveTopicModel", "GibbsLDA", "SegmentedTopicModel, inferred"),
        *("HDPTopicModel", "LDCC", "TopicSegmenter"),
    ],
)
def test_all_topic_models(name, tmp_path):
    estimator, X = fitted(name), CASES[name].data[0]
    page = Page(topic_report(estimator, X, tmp_path / "a.html"))
    check_page(page)
    assert len(page.data["topics"]) == len(estimator.components_)
    assert sum(topic["share"] for topic in page.data["topics"]) == pytest.approx(1.0)
    assert type(estimator).__name__ in page.text
    if isinstance(estimator, TopicSegmenter):
        proba, cuts = estimator.predict_proba(X), estimator.predict(X)
        for d, document in enumerate(page.data["documents"]):
            expected = np.concatenate([[0.0], proba[d]])[: max(len(document["c"]), 1)]
            found = unpack(document["q"], len(expected))
            np.testing.assert_allclose(found, expected, atol=5.1e-3)
            assert document["r"] == cuts[d].tolist()
    else:
        assert "q" not in page.data["documents"][0]


def test_given_topics_have_the_shares_of_the_page(corpus, tmp_path):
    components = np.eye(2, 8) + 0.1
    components[0, 7] = components[1, 7] = 0.0  # a word of no topic
    model = GibbsLDA.from_topics(components, doc_topic_prior=0.5, transform_max_iter=10)
    page = Page(topic_report(model, corpus, tmp_path / "a.html"))
    check_page(page)
    expected = np.diff(corpus.segment_ptr) @ model.transform_segments(corpus)
    shares = {topic["id"]: topic["share"] for topic in page.data["topics"]}
    np.testing.assert_allclose([shares[0], shares[1]], expected / expected.sum(), 1e-8)
    assert all("7" not in first_words(topic, page.data) for topic in page.data["topics"])
    assert "the documents of this page" in page.text


def test_large_corpora_are_sampled(model, corpus, tmp_path):
    many = SegmentedCorpus.from_documents([corpus[d % 2] for d in range(9)], n_features=8)
    page = Page(topic_report(model, many, tmp_path / "a.html", max_documents=3))
    assert [d["t"] for d in page.data["documents"]] == ["document 0", "document 4", "document 8"]
    assert "A sample of 3 of 9 documents, evenly spaced." in page.text
    whole = Page(topic_report(model, many, tmp_path / "b.html", max_documents=9))
    assert "9 documents." in whole.text
    assert page.data["documents"] == [
        {**d, "m": p["m"], "w": p["w"]}
        for d, p in zip(whole.data["documents"][::4], page.data["documents"], strict=True)
    ]


def test_long_documents_have_means_of_segments(model, tmp_path):
    rng = np.random.default_rng(0)
    segments = [rng.integers(0, 8, size=n % 4) for n in range(1001)]
    long = SegmentedCorpus.from_documents([segments], n_features=8)
    page = Page(topic_report(model, long, tmp_path / "a.html"))
    (document,) = page.data["documents"]
    assert (document["s"], document["z"], len(document["c"])) == (1001, 3, 334)
    assert sum(document["l"]) == document["n"] == len(long.tokens)
    assert "means over neighboring segments" in page.text
    order = [topic["id"] for topic in page.data["topics"]]
    shares = model.transform_segments(long)[:, order]
    expected = np.average(shares[3:6], axis=0, weights=[3, 0, 1])
    np.testing.assert_allclose(unpack(document["c"][1], 3), expected, atol=5.1e-3)


def test_parts_of_documents(model, corpus, tmp_path):
    divided = corpus.with_parts([[1], [2, 4], [], []])
    page = Page(topic_report(model, divided, tmp_path / "a.html"))
    assert [document["p"] for document in page.data["documents"]] == [[1], [2, 4], [], []]
    assert "boundaries of the parts" in page.text


@pytest.mark.slow
def test_a_page_stays_small(tmp_path):
    """A thousand documents of fifty segments and ten thousand words."""
    rng = np.random.default_rng(0)
    documents = [[rng.integers(0, 10_000, size=20) for _ in range(50)] for _ in range(1000)]
    model = GibbsLDA.from_topics(
        rng.dirichlet(np.full(10_000, 0.05), size=50), doc_topic_prior=0.1, transform_max_iter=2
    )
    path = topic_report(model, documents, tmp_path / "a.html", max_documents=100)
    assert 100_000 < path.stat().st_size < 5_000_000


def test_frames_and_names(tmp_path):
    counts = pd.DataFrame(np.eye(6, 3, dtype=int) + 1, columns=["cat", "dog", "<sea>"])
    model = GibbsLDA(2, seed_words={"pets": ["cat"]}, max_iter=6, random_state=0).fit(counts)
    page = Page(topic_report(model, counts, tmp_path / "a.html", max_documents=2))
    assert page.data["words"] == ["cat", "dog", "<sea>"]
    assert {topic["id"]: topic["name"] for topic in page.data["topics"]} == {0: "pets", 1: None}
    model.name_topics(n=1)
    named = Page(topic_report(model, counts, tmp_path / "a.html"))
    assert all(topic["name"] for topic in named.data["topics"])


def test_the_file_is_replaced_when_it_is_complete(model, corpus, tmp_path, monkeypatch):
    path = tmp_path / "a.html"
    assert topic_report(model, corpus, path) == path
    before = path.read_bytes()
    monkeypatch.setattr(_page, "read_file", lambda name: "{nothing}")
    with pytest.raises(KeyError):
        topic_report(model, corpus, path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["a.html"]
