"""
A fit that survives a crash
===========================

A long fit writes checkpoints. Here its process is killed halfway, as in a power failure. Running
the same code again resumes the fit from the file, with a result that is bit-identical to that of an
uninterrupted fit. :class:`~skdp.callback.Checkpoint` needs scikit-learn 1.9 or later.
"""

# %%
# A script that dies
# ------------------
#
# The script reads the Python language reference, which is part of every Python installation, and
# runs four chains. It writes a checkpoint every 50 sweeps; in practice every ten minutes is enough,
# which is the default of ``Checkpoint(path)``. The other callback simulates the crash. If enabled,
# it ends the process after 240 of 500 sweeps, because chains run 10 sweeps between two calls.

import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = """
import os
import sys

import joblib

from skdp.callback import Checkpoint
from skdp.datasets import load_python_reference
from skdp.feature_extraction import SegmentVectorizer
from skdp.topics import SegmentedTopicModel


class Crash:
    def setup(self, estimator, context):
        self.n_calls = 0

    def on_fit_task_begin(self, estimator, context, **kwargs):
        pass

    def on_fit_task_end(self, estimator, context, **kwargs):
        self.n_calls += 1
        if self.n_calls == 24:
            os._exit(1)

    def teardown(self, estimator, context):
        pass


vectorizer = SegmentVectorizer(stop_words="english", min_df=3)
X = vectorizer.fit_transform(load_python_reference().data)
model = SegmentedTopicModel(15, max_iter=500, burn_in=100, thin=5, n_chains=4, random_state=0)
callbacks = [Checkpoint("fit.checkpoint", every_sweeps=50)] if "--checkpoint" in sys.argv else []
callbacks += [Crash()] if "--crash" in sys.argv else []
joblib.dump(model.set_callbacks(*callbacks).fit(X), "model.joblib")
"""
folder = Path(tempfile.mkdtemp())
(folder / "script.py").write_text(SCRIPT)


def run(*options):
    """Run the script; return its outcome and the files that exist."""
    command = [sys.executable, "script.py", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True)
    return done.returncode, sorted(path.name for path in folder.iterdir())


print(*run("--checkpoint", "--crash"))

# %%
# The process was killed, and there is no model, but there is a checkpoint of sweep 200.
#
# The same again
# --------------
#
# The script runs unchanged, without the crash.

import joblib

print(*run("--checkpoint"))
resumed = joblib.load(folder / "model.joblib")  # a pickle: load only what you trust

run()
straight = joblib.load(folder / "model.joblib")
print("the same topics:", (resumed.components_ == straight.components_).all())
print("the same log joint:", (resumed.trace_["log_joint"] == straight.trace_["log_joint"]).all())

# %%
# The chains
# ----------
#
# :class:`~skdp.inspection.TraceDisplay` plots the traces of the chains before and after the crash,
# which leaves no mark. All lines should fluctuate around the same level. R-hat measures this: near
# 1, chains agree. Here they do not quite agree, so more sweeps are needed: with a larger
# `max_iter`, the script resumes from the same file.

import matplotlib.pyplot as plt

from skdp.inspection import TraceDisplay

names = ["log_joint", "concentration"]
figure, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
display = TraceDisplay.from_estimator(resumed, names=names, ax=ax)
for panel in display.axes_.flat:
    panel.axvline(200, color="0.5", linestyle="--", linewidth=1.0)
display.axes_.flat[0].set_title("dashed: the checkpoint", fontsize="medium", color="0.3")
for name in names:
    print(f"R-hat of {name}: {resumed.trace_.summary()[name].r_hat:.2f}")
figure.savefig("checkpoint.png", dpi=100)
