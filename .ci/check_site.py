"""Check that every link of a built site that stays in the site leads somewhere.

Usage: ``python .ci/check_site.py out``. It prints a line for each link whose file, or whose place
in the file, does not exist, and for each script, style or picture that comes from elsewhere.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("source", "src")}
"""What a browser fetches on its own."""

DESCRIBING = {"canonical", "search", "next", "prev", "index", "genindex"}
"""Kinds of <link> that nothing is fetched for."""


class Page(HTMLParser):
    """The places in a page, its links, and what it loads."""

    def __init__(self, text: str):
        super().__init__()
        self.places: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what a tag has."""
        values = {name: value for name, value in attrs if value}
        self.places |= {values[name] for name in ("id", "name") if name in values}
        for name in ("href", "src"):
            if name in values:
                self.links.add(values[name])
                describes = DESCRIBING & set(values.get("rel", "").split())
                if (tag, name) in LOADED and not describes:
                    self.loaded.add(values[name])


def find_broken(site: Path) -> list[str]:
    """Return a line for each broken link of the pages under a folder."""
    site = site.resolve()
    paths = [path for path in sorted(site.rglob("*.html")) if site / "_static" not in path.parents]
    pages = {path: Page(path.read_text("utf-8")) for path in paths}  # a theme has templates there
    if not pages:
        raise FileNotFoundError(f"{site} has no pages")
    broken = []
    for path, page in pages.items():
        for link in sorted(page.links):
            reason = _why_broken(link, path, pages, is_loaded=link in page.loaded)
            if reason:
                broken.append(f"{path.relative_to(site)}: {link}: {reason}")
    return broken


def _why_broken(link: str, path: Path, pages: dict[Path, Page], *, is_loaded: bool) -> str | None:
    url = urlsplit(link)
    if url.scheme or url.netloc:
        return "is loaded from elsewhere" if is_loaded and url.scheme != "data" else None
    target = (path.parent / unquote(url.path)).resolve() if url.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "no such file"
    if url.fragment and target in pages and unquote(url.fragment) not in pages[target].places:
        return "no such place"
    return None


if __name__ == "__main__":
    lines = find_broken(Path(sys.argv[1]))
    print("\n".join(lines) or "all links lead somewhere")
    sys.exit(bool(lines))
