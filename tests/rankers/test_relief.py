"""Relief against Algorithm 3 written out, truth files, and planted problems."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from semirank import ReliefRanker
from semirank.data.table import Table
from semirank.data.target import Target
from semirank.data.tasks import TASKS
from semirank.judging.knn_judge import judge_neighbors
from semirank.judging.measures import task_score
from semirank.judging.splits import fold_numbers
from semirank.rankers.methods import RELIEF_INFLUENCES as INFLUENCES
from semirank.rankers.relief import relief_scores
from semirank.rankers.relief_sums import (
    closeness,
    find_pairs,
    grid_importances,
    make_view,
    nearest_labeled,
    rows_to_visit,
)

from ..neighbors import naive_neighbors as naive
from ..neighbors.naive_neighbors import make_table, make_target


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10_000),
    st.sampled_from(list(TASKS)),
    st.sampled_from([0.0, 0.25]),
    st.sampled_from([0.0, 0.5, 0.9]),
    st.sampled_from([None, 3]),
    st.sampled_from(INFLUENCES),
    st.sampled_from([1, 4, 50]),
    st.sampled_from([0.0, 0.5]),
)
def test_equals_twin(seed, task, missing, unlabeled, grid, influence, k, sigma):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 20))
    table = make_table(rng, n, [0, 3, 0, 2, 0], missing, grid)
    target = make_target(rng, n, task, unlabeled, missing)
    notes: list[str] = []
    found = relief_scores(
        table, target, n_neighbors=(k,), influence=(influence,), neighbor_weights=sigma, notes=notes
    )
    expected, per_target, errors = naive.relief(table, target, k, *influence, sigma=sigma)
    np.testing.assert_allclose(found.importances, expected, atol=1e-10)
    np.testing.assert_allclose(found.per_target, per_target, atol=1e-10)
    np.testing.assert_allclose(found.standard_errors, errors, atol=1e-6)
    assert found.n_neighbors == min(k, n - 1)
    assert any("all of them are used" in note for note in notes) == (k > n - 1)


@pytest.mark.parametrize("task", TASKS)
def test_visited_rows(task):
    rng = np.random.default_rng(7)
    table = make_table(rng, 40, [0, 3, 0], 0.1)
    target = make_target(rng, 40, task, 0.5, 0.2)
    found = relief_scores(table, target, n_neighbors=(5,), n_iterations=12, seed=3)
    visited = np.sort(np.random.default_rng(3).choice(40, size=12, replace=False))
    expected, per_target, errors = naive.relief(table, target, 5, 0.0, 1.0, visited=visited)
    np.testing.assert_allclose(found.importances, expected, atol=1e-10)
    np.testing.assert_allclose(found.per_target, per_target, atol=1e-10)
    np.testing.assert_allclose(found.standard_errors, errors, atol=1e-6)
    assert found.n_pairs == 12 * 5
    default = relief_scores(table, target, n_iterations=12)  # 15 neighbours, seed 0
    visited = np.sort(np.random.default_rng(0).choice(40, size=12, replace=False))
    expected, _, _ = naive.relief(table, target, 15, 0.0, 1.0, visited=visited)
    np.testing.assert_allclose(default.importances, expected, atol=1e-10)


@pytest.mark.parametrize("n_targets", [1, 2, 3])
def test_each_target_alone(n_targets):
    rng = np.random.default_rng(4)
    table = make_table(rng, 30, [0, 3, 0], 0.1)
    target = make_target(rng, 30, "multi_target", 0.3, n_targets=n_targets)
    found = relief_scores(table, target, n_neighbors=(5,))
    _, per_target, _ = naive.relief(table, target, 5, 0.0, 1.0)
    assert found.per_target.shape == (3, n_targets)
    np.testing.assert_allclose(found.per_target, per_target, atol=1e-10)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from(list(TASKS)), st.sampled_from([0.0, 0.5]))
def test_features_that_do_not_vary_equal_the_twin(seed, task, unlabeled):
    """They score 0 and change nothing for the others, alone or in front of them."""
    rng = np.random.default_rng(seed)
    table = make_table(rng, 14, [0, 3, 0, 2, 0, 3], 0.25)
    values = table.values
    values[:, rng.integers(6)] = np.nan
    column = values[:, rng.integers(6)]
    column[~np.isnan(column)] = 1.0
    target = make_target(rng, 14, task, unlabeled)
    found = relief_scores(table, target, n_neighbors=(4,))
    expected, per_target, errors = naive.relief(table, target, 4, 0.0, 1.0)
    np.testing.assert_allclose(found.importances, expected, atol=1e-10)
    np.testing.assert_allclose(found.per_target, per_target, atol=1e-10)
    np.testing.assert_allclose(found.standard_errors, errors, atol=1e-6)
    used = naive.varying(table)
    assert not np.delete(found.importances, used).any()
    part = Table(values[:, used], table.n_values[used], tuple("abcdef")[: len(used)], (None,) * len(used))
    np.testing.assert_array_equal(
        found.importances[used], relief_scores(part, target, n_neighbors=(4,)).importances
    )


def test_no_feature_varies():
    table = Table(np.ones((12, 2)), np.zeros(2, np.int64), ("a", "b"), (None, None))
    target = make_target(np.random.default_rng(0), 12, "multi_target", 0.3)
    found = relief_scores(table, target, n_neighbors=(2, 3))
    assert not found.importances.any()
    assert not found.per_target.any()
    assert not found.standard_errors.any()


@pytest.mark.parametrize("unlabeled", [0.0, 0.4])
def test_tuning_leaves_out_what_does_not_vary(unlabeled):
    """Also what is constant in the rows of a fold alone, where a fold has rows of its own."""
    rng = np.random.default_rng(3)
    table, target = make_table(rng, 40, [0, 3, 0], 0.1), make_target(rng, 40, "regression", unlabeled)
    wide = np.column_stack([np.full(40, np.nan), table.values, np.ones(40)])
    wide = Table(wide, np.array([0, 0, 3, 0, 0]), tuple("vabcw"), (None,) * 5)
    options = {"n_neighbors": (3, 6), "influence": INFLUENCES[:3], "seed": 1}
    one, other = relief_scores(table, target, **options), relief_scores(wide, target, **options)
    assert one.path == other.path
    np.testing.assert_array_equal(other.importances, [0.0, *one.importances, 0.0])


def test_candidates_are_compared_as_auto_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.where(np.arange(60) < 40, X[:, 1] + 0.1 * X[:, 2], np.nan)
    auto = ReliefRanker(n_neighbors="auto", influence="auto", random_state=0).fit(X, y)
    named = ReliefRanker(n_neighbors=[30, 15, 20, 15], influence=list(INFLUENCES), random_state=0).fit(X, y)
    assert named.tuning_path_ == auto.tuning_path_
    assert (named.n_neighbors_, named.influence_) == (auto.n_neighbors_, auto.influence_)
    few = ReliefRanker(n_neighbors=np.array([4, 2]), influence=[(0.5, 0.5), [0, 1]], random_state=0).fit(X, y)
    tried = [(row["n_neighbors"], row["w0"], row["w1"]) for row in few.tuning_path_]
    assert tried == [(2, 0.0, 1.0), (2, 0.5, 0.5), (4, 0.0, 1.0), (4, 0.5, 0.5)]  # in the order of ties
    one = ReliefRanker(n_neighbors=[4], influence=[(0.5, 0.5)]).fit(X, y)
    assert (one.tuning_path_, one.n_neighbors_, one.influence_) == ([], 4, (0.5, 0.5))


def test_folds_and_neighbours_of_the_choice():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.where(np.arange(60) < 40, X[:, 1] + 0.1 * X[:, 2], np.nan)
    options = {"n_neighbors": [5, 20], "random_state": 0}
    usual = ReliefRanker(**options).fit(X, y).tuning_path_
    assert judge_neighbors(40) == 6
    assert ReliefRanker(n_folds=4, judge_neighbors=6, **options).fit(X, y).tuning_path_ == usual
    for change in ({"n_folds": 5}, {"judge_neighbors": 2}):
        assert ReliefRanker(**options, **change).fit(X, y).tuning_path_ != usual
    with pytest.warns(UserWarning, match="only 40 labelled rows, too few for 21 folds"):
        ReliefRanker(n_folds=21, **options).fit(X, y)


@pytest.mark.parametrize("n", [2, 3])
def test_as_few_rows_as_can_be(n):
    """Two rows have one pair each way; two visited rows have a standard error."""
    rng = np.random.default_rng(1)
    table, target = make_table(rng, n, [0, 3, 0]), make_target(rng, n, "regression")
    notes: list[str] = []
    found = relief_scores(table, target, n_neighbors=(n - 1,), n_iterations=2, notes=notes)
    visited = np.sort(np.random.default_rng(0).choice(n, size=2, replace=False))
    expected, per_target, errors = naive.relief(table, target, n - 1, 0.0, 1.0, visited=visited)
    np.testing.assert_allclose(found.importances, expected, atol=1e-10)
    np.testing.assert_allclose(found.per_target, per_target, atol=1e-10)
    np.testing.assert_allclose(found.standard_errors, errors, atol=1e-6)
    assert notes == []
    found = relief_scores(table, target, n_neighbors=(n,), notes=notes)
    assert notes == [f"n_neighbors={n}, but a row has only {n - 1} others: all of them are used"]
    assert (found.n_neighbors, found.n_pairs) == (n - 1, n * (n - 1))


def test_all_rows_are_visited_without_a_draw():
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    assert [rows_to_visit(5, n, rng) for n in (None, 5, 6)] == [None] * 3
    assert rng.bit_generator.state == before
    assert len(set(rows_to_visit(5, 4, rng))) == 4


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("unlabeled", [0.0, 0.4])
def test_tuning_path_equals_twin(task, unlabeled):
    """Every setting on four folds: Alg. 3 with the fold held out, then the judge, both written out."""
    rng = np.random.default_rng(5)
    table = make_table(rng, 26, [0, 3, 0], 0.1)
    target = make_target(rng, 26, task, unlabeled, 0.1)
    settings = list(itertools.product((2, 5), [(0.0, 1.0), (0.25, 0.5)] if unlabeled else [(0.0, 1.0)]))
    found = relief_scores(table, target, n_neighbors=(2, 5), influence=[(0.0, 1.0), (0.25, 0.5)], seed=6)
    fold = fold_numbers(target, 4, np.random.default_rng(6))
    rows = [np.flatnonzero(fold == f) for f in range(4)]
    near = judge_neighbors(int(target.labeled.sum()))
    path = []
    for k, (w0, w1) in settings:
        guesses = []
        for held in rows:
            # Without any unlabelled row the held-out ones are left out, else they stay as unlabelled ones.
            seen = np.arange(26) if unlabeled else np.setdiff1d(np.arange(26), held)
            part, hidden = table.take(seen), target.hide(held).take(seen)
            ranking = naive.relief(part, hidden, k, w0, w1)[0]
            guesses.append(naive.knn_prototypes(ranking, part, hidden, table.take(held), near, "labelled"))
        score = task_score(task, target.values[np.concatenate(rows)], np.concatenate(guesses))
        path.append({"n_neighbors": k, "w0": w0, "w1": w1, "score": pytest.approx(score, abs=1e-9)})
    assert found.path == path
    scores = [row["score"] for row in found.path]
    best = (max if TASKS[task].greater_is_better else min)(scores)
    assert (found.n_neighbors, found.influence) == settings[scores.index(best)]
    expected = naive.relief(table, target, found.n_neighbors, *found.influence)[0]
    np.testing.assert_allclose(found.importances, expected, atol=1e-10)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("sigma", [0.0, 0.3])
def test_grid_equals_single_settings(task, sigma):
    rng = np.random.default_rng(11)
    table = make_table(rng, 60, [0, 3, 0, 2], 0.1, 4)
    target = make_target(rng, 60, task, 0.6, 0.2)
    labeled = np.flatnonzero(target.labeled)
    groups = [labeled[::2], labeled[1::2]]
    views = []
    for f, held in enumerate(groups):
        apart = nearest_labeled(table, [groups[1 - f]], np.arange(60))
        views.append(make_view(target.hide(held), apart[0]))
    ks = (3, 7, 80)
    found = grid_importances(find_pairs(table, max(ks)), views, INFLUENCES, ks, sigma)
    assert found.shape == (2, 3, 15, 4)
    for f, held in enumerate(groups):
        hidden = target.hide(held)
        for (j, k), (i, w) in itertools.product(enumerate(ks), enumerate(INFLUENCES)):
            single = relief_scores(
                table, hidden, n_neighbors=(k,), influence=(w,), neighbor_weights=sigma
            ).importances
            np.testing.assert_allclose(found[f, j, i], single, atol=1e-10)


@given(st.integers(0, 1000), st.sampled_from(INFLUENCES))
def test_influences(seed, influence):
    rng = np.random.default_rng(seed)
    labeled = rng.random(12) < 0.5
    labeled[0] = True
    distance = np.where(labeled, 0.0, rng.integers(1, 4, size=12) / 4)
    w0, w1 = influence
    g = closeness(distance, labeled)
    influences = np.where(labeled, 1.0, w0 + (w1 - w0) * g)
    assert (g[labeled] == 0).all()
    assert ((influences[~labeled] >= w0) & (influences[~labeled] <= w1)).all()
    others = distance[~labeled]
    if len(set(others)) > 1:
        assert (influences[~labeled][others == others.min()] == w1).all()
        assert (influences[~labeled][others == others.max()] == w0).all()
    elif len(others):
        assert np.allclose(influences[~labeled], (w0 + w1) / 2)


def test_distances_that_differ_by_rounding_are_equal():
    labeled = np.array([True, False, False])
    for apart, expected in ((2.0**-34, [0.0, 0.5, 0.5]), (2.0**-33, [0.0, 1.0, 0.0])):
        assert closeness(np.array([9.0, 1.0, 1.0 + apart]), labeled).tolist() == expected


def test_nearest_labelled_row_of_a_single_row():
    table = Table(np.array([[0.0], [3.0], [4.0]]), np.zeros(1, np.int64), ("a",), (None,))
    found = nearest_labeled(table, [np.array([0]), np.array([0, 2])], np.array([1]))
    np.testing.assert_allclose(found, [[0.0, 0.75, 0.0], [0.0, 0.25, 0.0]])


def read_truth(folder, data, truth):
    lines = (folder / "relief" / data).read_text().splitlines()
    rows = np.array([line.split(",") for line in lines if line and line[0] not in "%@"], dtype=float)
    table = Table(rows[:, :7], np.array([2, 2, 2, 0, 0, 0, 0]), tuple("abcdefg"), (None,) * 7)
    columns: dict[str, np.ndarray] = {}
    values = []
    for line in (folder / "relief" / truth).read_text().splitlines():
        parts = line.split("\t")
        if parts[0] == "attributeDatasetIndex":
            columns = dict.fromkeys(parts[3].strip("[]").split(", "))
        elif parts[0].isdigit():
            values.append([float(v) for v in parts[3].strip("[]").split(",")])
    return table, rows[:, 7:], dict(zip(columns, np.array(values).T))


@pytest.mark.parametrize(("k", "sigma"), [(1, 0.0), (3, 0.5)])
def test_truth_files(oracle_folder, k, sigma):
    for task, data, truth in (
        ("multi_target", "testMTR.arff", "testMTR.fimpTruth"),
        ("multi_label", "testMLC.arff", "testMLCHammingLoss.fimpTruth"),
    ):
        table, y, columns = read_truth(oracle_folder, data, truth)
        target = Target(task, y, tuple("wxyz"), np.ones(4))
        found = relief_scores(table, target, n_neighbors=(k,), neighbor_weights=sigma)
        np.testing.assert_allclose(found.importances, columns[f"overallIter13Neigh{k}"], atol=1e-9)
        for j in range(4):
            expected = columns[f"tar{j + 1}Iter13Neigh{k}"]
            if task == "multi_target":
                np.testing.assert_allclose(found.per_target[:, j], expected, atol=1e-9)
            else:
                # For one label that program takes the form "per_class" (Def. 1.6).
                label = Target("classification", y[:, j : j + 1], ("y",), np.ones(1), np.array([0, 1]))
                one = relief_scores(table, label, form="per_class", n_neighbors=(k,), neighbor_weights=sigma)
                np.testing.assert_allclose(one.importances, expected, atol=1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_supervised_and_semi_supervised_coincide_when_all_rows_are_labelled(task):
    rng = np.random.default_rng(2)
    table = make_table(rng, 50, [0, 3, 0], 0.1)
    target = make_target(rng, 50, task)
    options = {"n_neighbors": (5, 9), "influence": INFLUENCES, "seed": 1}
    a, b = (relief_scores(table, target, use_unlabeled=use, **options) for use in (True, False))
    np.testing.assert_array_equal(a.importances, b.importances)
    assert a.path == b.path
    assert len(a.path) == 2  # influences play no part


def test_supervised_counterpart_sees_the_labelled_rows_alone():
    rng = np.random.default_rng(4)
    table = make_table(rng, 60, [0, 0, 2], 0.1)
    target = make_target(rng, 60, "regression", 0.5)
    rows = np.flatnonzero(target.labeled)
    a = relief_scores(table, target, n_neighbors=(5,), use_unlabeled=False)
    b = relief_scores(table.take(rows), target.take(rows), n_neighbors=(5,))
    np.testing.assert_array_equal(a.importances, b.importances)


def test_invariances():
    rng = np.random.default_rng(8)
    table = make_table(rng, 80, [0, 0, 0, 4], 0.0)
    target = make_target(rng, 80, "classification", 0.4)
    base = relief_scores(table, target, n_neighbors=(6,)).importances
    values = table.values.copy()
    values[:, 0] = values[:, 0] * -37.0 + 5.0
    values[:, 3] = np.array([2.0, 0.0, 3.0, 1.0])[values[:, 3].astype(int)]
    changed = Table(values, table.n_values, table.names, table.categories)
    np.testing.assert_allclose(relief_scores(changed, target, n_neighbors=(6,)).importances, base, atol=1e-12)
    columns = np.array([2, 3, 0, 1])
    moved = Table(table.values[:, columns], table.n_values[columns], table.names, table.categories)
    np.testing.assert_allclose(
        relief_scores(moved, target, n_neighbors=(6,)).importances, base[columns], atol=1e-12
    )
    rows = rng.permutation(80)
    mixed = relief_scores(table.take(rows), target.take(rows), n_neighbors=(6,)).importances
    np.testing.assert_allclose(mixed, base, atol=1e-12)


def test_threads_do_not_matter():
    rng = np.random.default_rng(9)
    table = make_table(rng, 700, [0] * 30 + [3] * 5, 0.05, 5)
    target = make_target(rng, 700, "multi_label", 0.7, 0.1)
    options = {"n_neighbors": (5, 9), "influence": INFLUENCES[:4], "seed": 0}
    one, two = (relief_scores(table, target, n_jobs=n, **options) for n in (1, 2))
    np.testing.assert_array_equal(one.importances, two.importances)
    np.testing.assert_array_equal(one.standard_errors, two.standard_errors)
    np.testing.assert_array_equal(one.per_target, two.per_target)
    assert one.path == two.path


def test_tuning_keeps_the_best_setting():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(200, 6))
    y = X[:, 0] + 0.5 * X[:, 1]
    y[60:] = np.nan
    ranker = ReliefRanker(n_neighbors="auto", influence="auto", random_state=0).fit(X, y)
    pairs = [(a, b) for a in (0.0, 0.25, 0.5, 0.75, 1.0) for b in (0.0, 0.25, 0.5, 0.75, 1.0) if a <= b]
    pairs = [(0.0, 1.0), *(pair for pair in pairs if pair != (0.0, 1.0))]
    assert [(row["n_neighbors"], row["w0"], row["w1"]) for row in ranker.tuning_path_] == [
        (k, *pair) for k in (15, 20, 30) for pair in pairs
    ]
    best = min(row["score"] for row in ranker.tuning_path_)
    first = next(row for row in ranker.tuning_path_ if row["score"] == best)
    assert (first["n_neighbors"], first["w0"], first["w1"]) == (ranker.n_neighbors_, *ranker.influence_)
    again = ReliefRanker(n_neighbors=ranker.n_neighbors_, influence=ranker.influence_).fit(X, y)
    np.testing.assert_allclose(again.feature_importances_, ranker.feature_importances_, atol=1e-12)
    ranking = ranker.to_ranking()
    assert ranking.choice == {"n_neighbors": ranker.n_neighbors_, "w0": first["w0"], "w1": first["w1"]}
    assert ranking.method == "relief"
    assert len(ranking.choice_path) == 45


def test_too_few_labels_to_tune():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(np.arange(40) < 8, X[:, 0], np.nan)
    assert len(ReliefRanker(influence="auto", task="regression").fit(X, y).tuning_path_) == 15
    y[7] = np.nan
    with pytest.warns(UserWarning, match="only 7 labelled rows, too few for 4 folds") as told:
        ranker = ReliefRanker(influence="auto", task="regression").fit(X, y)
    assert told[0].filename == __file__  # the user's own line
    assert ranker.influence_ == (0.0, 1.0)
    assert any("too few for 4 folds" in note for note in ranker.notes_)


def test_supervised_relief_finds_an_xor():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.random((300, 10))
        y = (X[:, 3] > 0.5) ^ (X[:, 7] > 0.5)
        found = ReliefRanker().fit(X, y)
        assert set(np.argsort(-found.feature_importances_)[:2]) == {3, 7}


@pytest.mark.parametrize("kind", TASKS)
def test_planted_main_effects_with_50_of_1000_labels(kind):
    # With the default k=15 there are too few labelled pairs for this (Def. 1.6); k=100 has enough.
    rng = np.random.default_rng(1)
    X = rng.random((1000, 10))
    a, b = X[:, 4], X[:, 7]
    hierarchy = None
    if kind == "classification":
        y = np.where(a + b > 1, "up", "down").astype(object)
    elif kind == "regression":
        y = a + b
    elif kind == "multi_target":
        y = np.column_stack([a, b, a + b])
    else:
        y = np.column_stack([np.ones(1000), a > 0.5, b > 0.5, a > 0.7, b > 0.3, a + b > 1]).astype(float)
        y[0, 0] = 0.0 if kind == "multi_label" else 1.0
        y[1] = [1, 0, 0, 0, 0, 0]
        if kind == "hierarchical":
            hierarchy = [(None, "x0"), *(("x0", f"x{j}") for j in range(1, 6))]
            y[0] = 0.0
    y[50:] = None if y.dtype == object else np.nan
    found = ReliefRanker(n_neighbors=100, task=kind, hierarchy=hierarchy).fit(X, y)
    assert set(np.argsort(-found.feature_importances_)[:2]) == {4, 7}
    assert found.n_labeled_ == 50


def test_semi_supervised_relief_finds_an_xor_with_half_of_the_labels():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.random((1000, 10))
        y = ((X[:, 2] > 0.5) ^ (X[:, 6] > 0.5)).astype(float)
        y[500:] = np.nan
        found = ReliefRanker(task="classification").fit(X, y)
        assert set(np.argsort(-found.feature_importances_)[:2]) == {2, 6}


def test_degenerate_data_has_a_documented_result():
    same = np.ones((20, 3))
    y = np.r_[np.arange(10) % 2, [np.nan] * 10]
    found = ReliefRanker(n_neighbors=3).fit(same, y)
    np.testing.assert_array_equal(found.feature_importances_, 0.0)
    np.testing.assert_array_equal(found.importances_std_error_["relief"], 0.0)
    # All distances equal: rows of distinct values of one nominal feature.
    table = Table(np.arange(12.0)[:, None], np.array([12]), ("a",), (tuple("abcdefghijkl"),))
    target = Target("regression", np.arange(12.0)[:, None], ("y",), np.ones(1))
    scores = relief_scores(table, target, n_neighbors=(4,))
    assert np.isfinite(scores.importances).all()
    # A single labelled row: no pair knows both targets.
    rng = np.random.default_rng(0)
    one = Target("regression", np.r_[1.0, [np.nan] * 9][:, None], ("y",), np.ones(1))
    scores = relief_scores(make_table(rng, 10, [0, 2]), one)
    assert scores.n_labeled_pairs == 0
    assert np.isfinite(scores.importances).all()
    np.testing.assert_array_equal(scores.per_target, 0.0)
    with pytest.raises(ValueError, match="only one row is left"):
        relief_scores(make_table(rng, 10, [0, 2]), one, use_unlabeled=False)
    # One visited row has no standard error.
    scores = relief_scores(make_table(rng, 10, [0, 2]), make_target(rng, 10, "regression"), n_iterations=1)
    assert np.isnan(scores.standard_errors).all()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0 is neither"),
        ({"n_neighbors": "many"}, "n_neighbors='many' is neither"),
        ({"n_neighbors": 2.0}, "n_neighbors=2.0 is neither"),
        ({"influence": (0.5, 0.25)}, "0 <= w0 <= w1 <= 1"),
        ({"influence": (0.5, 1.5)}, "0 <= w0 <= w1 <= 1"),
        ({"influence": 0.5}, "0 <= w0 <= w1 <= 1"),
        ({"influence": "best"}, "0 <= w0 <= w1 <= 1"),
        ({"influence": (0.0, 0.5, 1.0)}, "0 <= w0 <= w1 <= 1"),
        ({"influence": (-0.5, 0.5)}, "0 <= w0 <= w1 <= 1"),
        ({"influence": ("a", "b")}, "0 <= w0 <= w1 <= 1"),
        ({"influence": []}, "0 <= w0 <= w1 <= 1"),
        ({"influence": [(0.0, 1.0), (0.5, 0.25)]}, "0 <= w0 <= w1 <= 1"),
        ({"n_neighbors": True}, "n_neighbors=True is neither"),
        ({"n_neighbors": []}, r"n_neighbors=\[\] is neither"),
        ({"n_neighbors": [5, 0]}, r"n_neighbors=\[5, 0\] is neither"),
        ({"n_folds": 1}, "n_folds=1 must be a whole number of at least 2"),
        ({"judge_neighbors": 0}, "judge_neighbors=0 is neither"),
        ({"n_iterations": 0}, "n_iterations=0 is neither"),
        ({"neighbor_weights": -1.0}, "neighbor_weights=-1.0 must be"),
        ({"neighbor_weights": np.inf}, "neighbor_weights=inf must be"),
        ({"neighbor_weights": "far"}, "neighbor_weights='far' must be"),
    ],
)
def test_bad_parameters(change, sentence):
    X = np.random.default_rng(0).random((10, 2))
    with pytest.raises(ValueError, match=sentence):
        ReliefRanker(**change).fit(X, X[:, 0])


def test_parameters_at_their_bounds():
    X = np.random.default_rng(0).random((10, 2))
    for influence in ((0.0, 0.0), (0.5, 0.5), (1, 1)):
        found = ReliefRanker(n_neighbors=1, influence=influence, n_iterations=1).fit(X, X[:, 0])
        assert (found.n_neighbors_, found.influence_) == (1, influence)


def test_neighbours_count_alike_unless_asked_otherwise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.where(np.arange(60) < 40, X[:, 0] + rng.normal(size=60), np.nan)
    usual, alike, nearer_more = (
        ReliefRanker(**settings).fit(X, y).feature_importances_
        for settings in ({}, {"neighbor_weights": 0.0}, {"neighbor_weights": 1.0})
    )
    np.testing.assert_array_equal(usual, alike)
    assert not np.allclose(usual, nearer_more)


@pytest.mark.parametrize("use_unlabeled", [True, False])
@pytest.mark.parametrize("n_labeled", [49, 50])
def test_few_labelled_pairs_are_told(n_labeled, use_unlabeled):
    """The unlabelled row is far away: each of the others has five labelled neighbours, 250 pairs in all."""
    X = np.r_[np.arange(n_labeled), 1000.0][:, None]
    y = np.r_[np.arange(n_labeled) % 7 / 2, np.nan]
    ranker = ReliefRanker(n_neighbors=5, use_unlabeled=use_unlabeled, task="regression").fit(X, y)
    pairs = 5 * (n_labeled + use_unlabeled)
    hint = "; that is few, a larger n_neighbors gives more" if n_labeled == 49 and use_unlabeled else ""
    assert ranker.notes_[-1] == (
        f"{5 * n_labeled} of {pairs} pairs of near rows know the target of both{hint}"
    )
    every = ReliefRanker(n_neighbors=4, task="regression").fit(X[:-1], y[:-1])
    assert every.notes_[-1] == (
        f"{4 * n_labeled} of {4 * n_labeled} pairs of near rows know the target of both"
    )


def test_times_are_parts_of_the_whole():
    X = np.random.default_rng(0).random((30, 2))
    began = time.perf_counter()
    found = ReliefRanker().fit(X, X[:, 0])
    assert min(found.timings_.values()) >= 0.0
    assert sum(found.timings_.values()) <= time.perf_counter() - began
    assert found.n_neighbors_ == 15


def test_no_labelled_row():
    with pytest.raises(ValueError, match="label"):
        ReliefRanker().fit(np.random.default_rng(0).random((10, 2)), np.full(10, np.nan))


def test_ranker_is_a_selector():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.where(X[:, 1] > 0, 1, 0)
    ranker = ReliefRanker(n_features_to_select=2, random_state=0)
    seen = []
    ranker.fit(X, y, progress=lambda done, total, what: seen.append((done, total, what)))
    assert seen[-1] == (1, 1, "blocks of rows")
    assert ranker.transform(X).shape == (60, 2)
    assert ranker.ranking_[1] == 1
    assert ranker.importances_["relief"] is ranker.feature_importances_
    assert ranker.importances_per_target_.shape == (4, 1)
    assert any("pairs of near rows" in note for note in ranker.notes_)
    assert clone(ranker).get_params() == ranker.get_params()


@parametrize_with_checks([ReliefRanker(n_features_to_select=0.5, random_state=0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
