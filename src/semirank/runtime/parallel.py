"""Independent parts of a computation, several at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
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

    The threads are not joblib's: those take some 30 ms more for a call, as long as a small forest does.

    Examples
    --------
    >>> list(each(abs, [-1, 2, -3], n_jobs=2))
    [1, 2, 3]
    """
    backend, n_workers = _backend(n_jobs, shared)
    with one_blas_thread():
        if n_workers == 1 or len(parts) < 2:
            yield from map(work, parts)
        elif isinstance(backend, ThreadingBackend):
            yield from _in_threads(work, parts, n_workers)
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


def _in_threads(work: Callable[[Part], Result], parts: Sequence[Part], n_workers: int) -> Iterator[Result]:
    pool = ThreadPoolExecutor(min(n_workers, len(parts)), thread_name_prefix="semirank")
    try:
        waiting = deque(pool.submit(work, part) for part in parts)
        while waiting:
            yield waiting.popleft().result()
    finally:
        # Without waiting: after Ctrl-C or an error, nobody wants the parts that are still running.
        pool.shutdown(wait=False, cancel_futures=True)


@cache
def _blas() -> ThreadpoolController:
    """The BLAS of this process; finding it takes longer than growing a small tree."""
    return ThreadpoolController()
