"""Single backticks: a link if they hold the name of a public class or function, else code.

Docstrings name the classes that a parameter takes in single backticks, as in `GaussianEmission`.
These names are those of the API page, so a docstring needs no role to link to them.
"""

import re
from pathlib import Path

from docutils.parsers.rst.roles import role
from sphinx.domains.python import PyXRefRole

LINKED = re.compile("[A-Z]|.*_")
"""Other names, such as `pk` and `lexicalize`, are words, too."""


def read_names(page):
    """Return the full name of each entry of the API page, by its name without modules."""
    found, module = {}, None
    for line in Path(page).read_text("utf-8").splitlines():
        if match := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif match := re.fullmatch(r"(?:   |\.\. py:class:: )(\w+)", line):
            found[match[1]] = f"{module}.{match[1]}"
    return found


class NameRole:
    """The role, which `default_role` in ``conf.py`` gives to single backticks."""

    def __init__(self, names):
        self.names = names
        self.link = PyXRefRole()

    def __call__(self, name, rawtext, text, lineno, inliner, options=None, content=()):
        """Return the nodes of one text in backticks."""
        if text in self.names and LINKED.match(text):
            target = f"~{self.names[text]}"
            return self.link("py:obj", rawtext, target, lineno, inliner, options or {}, content)
        literal, _ = role("literal", None, lineno, inliner.reporter)
        return literal("literal", rawtext, text, lineno, inliner, options or {}, content)


def setup(app):
    app.add_role("name", NameRole(read_names(Path(app.srcdir) / "api.rst")))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
