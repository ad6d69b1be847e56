"""Jobs in processes of this machine."""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from .job import Job, Study
from .plan import WORTH_NAME
from .records import Record

if TYPE_CHECKING:
    from .rankings import JobRanking


class Outcome(NamedTuple):
    """How a job ended: with records or an error; `died` says that its process ended without an answer."""

    job: Job
    records: list[Record]
    error: str | None
    seconds: float
    died: bool = False
    rankings: Sequence[JobRanking] = ()


class Workers:
    """Waits for jobs to end, wherever they run; what has ended is put into the queue `_ended`."""

    def __init__(self) -> None:
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def wait(self, timeout: float) -> list[Outcome]:
        """Jobs that ended, as soon as there is one, or nothing after `timeout` seconds."""
        found: list[Outcome] = []
        try:
            while True:
                found += self._outcomes(self._ended.get(timeout=0.0 if found else timeout))
        except queue.Empty:
            return found

    def _outcomes(self, ended: Any) -> list[Outcome]:
        """What an entry of the queue says: the end of a job, or nothing that the run must know."""
        raise NotImplementedError


def perform(job: Job, study: Study) -> Outcome:
    """Run a job; an error in it becomes part of the outcome and is not raised."""
    from .jobs import prepare_job, run_job
    from .worth_jobs import prepare_worth_job, run_worth_job

    if study.preset.name == WORTH_NAME:
        prepare_job, run_job = prepare_worth_job, run_worth_job
    began = time.perf_counter()
    try:
        prepare_job(job, study)
        began = time.perf_counter()
        found = run_job(job, study)
        seconds = time.perf_counter() - began
        return Outcome(job, found.records, None, seconds, rankings=found.rankings)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        text = " ".join(f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})".split())
        return Outcome(job, [], text, time.perf_counter() - began)


class LocalWorkers(Workers):
    """Processes that take one job at a time.

    Plain child processes that speak through pipes. Unlike a pool of the standard library they know which job
    took a process down, do not read the user's main module again, and never outlive their parent: a child
    whose input ends stops at once, in the middle of a job.
    """

    def __init__(self, study: Study, n_workers: int) -> None:
        super().__init__()
        self._study = study
        self._children = [_Child(study, self._ended) for _ in range(n_workers)]

    def free(self) -> int:
        """Children without a job."""
        return sum(child.job is None for child in self._children)

    def submit(self, job: Job) -> None:
        """Give a job to a child that has none."""
        next(child for child in self._children if child.job is None).start(job)

    def close(self) -> None:
        """Kill the children."""
        for child in self._children:
            child.process.kill()
        for child in self._children:
            child.wait()

    def _outcomes(self, ended: tuple[_Child, Outcome | None]) -> list[Outcome]:
        child, outcome = ended
        if outcome is not None:
            child.job = None
            return [outcome]
        code = child.wait()
        if not child.ready:
            how = f"try `{sys.executable} -c 'import semirank.study.local_workers'`"
            raise RuntimeError(f"A process for the jobs does not start (exit code {code}); {how}.")
        self._children[self._children.index(child)] = _Child(self._study, self._ended)
        if child.job is None:
            return []
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        seconds = time.perf_counter() - child.began
        return [Outcome(child.job, [], f"the process of the job {how}", seconds, died=True)]


class _Child:
    """A process, its present job, and the thread that listens to it."""

    def __init__(self, study: Study, ended: queue.SimpleQueue[tuple[_Child, Any]]) -> None:
        self.job: Job | None = None
        self.ready = False
        self.began = 0.0
        self._ended = ended
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from semirank.study.local_workers import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
            # An interrupt from the keyboard is for the parent to handle.
            start_new_session=True,
        )
        assert self.process.stdin is not None and self.process.stdout is not None  # noqa: PT018
        self._input, self._output = self.process.stdin, self.process.stdout
        self._send(study)
        threading.Thread(target=self._listen, daemon=True).start()

    def start(self, job: Job) -> None:
        """Send a job."""
        self.job, self.began = job, time.perf_counter()
        self._send(job)

    def wait(self) -> int:
        """For its end; returns the exit code."""
        code = self.process.wait()
        # Not in the listener's thread: a job may be being written to the pipe at that moment.
        with suppress(OSError):  # what was never read is lost with the process
            self._input.close()
        return code

    def _send(self, message: object) -> None:
        with suppress(OSError):  # the process has ended; the listener will notice
            _write(self._input, message)

    def _listen(self) -> None:
        for message in _messages(self._output):
            if message == "ready":
                self.ready = True
            else:
                self._ended.put((self, message))
        self._output.close()
        self._ended.put((self, None))


def serve() -> None:
    """Main function of a child: perform jobs from standard input until it ends."""
    # Whatever a library prints must not get mixed with the messages.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    incoming = _messages(sys.stdin.buffer)
    study = next(incoming)
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()

    def listen() -> None:
        for job in incoming:
            jobs.put(job)
        os._exit(1)  # the parent has ended, so nobody reads the results

    threading.Thread(target=listen, daemon=True).start()
    _write(output, "ready")
    while True:
        _write(output, perform(jobs.get(), study))


def _write(stream: IO[bytes], message: object) -> None:
    pickle.dump(message, stream)
    stream.flush()


def _messages(stream: IO[bytes]) -> Iterator[Any]:
    """The messages until the other side ends, even if it ends in the middle of one."""
    try:
        while True:
            yield pickle.load(stream)
    except (EOFError, OSError, pickle.UnpicklingError):
        return


def _environment() -> dict[str, str]:
    """One thread in each process: jobs are the parallel part, and times stay comparable."""
    one = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    package = str(Path(__file__).resolve().parents[2])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | one | {"PYTHONPATH": os.pathsep.join(paths)}
