"""What would not fit into the memory is refused."""

import types

import pytest

from skdp._memory import check_memory, physical_memory


def test_memory_is_that_of_the_machine(monkeypatch):
    memory = physical_memory()
    assert memory is None or 2**28 < memory < 2**50
    monkeypatch.setattr("skdp._memory.physical_memory", lambda: 2**30)
    check_memory(2.0**30, "A table")
    with pytest.raises(ValueError, match=r"A table would take 1.5 GiB.*memory of 1 GiB. Less!"):
        check_memory(1.5 * 2**30, "A table", "Less!")
    monkeypatch.setattr("skdp._memory.physical_memory", lambda: None)  # nobody knows
    check_memory(1e300, "A table")


def test_memory_of_windows(monkeypatch):
    # There is no sysconf; the API is called with a structure of its length.
    class Kernel:
        @staticmethod
        def GlobalMemoryStatusEx(reference):
            status = reference._obj
            assert status.length == 64
            status.total = 16 * 2**30
            return 1

    monkeypatch.delattr("os.sysconf", raising=False)
    monkeypatch.setattr("ctypes.windll", types.SimpleNamespace(kernel32=Kernel), raising=False)
    assert physical_memory() == 16 * 2**30
    monkeypatch.delattr("ctypes.windll")
    assert physical_memory() is None
