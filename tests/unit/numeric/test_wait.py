"""The line that tells users of a long compilation: when it comes, and that it harms nothing."""

import io
import math
import multiprocessing
import sys
from types import SimpleNamespace

import pytest
from numba.core import config
from numba.core.errors import TypingError

from skdp._numeric import _kernel_cache
from skdp._numeric._kernel_cache import Wait, wait
from skdp._numeric._numba import njit
from skdp.sequence import StateDetector
from skdp.topics import GibbsLDA

DOCUMENTS = [[[0, 1, 0]], [[1, 2]]]


@pytest.fixture
def impatient(tmp_path, monkeypatch):
    """Start with an empty cache, and tell of the first compilation, however short."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(Wait, "limit", -1.0)


def compile_one():
    """Compile a kernel, or load it if the cache has it."""

    def double(x):
        return 2.0 * x

    assert njit(double)(3.0) == 6.0


@pytest.mark.usefixtures("impatient")
class TestOneKernel:
    def test_one_line_for_all_kernels(self, capsys):
        compile_one()
        njit(lambda x: x + 1.0)(2.0)
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("skdp compiles code, once per machine")
        assert err.count("\n") == 1
        assert wait.began is None

    def test_nothing_if_the_cache_has_it(self, capsys, monkeypatch):
        compile_one()
        assert capsys.readouterr().err
        monkeypatch.setattr(Wait, "limit", -1.0)
        compile_one()
        assert capsys.readouterr().err == ""
        assert Wait.limit == -1.0

    @pytest.mark.parametrize("is_closed", [True, False])
    def test_without_stderr(self, capsys, monkeypatch, is_closed):
        closed = io.StringIO()
        closed.close()
        monkeypatch.setattr(sys, "stderr", closed if is_closed else None)
        compile_one()
        assert capsys.readouterr().out == ""
        assert Wait.limit == math.inf

    @pytest.mark.parametrize(
        ("name", "n_lines"),
        [("MainProcess", 1), ("LokyProcess-1", 1), ("LokyProcess-2", 0), ("ForkPoolWorker-11", 0)],
    )
    def test_one_worker_tells(self, capsys, monkeypatch, name, n_lines):
        process = SimpleNamespace(name=name)
        monkeypatch.setattr(multiprocessing, "current_process", lambda: process)
        compile_one()
        assert capsys.readouterr().err.count("\n") == n_lines

    def test_the_clock_stops_at_an_error(self):
        with pytest.raises(TypingError):
            njit(lambda x: x.missing)(1.0)
        assert wait.began is None


def test_compilations_add_up_to_the_limit(capsys, monkeypatch):
    now = 0.0
    monkeypatch.setattr(_kernel_cache.time, "monotonic", lambda: now)
    monkeypatch.setattr(Wait, "limit", 2.0)
    clock = Wait()
    clock.begin()
    now = 1.8  # a kernel that the first one calls
    clock.begin()
    clock.end()
    now = 50.0  # what passes between two compilations does not count
    clock.end()
    clock.begin()
    assert capsys.readouterr().err == ""
    now = 50.3
    clock.begin()
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("verbose", "limit"), [(-1, math.inf), (0, 3.0), (10**6, 3.0)], ids=["no", "late", "now"]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_verbose(capsys, monkeypatch, verbose, limit):
    """Fits whose kernels are in memory."""
    GibbsLDA(2, max_iter=2, random_state=0).fit(DOCUMENTS)
    monkeypatch.setattr(Wait, "limit", 3.0)
    model = GibbsLDA(2, max_iter=2, random_state=0, verbose=verbose).fit(DOCUMENTS)
    assert Wait.limit == limit
    assert bool(capsys.readouterr().out) == (verbose > 0)
    assert model.convergence_  # which verbose=-1 does not print


@pytest.mark.parametrize("model", [GibbsLDA(verbose=-2), StateDetector(verbose=-2)])
def test_no_other_negative_number(model):
    with pytest.raises(ValueError, match="The 'verbose' parameter"):
        model.fit([[0.0], [1.0]])
