"""Ctrl-C between sweeps."""

import signal
import threading

import pytest

from skdp.inference import InterruptGuard


def press():
    signal.raise_signal(signal.SIGINT)


def test_an_interrupt_waits_for_the_check():
    reached = []

    def run():
        with InterruptGuard() as guard:
            press()
            reached.append("end of the sweep")
            guard.check()
            reached.append("next sweep")

    with pytest.raises(KeyboardInterrupt):
        run()
    assert reached == ["end of the sweep"]


def test_an_interrupt_is_not_lost_without_a_check():
    with pytest.raises(KeyboardInterrupt), InterruptGuard():
        press()


def test_the_second_one_does_not_wait():
    reached = []

    def run():
        with InterruptGuard():
            press()
            press()
            reached.append("more")

    with pytest.raises(KeyboardInterrupt):
        run()
    assert not reached


def test_the_old_handler_is_back():
    before = signal.getsignal(signal.SIGINT)
    with InterruptGuard() as guard:
        assert signal.getsignal(signal.SIGINT) is not before
        guard.check()
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(RuntimeError), InterruptGuard():
        raise RuntimeError
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_and_handlers_are_left_alone():
    seen = []

    def work():
        with InterruptGuard() as guard:
            guard.check()
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]

    def own(signum, frame):
        seen.append("own")

    previous = signal.signal(signal.SIGINT, own)
    try:
        with InterruptGuard():
            press()
    finally:
        signal.signal(signal.SIGINT, previous)
    assert seen[-1] == "own"
