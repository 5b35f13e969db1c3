"""Sweeps of hidden Markov models over a panel in memory and in partitions, and what they send.

Gaussian observations of K states that stay, full covariances, as many components as states. CPU
seconds a sweep, of the process itself and its workers, and bytes that the client receives; medians
of single sweeps without and with a move that splits or merges. One thread, or two worker processes.

    python benchmarks/panels.py --steps 1000000
"""

import argparse
import time

import joblib
import numpy as np
from report import print_header, print_table
from threadpoolctl import threadpool_limits

from skdp.data import PartitionedPanel
from skdp.datasets import make_sticky_panel
from skdp.sequence import HDPHMMLT
from skdp.sequence._hmm._sampler import HMMSampler


def cpu_of_worker():
    """Return the CPU seconds of this process."""
    return time.process_time()


class Watch:
    """Times of sweeps by whether a move was tried, and the bytes that came in."""

    def __init__(self, client=None):
        self.client = client
        self.rows = {False: [], True: []}
        self.received = 0

    def cpu(self):
        workers = () if self.client is None else self.client.run(cpu_of_worker).values()
        return time.process_time(), sum(workers)

    def __enter__(self):
        self.sweep, watch = HMMSampler.sweep, self

        def sweep(sampler):
            is_due = sampler._is_due()
            before = watch.cpu()
            watch.received = 0
            watch.sweep(sampler)
            received = watch.received
            spent = np.subtract(watch.cpu(), before)
            watch.rows[is_due].append((*spent, received))

        HMMSampler.sweep = sweep
        if self.client is not None:
            from distributed.protocol import pickle

            self.pickle, self.loads = pickle, pickle.loads

            def loads(sent, *args, **kwargs):
                watch.received += len(sent) + sum(map(len, kwargs.get("buffers", ())))
                return watch.loads(sent, *args, **kwargs)

            pickle.loads = loads
        return self

    def __exit__(self, *exception):
        HMMSampler.sweep = self.sweep
        if self.client is not None:
            self.pickle.loads = self.loads

    def medians(self):
        """Yield whether a move was tried, and medians."""
        for is_due, rows in self.rows.items():
            yield is_due, np.median(rows[1:], axis=0)


def fit(X, n_states, options, client=None):
    model = HDPHMMLT(
        n_states, init="random", max_iter=options.sweeps, burn_in=0, thin=10**6, random_state=0
    )
    with Watch(client) as watch:
        model.fit(X)
    return watch


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--sequences", type=int, default=100)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--sweeps", type=int, default=13)
    parser.add_argument("--states", type=int, nargs="+", default=[10, 30])
    options = parser.parse_args()
    print_header("distributed")
    rows = []
    for n_states in options.states:
        panel = make_sticky_panel(
            options.sequences,
            n_steps=options.steps // options.sequences,
            n_states=n_states,
            n_features=4,
            separation=3.0,
            random_state=0,
        ).data
        parts = PartitionedPanel.from_panel(panel, options.partitions)
        watches = {"in memory": fit(panel, n_states, options)}
        watches["partitions, threads"] = fit(parts, n_states, options)
        if options.partitions > 1:
            from distributed import Client, LocalCluster

            with (
                LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
                Client(cluster) as client,
                joblib.parallel_config("dask"),
            ):
                watches["partitions, two workers"] = fit(parts, n_states, options, client)
        for name, watch in watches.items():
            for is_due, (own, workers, received) in watch.medians():
                rows.append(
                    [
                        n_states,
                        name,
                        "with a move" if is_due else "plain",
                        f"{own:.3f}",
                        f"{workers:.3f}" if workers else "",
                        f"{received / 1e3:.0f}" if received else "",
                    ]
                )
    columns = ["K", "panel", "sweep", "CPU s, client", "CPU s, workers", "kB received"]
    print_table(columns, rows)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
