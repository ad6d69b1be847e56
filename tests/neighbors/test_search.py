"""The neighbour search against its slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semirank.data.table import Table
from semirank.neighbors import search as neighbors
from semirank.neighbors.feature_distance import fit_metric
from semirank.neighbors.layouts import squared_space
from semirank.neighbors.search import Neighbors, SquaredSearch, nearest_l1, row_blocks, run_parts, squares

from .naive_neighbors import all_distances, make_table, order, row_distances, varying

tables = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10_000),
        "kinds": st.lists(st.sampled_from([0, 0, 1, 2, 3, 5]), min_size=1, max_size=7),
        "missing": st.sampled_from([0.0, 0.2, 0.7]),
        "grid": st.sampled_from([None, 2, 3, 10]),
    }
)


def nearest_squared(pool, k, weights, query=None, n_jobs=None):
    """The nearest rows by sum_i weights_i d_i^2, as the judge searches them, with their distances."""
    metric = fit_metric(pool)
    if query is None:
        scaled = metric.scale(pool.values)
        space = squared_space(scaled, scaled, metric.n_values, np.arange(len(pool)))
    else:
        space = squares(metric, pool, query)
    search = SquaredSearch(space, weights / weights.sum())
    blocks = row_blocks(len(space.query), len(pool))
    parts = run_parts(lambda block: search.nearest(block, k, distances=True), blocks, n_jobs)
    rows, distances = (np.concatenate(part) for part in zip(*parts))
    return Neighbors(rows, distances * weights.sum())


@settings(deadline=None, max_examples=60)
@given(tables, st.integers(1, 30), st.integers(1, 40), st.booleans())
def test_squared_equals_twin(recipe, n, k, other):
    rng = np.random.default_rng(recipe.pop("seed"))
    pool = make_table(rng, n, **recipe)
    query = make_table(rng, 6, **recipe) if other else None
    weights = rng.random(pool.shape[1]) * (rng.random(pool.shape[1]) < 0.7)
    weights[0] += 1.0
    found = nearest_squared(pool, k, weights, query=query)
    each = all_distances(pool if query is None else query, pool, pool) ** 2 @ weights
    for a in range(len(each)):
        rows = order(each[a], k, weights.sum(), skip=None if other else a)
        assert list(found.rows[a]) == rows
        np.testing.assert_allclose(found.distances[a], each[a][rows], atol=1e-12)


@settings(deadline=None, max_examples=100)
@given(tables, st.integers(1, 30), st.integers(1, 40), st.booleans())
def test_l1_equals_twin(recipe, n, k, other):
    rng = np.random.default_rng(recipe.pop("seed"))
    recipe["kinds"] = recipe["kinds"] * 3  # more than one block of eight numbers
    pool = make_table(rng, n, **recipe)
    query = make_table(rng, 6, **recipe) if other else None
    found = nearest_l1(pool, k, query=query)
    each = row_distances(all_distances(pool if query is None else query, pool, pool), varying(pool))
    for a in range(len(each)):
        rows = order(each[a], k, 1.0, skip=None if other else a)
        assert list(found.rows[a]) == rows
        np.testing.assert_allclose(found.distances[a], each[a][rows], atol=1e-14)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("kinds", [[2] * 130, [0] * 70, [3] * 70 + [9] * 10 + [0] * 3])
def test_l1_over_many_tiles_and_words(kinds, missing):
    rng = np.random.default_rng(1)
    table = make_table(rng, 600, kinds, missing=missing, grid=2 if kinds[0] == 0 else None)
    visited = rng.choice(600, size=5, replace=False)
    found = nearest_l1(table, 20, rows=visited)
    each = all_distances(table.take(visited), table, table).mean(axis=2)
    for a, row in enumerate(visited):
        assert list(found.rows[a]) == order(each[a], 20, 1.0, skip=row)


def test_l1_tells_apart_what_float32_cannot():
    # Rows that differ by less than a float32 step; the nearest is the last.
    values = 0.5 + np.array([[0.0], [3e-9], [2e-9], [1e-9], [-0.5], [0.5]])
    table = Table(np.repeat(values, 9, axis=1), np.zeros(9, np.int64), tuple("abcdefghi"), (None,) * 9)
    assert nearest_l1(table, 3, rows=np.array([0])).rows.tolist() == [[3, 2, 1]]


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("k", [5, 20, 59])
def test_squared_with_a_first_guess(n, k):
    # The rows that the first guess looks at are far away, then near: too high a guess, and too low a one.
    rng = np.random.default_rng(n + k)
    for sign in (1.0, -1.0):
        values = rng.random((n, 3))
        values[::8] += sign * 10.0
        table = Table(values, np.zeros(3, np.int64), tuple("abc"), (None,) * 3)
        query = table.take(np.array([1, 8]))
        found = nearest_squared(table, k, np.ones(3), query=query)
        each = (all_distances(query, table, table) ** 2).sum(axis=2)
        for a in range(2):
            assert list(found.rows[a]) == order(each[a], k, 3.0)


def test_everything_equal():
    table = Table(np.ones((40, 3)), np.zeros(3, np.int64), tuple("abc"), (None,) * 3)
    for found in (nearest_l1(table, 2), nearest_squared(table, 2, np.ones(3))):
        assert found.rows[:3].tolist() == [[1, 2], [0, 2], [0, 1]]
        assert (found.rows[2:] == [0, 1]).all()
        assert (found.distances == 0.0).all()


def test_blocks_and_threads_do_not_matter(monkeypatch):
    rng = np.random.default_rng(0)
    table = make_table(rng, 300, [0] * 4 + [2, 3], missing=0.1, grid=3)
    weights = np.array([0.3, 0.1, 0.1, 0.1, 1.0, 1 / 3])
    whole = nearest_squared(table, 10, weights), nearest_l1(table, 10)
    monkeypatch.setattr(neighbors, "_BLOCK_CELLS", 300 * 7)
    for n_jobs in (1, 2):
        parts = nearest_squared(table, 10, weights, n_jobs=n_jobs), nearest_l1(table, 10, n_jobs=n_jobs)
        for expected, found in zip(whole, parts):
            np.testing.assert_array_equal(found.rows, expected.rows)
            np.testing.assert_array_equal(found.distances, expected.distances)


def test_ties_that_rounding_hides_go_by_row_number():
    # 0.1 steps: the float sums of equal distances differ in the last bits.
    steps = np.array(
        [[1, 2, 4, 3], [3, 4, 2, 1], [2, 1, 3, 4], [4, 3, 1, 2], [0, 0, 0, 0], [10, 10, 10, 10.0]]
    )
    table = Table(steps * 0.1, np.zeros(4, np.int64), tuple("abcd"), (None,) * 4)
    origin = Table(np.zeros((1, 4)), table.n_values, table.names, table.categories)
    assert nearest_squared(table, 5, np.ones(4), query=origin).rows.tolist() == [[4, 0, 1, 2, 3]]
    assert nearest_l1(table, 5, query=origin).rows.tolist() == [[4, 0, 1, 2, 3]]


def test_metric_survives_extreme_and_constant_columns():
    big = np.finfo(float).max
    values = np.array([[-big, 7.0, np.nan], [big, 7.0, np.nan], [0.0, np.nan, np.nan]])
    table = Table(values, np.zeros(3, np.int64), tuple("abc"), (None,) * 3)
    scaled = fit_metric(table).scale(values)
    np.testing.assert_allclose(scaled, [[0, 0, 0], [1, 0, 0], [0.5, 0, 0]])


def test_features_that_do_not_vary_have_no_part_in_the_distance():
    """Constant numbers and names, known or not, and features without any value."""
    rng = np.random.default_rng(2)
    table = make_table(rng, 50, [0, 3, 0], missing=0.2)
    gone = np.where(rng.random(50) < 0.5, 1.0, np.nan)
    values = np.column_stack([table.values, np.full(50, 7.0), gone, gone, np.full((50, 2), np.nan)])
    kinds = [0, 3, 0, 0, 0, 4, 0, 4]
    wide = Table(values, np.array(kinds), tuple("abcdefgh"), (None,) * 8)
    assert fit_metric(wide).varies.tolist() == [True] * 3 + [False] * 5
    for rows in (None, np.array([3, 40])):
        for one, other in zip(nearest_l1(table, 6, rows=rows), nearest_l1(wide, 6, rows=rows)):
            np.testing.assert_array_equal(one, other)
    # The metric decides, not the rows of the pool.
    part, metric = wide.take(np.array([0, 1])), fit_metric(wide)
    found = nearest_l1(part, 1, query=wide, metric=metric)
    np.testing.assert_array_equal(
        found.distances, nearest_l1(table.take(np.array([0, 1])), 1, query=table, metric=fit_metric(table))[1]
    )


@pytest.mark.parametrize("n", [0, 1])
def test_no_other_row(n):
    table = Table(np.zeros((n, 2)), np.zeros(2, np.int64), tuple("ab"), (None,) * 2)
    for found in (nearest_squared(table, 3, np.ones(2)), nearest_l1(table, 3)):
        assert found.rows.shape == found.distances.shape == (n, 0)
