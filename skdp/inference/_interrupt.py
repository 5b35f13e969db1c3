"""Guards that delay exceptions from signal handlers until the end of a sweep."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

try:  # `signal` wraps these and makes enumeration members, which takes as long as a small sweep
    from _signal import getsignal as handler_of
    from _signal import signal as set_handler
except ImportError:
    from signal import getsignal as handler_of
    from signal import signal as set_handler

SIGNALS = tuple(int(signum) for signum in signal.valid_signals())


_open_guards: list[InterruptGuard] = []
"""Open guards of the main thread, with the innermost last."""


def check_interrupts() -> None:
    """Raise any exception that guards hold back; for interruptible work before the first sweep."""
    if threading.current_thread() is threading.main_thread():
        for guard in list(_open_guards):
            guard.check()


def is_interrupted() -> bool:
    """Return whether guards hold back an exception, so that optional work can stop at once."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    return in_main_thread and any(guard.is_holding for guard in _open_guards)


class InterruptGuard:
    """Hold back exceptions of signal handlers until `check` is called, so that sweeps are complete.
    Handlers run as usual, and only what they raise is delayed. A second exception is raised at
    once.
    """

    def __enter__(self) -> InterruptGuard:
        self.released: BaseException | None = None  # what `check` has raised
        self._held: BaseException | None = None
        self._is_open = True
        self._replaced: dict[int, tuple[Any, Any]] = {}
        # Only handlers written in Python raise exceptions, and only in the main thread.
        if threading.current_thread() is threading.main_thread():
            try:
                _open_guards.append(self)
                for signum in SIGNALS:
                    handler = handler_of(signum)
                    if callable(handler):
                        self._replace(signum, handler)
            except BaseException:  # from a handler that is not yet replaced
                self._restore()
                raise
        return self

    def _replace(self, signum: int, handler: Callable[[int, FrameType | None], Any]) -> None:
        mine = self._make_handler(handler)
        self._replaced[signum] = mine, handler
        set_handler(signum, mine)

    def _make_handler(self, handler: Callable[[int, FrameType | None], Any]) -> Any:
        def hold_back(signum: int, frame: FrameType | None) -> None:
            try:
                handler(signum, frame)
            except BaseException as error:
                if self._held is not None or not self._is_open:
                    raise
                self._held = error

        return hold_back

    def _restore(self) -> None:
        # If a handler raises in here, some may stay replaced, but they no longer hold back.
        self._is_open = False
        if self in _open_guards:
            _open_guards.remove(self)
        for signum, (mine, handler) in self._replaced.items():
            if handler_of(signum) is mine:  # else the user has set another handler meanwhile
                set_handler(signum, handler)

    @property
    def is_holding(self) -> bool:
        """Whether there is an exception for `check` to raise."""
        return self._held is not None

    def check(self) -> None:
        """Raise the exception that was held back since the last call, if any."""
        if self._held is not None:
            self.released, self._held = self._held, None
            raise self.released

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._restore()
        if kind is None:
            self.check()
