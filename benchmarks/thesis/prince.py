"""How topics move along a book, The Prince: figures 6.4-6.7, 7.6, 7.7, 7.9 and table 6.6.

The book is one document, its segments are chapters or paragraphs. LDA by chapter comes first;
LDA, STM, SeqLDA and AdaTM on chapters and on paragraphs start from its topics, so that topic k is
the same in all. Settings of section 7.4.4: 20 topics, alpha = 0.1, gamma = 0.01, a = 0, b = 100,
nothing learned; `--learn` learns alpha, gamma and b instead. Topic shares are those that the chain
found for the book, means over its kept sweeps.

Distances are Hellinger's: to the segment before (how smoothly topics move), to the document in the
first and the last third of the book (whether segments drift away from it), and of the topics to
those they started from, where "moved" counts the topics that are closer to another of these.

With `--figures` the displays of `skdp.inspection` are saved in a folder.

    python benchmarks/thesis/prince.py --data DATA --figures FOLDER
"""

from pathlib import Path

import numpy as np
from common import build, make_parser, parse, print_table, read_records, select, spread
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from skdp.feature_extraction import SegmentVectorizer
from skdp.metrics import hellinger_distance, hellinger_to_document, hellinger_to_previous

THESIS = {"doc_topic_prior": 0.1, "topic_word_prior": 0.01}
PROCESS = {"discount": 0.0, "concentration": 100.0}
UNITS = ["chapters", "paragraphs"]
TABLE_MODELS = ["STM", "SeqLDA", "AdaTM"]


def load_book(folder):
    """Return the book as documents of chapters and of paragraphs, words, first paragraphs."""
    records = read_records(Path(folder, "topics", "prince.jsonl"))
    chapters = [record["segments"] for record in records]
    paragraphs = [paragraph for chapter in chapters for paragraph in chapter]
    vectorizer = SegmentVectorizer(
        token_pattern=r"[^\W\d_]{2,}", stop_words=sorted(ENGLISH_STOP_WORDS)
    )
    corpora = {"paragraphs": vectorizer.fit_transform([paragraphs])}
    corpora["chapters"] = vectorizer.transform([["\n\n".join(chapter) for chapter in chapters]])
    starts = np.cumsum([len(chapter) for chapter in chapters])[:-1]
    return corpora, vectorizer.get_feature_names_out(), starts


def fit_models(corpora, n_components, seed, options):
    """Return models by name and unit, and LDA by chapter, whose topics they started from."""
    common = {"max_iter": options.sweeps, "random_state": seed}
    given = {} if options.learn else THESIS
    first = build("LDA_S", n_components, **given, **common).fit(corpora["chapters"])
    models = {("LDA_S", "chapters"): first}
    for unit in UNITS:
        for name in select(options.models):
            if (name, unit) in models:
                continue
            process = PROCESS if name in TABLE_MODELS and not options.learn else {}
            model = build(name, n_components, init=first.components_, **given, **process, **common)
            models[name, unit] = model.fit(corpora[unit])
    return models, first


def measure(model, first, corpus):
    """Return what the table shows of a fitted model."""
    shares = model.segment_topic_
    # LDA by segment has no document: its shares are the mean of the segments'.
    steps = hellinger_to_previous(shares, corpus)
    to_document = hellinger_to_document(model.doc_topic_, shares, corpus)
    third = len(shares) // 3
    distances = hellinger_distance(first.components_, model.components_)
    moved = np.count_nonzero(distances.argmin(axis=0) != np.arange(len(distances)))
    return [
        np.nanmean(steps),
        np.nanstd(steps),
        to_document[:third].mean(),
        to_document[-third:].mean(),
        np.diagonal(distances).mean(),
        moved,
        np.mean(getattr(model, "concentration_", np.nan)),
    ]


def report_distances(runs, corpora):
    rows = []
    for name, unit in runs[0][0]:
        values = np.array(
            [measure(models[name, unit], first, corpora[unit]) for models, first in runs]
        ).T
        cells = [spread(v, 2) for v in values[:5]] + [f"{values[5].mean():.1f}"]
        b = values[6].mean()
        rows.append([name, unit, *cells, "" if np.isnan(b) else f"{b:.0f}"])
    columns = ["model", "segments", "to previous", "its deviation", "to document, first third"]
    print_table([*columns, "last third", "from LDA's topics", "moved", "b"], rows)
    print()


def report_words(models, words):
    """Print table 6.6: the words of the most frequent topics of LDA, and of the same topics."""
    shares = models["LDA_S", "chapters"].doc_topic_[0]
    rows = []
    for k in np.argsort(-shares)[:8]:
        for name, unit in (("LDA_S", "chapters"), ("SeqLDA", "chapters"), ("AdaTM", "paragraphs")):
            if (name, unit) in models:
                top = models[name, unit].top_words(words)[k]
                rows.append([k, f"{name}, {unit}", " ".join(top)])
    print_table(["topic", "model", "most probable words"], rows)
    print()


def save_figures(models, first, corpora, words, starts, folder):
    """Save the displays; chapters are the parts of the book of paragraphs."""
    import matplotlib.pyplot as plt

    from skdp.inspection import (
        HellingerDisplay,
        SegmentMixingDisplay,
        TopicAlignmentDisplay,
        TopicEvolutionDisplay,
    )

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    labels = [f"{k}: {', '.join(top)}" for k, top in enumerate(first.top_words(words, 3))]
    parts = {"paragraphs": {"boundaries": starts}, "chapters": {}}
    parts["paragraphs"]["part_names"] = [str(c + 1) for c in range(len(starts) + 1)]
    for unit in UNITS:
        names = [name for name, of in models if of == unit]
        figure, axes = plt.subplots(
            len(names), figsize=(14, 3.2 * len(names)), layout="constrained", squeeze=False
        )
        legends = []
        for ax, name in zip(axes[:, 0], names, strict=True):
            shares = models[name, unit].segment_topic_
            TopicEvolutionDisplay.from_predictions(
                shares, topic_names=labels, n_topics=len(labels), ax=ax, **parts[unit]
            )
            ax.set(title=f"{name}, {unit}", xlabel=unit)
            legends.append(ax.get_legend())
            legends[-1].remove()
        # One legend for all: a topic has the same color everywhere.
        entries = zip(legends[0].legend_handles, legends[0].get_texts(), strict=True)
        handles = {text.get_text(): handle for handle, text in entries}
        figure.legend(
            [handles[label] for label in labels], labels, loc="outside right upper", frameon=False
        )
        figure.savefig(folder / f"evolution_{unit}.png", dpi=100)
        figure, axes = plt.subplots(2, figsize=(14, 7), layout="constrained")
        for ax, to in zip(axes, ["previous", "document"], strict=True):
            for i, name in enumerate(names):
                model = models[name, unit]
                HellingerDisplay.from_predictions(
                    model.segment_topic_,
                    doc_topic=model.doc_topic_[0],
                    to=to,
                    name=name,
                    ax=ax,
                    **(parts[unit] if i == 0 else {}),
                )
            ax.set_xlabel(unit)
        figure.savefig(folder / f"hellinger_{unit}.png", dpi=100)
        for name in set(names) & {"SeqLDA", "AdaTM"}:
            display = TopicAlignmentDisplay.from_estimators(
                first, models[name, unit], names=("LDA, chapters", f"{name}, {unit}")
            )
            display.figure_.savefig(folder / f"alignment_{name}_{unit}.png", dpi=100)
        if "AdaTM" in names:
            display = SegmentMixingDisplay.from_estimator(
                models["AdaTM", unit], corpora[unit], **parts[unit]
            )
            display.figure_.savefig(folder / f"mixing_{unit}.png", dpi=100)
    plt.close("all")
    print(f"Figures: {', '.join(sorted(path.name for path in folder.glob('*.png')))}.")


def main():
    parser = make_parser(
        __doc__,
        components=[20],
        sweeps=2000,
        seeds=[0, 1, 2],
        models=["LDA_S", *TABLE_MODELS],
        every=False,
    )
    parser.add_argument("--learn", action="store_true", help="learn alpha, gamma and b")
    parser.add_argument("--figures", help="folder for figures, of the first seed")
    options = parse(parser, sweeps=500, seeds=[0])
    corpora, words, starts = load_book(options.data)
    sizes = [f"{len(corpora[unit].segment_ptr) - 1} {unit}" for unit in UNITS]
    print(f"{', '.join(sizes)}, {len(corpora['chapters'].tokens):,} words, {len(words):,} types\n")
    for n_components in options.components:
        runs = [fit_models(corpora, n_components, seed, options) for seed in options.seeds]
        report_distances(runs, corpora)
        report_words(runs[0][0], words)
        if options.figures:
            save_figures(*runs[0], corpora, words, starts, options.figures)


if __name__ == "__main__":
    main()
