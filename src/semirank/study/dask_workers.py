"""Jobs on a Dask cluster."""

from __future__ import annotations

import logging
import queue
import time
from typing import Any

from .local_workers import Outcome, perform
from .plan import Job, Study

_CONNECT_SECONDS = 20
_WORKER_SECONDS = 60


class DaskWorkers:
    """A cluster at `address`, or for "local" one on this machine with `n_workers` processes.

    The processes of a cluster need semirank, and the data under the same path as here. A job whose process
    dies is given to another one by the scheduler, several times before it counts as failed.
    """

    def __init__(self, study: Study, address: str, n_workers: int) -> None:
        try:
            from distributed import Client, LocalCluster
        except ImportError as error:
            raise ImportError("--dask needs Dask; install semirank[study].") from error
        self._study = study
        self._cluster: Any = None
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._sent: dict[Any, tuple[Any, Job, float]] = {}
        if address == "local":
            self._cluster = LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                host="127.0.0.1",
                # No dashboard, and whatever port is free: 8787 may be another cluster's.
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                # Its processes complain loudly when they are stopped in the middle of a job.
                silence_logs=logging.CRITICAL,
            )
        try:
            self._client = Client(self._cluster or address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise ValueError(
                f"There is no Dask scheduler at {address!r} ({' '.join(str(error).split())}); "
                "give an address such as tcp://host:8786, or local."
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError as error:
            self.close()
            raise ValueError(
                f"The Dask cluster at {address!r} has no workers; start some and try again."
            ) from error

    def free(self) -> int:
        """Room for twice as many jobs as there are threads, so that none waits for the next job."""
        return max(1, 2 * sum(self._client.nthreads().values())) - len(self._sent)

    def submit(self, job: Job) -> None:
        """Send a job; earlier ones go first."""
        future = self._client.submit(perform, job, self._study, pure=False)
        self._sent[future.key] = future, job, time.perf_counter()
        future.add_done_callback(self._ended.put)

    def wait(self, timeout: float) -> list[Outcome]:
        """Jobs that ended."""
        found: list[Outcome] = []
        try:
            while True:
                future = self._ended.get(timeout=0.0 if found else timeout)
                _, job, began = self._sent.pop(future.key)
                if future.status == "finished":
                    found.append(future.result())
                elif future.status == "error":
                    error = " ".join(f"{type(future.exception()).__name__}: {future.exception()}".split())
                    found.append(Outcome(job, [], error, time.perf_counter() - began))
                else:
                    raise ConnectionError(
                        "The connection to the Dask cluster was lost; what was finished is kept, "
                        "run again to go on"
                    )
        except queue.Empty:
            return found

    def close(self) -> None:
        """Take back what is waiting, and leave the cluster."""
        if self._client.status == "running":
            self._client.cancel([future for future, _, _ in self._sent.values()], force=True)
        self._client.close(timeout=5)
        if self._cluster is not None:
            self._cluster.close(timeout=5)
