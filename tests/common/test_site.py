"""The check of the built documentation finds what is broken."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("check_site", ROOT / ".ci/check_site.py")
check_site = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_site)

GOOD = """<h1 id="top">A</h1> <a href="#top">up</a> <a href="sub/b.html#place%20one">b</a>
<a href="sub/">folder</a> <img src="picture.png"> <a href="https://example.org/x#y">elsewhere</a>
<img src="data:image/png;base64,AA=="> <link rel="canonical" href="https://example.org/a.html">"""
OTHER = '<p id="place one">B</p> <a href="../a.html?highlight=x#top">a</a>'


@pytest.fixture
def site(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.html").write_text(GOOD, "utf-8")
    (tmp_path / "sub/b.html").write_text(OTHER, "utf-8")
    (tmp_path / "sub/index.html").write_text("", "utf-8")
    (tmp_path / "picture.png").write_bytes(b"")
    return tmp_path


def test_whole_site(site):
    assert check_site.find_broken(site) == []


@pytest.mark.parametrize(
    ("addition", "message"),
    [
        ('<a href="c.html">', "a.html: c.html: no such file"),
        ('<a href="#bottom">', "a.html: #bottom: no such place"),
        ('<a href="sub/b.html#two">', "a.html: sub/b.html#two: no such place"),
        ('<img src="other.png">', "a.html: other.png: no such file"),
        ('<script src="//cdn.org/x.js"></script>', "a.html: //cdn.org/x.js: is loaded from"),
        ('<link rel="stylesheet" href="https://x.org/s.css">', "s.css: is loaded from elsewhere"),
    ],
)
def test_broken_links(site, addition, message):
    (site / "a.html").write_text(GOOD + addition, "utf-8")
    (line,) = check_site.find_broken(site)
    assert message in line


def test_no_site(tmp_path):
    with pytest.raises(FileNotFoundError, match="has no pages"):
        check_site.find_broken(tmp_path)
