"""The neighbour search against its slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semirank import neighbors
from semirank.data.table import Table
from semirank.neighbors import fit_metric, nearest_squared

from .naive_neighbors import all_distances, make_table, order

tables = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10_000),
        "kinds": st.lists(st.sampled_from([0, 0, 1, 2, 3, 5]), min_size=1, max_size=7),
        "missing": st.sampled_from([0.0, 0.2, 0.7]),
        "grid": st.sampled_from([None, 2, 3, 10]),
    }
)


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


def test_blocks_and_threads_do_not_matter(monkeypatch):
    rng = np.random.default_rng(0)
    table = make_table(rng, 300, [0] * 4 + [2, 3], missing=0.1, grid=3)
    weights = np.array([0.3, 0.1, 0.1, 0.1, 1.0, 1 / 3])
    whole = nearest_squared(table, 10, weights)
    monkeypatch.setattr(neighbors, "_BLOCK_CELLS", 300 * 7)
    for n_jobs in (1, 2):
        parts = nearest_squared(table, 10, weights, n_jobs=n_jobs)
        np.testing.assert_array_equal(parts.rows, whole.rows)
        np.testing.assert_array_equal(parts.distances, whole.distances)


def test_ties_that_rounding_hides_go_by_row_number():
    # 0.1 steps: the float sums of equal distances differ in the last bits.
    steps = np.array(
        [[1, 2, 4, 3], [3, 4, 2, 1], [2, 1, 3, 4], [4, 3, 1, 2], [0, 0, 0, 0], [10, 10, 10, 10.0]]
    )
    table = Table(steps * 0.1, np.zeros(4, np.int64), tuple("abcd"), (None,) * 4)
    origin = Table(np.zeros((1, 4)), table.n_values, table.names, table.categories)
    found = nearest_squared(table, 5, np.ones(4), query=origin, metric=fit_metric(table))
    assert found.rows.tolist() == [[4, 0, 1, 2, 3]]


def test_metric_survives_extreme_and_constant_columns():
    big = np.finfo(float).max
    values = np.array([[-big, 7.0, np.nan], [big, 7.0, np.nan], [0.0, np.nan, np.nan]])
    table = Table(values, np.zeros(3, np.int64), tuple("abc"), (None,) * 3)
    scaled = fit_metric(table).scale(values)
    np.testing.assert_allclose(scaled, [[0, 0, 0], [1, 0, 0], [0.5, 0, 0]])


@pytest.mark.parametrize("n", [0, 1])
def test_no_other_row(n):
    table = Table(np.zeros((n, 2)), np.zeros(2, np.int64), tuple("ab"), (None,) * 2)
    found = nearest_squared(table, 3, np.ones(2))
    assert found.rows.shape == found.distances.shape == (n, 0)
