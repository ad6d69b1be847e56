"""Forests against scikit-learn doing the same amount of work, and against CLUS where Java is present.

Times are ratios within one run: best of a few repeats, one thread, after warm-up. scikit-learn gets the same
clustering columns as its targets, y = [scaled X | scaled or one-hot y], which makes its multi-output
regression trees solve the same problem (complete targets, w = 0.5, fully grown trees).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from numba import njit
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

from semirank import ForestRanker
from semirank.data.encode_features import encode_features
from semirank.data.encode_target import encode_target
from semirank.trees.columns import build_space, feature_columns, target_columns

from .common import best_time, best_times, markdown, peak_memory

ENSEMBLES = ("random_forest", "extra_trees", "bagging")
TARGETS = {
    "digits 1797 x 64": (0.7, 0.35, 0.6),
    "binary 1500 x 1024, 1 target": (0.5, 0.15, 0.15),
    "numeric 2000 x 142, 3 targets": (0.7, 0.4, 0.7),
}
TREES = {
    "digits 1797 x 64": (100, 50, 50),
    "binary 1500 x 1024, 1 target": (50, 8, 8),
    "numeric 2000 x 142, 3 targets": (50, 30, 10),
}


def digits() -> tuple[np.ndarray, np.ndarray, str]:
    X, y = load_digits(return_X_y=True)
    return X, y, "classification"


def binary() -> tuple[np.ndarray, np.ndarray, str]:
    """Bits of all densities, from rare ones to coin flips, as in molecular fingerprints."""
    rng = np.random.default_rng(0)
    X = (rng.random((1500, 1024)) < rng.uniform(0.05, 0.5, 1024)).astype(float)
    return X, X[:, :10].sum(axis=1) + rng.normal(size=1500), "regression"


def numeric(
    n_rows: int = 2000, n_features: int = 142, n_targets: int = 3
) -> tuple[np.ndarray, np.ndarray, str]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    y = X[:, [0]] + 0.5 * X[:, [1]] + rng.normal(size=(n_rows, n_targets))
    return X, y, "multi_target"


DATA: dict[str, Callable[[], tuple[np.ndarray, np.ndarray, str]]] = {
    "digits 1797 x 64": digits,
    "binary 1500 x 1024, 1 target": binary,
    "numeric 2000 x 142, 3 targets": numeric,
}


def ours(X, y, task, ensemble, n_trees, **params):
    settings = {"supervision": 0.5, "min_labeled": 0, "n_jobs": 1} | params
    return ForestRanker(ensemble=ensemble, task=task, n_estimators=n_trees, random_state=0, **settings).fit(
        X, y
    )


def columns(X, y, task) -> np.ndarray:
    """What scikit-learn is fed as targets: exactly our clustering columns for w = 0.5."""
    table, target = encode_features(X), encode_target(y, task=task)
    return build_space(feature_columns(table), target_columns(target), 0.5).full


def theirs(X, Y, ensemble, n_trees):
    kind = ExtraTreesRegressor if ensemble == "extra_trees" else RandomForestRegressor
    share = "sqrt" if ensemble == "random_forest" else 1.0
    return kind(n_trees, max_features=share, bootstrap=True, n_jobs=1, random_state=0).fit(X, Y)


def compared(mine: float, peer: float) -> list[str]:
    """Milliseconds of both, and their ratio."""
    return [f"{mine * 1e3:.1f}", f"{peer * 1e3:.1f}", f"{mine / peer:.2f}"]


def same_work() -> list[list[str]]:
    rows = []
    for name, make in DATA.items():
        X, y, task = make()
        Y = columns(X, y, task)
        for ensemble, n_trees, goal in zip(ENSEMBLES, TREES[name], TARGETS[name]):
            mine, peer = best_times(
                partial(ours, X, y, task, ensemble, n_trees), partial(theirs, X, Y, ensemble, n_trees)
            )
            rows.append([name, ensemble, *compared(mine / n_trees, peer / n_trees), f"<= {goal}"])
    X, y, task = digits()
    model = RandomForestClassifier(100, n_jobs=1, random_state=0)
    mine, peer = best_times(
        partial(ours, X, y, task, "random_forest", 100, supervision=1.0), partial(model.fit, X, y)
    )
    rows.append(["digits, w = 1", "random_forest", *compared(mine / 100, peer / 100), "<= 1.5"])
    return rows


def few_labels() -> list[list[str]]:
    """Fully grown trees with 100 labels instead of all.

    At w = 0.5 the trees differ: both have as many nodes, but 100 labels can make them lopsided, so that rows
    pass through more and larger nodes (`symbolic` adds up to the nodes that a row passes). At w = 1e-6 the
    features alone decide, the trees are the same, and what is left is the cost of the holes.
    """
    rows = []
    for name, make in DATA.items():
        X, y, task = make()
        holes = y.astype(float)
        holes[np.random.default_rng(1).permutation(len(y))[100:]] = np.nan
        for ensemble, n_trees in zip(ENSEMBLES, TREES[name]):
            ratios, visits = [], []
            for w in (0.5, 1e-6):
                works = [
                    partial(ours, X, target, task, ensemble, n_trees, supervision=w) for target in (y, holes)
                ]
                every, few = best_times(*works)
                ratios.append(few / every)
                passed = [work().importances_["symbolic"].sum() for work in works]
                visits.append(passed[1] / passed[0])
            cells = (f"{number:.2f}" for number in (ratios[0], visits[0], ratios[1], visits[1]))
            rows.append([name, ensemble, *cells, "<= 1.2"])
    return rows


def two_threads() -> list[list[str]]:
    """The last line is what this machine has to give: two threads of arithmetic that share nothing."""
    rows = []
    for name, make in DATA.items():
        X, y, task = make()
        for ensemble, n_trees in zip(ENSEMBLES, TREES[name]):
            one, two = best_times(
                *(partial(ours, X, y, task, ensemble, n_trees, n_jobs=n_jobs) for n_jobs in (1, 2))
            )
            rows.append([name, ensemble, f"{one / two:.2f}", ">= 1.7"])
    one, two = best_times(partial(arithmetic, 1), partial(arithmetic, 2))
    rows.append(["arithmetic without memory", "", f"{one / two:.2f}", ""])
    return rows


def arithmetic(n_threads: int) -> None:
    """The same number of additions, by one thread or shared by two."""
    steps = 400_000_000 // n_threads
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(count_up, [steps] * n_threads))


@njit(nogil=True)
def count_up(steps):
    state = np.uint64(1)
    for _ in range(steps):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
    return state


def growth() -> list[list[str]]:
    """Measured exponents: time ~ size^e, from the slope between the two ends."""
    rows = []
    sizes: dict[str, tuple[int, int, Callable[[int], tuple]]] = {
        "rows": (1000, 8000, lambda n: numeric(n, 50, 3)),
        "features": (25, 200, lambda d: numeric(2000, d, 3)),
        "targets": (3, 192, lambda t: numeric(2000, 50, t)),
    }
    for what, (small, large, make) in sizes.items():
        for ensemble in ENSEMBLES:
            times = []
            for size in (small, large):
                X, y, task = make(size)
                times.append(best_time(ours, X, y, task, ensemble, 5, repeats=2))
            exponent = np.log(times[1] / times[0]) / np.log(large / small)
            rows.append([what, f"{small} to {large}", ensemble, f"{exponent:.2f}"])
    return rows


def large() -> list[list[str]]:
    """Long and wide data, each in a process of its own; the memory includes the data."""
    code = """
import numpy as np, time
from semirank import ForestRanker
rng = np.random.default_rng(0)
X = rng.normal(size={shape}); y = X[:, 0] + rng.normal(size=len(X)); y[{n_labeled}:] = np.nan
ranker = ForestRanker(ensemble={ensemble!r}, supervision=0.5, n_estimators=10, n_jobs=2, random_state=0)
ranker.fit(X[:, :3], y)  # compile
t = time.perf_counter()
ranker.fit(X, y)
print(time.perf_counter() - t)
"""
    rows = []
    for shape, n_labeled in (((100_000, 50), 1000), ((500, 20_000), 100)):
        for ensemble in ENSEMBLES:
            output, peak = peak_memory(code.format(shape=shape, n_labeled=n_labeled, ensemble=ensemble))
            size = f"{shape[0]} x {shape[1]}, {n_labeled} labels"
            rows.append([size, ensemble, f"{float(output):.1f}", f"{peak / 1e6:.0f}"])
    return rows


def clus() -> list[list[str]]:
    """The same forests by CLUS (one thread): 100 labels, w = 0.5, its stop at four labelled rows matched."""
    jar = _jar()
    if jar is None or shutil.which("java") is None:
        return []
    rows = []
    for name in ("digits 1797 x 64", "numeric 2000 x 142, 3 targets"):
        X, y, task = DATA[name]()
        holes = y.astype(float)
        holes[np.random.default_rng(1).permutation(len(y))[100:]] = np.nan
        for ensemble in ENSEMBLES:
            seconds = _clus_seconds(jar, X, holes, task, ensemble)
            mine = best_time(ours, X, holes, task, ensemble, 20, min_labeled=4) / 20
            rows.append(
                [name, ensemble, f"{mine * 1e3:.1f}", f"{seconds * 1e3:.0f}", f"{mine / seconds:.3f}"]
            )
    return rows


# CLUS clones its objects by reflection, which newer Java versions only allow when told to.
OPEN = [
    f"--add-opens=java.base/java.{package}=ALL-UNNAMED"
    for package in (
        "util",
        "lang",
        "util.concurrent",
        "util.concurrent.atomic",
        "util.regex",
        "net",
        "math",
        "text",
    )
]


def _jar() -> Path | None:
    for folder in sys.path:
        jar = Path(folder) / "clus" / "clus.jar"
        if jar.exists():
            return jar
    return None


def _clus_seconds(jar: Path, X, y, task, ensemble) -> float:
    """Seconds per tree, from the difference between 5 and 25 trees, which leaves out start-up and reading."""
    Y = y.reshape(len(y), -1)
    kind = {"random_forest": "RForest", "extra_trees": "ExtraTrees", "bagging": "Bagging"}[ensemble]
    subset = "SQRT" if ensemble == "random_forest" else str(X.shape[1])
    with tempfile.TemporaryDirectory() as folder:
        target = "{" + ",".join(map(str, range(10))) + "}" if task == "classification" else "numeric"
        with open(Path(folder) / "data.arff", "w") as out:
            out.write("@relation data\n")
            out.writelines(f"@attribute x{j} numeric\n" for j in range(X.shape[1]))
            out.writelines(f"@attribute y{j} {target}\n" for j in range(Y.shape[1]))
            out.write("@data\n")
            for x, cells in zip(X, Y):
                known = [
                    "?" if np.isnan(c) else (f"{c:.0f}" if task == "classification" else f"{c:.6g}")
                    for c in cells
                ]
                out.write(",".join([*(f"{v:.6g}" for v in x), *known]) + "\n")
        times = []
        for n_trees in (5, 25):
            settings = f"""[General]
Verbose = 0
[Data]
File = data.arff
[Attributes]
Descriptive = 1-{X.shape[1]}
Target = {X.shape[1] + 1}-{X.shape[1] + Y.shape[1]}
[Tree]
Heuristic = VarianceReduction
[Ensemble]
EnsembleMethod = {kind}
Iterations = {n_trees}
SelectRandomSubspaces = {subset}
FeatureRanking = Genie3
NumberOfThreads = 1
[SemiSupervised]
SemiSupervisedMethod = PCT
PossibleWeights = 0.5
"""
            (Path(folder) / "run.s").write_text(settings)
            began = time.perf_counter()
            subprocess.run(
                ["java", *OPEN, "-jar", str(jar), "-ssl", "-forest", "run.s"],
                cwd=folder,
                check=True,
                capture_output=True,
                timeout=600,
            )
            times.append(time.perf_counter() - began)
    return (times[1] - times[0]) / 20


def tables() -> Iterator[str]:
    """The tables of this file, one after the other."""
    count_up(1)  # warm-up: compile or load the kernels
    for ensemble in ENSEMBLES:
        X, y, task = numeric(60, 5, 2)
        ours(X, y, task, ensemble, 2)
    yield markdown(
        "Forests: the same work as scikit-learn, one thread, ms per tree",
        ["data", "ensemble", "semirank", "scikit-learn", "ratio", "goal"],
        same_work(),
    )
    yield markdown(
        "Forests: 100 labels against all, fully grown trees, ratios",
        ["data", "ensemble", "time, w = 0.5", "rows visited", "time, the same trees", "rows visited", "goal"],
        few_labels(),
    )
    yield markdown(
        "Forests: two threads against one", ["data", "ensemble", "speed-up", "goal"], two_threads()
    )
    yield markdown(
        "Forests: many rows and many features, 10 trees, two threads",
        ["data", "ensemble", "seconds", "peak MB"],
        large(),
    )
    yield markdown(
        "Forests: how time grows (numeric data, fully grown, w = 0.5)",
        ["with", "range", "ensemble", "exponent"],
        growth(),
    )
    rows = clus()
    if rows:
        head = ["data", "ensemble", "semirank", "CLUS", "ratio"]
        yield markdown("Forests: CLUS, 100 labels, one thread, ms per tree", head, rows)
    else:
        yield "CLUS was not measured: it needs Java and the package pyclus.\n"
