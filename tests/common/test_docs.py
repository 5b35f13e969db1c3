"""The documentation is whole: every public name is in it, with its parameters, and examples run."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import BaseEstimator

from skdp import emissions, sequence

ROOT = Path(__file__).parents[2]
GUIDE = [ROOT / "doc/index.rst", *sorted((ROOT / "doc").glob("user_guide/*.rst"))]
GUIDE += sorted((ROOT / "doc/how_to").glob("*.rst"))

PUBLIC = dict.fromkeys(
    """
    skdp.callback skdp.context skdp.data skdp.datasets skdp.emissions skdp.feature_extraction
    skdp.grammar skdp.inspection skdp.language skdp.metrics skdp.mixture skdp.preprocessing
    skdp.processes skdp.topics skdp.utils
    """.split()
) | {  # where a module has more than users need, the names that they do
    "skdp.inference": ["Trace"],
    "skdp.sequence": sorted({*sequence.__all__} - {*emissions.__all__}),  # it has those, too
    "skdp.utils.estimator_checks": ["check_ragged_estimator", "parametrize_with_ragged_checks"],
}
AGAIN = {"skdp.sequence": "skdp.emissions"}
"""Modules that export names of another one, where these are documented."""

ALIASES = {("skdp.sequence", "InfiniteHMM"): "HDPHMMLT"}
"""Second names of classes, which the API page and the page of names explain."""

NAMES = [
    (module, name)
    for module, names in PUBLIC.items()
    for name in names or importlib.import_module(module).__all__
    if module not in AGAIN or name not in importlib.import_module(AGAIN[module]).__all__
    if (module, name) not in ALIASES
]

# Parameters that mean something else in these estimators than in the others.
WITH_OTHER_MEANING = """
n_components: OPEN LatentDirichletCoClustering TopicSegmenter HDPHMMLT StateDetector
    WindowFeatures HDPPCFG HDPPCFGRefiner
init: MIXTURES GibbsLDA TopicSegmenter HDPTopicModel LatentDirichletCoClustering HDPPCFG
    BinaryFactorEmission HDPHMMLT NestedPitmanYorLM CollocationPitmanYorLM HDPMixture
mass_prior: BinaryFactorEmission
use_y: HDPHMMLT FactorialHMM StateDetector ChangePointDetector
max_iter: HDPBackoffFeatures HDPPCFG HDPPCFGRefiner StateDetector
stickiness: StateDetector
features: StateDetector
merge_overlapping: HDPHMMLT
shape: PoissonEmission
rate: PoissonEmission
dirichlet_prior: DistanceDependentCRPClassifier
covariance_prior: AutoregressiveEmission RegressionEmission StudentTEmission
degrees_of_freedom_prior: AutoregressiveEmission RegressionEmission StudentTEmission
coef_prior: RegressionEmission
coef_precision_prior: RegressionEmission
output: RegressionEmission
analyzer: TokenVectorizer
base: HierarchicalPitmanYorLM
burst_concentration: TopicSegmenter
concentration: POOLED HDPTopicModel TopicSegmenter SectionedTopicModel
    DistanceDependentCRPClassifier HierarchicalPitmanYorLM HDPBackoffClassifier HDPBackoffFeatures
    NestedPitmanYorLM CollocationPitmanYorLM
top_concentration: OPEN HDPTopicModel HDPMixture HDPPCFG
top_concentration_prior: OPEN HDPTopicModel HDPMixture HDPPCFG
initial_components: OPEN
word_length: CollocationPitmanYorLM
end_probability: CollocationPitmanYorLM
order: HierarchicalPitmanYorLM
concentration_scope: HDPBackoffClassifier
levels: HDPBackoffClassifier
topic_word_prior: HDPTopicModel
split_merge: HDPMixture HDPTopicModel IBPLatentFeatures
decay: DistanceDependentCRPClassifier
weights: DistanceDependentCRPClassifier
decay_prior: EmissionSimilarity
predict_method: NestedPitmanYorLM CollocationPitmanYorLM
discount: SectionedTopicModel PitmanYorMixture HierarchicalPitmanYorLM HDPBackoffClassifier
    HDPBackoffFeatures KneserNeyLM NestedPitmanYorLM CollocationPitmanYorLM
n_chains: POOLED DistanceDependentCRPClassifier
    NestedPitmanYorLM CollocationPitmanYorLM HDPPCFG StateDetector
concentration_prior: POOLED CategoricalEmission HDPTopicModel
discount_prior: PitmanYorMixture
n_samples: POOLED DistanceDependentCRPClassifier HDPPCFG
noise_variance: IBPLatentFeatures
noise_prior: IBPLatentFeatures
transform_max_iter: IBPLatentFeatures
emission: MIXTURES FactorialHMM HDPMixture ChangePointDetector
max_length: ChangePointDetector
trend: ChangePointDetector
prior: NegativeBinomialDuration BernoulliEmission CategoricalEmission
sampler: MIXTURES
mean_prior: StudentTEmission
tol: HDPPCFG
inference: HDPPCFG
rule_type_prior: HDPPCFGRefiner
binary_concentration: HDPPCFGRefiner
vocabulary: TokenVectorizer
"""
GROUPS = {
    "MIXTURES": ["PitmanYorMixture", "DPMixture"],
    "POOLED": ["PitmanYorMixture", "DPMixture", "HDPMixture", "IBPLatentFeatures"],
    "OPEN": ["SegmentedTopicModel", "AdaptiveTopicModel"],
}


OTHER_MEANING = {
    parameter: {each for name in names.split() for each in GROUPS.get(name, [name])}
    for parameter, names in re.findall(r"^(\w+): ((?:.*\n)(?: .*\n)*)", WITH_OTHER_MEANING, re.M)
}

SECTION = re.compile(r"^(?P<title>[A-Z][A-Za-z ]+)\n(?P<line>-+)$", re.MULTILINE)
ORDER = (
    *("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "See Also", "Notes"),
    *("References", "Examples"),
)


def public_object(module, name):
    """Return the object as Python: numba's kernels hold the function they were made of."""
    found = getattr(importlib.import_module(module), name)
    return getattr(found, "py_func", found)


def sections(docstring):
    """Return the sections of a numpydoc docstring by title; what comes before them is ""."""
    parts = SECTION.split(inspect.cleandoc(docstring))
    for title, line in zip(parts[1::3], parts[2::3], strict=True):
        assert len(title) == len(line), f"the line below {title} is of another length"
    titles = ["", *parts[1::3]]
    assert len(set(titles)) == len(titles), titles
    return dict(zip(titles, parts[::3], strict=True))


def documented(section):
    """Return the names that a section lists, in order."""
    heads = re.findall(r"^(\S[^:\n]*?)(?: : .*)?$", section, re.MULTILINE)
    return [name.strip() for head in heads for name in head.split(",")]


def check_docstring(function, where):
    """Check summary, sections and that the parameters are those of the signature."""
    docstring = inspect.getdoc(function)
    assert docstring, f"{where} has no docstring"
    found = sections(docstring)
    summary = found[""].strip().split("\n\n")[0]
    assert summary.endswith("."), f"{where}: the summary is no sentence"
    titles = [title for title in found if title]
    assert titles == sorted(titles, key=ORDER.index), f"{where}: {titles}"
    parameters = [
        f"{'*' * (p.kind is p.VAR_POSITIONAL)}{'**' * (p.kind is p.VAR_KEYWORD)}{p.name}"
        for p in inspect.signature(function).parameters.values()
        if p.name not in ("self", "cls")
    ]
    if getattr(function, "_is_protocol", False):
        parameters = []  # nobody makes one
    assert documented(found.get("Parameters", "")) == parameters, f"{where}: Parameters"


def parameter_texts(cls):
    """Return the description of every parameter of a class, on one line."""
    entries, names = {}, []
    for line in sections(inspect.getdoc(cls)).get("Parameters", "").strip("\n").splitlines():
        if line[:1].strip():
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
            entries.update(dict.fromkeys(names, ""))
        else:
            entries.update({name: f"{entries[name]} {line.strip()}".strip() for name in names})
    return entries


def own_methods(cls):
    """Yield the public methods that skdp's classes give a class."""
    for name, member in inspect.getmembers(cls):
        function = getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function):
            function = inspect.unwrap(function)
            if function.__module__.startswith("skdp"):
                yield name, function


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_docstring(module, name):
    found = public_object(module, name)
    if not callable(found):
        return  # a constant: what is above it in the API page is its text
    check_docstring(found, name)
    if not inspect.isclass(found):
        return
    for method, function in own_methods(found):
        check_docstring(function, f"{name}.{method}")


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_is_shown(module, name):
    """By an example in its docstring, or in the user guide."""
    example = "Examples" in sections(inspect.getdoc(public_object(module, name)))
    assert example or any(name in page.read_text("utf-8") for page in GUIDE)


def test_one_text_for_one_parameter():
    """Estimators that share a parameter describe it in the same words."""
    texts = {}
    for module, name in NAMES:
        found = public_object(module, name)
        if inspect.isclass(found) and issubclass(found, BaseEstimator):
            for parameter, text in parameter_texts(found).items():
                assert text, f"{name}: {parameter} has no text"
                texts.setdefault(parameter, {})[name] = text
    assert len(texts["random_state"]) == 24  # chains, both grammars, windows, and back-off features
    for parameter, by_class in texts.items():
        others = OTHER_MEANING.get(parameter, set())
        shared = {text for name, text in by_class.items() if name not in others}
        assert len(shared) == 1, (parameter, by_class)
        for name in others:
            assert by_class[name] not in shared, f"{name}: {parameter} means what it always does"
    assert set(OTHER_MEANING) <= set(texts)


def test_api_page_lists_every_public_name():
    listed, module = [], None
    for line in (ROOT / "doc/api.rst").read_text("utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   [A-Za-z_]+", line):
            listed.append((module, line.strip()))
    assert sorted(listed) == sorted(NAMES)


def test_changes_mention_every_public_name():
    text = (ROOT / "CHANGES.md").read_text("utf-8")
    assert not [name for _, name in [*NAMES, *ALIASES] if f"`{name}`" not in text]


@pytest.mark.parametrize(("alias", "name"), ALIASES.items(), ids=lambda each: each[-1])
def test_aliases_are_explained(alias, name):
    """On the API page, on the page of names, and where the class is documented."""
    module, other = alias
    found = importlib.import_module(module)
    assert getattr(found, other) is getattr(found, name)
    assert f"`{other}` is another name of this class" in inspect.getdoc(getattr(found, name))
    for page in ("api.rst", "user_guide/names.rst"):
        assert other in (ROOT / "doc" / page).read_text("utf-8")


def test_backticks_link_to_public_names(monkeypatch):
    """In docstrings and pages, by the extension that reads the API page."""
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(ROOT / "doc/_extensions")
    names = importlib.import_module("names")
    found = names.read_names(ROOT / "doc/api.rst")
    assert found == {name: f"{module}.{name}" for module, name in [*NAMES, *ALIASES]}
    linked = {name for name in found if names.LINKED.match(name)}
    assert {"GaussianEmission", "check_panel", "InfiniteHMM"} <= linked
    assert not {"pk", "lexicalize", "binarize"} & linked


def test_names_are_explained():
    """Every class whose name has letters that stand for words is on the page of names."""
    text = (ROOT / "doc/user_guide/names.rst").read_text("utf-8")
    short = [
        name for _, name in NAMES if re.search("[A-Z]{2}", name) and name != "COLLINS_HEAD_RULES"
    ]
    assert len(short) > 8
    assert not [name for name in short if f".{name}`" not in text]


def run_doctests(page):
    """Run the examples of a page; return how many failed, and the names that they have made."""
    found = doctest.DocTestParser().get_doctest(
        page.read_text("utf-8"), {"__name__": "__main__"}, page.name, str(page), 0
    )
    result = doctest.DocTestRunner().run(found, clear_globs=False)
    plt.close("all")  # matplotlib warns of many open figures, and warnings are errors
    return result.failed, found.globs


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_user_guide_runs(page):
    assert run_doctests(page)[0] == 0


CODE_BLOCK = re.compile(
    r"^( *)\.\. code-block:: python\n\n(?P<code>(?:\1 {3}.*\n|\n)+)", re.MULTILINE
)
NEEDED = {  # by pages whose code blocks need what is not always there
    "compare_models": ["arviz"],
    "language_models": ["kenlm"],
    "large_corpora": ["dask", "distributed", "sklearn.callback"],
    "reproducibility": ["sklearn.callback", "rich"],
}


def test_code_blocks_are_for_optional_packages():
    """All other code of the guide is doctests."""
    pages = {page.stem for page in GUIDE if "code-block:: python" in page.read_text("utf-8")}
    assert pages == set(NEEDED)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::Warning")  # Dask and ArviZ have warnings of their own
@pytest.mark.parametrize("stem", NEEDED)
def test_code_blocks_run(stem, tmp_path, monkeypatch):
    """After the examples of their page, with the names that these have made."""
    for package in NEEDED[stem]:
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)  # they write files
    page = ROOT / f"doc/user_guide/{stem}.rst"
    text = page.read_text("utf-8")
    blocks = [inspect.cleandoc(block["code"]) for block in CODE_BLOCK.finditer(text)]
    assert len(blocks) == text.count("code-block:: python")
    failed, names = run_doctests(page)
    assert failed == 0
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)


README_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
FRACTION = re.compile(r"-?\d+\.\d*")


def same_output(shown, printed):
    """Whether texts agree but for fractions, which may differ by a tenth between machines."""
    fractions = [[float(x) for x in FRACTION.findall(text)] for text in (shown, printed)]
    words = [FRACTION.sub("x", text) for text in (shown, printed)]
    return words[0] == words[1] and np.allclose(*fractions, rtol=0.0, atol=0.1001)


@pytest.mark.parametrize(
    ("printed", "same"),
    [("3 of 0.79\n", True), ("3 of 0.70\n", True), ("4 of 0.79\n", False), ("3 of 0.5\n", False)],
)
def test_outputs_are_compared(printed, same):
    assert same_output("3 of 0.79\n", printed) == same


@pytest.mark.filterwarnings("ignore:.*L-BFGS-B:DeprecationWarning")  # scikit-learn 1.6, new SciPy
def test_readme_examples_run(capsys):
    """The examples of a page run in one namespace, and print the shown output."""
    text = (ROOT / "README.md").read_text("utf-8")
    blocks = list(README_BLOCK.finditer(text))
    assert len(blocks) == text.count("```python")
    assert sum(block["output"] is not None for block in blocks) == text.count("```text") >= 7
    names = {}
    for block in blocks:
        assert len([line for line in block["code"].splitlines() if line]) <= 15
        exec(compile(block["code"], "README.md", "exec"), names)
        shown, printed = block["output"] or "", capsys.readouterr().out
        assert same_output(shown, printed), (shown, printed)


def test_readme_commands_are_lines():
    """The line that .ci/run takes, and the example that the other runs."""
    text = (ROOT / "README.md").read_text("utf-8")
    lines = re.findall(r"^```sh\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
    assert len(lines) == 2
    assert not any("\n" in line for line in lines)
    (tests,) = re.findall(r"^<!-- test line -->\n```sh\n(.*)\n```$", text, re.MULTILINE)
    assert tests.endswith("pytest -n 2 --dist loadfile")
    for path in re.findall(r"\S+\.py", "\n".join(lines)):
        assert (ROOT / path).exists()
