"""A cluster of two worker processes on this machine, for the tests of a module."""

import joblib
import pytest


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    import dask

    with (
        # A busy machine takes longer than the 15 seconds after which a cluster gives up a killed
        # worker for good, even while the new process under its name is about to report.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):
        yield client
