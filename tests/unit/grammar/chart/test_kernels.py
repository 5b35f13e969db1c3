"""Which kernels a call compiles: each takes seconds."""

import subprocess
import sys

RUN = """
import numpy as np
from skdp.data import TokenSequences
from skdp.grammar import HDPPCFG
from skdp.grammar._chart import _kernels_lanes, _kernels_long, _kernels_trees

def compiled():
    modules = (_kernels_lanes, _kernels_long, _kernels_trees)
    kernels = {name: kernel for module in modules for name, kernel in vars(module).items()
               if hasattr(kernel, "signatures") and kernel.__module__ == module.__name__}
    twice = [name for name, kernel in kernels.items() if len(kernel.signatures) > 1]
    assert not twice, twice
    outer = ("sum_inside", "count_batches", "sum_long", "count_long", "find_best_tree")
    return [name for name in outer if kernels[name].signatures]

lists = [[0, 1, 2, 3], [3, 1], [0, 2, 2]]
model = HDPPCFG(3, max_iter=2, tol=1e9, random_state=0).fit(lists)
print(*compiled())
model.score(lists)
print(*compiled())
tokens = np.array([0, 1, 2, 3, 1], dtype=np.int32)
ptr = np.array([0, 4, 5])
for is_writable in (True, False):
    tokens.flags.writeable = ptr.flags.writeable = is_writable
    sentences = TokenSequences(tokens, ptr, 4)
    model.fit(sentences)
    model.score(sentences)
    model.predict(sentences)
print(*compiled())
model.score([[0, 1, 2, 3] * 50])
print(*compiled())
"""


def test_no_kernel_is_compiled_in_vain_or_twice():
    done = subprocess.run(
        [sys.executable, "-c", RUN], text=True, capture_output=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["count_batches"],
        ["sum_inside", "count_batches"],
        ["sum_inside", "count_batches", "find_best_tree"],
        ["sum_inside", "count_batches", "sum_long", "find_best_tree"],
    ]
