"""Requirements of a release: one version, and archives with all files that the tests read."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import skdp

ROOT = Path(__file__).parents[2]
NOT_SHIPPED = {".gitattributes", ".gitignore", ".pre-commit-config.yaml"}
"""For work in a clone."""

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_the_version_is_in_one_place():
    project = PYPROJECT["project"]
    assert project["dynamic"] == ["version"]
    assert "version" not in project
    place = PYPROJECT["tool"]["hatch"]["version"]["path"]
    assert place == "skdp/__init__.py"
    assert not re.search("^version:", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)


def test_changes_begin_with_the_version():
    number, is_development = re.fullmatch(r"(\d+\.\d+\.\d+)(\.dev\d+)?", skdp.__version__).groups()
    text = (ROOT / "CHANGES.md").read_text("utf-8")
    version, when = re.search(r"^(\S+) \((.+)\)\n-+$", text, re.MULTILINE).groups()
    assert version == number
    assert re.fullmatch("unreleased" if is_development else r"\d{4}-\d{2}-\d{2}", when)


def test_the_tag_is_checked_against_the_version():
    """The line of the workflow that reads the version finds it."""
    workflow = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    (pattern,) = re.findall(r"sed -n 's/(.*)/\\1/p' skdp/__init__\.py", workflow)
    source = Path(skdp.__file__).read_text("utf-8")
    pattern = pattern.replace(r"\(", "(").replace(r"\)", ")")
    assert re.findall(pattern, source, re.MULTILINE) == [skdp.__version__]


def test_the_readme_names_the_version():
    text = (ROOT / "README.md").read_text("utf-8")
    assert f"/badge/version-{skdp.__version__}-" in text


def test_the_readme_names_the_versions_of_python():
    newest = max(
        int(each.rpartition(".")[2])
        for each in PYPROJECT["project"]["classifiers"]
        if each.startswith("Programming Language :: Python :: 3.")
    )
    oldest = PYPROJECT["project"]["requires-python"].removeprefix(">=")
    text = (ROOT / "README.md").read_text("utf-8")
    assert f"Python {oldest} to 3.{newest}]" in text
    workflow = (ROOT / ".github/workflows/tests.yml").read_text("utf-8")
    for minor in (oldest, f"3.{newest}"):
        assert f'python: "{minor}"' in workflow


def test_actions_are_pinned():
    """A tag can be moved to other code, the hash of a commit cannot."""
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        lines = [line for line in path.read_text("utf-8").splitlines() if "uses:" in line]
        assert lines
        for line in lines:
            assert re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$", line), line


def test_dependencies_are_the_same_everywhere():
    """In the metadata, in the recipe for conda, and in the page of versions."""
    recipe = (ROOT / "conda/recipe.yaml").read_text("utf-8")
    page = (ROOT / "doc/developers/policies.rst").read_text("utf-8")
    assert f'version: "{skdp.__version__}"' in recipe
    for each in PYPROJECT["project"]["dependencies"]:
        name, _, version = each.partition(">=")
        assert f"- {name} >={version}\n" in recipe
        assert f"     - {version}\n" in page[page.index(f"* - {name}\n") :]


def test_the_archive_has_what_is_tracked():
    if not (ROOT / ".git").exists():
        pytest.skip("no clone: this is the archive")
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    included = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    tops = {path.split("/")[0] for path in tracked if path}
    always = {"pyproject.toml"}
    assert tops == {path.removeprefix("/") for path in included} | always | NOT_SHIPPED
