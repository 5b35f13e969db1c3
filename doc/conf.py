"""Configuration of the documentation: ``sphinx-build -W --keep-going -b html doc out``."""

import os

import skdp

os.environ["MPLBACKEND"] = "Agg"

project = "skdp"
author = "The skdp developers"
copyright = author
version = release = skdp.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "out"]
default_role = "literal"

html_theme = "pydata_sphinx_theme"
html_title = "skdp"
html_show_sourcelink = False
html_theme_options = {"navbar_end": ["theme-switcher"], "show_toc_level": 2}

numpydoc_show_class_members = False
autodoc_typehints = "none"  # types are in the docstrings

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "subsection_order": [
        f"../examples/{family}"
        for family in ("topics", "sequence", "mixture", "grammar", "language", "context")
    ],
    "within_subsection_order": "FileNameSortKey",
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
}


def skip_what_others_document(app, what, name, member, skip, options):
    """Leave out of a class what it inherits from scikit-learn or the standard library."""
    member = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
    return skip or not (getattr(member, "__module__", None) or "").startswith("skdp")


def setup(app):
    app.connect("autodoc-skip-member", skip_what_others_document)
