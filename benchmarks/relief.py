"""Relief, Laplace, the judge and the neighbour search against their peers: time and peak memory.

skrebate and fast-select are used where they are installed.
Ratios are our time over the peer's: both take turns in one process, and the best of
several warm runs counts.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from threadpoolctl import threadpool_limits

from semirank import ReliefRanker
from semirank.data.encode_features import encode_features
from semirank.data.encode_target import encode_target
from semirank.judging.knn_judge import knn_predict
from semirank.neighbors.search import nearest_l1

from .common import best_time, best_times, markdown, peak_memory


class Line(NamedTuple):
    """One comparison; `peer` None where it is not installed."""

    what: str
    ours: float
    peer: float | None
    goal: str


def warm_times(*works: Callable[[], object]) -> list[float]:
    """The fastest run of each, after one to compile and warm up."""
    for work in works:
        work()
    return best_times(*works)


def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X.astype(np.float64), y.astype(np.int64)


def numeric(n: int = 2000, d: int = 200) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).random((n, d))
    return X, (X[:, 0] + X[:, 1] > 1).astype(np.int64)


def relief(n_jobs: int) -> list[Line]:
    """All rows, 30 neighbours, complete labels: the amount of work of ReliefF."""
    lines = []
    for name, (X, y) in {"digits": digits(), "2000 x 200": numeric()}.items():
        ranker = ReliefRanker(n_neighbors=30, task="classification", n_jobs=n_jobs)
        works = [partial(ranker.fit, X, y)]
        if importlib.util.find_spec("fast_select"):
            from fast_select import ReliefF as FastReliefF

            works.append(partial(FastReliefF(n_neighbors=30, n_jobs=n_jobs, backend="cpu").fit, X, y))
        ours, *fast_select = warm_times(*works)
        skrebate = None
        if importlib.util.find_spec("skrebate"):
            from skrebate import ReliefF

            # It takes a minute and compiles nothing: one run.
            skrebate = best_time(ReliefF(n_neighbors=30, n_jobs=n_jobs).fit, X, y, repeats=1)
        where = f"{name}, {n_jobs} job{'s' * (n_jobs > 1)}"
        lines.append(Line(f"Relief / skrebate ReliefF, {where}", ours, skrebate, "<= 0.02"))
        lines.append(
            Line(
                f"Relief / fast-select ReliefF, {where}",
                ours,
                fast_select[0] if fast_select else None,
                "<= 1",
            )
        )
    return lines


def neighbors() -> list[Line]:
    """The search alone, one thread."""
    rng = np.random.default_rng(0)
    lines = []
    for name, X, goal in (
        ("5000 x 100 numeric", rng.random((5000, 100)), "<= 0.7"),
        ("7395 x 1836 binary", (rng.random((7395, 1836)) < 0.1).astype(np.float64), "<= 0.1"),
    ):
        table = encode_features(X)
        # Of the many seconds that the binary data take, a part of the queries is enough.
        asked = X[:1000]
        brute = NearestNeighbors(n_neighbors=31, algorithm="brute", metric="manhattan", n_jobs=1).fit(X)
        with threadpool_limits(1):
            ours, part = warm_times(
                partial(nearest_l1, table, 30, n_jobs=1), partial(brute.kneighbors, asked)
            )
        peer = part * len(X) / len(asked)
        lines.append(Line(f"neighbours / scikit-learn brute manhattan, {name}", ours, peer, goal))
    return lines


def judge() -> list[Line]:
    """kNN predictions in the weighted space, one thread, against scikit-learn on scaled columns."""
    lines = []
    for name, (X, y) in {"digits": digits(), "5000 x 100": numeric(5000, 100)}.items():
        half = len(X) // 2
        weights = np.random.default_rng(1).random(X.shape[1])
        low, span = X[:half].min(axis=0), np.ptp(X[:half], axis=0)
        scale = np.sqrt(weights) / np.where(span > 0, span, 1.0)
        table, target = encode_features(X), encode_target(y, task="classification")
        train, test = np.arange(half), np.arange(half, len(X))
        data = table.take(train), target.take(train), table.take(test)
        model = KNeighborsClassifier(20, algorithm="brute", n_jobs=1)
        a, b = (X[:half] - low) * scale, (X[half:] - low) * scale
        with threadpool_limits(1):
            ours, peer = warm_times(
                partial(knn_predict, weights, *data, k=20, n_jobs=1),
                lambda model=model, a=a, b=b, y=y[:half]: model.fit(a, y).predict_proba(b),
            )
        lines.append(Line(f"judge / scikit-learn KNeighborsClassifier brute, {name}", ours, peer, "<= 1"))
    return lines


def grid() -> list[Line]:
    """The whole grid of (w0, w1, k) against a single setting."""
    lines = []
    for name, (X, y), n_labeled in (("digits", digits(), 100), ("5000 x 100", numeric(5000, 100), 200)):
        known = y.astype(np.float64)
        known[n_labeled:] = np.nan
        settings: tuple[dict[str, Any], ...] = (
            {"n_neighbors": 30},
            {"n_neighbors": "auto", "influence": "auto"},
        )
        rankers = [
            ReliefRanker(task="classification", n_jobs=1, random_state=0, **setting) for setting in settings
        ]
        one, many = warm_times(*(partial(ranker.fit, X, known) for ranker in rankers))
        lines.append(
            Line(f"Relief, 45 settings tuned / one setting, {name}, {n_labeled} labels", many, one, "<= 3")
        )
    return lines


LARGE = """
import time
import numpy as np
from semirank import LaplaceRanker, ReliefRanker
rng = np.random.default_rng(0)
n_rows = {n_rows}
X = rng.random((n_rows, 100))
y = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=n_rows)
y[n_rows // 100 :] = np.nan
ranker = {ranker}
part = n_rows // 100 + 300
ranker.fit(X[:part], y[:part])  # compile
began = time.perf_counter()
ranker.fit(X, y)
print(time.perf_counter() - began)
"""


def large() -> list[tuple[str, ...]]:
    """What large cases cost, each in a process of its own; the memory includes the data."""
    rows = []
    for what, n_rows, ranker, goal in (
        ("Relief, k = 30", 50_000, "ReliefRanker(n_neighbors=30, n_jobs=2)", "< 1000 MB"),
        (
            "Relief, k = 30, 2000 iterations",
            200_000,
            "ReliefRanker(n_neighbors=30, n_iterations=2000, n_jobs=2, random_state=0)",
            "works",
        ),
        ("Laplace, k = 5", 50_000, "LaplaceRanker(n_jobs=2)", "< 2000 MB"),
    ):
        seconds, peak = peak_memory(LARGE.format(n_rows=n_rows, ranker=ranker))
        rows.append((f"{what}, {n_rows} x 100", f"{float(seconds):.1f}", f"{peak / 1e6:.0f}", goal))
    return rows


def tables() -> Iterator[str]:
    """The tables of this file, one after the other."""
    rows = []
    for part in (lambda: relief(1), lambda: relief(2), neighbors, judge, grid):
        for what, ours, peer, goal in part():
            found = ("not installed", "") if peer is None else (f"{peer:.3f}", f"{ours / peer:.3f}")
            rows.append((what, f"{ours:.3f}", *found, goal))
    head = ("ours / peer", "ours (s)", "peer (s)", "ratio", "goal")
    yield markdown("Relief, neighbours and the judge", head, rows)
    head = ("1 % labelled, 2 jobs", "seconds", "peak MB", "goal")
    yield markdown("Relief and Laplace on many rows", head, large())
