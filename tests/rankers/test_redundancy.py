"""Copies: equal to the slow form on all kinds of features; what they mean for a ranking."""

from __future__ import annotations

import numpy as np
import pytest

from semirank import ConsensusRanker, ForestRanker, Table
from semirank.rankers import redundancy
from semirank.rankers.redundancy import copies

from . import naive_consensus


def mixed_table(seed, n=60, missing=0.1):
    """Numbers and their copies, a constant, nominal features of two and of four values, holes, a lost one."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    colour = rng.integers(0, 4, n)
    values = np.c_[
        x,
        3.0 - 2.0 * x[:, 0],
        x[:, 1] + 0.3 * rng.normal(size=n),
        np.full(n, 7.0),
        colour,
        colour % 2,
        (x[:, 2] > 0).astype(float),
        np.full(n, np.nan),
    ]
    values[rng.random(values.shape) < missing] = np.nan
    n_values = np.array([0, 0, 0, 0, 0, 0, 4, 2, 2, 0])
    names = tuple(f"f{j}" for j in range(values.shape[1]))
    categories = tuple(tuple("abcd"[:k]) if k else None for k in n_values)
    return Table(values, n_values, names, categories)


@pytest.mark.parametrize("missing", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("seed", range(5))
def test_equals_the_slow_form(seed, missing):
    table = mixed_table(seed, missing=missing)
    np.testing.assert_allclose(copies(table), np.maximum(naive_consensus.copies(table), 1.0), rtol=1e-4)


def test_is_the_eighth_power_of_the_correlation():
    values = np.random.default_rng(0).normal(size=(200, 6))
    values[:, 5] = values[:, 0] + 0.5 * values[:, 5]
    table = Table(values, np.zeros(6, np.int64), tuple("abcdef"), (None,) * 6)
    np.testing.assert_allclose(copies(table), (np.corrcoef(values.T) ** 8).sum(axis=1), rtol=1e-5)


def test_blocks_and_threads_do_not_matter(monkeypatch):
    table = mixed_table(0)
    expected = copies(table)
    monkeypatch.setattr(redundancy, "_BLOCK", 1)
    np.testing.assert_allclose(copies(table), expected, rtol=1e-6)
    np.testing.assert_array_equal(copies(table, n_jobs=2), copies(table, n_jobs=1))


def test_many_rows_are_sampled(monkeypatch):
    table = mixed_table(0, n=3000)
    monkeypatch.setattr(redundancy, "MAX_ROWS", 1000)
    some = copies(table, seed=1)
    np.testing.assert_array_equal(some, copies(table, seed=1))
    assert (some != copies(table, seed=2)).any()
    monkeypatch.setattr(redundancy, "MAX_ROWS", 3000)
    np.testing.assert_allclose(some, copies(table), rtol=0.1)


def test_nothing_varies():
    table = Table(np.ones((5, 2)), np.zeros(2, np.int64), ("a", "b"), (None, None))
    assert copies(table).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("use_unlabeled", [True, False])
def test_a_crowd_of_copies_does_not_hide_what_stands_alone(use_unlabeled):
    """Ten copies of one cause and a weaker cause without copies, of which each copy alone says less."""
    rng = np.random.default_rng(0)
    cause = rng.normal(size=(300, 2))
    X = np.c_[cause[:, [0] * 10] + 0.05 * rng.normal(size=(300, 10)), cause[:, 1], rng.normal(size=(300, 5))]
    y = np.where(np.arange(300) < 60, cause[:, 0] + 0.7 * cause[:, 1], np.nan)
    options = {
        "rankers": [ForestRanker(n_estimators=50, importance="rforest")],
        "sensitivity": 0.0,
        "use_unlabeled": use_unlabeled,
        "random_state": 0,
    }
    alone = ConsensusRanker(redundancy=0.0, **options).fit(X, y)
    shared = ConsensusRanker(**options).fit(X, y)
    assert shared.ranking_[10] == 1
    assert shared.importances_["labeled"][10] > 2 * alone.importances_["labeled"][10]
    note = "10 of 16 features go along closely with others (one with about 9): such copies share"
    assert sum(text.startswith(note) for text in shared.notes_) == 1
    assert not any("copies" in text for text in alone.notes_)
    name = "labeled_random_forest_rforest"
    np.testing.assert_array_equal(shared.importances_[name], alone.importances_[name])
