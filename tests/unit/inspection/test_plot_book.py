"""The example that draws any book, on a small one."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[3] / "examples/topics/plot_book.py"
WORDS = "sea whale ship captain harpoon deck prince state army fortune castle people".split()


def write_paragraphs(rng, n, n_words=30):
    lines = [" ".join(rng.choice(WORDS, n_words)) for _ in range(n)]
    return "\n\n".join(line.replace(" ", "\n", 1) for line in lines)


def run(monkeypatch, tmp_path, text, *arguments):
    book = tmp_path / "book.txt"
    book.write_text(text, encoding="utf-8")
    output = tmp_path / "book.png"
    options = ["--n-topics", "3", "--max-iter", "6", "--output", str(output), *arguments]
    monkeypatch.setattr(sys, "argv", ["plot_book.py", str(book), *options])
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    found = runpy.run_path(str(EXAMPLE))
    assert output.stat().st_size > 10_000
    return found


def test_book_of_project_gutenberg(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    headings = ["CHAPTER I. Loomings", "CHAPTER II -- OF PRINCES", "Chapter 3", "IV."]
    parts = ["licence", "*** START OF THE PROJECT GUTENBERG EBOOK A BOOK ***", "A Book", "CONTENTS"]
    parts += [*headings, "PREFACE", write_paragraphs(rng, 4)]
    for j, heading in enumerate(headings):
        parts += [heading, write_paragraphs(rng, 2 + j) + "\nChapter 9 is named in a line."]
    parts += ["*** END OF THE PROJECT GUTENBERG EBOOK A BOOK ***", "licence", "\u00a9 licence"]
    found = run(monkeypatch, tmp_path, "\r\n\r\n".join(parts))
    assert found["names"] == ["I", "II", "3", "IV"]
    assert np.diff(found["corpus"].doc_ptr).tolist() == [2, 3, 4, 5]
    assert "licence" not in found["words"]
    assert [ax.get_xlabel() for ax in found["axes"]] == ["chapter", "paragraph"]


def test_own_pattern(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    text = "\n\n".join(f"== {name} ==\n\n{write_paragraphs(rng, 3)}" for name in ("One", "Two"))
    found = run(monkeypatch, tmp_path, text, "--chapter-pattern", "^== (?P<name>.*) ==$")
    assert found["names"] == ["One", "Two"]


def test_without_headings(monkeypatch, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run(monkeypatch, tmp_path, write_paragraphs(np.random.default_rng(0), 5))
    assert "found fewer than two chapters" in capsys.readouterr().err
