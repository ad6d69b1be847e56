"""The same seed gives the same bits: in another process, by other parts, after pickling, for every task.

What runs the work (threads, processes, Dask) is in test_backends.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import semirank as sr
from semirank import ConsensusRanker, ForestRanker, LaplaceRanker, ReliefRanker
from semirank.neighbors import search

TASKS = ("classification", "regression", "multi_target", "multi_label", "hierarchical")
FOREST = {"importance": ("genie3", "symbolic", "genie3_oob", "rforest"), "n_estimators": 5}
MAKERS = {
    "judged forest": lambda **more: ForestRanker(**FOREST, **more),
    "oob extra trees": lambda **more: ForestRanker(
        ensemble="extra_trees", supervision="oob", **FOREST, **more
    ),
    "bagging": lambda **more: ForestRanker(ensemble="bagging", supervision=0.5, **FOREST, **more),
    "visited Relief": lambda **more: ReliefRanker(n_iterations=60, **more),
    "tuned Relief": lambda **more: ReliefRanker(n_neighbors="auto", influence="auto", **more),
    "Laplace": lambda **more: LaplaceRanker(**more),
    "consensus": lambda **more: ConsensusRanker(**more),
}
# Settings of a process that must not matter: the order of sets, the threads of BLAS and of OpenMP.
SURROUNDINGS = [
    {"PYTHONHASHSEED": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    {"PYTHONHASHSEED": "2", "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
]


def problem(task: str):
    """Numbers, small counts and names, with holes; 80 of 150 rows labelled."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 9))
    X[:, 4:8] = rng.integers(0, 4, size=(150, 4))
    X[rng.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 5]) + 0.3 * rng.normal(size=150)
    options = {"task": task, "categorical_features": [6, 7]}
    if task == "classification":
        y = np.array(["low", "middle", "high"], object)[np.digitize(signal, [0.5, 2.5])]
        y[80:] = None
    elif task == "regression":
        y = np.where(np.arange(150) < 80, signal, np.nan)
    elif task == "hierarchical":
        paths = ["a/b", "a/c", "d"]
        y = [[paths[i]] if row < 80 else None for row, i in enumerate(np.digitize(signal, [0.5, 2.5]))]
        options["hierarchy"] = ["a", *paths]
    else:
        y = np.column_stack([signal, -signal, signal**2])
        if task == "multi_label":
            y = (y > np.median(y, axis=0)).astype(float)
        y[80:] = np.nan
        y[rng.random(y.shape) < 0.1] = np.nan
    return X, y, options


def arrays(ranker, X):
    """Everything that a fit computes."""
    found = {**ranker.importances_, "per target": ranker.importances_per_target_}
    found |= {f"{key} error": value for key, value in ranker.importances_std_error_.items()}
    if isinstance(ranker, ForestRanker):
        found |= {"predictions": np.asarray(ranker.predict(X)), "w": np.array(ranker.supervision_)}
    if isinstance(ranker, ConsensusRanker):
        found |= {"predictions": np.asarray(ranker.predict(X)), "completed": ranker.teacher_.completed_}
    return {key: np.asarray(value) for key, value in found.items() if value is not None}


def digests(found):
    """Bit by bit, and short enough to be read in a message."""
    plain = {key: str(v.tolist()).encode() if v.dtype == object else v.tobytes() for key, v in found.items()}
    return {key: hashlib.sha256(raw).hexdigest()[:16] for key, raw in plain.items()}


def fitted(name: str, task: str, seed: int = 3, n_jobs: int | None = 1):
    X, y, options = problem(task)
    return MAKERS[name](random_state=seed, n_jobs=n_jobs, **options).fit(X, y), X


def everything() -> dict[str, dict[str, str]]:
    return {f"{name}, {task}": digests(arrays(*fitted(name, task))) for name in MAKERS for task in TASKS}


def in_new_process(code: str, *arguments: str, **settings: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=Path(__file__).parents[1], env=os.environ | settings, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def expected():
    return everything()


@pytest.mark.parametrize("settings", SURROUNDINGS, ids=["first", "second"])
def test_another_process_finds_the_same(settings, expected):
    code = "import json; from tests.test_determinism import everything; print(json.dumps(everything()))"
    assert json.loads(in_new_process(code, **settings)) == expected


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", MAKERS)
def test_threads_and_blocks_do_not_matter(name, task, expected, monkeypatch):
    """Blocks of seven rows in place of one block, in one thread and in two.

    The sums of Relief are added up block by block: other blocks, which nobody can ask for, may change their
    last bits; the number of threads may not.
    """
    monkeypatch.setattr(search, "_BLOCK_ROWS", 7)
    one, two = (arrays(*fitted(name, task, n_jobs=n_jobs)) for n_jobs in (1, 2))
    assert digests(one) == digests(two)
    if "Relief" in name or name == "consensus":  # of which Relief is a part
        whole = arrays(*fitted_whole(name, task, monkeypatch))
        assert digests(whole) == expected[f"{name}, {task}"]
        for key, value in whole.items():
            if value.dtype == object:
                np.testing.assert_array_equal(one[key], value, err_msg=key)
            else:
                np.testing.assert_allclose(one[key], value, rtol=1e-12, atol=1e-14, err_msg=key)
    else:
        assert digests(one) == expected[f"{name}, {task}"]


def fitted_whole(name: str, task: str, monkeypatch):
    with monkeypatch.context() as again:
        again.setattr(search, "_BLOCK_ROWS", 512)
        return fitted(name, task)


def test_blocks_are_what_was_asked(monkeypatch):
    """So that the test above tests something."""
    monkeypatch.setattr(search, "_BLOCK_ROWS", 7)
    assert len(search.row_blocks(150, 150)) == 22


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ["judged forest", "oob extra trees", "bagging", "visited Relief"])
def test_another_seed_finds_something_else(name, task, expected):
    first = next(iter(MAKERS[name]().get_params()["importance"])) if "Relief" not in name else "relief"
    other = digests(arrays(*fitted(name, task, seed=4)))
    assert other[first] != expected[f"{name}, {task}"][first]


LOAD = """
import json, pickle, sys
from tests.test_determinism import arrays, digests
with open(sys.argv[1], "rb") as file:
    kept = pickle.load(file)
print(json.dumps({key: digests(arrays(ranker, X)) for key, (ranker, X) in kept.items()}))
"""


def test_pickled_rankers_in_a_new_process(tmp_path, expected):
    kept = {f"{name}, {task}": fitted(name, task) for name in MAKERS for task in TASKS}
    path = tmp_path / "rankers.pickle"
    path.write_bytes(pickle.dumps(kept))
    assert json.loads(in_new_process(LOAD, str(path))) == expected


@pytest.mark.parametrize("task", ["classification", "hierarchical"])
def test_saved_ranking_in_a_new_process(tmp_path, task):
    X, y, options = problem(task)
    ranking = sr.rank(X, y, random_state=0, **options)
    path = tmp_path / "ranking.json"
    ranking.save(path)
    code = (
        "import json, sys, semirank\n"
        "ranking = semirank.Ranking.load(sys.argv[1])\n"
        "assert 'numba' not in sys.modules\n"
        "print(json.dumps(ranking.to_dict()))\n"
    )
    assert json.loads(in_new_process(code, str(path))) == json.loads(json.dumps(ranking.to_dict()))
