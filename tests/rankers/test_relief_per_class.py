"""Relief with near rows of each class, against its twin and a truth file, and what it refuses (Def. 1.6)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semirank import ReliefRanker, TaughtRanker, load
from semirank.data.table import Table
from semirank.data.target import Target
from semirank.rankers.relief import relief_scores
from semirank.rankers.relief_per_class import mean_weights, per_class_parts
from semirank.results.ranking import Ranking

from ..neighbors import naive_neighbors as naive
from ..neighbors.naive_neighbors import make_table, make_target


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.25]),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from([None, 3]),
    st.sampled_from([1, 4, 50]),
    st.sampled_from([0.0, 0.5]),
)
def test_equals_twin(seed, missing, unlabeled, grid, k, sigma):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 30))
    table = make_table(rng, n, [0, 3, 0, 2, 0], missing, grid)
    target = make_target(rng, n, "classification", unlabeled)
    target.values[:2, 0] = 0.0, 1.0  # two classes at least
    if seed % 3 == 0:  # a feature that does not vary, another without any value
        column = table.values[:, 1]
        column[~np.isnan(column)] = 1.0
        table.values[:, 3] = np.nan
    found = relief_scores(table, target, form="per_class", n_neighbors=(k,), neighbor_weights=sigma)
    expected, errors = naive.relief_per_class(table, target, k, sigma=sigma)
    np.testing.assert_allclose(found.importances, expected, atol=1e-10)
    np.testing.assert_allclose(found.standard_errors, errors, atol=1e-10)
    np.testing.assert_array_equal(found.per_target[:, 0], found.importances)


def test_visited_rows():
    rng = np.random.default_rng(7)
    table, target = make_table(rng, 40, [0, 3, 0], 0.1), make_target(rng, 40, "classification")
    found = relief_scores(table, target, form="per_class", n_neighbors=(4,), n_iterations=11, seed=3)
    visited = np.sort(np.random.default_rng(3).choice(40, size=11, replace=False))
    expected, errors = naive.relief_per_class(table, target, 4, visited=visited)
    np.testing.assert_allclose(found.importances, expected, atol=1e-10)
    np.testing.assert_allclose(found.standard_errors, errors, atol=1e-10)


def iris(folder) -> tuple[Table, Target]:
    data = load(folder / "relief" / "testSTC.arff")
    return data.X, data.target


@pytest.mark.parametrize("k", [1, 5, 10])
def test_truth_file(oracle_folder, tmp_path, k):
    """CLUS orders near rows by plain float sums; where two are as near, the last bit decides."""
    table, target = iris(oracle_folder)
    (tmp_path / "truth.fimp").write_bytes((oracle_folder / "relief" / "testSTC.fimpTruth").read_bytes())
    truth = Ranking.load(tmp_path / "truth.fimp").all_scores[f"overallIter150Neigh{k}"]
    raw, _ = naive.relief_per_class(table, target, k, sigma=0.4, raw_order=True)
    np.testing.assert_allclose(raw, truth, rtol=0, atol=1e-9)
    found = relief_scores(table, target, form="per_class", n_neighbors=(k,), neighbor_weights=0.4)
    expected, _ = naive.relief_per_class(table, target, k, sigma=0.4)
    np.testing.assert_allclose(found.importances, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.importances, truth, rtol=0, atol=1e-3)


def test_all_numbers_of_neighbours_from_one_search():
    rng = np.random.default_rng(0)
    table, classes = make_table(rng, 30, [0, 0, 2]), rng.integers(3, size=30)
    both = per_class_parts(table, classes, [2, 5], neighbor_weights=0.3)
    for part, k in zip(both, (2, 5)):
        np.testing.assert_allclose(
            part, per_class_parts(table, classes, [k], neighbor_weights=0.3)[0], atol=1e-12
        )


def test_weights_of_fewer_rows_than_asked_for():
    np.testing.assert_allclose(mean_weights(5, 2, 0.0), [0.5, 0.5])
    np.testing.assert_allclose(mean_weights(1, 3, 0.7), [1.0, 0.0, 0.0])


def problem(n=200):
    rng = np.random.default_rng(0)
    X = rng.random((n, 6))
    return X, np.array(["low", "middle", "high"], dtype=object)[(3 * X[:, 2]).astype(int)]


def test_finds_what_makes_the_class_and_looks_at_labelled_rows_alone():
    X, y = problem()
    ranker = ReliefRanker(form="per_class", n_neighbors=5).fit(X[:80], y[:80])
    assert int(ranker.feature_importances_.argmax()) == 2
    y[80:] = None
    more = ReliefRanker(form="per_class", n_neighbors=5).fit(X, y)
    np.testing.assert_array_equal(more.feature_importances_, ranker.feature_importances_)
    assert any("labelled rows alone" in note for note in more.notes_)
    assert more.to_ranking().choice == {"n_neighbors": 5}


def test_tuning_compares_numbers_of_neighbours():
    X, y = problem()
    ranker = ReliefRanker(form="per_class", n_neighbors="auto", random_state=0).fit(X, y)
    assert [row["n_neighbors"] for row in ranker.tuning_path_] == [15, 20, 30]
    assert ranker.n_neighbors_ in (15, 20, 30)
    again = ReliefRanker(form="per_class", n_neighbors=ranker.n_neighbors_).fit(X, y)
    np.testing.assert_array_equal(ranker.feature_importances_, again.feature_importances_)


def test_any_number_of_threads():
    X, y = problem()
    one, two = (ReliefRanker(form="per_class", n_jobs=n).fit(X, y).feature_importances_ for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_is_for_classes():
    X, y = problem()
    with pytest.raises(
        ValueError, match="form='per_class' compares rows of different classes, but the task is reg"
    ):
        ReliefRanker(form="per_class").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="a completed target has shares of classes"):
        TaughtRanker(ranker=ReliefRanker(form="per_class")).fit(X, y)
    with pytest.raises(ValueError, match="form='classic' is not one of overall, per_class"):
        ReliefRanker(form="classic").fit(X, y)
