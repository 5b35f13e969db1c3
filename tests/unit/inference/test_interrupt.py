"""Ctrl-C between sweeps."""

import signal
import threading

import pytest

from skdp.inference._chain import InterruptGuard


def press():
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def handle():
    """Set handlers of SIGTERM."""
    previous = signal.getsignal(signal.SIGTERM)
    yield lambda handler: signal.signal(signal.SIGTERM, handler)
    signal.signal(signal.SIGTERM, previous)


def time_out(signum, frame):
    raise TimeoutError


@pytest.mark.parametrize(
    ("signum", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, TimeoutError)]
)
def test_what_handlers_raise_waits_for_the_check(handle, signum, error):
    reached, guard = [], InterruptGuard()
    handle(time_out)

    def run():
        with guard:
            signal.raise_signal(signum)
            reached.append("end of the sweep")
            guard.check()
            reached.append("next sweep")

    with pytest.raises(error) as raised:
        run()
    assert reached == ["end of the sweep"]
    assert guard.released is raised.value
    assert signal.getsignal(signal.SIGTERM) is time_out


def test_an_interrupt_is_not_lost_without_a_check():
    with pytest.raises(KeyboardInterrupt), InterruptGuard():
        press()


def test_the_old_handler_is_back():
    before = signal.getsignal(signal.SIGINT)
    with InterruptGuard() as guard:
        assert signal.getsignal(signal.SIGINT) is not before
        guard.check()
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(RuntimeError), InterruptGuard():
        raise RuntimeError
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_are_left_alone():
    seen = []

    def work():
        with InterruptGuard() as guard:
            guard.check()
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_other_handlers_run_at_once(handle):
    seen = []
    handle(lambda signum, frame: seen.append(signum))
    with InterruptGuard():
        signal.raise_signal(signal.SIGTERM)
        assert seen == [signal.SIGTERM]


def test_a_handler_set_inside_stays(handle):
    def first(signum, frame):
        pass

    def second(signum, frame):
        pass

    handle(first)
    with InterruptGuard():
        signal.signal(signal.SIGTERM, second)
    assert signal.getsignal(signal.SIGTERM) is second
