"""Parts of a computation in threads: in order, errors passed on, nothing left running."""

from __future__ import annotations

import threading
import time

import joblib
import pytest
from threadpoolctl import threadpool_info

from semirank.runtime.parallel import count_workers, each


def slow_square(number: int) -> int:
    """The earlier the part, the longer it takes."""
    time.sleep(0.002 * (8 - number))
    return number * number


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3, 50, -1])
def test_order(n_jobs):
    assert list(each(slow_square, range(8), n_jobs)) == [i * i for i in range(8)]


@pytest.mark.parametrize("parts", [[], [3]])
def test_few_parts(parts):
    assert list(each(slow_square, parts, 2)) == [i * i for i in parts]


def test_at_the_same_time():
    """Two parts that wait for each other."""
    both = threading.Barrier(2, timeout=30)
    assert sorted(each(lambda _: both.wait(), range(2), 2)) == [0, 1]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_come_one_by_one(n_jobs):
    """The first result is there before the last part has begun: two others hold both threads."""
    begun = []
    gate = threading.Event()

    def work(number):
        begun.append(number)
        if number in (2, 3):
            gate.wait(30)
        return number

    found = each(work, [0, 1, 2, 3, 4], n_jobs)
    assert next(found) == 0
    assert 4 not in begun
    gate.set()
    assert list(found) == [1, 2, 3, 4]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_error(n_jobs):
    """An error reaches the caller, and parts that had not begun never do."""
    begun = []

    def work(number):
        begun.append(number)
        if number == 1:
            raise ValueError("part 1 is bad")
        time.sleep(0.02)
        return number

    with pytest.raises(ValueError, match="part 1 is bad"):
        list(each(work, range(100), n_jobs))
    assert len(begun) < 10


def test_abandoned():
    """Whoever stops listening stops the rest, and no thread stays."""
    begun = []

    def work(number):
        begun.append(number)
        time.sleep(0.02)
        return number

    results = each(work, range(100), 2)
    assert next(results) == 0
    results.close()
    deadline = time.monotonic() + 30
    while any(thread.name.startswith("semirank") for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(begun) < 10


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_one_thread_of_blas(n_jobs):
    def threads(_):
        return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}

    assert list(each(threads, range(2), n_jobs)) == [{1}, {1}]


def test_configured_jobs():
    """joblib's settings count where the caller names no number."""
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert count_workers(None) == 3
        assert count_workers(2) == 2
    assert count_workers(None) == 1
    assert count_workers(-1) == joblib.cpu_count()


def test_inside_a_worker_of_joblib():
    """Threads inside threads would fight for the same cores."""
    counts = joblib.Parallel(n_jobs=2, prefer="threads")(
        joblib.delayed(count_workers)(None) for _ in range(2)
    )
    assert counts == [1, 1]


def test_shared_memory_stays_here():
    """Processes chosen by the caller serve only what can be sent to them."""
    found = []
    with joblib.parallel_config(backend="loky", n_jobs=2):
        list(each(found.append, [1, 2, 3], None))
    assert sorted(found) == [1, 2, 3]
