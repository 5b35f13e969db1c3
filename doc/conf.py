"""Configuration of the documentation: ``sphinx-build -W --keep-going -b html doc out``."""

import os
import sys
from pathlib import Path

import skdp

os.environ["MPLBACKEND"] = "Agg"
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "skdp"
author = "The skdp developers"
copyright = author
version = release = skdp.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "names",
]
templates_path = ["_templates"]
html_static_path = ["_static"]
exclude_patterns = ["_build", "out"]
default_role = "name"  # a link to what is on the API page; else code

# Names of other projects that pages link to are listed here, so that no build needs a network, and
# all builds have the same links.
intersphinx_mapping = {
    name: (url, str(HERE / f"inventories/{name}.txt"))
    for name, url in {
        "joblib": "https://joblib.readthedocs.io/en/stable/",
        "numpy": "https://numpy.org/doc/stable/",
        "pandas": "https://pandas.pydata.org/docs/",
        "sklearn": "https://scikit-learn.org/stable/",
    }.items()
}

html_theme = "pydata_sphinx_theme"
html_title = "skdp"
html_show_sourcelink = False
html_math_renderer = "mathml"
html_css_files = ["skdp.css"]
html_theme_options = {
    # The list of versions is that of the newest documentation, for all versions.
    "switcher": {
        "json_url": "https://skdp.readthedocs.io/en/latest/_static/switcher.json",
        "version_match": "dev" if "dev" in version else version,
    },
    "check_switcher": False,  # no build needs a network
    "show_version_warning_banner": False,  # the first version has no stable one before it
    "logo": {"text": f"skdp {version}"},
    "navbar_end": ["theme-switcher"],
    "footer_end": ["version-switcher", "theme-version"],
    "show_toc_level": 2,
    "navigation_depth": 3,
    "header_links_before_dropdown": 6,
}
toc_object_entries_show_parents = "hide"

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
    "doc_module": ("skdp",),
    "backreferences_dir": "api/examples",
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # the page would fetch scripts
    "abort_on_example_error": True,
}


def skip_what_others_document(app, what, name, member, skip, options):
    """Leave out of a class what it inherits from scikit-learn or the standard library."""
    member = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
    return skip or not (getattr(member, "__module__", None) or "").startswith("skdp")


def setup(app):
    app.connect("autodoc-skip-member", skip_what_others_document)
