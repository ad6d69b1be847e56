"""Whatever runs the work (threads, processes, a Dask cluster), the importances are the same bit by bit."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from semirank import ConsensusRanker, ForestRanker, LaplaceRanker, ReliefRanker

RANKERS = {
    "random forest": ForestRanker(
        importance=("genie3", "symbolic", "genie3_oob", "rforest"),
        supervision=0.5,
        n_estimators=6,
        random_state=0,
    ),
    "extra trees": ForestRanker(
        ensemble="extra_trees", importance=("rforest",), supervision=0.5, n_estimators=6, random_state=0
    ),
    "relief": ReliefRanker(random_state=0),
    "laplace": LaplaceRanker(random_state=0),
    "consensus": ConsensusRanker(random_state=0),
}


def data():
    """Large enough (over 1 MB) for joblib to hand it to processes as a file; with holes and small counts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 200))
    X[:, :40] = rng.integers(0, 3, size=(700, 40))
    X[rng.random(X.shape) < 0.02] = np.nan
    assert X.nbytes > 2**20
    y = np.nan_to_num(X[:, 1]) + np.nan_to_num(X[:, 50])
    y[120:] = np.nan
    return X, y


def results(name, n_jobs, **options):
    """Everything that a fit computes from the data."""
    X, y = data()
    ranker = clone(RANKERS[name]).set_params(n_jobs=n_jobs).fit(X, y, **options)
    found = {**ranker.importances_, "per target": ranker.importances_per_target_}
    found |= {f"{key} error": value for key, value in ranker.importances_std_error_.items()}
    if isinstance(ranker, ForestRanker):
        found |= {"predictions": ranker.predict(X), "w": np.array(ranker.supervision_)}
    return {key: value for key, value in found.items() if value is not None}


@pytest.fixture(scope="module")
def expected():
    return {name: results(name, 1) for name in RANKERS}


@pytest.fixture(scope="module")
def cluster():
    """A Dask cluster of two processes that listens on this machine only."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


def assert_identical(found, expected):
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_array_equal(found[key], value, err_msg=key)


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize("name", RANKERS)
def test_backends(backend, name, expected):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert_identical(results(name, None), expected[name])


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")  # Python 3.12 and later, of fork
def test_results_at_the_end(expected):
    """multiprocessing cannot hand over trees one by one; progress is told all the same."""
    said = []
    with joblib.parallel_config(backend="multiprocessing", n_jobs=2):
        found = results("random forest", None, progress=lambda *call: said.append(call))
    assert_identical(found, expected["random forest"])
    assert said[-1] == (6, 6, "trees")


@pytest.mark.parametrize("name", RANKERS)
def test_dask(name, expected, cluster):
    with joblib.parallel_config(backend="dask"):
        assert_identical(results(name, -1), expected[name])


def test_search_in_processes():
    """Rankers inside the processes of a grid search choose as they do without them."""
    X, y = data()
    X, y = X[:120], y[:120]
    ranker = clone(RANKERS["extra trees"])
    searches = [GridSearchCV(ranker, {"max_depth": [1, 3]}, cv=2, n_jobs=jobs).fit(X, y) for jobs in (1, 2)]
    scores = [search.cv_results_["mean_test_score"] for search in searches]
    np.testing.assert_array_equal(*scores)
    np.testing.assert_array_equal(*(s.best_estimator_.feature_importances_ for s in searches))
