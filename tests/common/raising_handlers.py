"""Fits that a raising signal handler ends at random moments: the interpreter must survive.

Run as a script by ``test_kernels.py``: ``python raising_handlers.py n_fits seed``. A handler runs
as soon as any Python code does, also where numba calls some while it hands a result over. The last
line says how many fits it ended, of how many."""

import random
import signal
import sys

from skdp.topics import AdaptiveTopicModel, SegmentedTopicModel, SequentialLDA

DOCUMENTS = [[[0, 1, 0, 2], [3, 3]], [[3, 2, 1], [0, 0, 1]], [[2], [1, 3]]] * 3
LONGEST_DELAY = 0.01


class Alarm(Exception):
    """The exception of a user's handler, such as a timeout."""


class Timer:
    """Raises an exception after a while, or sends two interrupts as an impatient user does."""

    def __init__(self):
        self.n_left = 0
        self.pause = 0.0
        signal.signal(signal.SIGALRM, self.handle)

    def start(self, delay, pause):
        self.n_left = 2 if pause > 0.0 else 1
        self.pause = pause
        signal.setitimer(signal.ITIMER_REAL, delay)

    def stop(self):
        self.n_left = 0
        signal.setitimer(signal.ITIMER_REAL, 0.0)

    def handle(self, signum, frame):
        if self.n_left == 0:
            return
        self.n_left -= 1
        if self.pause == 0.0:
            raise Alarm
        if self.n_left > 0:
            signal.setitimer(signal.ITIMER_REAL, self.pause)
        signal.raise_signal(signal.SIGINT)


def fit(model):
    model.fit(DOCUMENTS)


def watch(model):
    for _ in model.iter_sweeps(DOCUMENTS):
        pass


def is_ended(timer, action, model, delay, pause):
    """Tell whether the timer has ended an action; the second interrupt may come at any time."""
    ended = True
    try:
        timer.start(delay, pause)
        action(model)
        ended = False
    except (Alarm, KeyboardInterrupt):
        pass
    while True:
        try:
            timer.stop()
            return ended
        except (Alarm, KeyboardInterrupt):
            pass


def main(n_fits, seed):
    rng = random.Random(seed)
    models = [
        kind(3, sampler=sampler, max_iter=3000, burn_in=2999, random_state=0)
        for kind in (SegmentedTopicModel, SequentialLDA, AdaptiveTopicModel)
        for sampler in ("btigs", "ssa")
    ]
    for model in models:  # compile
        type(model)(3, sampler=model.sampler, max_iter=2, random_state=0).fit(DOCUMENTS)
    timer = Timer()
    n_ended = 0
    for i in range(n_fits):
        action = fit if rng.random() < 0.5 else watch
        delay = 1e-4 + LONGEST_DELAY * rng.random()
        pause = LONGEST_DELAY / 10 * rng.random() if rng.random() < 0.3 else 0.0
        n_ended += is_ended(timer, action, models[i % len(models)], delay, pause)
    print(f"{n_ended} of {n_fits}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
