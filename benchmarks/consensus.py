"""The default of `rank` beside what people would take on labelled rows alone: time, memory, quality.

Quality is captured importance (Def. 2.6): how much of the importance that models of other kinds find with all
labels stands among a ranking's first features. LightGBM is used where it is installed.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance

from semirank import keep_labels, rank
from semirank.data.encode_features import encode_features
from semirank.data.encode_target import encode_target
from semirank.evaluation.cells import draw_cell
from semirank.evaluation.references import Reference, foreign_reference

from .common import markdown, peak_memory

_PLANTED = {"n_informative": 8, "n_redundant": 4, "n_classes": 3, "shuffle": False, "random_state": 0}
# name -> (rows, features, labels); digits are real
SIZES = {
    "digits 1797 x 64, 100 labels": None,
    "2000 x 2000, 200 labels": (2000, 2000, 200),
    "100 000 x 20, 1000 labels": (100_000, 20, 1000),
    "1 000 000 x 20, 1000 labels": (1_000_000, 20, 1000),
}
GOALS = ("< 3 s", "< 15 s", "< 15 s", "< 60 s, 3 GB")
SAMPLED = (40_000, 20, 400)


def problem(size: tuple[int, int, int] | None) -> tuple[np.ndarray, np.ndarray, int]:
    """Features, all classes, and how many labels are kept."""
    if size is None:
        X, y = load_digits(return_X_y=True)
        return X, y, 100
    X, y = make_classification(size[0], size[1], **_PLANTED)
    return X, y, size[2]


def forest_permutation(X: np.ndarray, y: np.ndarray, n_jobs: int) -> np.ndarray:
    """scikit-learn's forest, each feature permuted once on the rows that it was grown on."""
    forest = RandomForestClassifier(random_state=0, n_jobs=n_jobs).fit(X, y)
    found = permutation_importance(forest, X, y, n_repeats=1, random_state=0)
    return np.asarray(found.importances_mean)


def lightgbm_gain(X: np.ndarray, y: np.ndarray, n_jobs: int) -> np.ndarray:
    """LightGBM's gain with its usual settings."""
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(importance_type="gain", verbose=-1, random_state=0, n_jobs=n_jobs).fit(X, y)
    return np.asarray(model.feature_importances_, dtype=float)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    found = work()
    return found, time.perf_counter() - began


def reference(X: np.ndarray, y: np.ndarray) -> Reference:
    """What models of other kinds find with all labels of 1500 rows."""
    rows = np.random.default_rng(0).permutation(len(X))[:3000]
    return foreign_reference(
        draw_cell("b", encode_features(X[rows]), encode_target(y[rows], task="classification"))
    )


def captured(found: Reference, X: np.ndarray, scores: np.ndarray) -> str:
    varies = X.min(axis=0) < X.max(axis=0)  # a cell leaves constant features out
    return f"{found.captured(scores[varies]):.3f}"


def against_peers() -> str:
    rows = []
    for (name, size), goal in zip(SIZES.items(), GOALS):
        X, y, n_labels = problem(size)
        kept = keep_labels(y, n_labels, random_state=0)
        known = np.flatnonzero(kept.labeled)
        judge = reference(X, y)
        rank(X[known], keep_labels(y[known], n_labels // 2, random_state=0), random_state=0)  # compiles
        ours, seconds = timed(lambda: rank(X, kept, random_state=0, n_jobs=2))  # noqa: B023  called at once
        peers = [forest_permutation]
        if importlib.util.find_spec("lightgbm"):
            peers.append(lightgbm_gain)
        cells = [name, f"{seconds:.1f}", goal, captured(judge, X, ours.scores)]
        for peer in peers:
            scores, its = timed(lambda: peer(X[known], y[known], 2))  # noqa: B023
            cells += [f"{its:.1f}", captured(judge, X, scores)]
        rows.append(cells + ["not installed", ""] * (2 - len(peers)))
    head = (
        "data",
        "rank (s)",
        "goal",
        "captured",
        "forest + permutation (s)",
        "captured",
        "LightGBM (s)",
        "captured",
    )
    return markdown("The default of rank, two threads, and peers on the labelled rows", head, rows)


def sampling() -> str:
    """What the sample of `max_rows` costs in quality."""
    X, y, n_labels = problem(SAMPLED)
    judge = reference(X, y)
    kept = keep_labels(y, n_labels, random_state=0)
    rows = []
    for max_rows in (len(X), 10_000):
        found, seconds = timed(lambda: rank(X, kept, random_state=0, n_jobs=2, max_rows=max_rows))  # noqa: B023
        rows.append([str(max_rows), f"{seconds:.1f}", captured(judge, X, found.scores)])
    title = (
        f"The default of rank: {SAMPLED[0]} x {SAMPLED[1]}, {n_labels} labels, all rows and the usual sample"
    )
    return markdown(title, ("max_rows", "seconds", "captured"), rows)


def memory() -> str:
    code = (
        "import numpy as np, semirank\n"
        "rng = np.random.default_rng(0)\n"
        "X = rng.normal(size=(1_000_000, 20)); y = (X[:, 0] + X[:, 1] > 0).astype(float); y[1000:] = np.nan\n"
        "semirank.rank(X, y, task='classification', random_state=0, n_jobs=2)\n"
    )
    peak = peak_memory(code)[1]
    return markdown(
        "The default of rank: memory", ("data", "peak MB", "goal"),
        [["1 000 000 x 20, 1000 labels", f"{peak / 2**20:.0f}", "< 3000"]],
    )  # fmt: skip


def tables() -> Iterator[str]:
    yield against_peers()
    yield sampling()
    yield memory()
