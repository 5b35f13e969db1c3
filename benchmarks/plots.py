"""Draw the pictures of the benchmark page from the tables of RESULTS.md.

``python benchmarks/plots.py doc/images`` writes benchmark_speed.png and benchmark_quality.png.
"""

import itertools
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

RESULTS = Path(__file__).with_name("RESULTS.md")
COLORS = ("#777777", "#0072B2", "#D55E00", "#009E73")


def read_table(section, *columns):
    """Return the rows of the first table of a section that has these columns, as dicts."""
    text = RESULTS.read_text("utf-8")
    (part,) = [part for part in re.split(r"\n##+ ", text) if part.startswith(section)]
    lines = part.splitlines()
    for i, line in enumerate(lines):
        names = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and set(columns) <= set(names):
            rows = []
            for row in itertools.takewhile(lambda row: row.startswith("|"), lines[i + 2 :]):
                cells = [cell.strip() for cell in row.strip("|").split("|")]
                rows.append(dict(zip(names, cells, strict=True)))
            return rows
    raise ValueError(f"{section} has no table with columns {columns}")


def draw_topic_speed(ax):
    """Draw tokens a second by the number of topics, next to tomotopy."""
    rate = "million tokens per CPU second"
    rows = read_table("Speed: `topics_speed.py`", "K", "sweep", rate)
    for name, color in zip(
        ("tomotopy LDA", "LDA", "STM btigs", "AdaTM btigs"), COLORS, strict=True
    ):
        points = [(int(row["K"]), float(row[rate])) for row in rows if row["sweep"] == name]
        dashes = "--" if name.startswith("tomotopy") else "-"
        ax.plot(*zip(*points, strict=True), "o", linestyle=dashes, color=color, label=name)
    ax.set_xscale("log")
    ax.set_xticks([20, 50, 100, 500], ["20", "50", "100", "500"])
    ax.minorticks_off()
    ax.set(
        xlabel="topics", ylabel="million tokens a second", title="Topics: a sweep", ylim=(0, None)
    )
    ax.legend()


def draw_hmm_speed(ax):
    """Draw the time of a sweep next to an iteration of hmmlearn."""
    rows = read_table("Hidden Markov models, speed", "J", "T", "sweep", "ms")
    rows = [row for row in rows if (row["J"], row["T"]) == ("100", "20,000")]
    names = ["hmmlearn EM", "plain", "sticky", "sticky, GaussianSimilarity", "sticky, beam"]
    times = [next(float(row["ms"]) for row in rows if row["sweep"] == name) for name in names]
    colors = [COLORS[0]] + [COLORS[1]] * (len(names) - 1)
    bars = ax.barh(names[::-1], times[::-1], color=colors[::-1])
    ax.bar_label(bars, fmt="%.0f", padding=3)
    ax.set(xlabel="ms", title="100 states, 20,000 steps: a sweep", xlim=(0, 1.15 * max(times)))


def draw_perplexity(ax):
    """Draw held-out perplexities of topic models by the number of topics."""
    rows = read_table("Held-out perplexity", "model", "K", "perplexity", "fit, CPU s")
    for name, color in zip(("LDA", "STM", "AdaTM"), COLORS[1:], strict=True):
        points = [(int(row["K"]), int(row["perplexity"])) for row in rows if row["model"] == name]
        ax.plot(*zip(*points, strict=True), "o-", color=color, label=name)
    ax.set_xticks([25, 50, 100])
    ax.set(xlabel="topics", ylabel="held-out perplexity (less is better)")
    ax.set(title="240 addresses, in paragraphs")
    ax.legend()


def draw_mixtures(ax):
    """Draw what mixtures gain over scikit-learn's in held-out densities."""
    pair = "Pitman-Yor, full / diag"
    rows = read_table("Mixtures: `mixture.py`", "data", "BGM", pair)
    names = [row["data"] for row in rows]
    places = np.arange(len(rows))
    gains = [[float(x) - float(row["BGM"]) for x in row[pair].split(" / ")] for row in rows]
    for k, (label, color) in enumerate(zip(("full", "diagonal"), COLORS[1:], strict=False)):
        heights = [gain[k] for gain in gains]
        ax.barh(
            places + 0.2 - 0.4 * k, heights, 0.38, color=color, label=f"PitmanYorMixture, {label}"
        )
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_xscale("symlog", linthresh=0.1)
    ax.set_xticks([-0.1, 0, 0.1, 1, 10], ["-0.1", "0", "0.1", "1", "10"])
    ax.set_yticks(places, names)
    ax.set_ylim(len(names) + 0.4, -0.6)  # from top to bottom, with room for the legend
    ax.set(xlabel="held-out nats a row more than BayesianGaussianMixture", title="Clusters")
    ax.legend(loc="lower right")


def draw(folder):
    """Write both pictures."""
    for name, parts in {
        "speed": (draw_topic_speed, draw_hmm_speed),
        "quality": (draw_perplexity, draw_mixtures),
    }.items():
        figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
        for part, ax in zip(parts, axes, strict=True):
            part(ax)
        figure.savefig(Path(folder) / f"benchmark_{name}.png", dpi=100)
        plt.close(figure)


if __name__ == "__main__":
    draw(sys.argv[1])
