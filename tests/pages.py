"""A strict reader of the pages that reports write."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br"}


class Page(HTMLParser):
    """Tags, texts and data of a page; fails if elements are not nested."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.source = path.read_text(encoding="utf-8")
        self.tags, self.ids, self.scripts, self.open = [], [], [], []
        self.text, self.style = "", ""
        self.feed(self.source)
        self.close()
        assert self.open == []
        self.data = json.loads(next(s for kind, s in self.scripts if kind == "application/json"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        assert len(attributes) == len(attrs)
        self.tags.append((tag, attributes))
        self.ids += [attributes["id"]] if "id" in attributes else []
        if tag == "script":
            self.scripts.append((attributes.get("type"), ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            kind, text = self.scripts.pop()
            self.scripts.append((kind, text + data))
        elif self.open[-1:] == ["style"]:
            self.style += data
        else:
            self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def check_page(page):
    """Check what holds for every page: it loads nothing, and its parts have names."""
    assert len(page.scripts) == 2
    assert len(page.all("html")) == len(page.all("h1")) == len(page.all("main")) == 1
    assert page.all("html")[0]["lang"] == "en"
    assert len(set(page.ids)) == len(page.ids)
    for tag, attributes in page.tags:
        assert "style" not in attributes  # the policy forbids it
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href"):
            if name in attributes:
                assert attributes[name].startswith(("#", "data:")), (tag, attributes)
        for name in ("for", "aria-labelledby", "aria-describedby", "aria-controls"):
            assert set(attributes.get(name, "").split()) <= set(page.ids)
    labeled = {label["for"] for label in page.all("label")}
    for tag in ("input", "select"):
        assert all(attributes["id"] in labeled for attributes in page.all(tag))
    assert not re.search(r"@import|url\(", page.style)
    (program,) = (text for kind, text in page.scripts if kind is None)
    assert "innerHTML" not in program
    assert "fetch(" not in program
    policy = next(m["content"] for m in page.all("meta") if "http-equiv" in m)
    assert "default-src 'none'" in policy
    for text, name in ((program, "script-src"), (page.style, "style-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}';" in policy
