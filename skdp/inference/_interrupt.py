"""Ctrl-C between two sweeps instead of in the middle of one."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class TornInterrupt(KeyboardInterrupt):
    """A second Ctrl-C while one was held back: the sweep under way was cut in two."""


class InterruptGuard:
    """Hold back a keyboard interrupt until `check` is called, so that no sweep is cut in two.

    A chain that stops between two sweeps can be taken up again bit for bit. Only Python's own
    handler in the main thread is replaced; elsewhere the guard does nothing. A second Ctrl-C while
    one is pending raises `TornInterrupt` at once, for whoever cannot wait.
    """

    def __enter__(self) -> InterruptGuard:
        self._pending = False
        self._previous: Any = None
        if (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        if self._pending:
            raise TornInterrupt
        self._pending = True

    def check(self) -> None:
        """Raise the KeyboardInterrupt that came since the last call."""
        if self._pending:
            self._pending = False
            raise KeyboardInterrupt

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        if kind is None:
            self.check()
