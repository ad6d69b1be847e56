"""Jobs on a Dask cluster."""

from __future__ import annotations

import logging
import time
from collections import Counter
from typing import Any, NamedTuple

from ..runtime.optional import optional
from .job import Job, Study
from .local_workers import Outcome, Workers, perform

_CONNECT_SECONDS = 20
_WORKER_SECONDS = 60
# Errors by which a scheduler gives a job up: its workers died too often, or none is left that may do it.
_DEATHS = ("KilledWorker", "NoValidWorkerError")


class Sent(NamedTuple):
    """A job on its way, and the address of the worker that it is for."""

    future: Any
    job: Job
    worker: str | None
    began: float

    def failed(self, error: str, died: bool) -> Outcome:
        """The end of a job without records."""
        return Outcome(self.job, [], error, time.perf_counter() - self.began, died)


class DaskWorkers(Workers):
    """A cluster at `address`, or for "local" one on this machine with `n_workers` processes.

    The workers need semirank, and the data under the same path as here. Each gets one job per thread, and
    no other worker may take it. So when a worker dies, only its own jobs are affected, and the run decides
    what becomes of them, not the scheduler by its own count of deaths.
    """

    def __init__(self, study: Study, address: str, n_workers: int) -> None:
        distributed = optional("distributed", "--dask needs Dask; install semirank[study].")
        super().__init__()
        self._study = study
        self._sent: dict[Any, Sent] = {}
        self._cluster: Any = None
        if address == "local":
            self._cluster = distributed.LocalCluster(
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
            scheduler = self._cluster or address
            self._client = distributed.Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            told = f"There is no Dask scheduler at {address!r} ({' '.join(str(error).split())})"
            raise ValueError(f"{told}; give an address such as tcp://host:8786, or local.") from error
        try:
            self._client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError as error:
            self.close()
            told = f"The Dask cluster at {address!r} has no workers; start some and try again."
            raise ValueError(told) from error

    def free(self) -> int:
        """Threads without a job; while there is no worker at all, one job may wait for the next one."""
        return max(1, sum(self._client.nthreads().values())) - len(self._sent)

    def submit(self, job: Job) -> None:
        """Send a job to the worker with the smallest share of its threads in use."""
        threads = self._client.nthreads()
        used = Counter(sent.worker for sent in self._sent.values())
        worker = min(threads, key=lambda name: used[name] / threads[name], default=None)
        future = self._client.submit(perform, job, self._study, pure=False, workers=worker)
        self._sent[future.key] = Sent(future, job, worker, time.perf_counter())
        future.add_done_callback(self._ended.put)

    def wait(self, timeout: float) -> list[Outcome]:
        """Jobs that ended, and those whose worker went away."""
        found = super().wait(timeout)
        if self._sent:
            alive = {None, *self._client.nthreads()}
            for sent in [sent for sent in self._sent.values() if sent.worker not in alive]:
                del self._sent[sent.future.key]
                self._client.cancel([sent.future], force=True)
                found.append(sent.failed("the Dask worker of the job went away", died=True))
        return found

    def close(self) -> None:
        """Take back what is waiting, and leave the cluster."""
        if self._client.status == "running":
            self._client.cancel([sent.future for sent in self._sent.values()], force=True)
        self._client.close(timeout=5)
        if self._cluster is not None:
            self._cluster.close(timeout=5)

    def _outcomes(self, ended: Any) -> list[Outcome]:
        sent = self._sent.pop(ended.key, None)
        if sent is None:  # given up, because its worker went away
            return []
        if ended.status == "finished":
            try:
                return [ended.result(timeout=_WORKER_SECONDS)]
            except TimeoutError:
                return [sent.failed("the Dask worker of the job went away with its result", died=True)]
        if ended.status == "error":
            error = ended.exception()
            told = " ".join(f"{type(error).__name__}: {error}".split())
            return [sent.failed(told, died=type(error).__name__ in _DEATHS)]
        kept = "what was finished is kept, run again to go on"
        raise ConnectionError(f"The connection to the Dask cluster was lost; {kept}")
