"""Independent parts of a computation, several at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import Any, TypeVar

import scipy.linalg.cython_blas  # noqa: F401  loaded before its threads are limited
from joblib import Parallel, delayed
from joblib.parallel import ThreadingBackend, get_active_backend
from threadpoolctl import ThreadpoolController

Part = TypeVar("Part")
Result = TypeVar("Result")


def each(
    work: Callable[[Part], Result], parts: Sequence[Part], n_jobs: int | None, *, shared: bool = True
) -> Iterator[Result]:
    """`work` on every part, results in the order of the parts; BLAS keeps to one thread meanwhile.

    Threads do it, unless `shared` is False (what `work` needs can be sent elsewhere) and the caller chose
    another backend by `joblib.parallel_config`: processes, Dask.

    The threads are not joblib's: those take some 30 ms more for a call, as long as a small forest does. A
    single worker is a thread, too: the main one stays free to hear Ctrl-C, which compiled code would let wait
    for its end. Threads whose work nobody waits for any more end with their part, or with the process.

    Examples
    --------
    >>> list(each(abs, [-1, 2, -3], n_jobs=2))
    [1, 2, 3]
    """
    backend, n_workers = _backend(n_jobs, shared)
    with one_blas_thread():
        threads = isinstance(backend, ThreadingBackend)
        hears_ctrl_c = threading.current_thread() is threading.main_thread()
        if (n_workers == 1 or len(parts) < 2) and not (threads and hears_ctrl_c):
            yield from map(work, parts)
        elif threads:
            pool = _Pool(work, parts, min(n_workers, len(parts)))
            try:
                yield from map(pool.result, range(len(parts)))
            finally:
                pool.stop()
        else:
            # mmap_mode: other processes get large arrays as files; kernels would have to be compiled again
            # for read-only ones.
            # A backend that cannot hand over results one by one (multiprocessing) gives them at the end.
            return_as = "generator" if backend.supports_return_generator else "list"
            run = Parallel(n_jobs=n_jobs, prefer="threads", return_as=return_as, mmap_mode="c")
            yield from run(delayed(work)(part) for part in parts)


def count_workers(n_jobs: int | None, *, shared: bool = True) -> int:
    """How many parts `each` does at a time.

    Examples
    --------
    >>> count_workers(None), count_workers(3)
    (1, 3)
    """
    return _backend(n_jobs, shared)[1]


def one_blas_thread() -> Any:
    """A context in which BLAS uses one thread: its sums do not depend on the number of cores then."""
    return _blas().limit(limits=1, user_api="blas")


def _backend(n_jobs: int | None, shared: bool) -> tuple[Any, int]:
    """What joblib would use here, and how many workers of it; inside its own workers that is one."""
    backend, configured = get_active_backend(prefer="threads", require="sharedmem" if shared else None)
    return backend, backend.effective_n_jobs(configured if n_jobs is None else n_jobs)


class _Pool:
    """Threads that the end of the process does not wait for, unlike those of concurrent.futures."""

    def __init__(self, work: Callable[[Any], Any], parts: Sequence[Any], n_workers: int) -> None:
        self.work, self.parts = work, parts
        self.changed = threading.Condition()
        self.done: dict[int, tuple[bool, Any]] = {}
        self.taken = self.given = 0
        self.ahead = len(parts) if n_workers > 1 else 1  # one worker keeps no results in store
        self.stopped = False
        for number in range(n_workers):
            run = copy_context().run
            threading.Thread(
                target=run, args=(self._run,), name=f"semirank-{number}", daemon=True
            ).start()  # fmt: skip

    def _run(self) -> None:
        while (i := self._next()) is not None:
            try:
                outcome = True, self.work(self.parts[i])
            except BaseException as error:
                outcome = False, error
            with self.changed:
                self.done[i] = outcome
                self.changed.notify_all()

    def _next(self) -> int | None:
        with self.changed:
            while not self.stopped and self.taken - self.given >= self.ahead:
                self.changed.wait()
            if self.stopped or self.taken == len(self.parts):
                return None
            self.taken += 1
            return self.taken - 1

    def result(self, i: int) -> Any:
        """What part i gave, or the error that it raised; the parts are asked for in their order."""
        with self.changed:
            while i not in self.done:
                self.changed.wait(0.2)  # without a limit, Windows would not notice Ctrl-C
            fine, value = self.done.pop(i)
            self.given += 1
            self.changed.notify_all()
        if not fine:
            raise value
        return value

    def stop(self) -> None:
        """After Ctrl-C or an error, nobody wants the parts that are still running, nor those to come."""
        with self.changed:
            self.stopped = True
            self.changed.notify_all()


@contextmanager
def plain_interrupts() -> Iterator[None]:
    """Ctrl-C inside a kernel as KeyboardInterrupt: numba passes it on as the cause of a SystemError."""
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise


@cache
def _blas() -> ThreadpoolController:
    """The BLAS of this process; finding it takes longer than growing a small tree."""
    return ThreadpoolController()
