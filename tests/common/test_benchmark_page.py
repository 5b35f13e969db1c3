"""The pictures of the benchmark page are drawn from the tables of RESULTS.md."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("plots", ROOT / "benchmarks/plots.py")
plots = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plots)


def test_pictures_are_drawn(tmp_path):
    plots.draw(tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    page = (ROOT / "doc/user_guide/benchmarks.rst").read_text("utf-8")
    assert drawn == {"benchmark_speed.png", "benchmark_quality.png"}
    for name in drawn:
        assert f"../images/{name}" in page
        assert (ROOT / "doc/images" / name).exists()


def test_tables_are_found_by_their_columns(tmp_path, monkeypatch):
    results = (
        "# R\n\n## A\n\n| z |\n|---|\n| 0 |\n\n### A, of topics\n\n| x |\n|---|\n| 1 |\n\n"
        "| x | y |\n|---|---|\n| 2 | 3 |\n\n### B\n\n| z |\n|---|\n| 4 |\n"
    )
    monkeypatch.setattr(plots, "RESULTS", tmp_path / "RESULTS.md")
    plots.RESULTS.write_text(results, "utf-8")
    assert plots.read_table("A, of", "x", "y") == [{"x": "2", "y": "3"}]
    with pytest.raises(ValueError, match="no table"):
        plots.read_table("A, of", "z")
