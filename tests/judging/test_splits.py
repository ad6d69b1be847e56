"""Semi-supervised splits: sizes, nesting, disjointness, determinism, refusals."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semirank import semi_supervised_folds
from semirank.data.target import Target

from ..evaluation import naive_evaluation as naive
from ..neighbors.naive_neighbors import make_table, make_target


def target_of(known):
    values = np.where(known, np.arange(len(known)) % 7, np.nan).reshape(-1, 1).astype(float)
    return Target("regression", values, ("y",), np.ones(1))


@settings(max_examples=80, deadline=None)
@given(
    n_rows=st.integers(12, 150),
    n_folds=st.integers(2, 12),
    levels=st.sets(st.integers(1, 60), min_size=1, max_size=4),
    unlabeled=st.floats(0, 0.5),
    seed=st.integers(0, 1000),
)
def test_properties(n_rows, n_folds, levels, unlabeled, seed):
    known = np.random.default_rng(seed).random(n_rows) >= unlabeled
    known[:n_folds] = True
    target = target_of(known)
    sizes = [len(part) for part in np.array_split(np.arange(known.sum()), n_folds)]
    folds = semi_supervised_folds(target, n_folds, tuple(levels), random_state=seed)
    assert len(folds) == n_folds
    tested = np.concatenate([fold.test for fold in folds])
    np.testing.assert_array_equal(np.sort(tested), np.flatnonzero(known))  # every labelled row, once
    assert max(len(f.test) for f in folds) - min(len(f.test) for f in folds) <= 1
    assert list(folds[0].labeled) == sorted(levels)
    for i, fold in enumerate(folds):
        np.testing.assert_array_equal(np.sort(np.r_[fold.test, fold.train]), np.arange(n_rows))
        smaller = np.array([], dtype=int)
        for n, rows in fold.labeled.items():
            wanted = [naive.labels_kept(n, j, n_folds) for j in range(n_folds)]
            shares = [min(share, size) for share, size in zip(wanted, sizes)]  # at most what a fold has
            assert len(rows) == sum(shares) - shares[i]
            assert len(rows) <= n
            assert shares != wanted or len(rows) >= n - 1
            assert known[rows].all()
            assert np.isin(rows, fold.train).all()
            assert np.isin(smaller, rows).all()  # nested over L
            for j, other in enumerate(folds):
                if j != i:  # each of the other folds gives its share
                    assert np.isin(other.test, rows).sum() == shares[j]
            smaller = rows


def test_same_labels_in_every_training_set():
    """A fold's kept labels are one choice, shared by the nine training sets that hold the fold."""
    folds = semi_supervised_folds(np.arange(100.0) + 0.5, 10, (45,), random_state=3)
    for i, fold in enumerate(folds):
        kept = [set(fold.test) & set(other.labeled[45]) for j, other in enumerate(folds) if j != i]
        assert all(rows == kept[0] for rows in kept)
        assert len(kept[0]) == 5


def test_paper_numbers():
    folds = semi_supervised_folds(np.arange(1000.0) + 0.5, random_state=0)
    assert len(folds) == 10
    # 50 = 9 * 5 + 5: folds 0 to 4 keep one label more and lack it where they are the test part.
    assert [len(f.labeled[50]) for f in folds] == [49] * 5 + [50] * 5
    assert list(folds[0].labeled) == [50, 100, 200, 350, 500]


def test_deterministic_and_picklable():
    y = np.arange(80.0) + 0.5
    first, again, other = (semi_supervised_folds(y, 4, (10, 20), random_state=s) for s in (1, 1, 2))
    again = pickle.loads(pickle.dumps(again))
    for a, b in zip(first, again):
        np.testing.assert_array_equal(a.test, b.test)
        np.testing.assert_array_equal(a.labeled[20], b.labeled[20])
    assert any((a.test != b.test).any() for a, b in zip(first, other))
    # Asking for another level as well does not change the splits.
    more = semi_supervised_folds(y, 4, (5, 20), random_state=1)
    np.testing.assert_array_equal(more[0].labeled[20], first[0].labeled[20])


def test_an_l_beyond_the_data_keeps_every_label():
    notes = []
    folds = semi_supervised_folds(np.arange(154.0) + 0.5, random_state=0, notes=notes)
    assert list(folds[0].labeled) == [50, 100, 200, 350, 500]
    for fold in folds:
        np.testing.assert_array_equal(fold.labeled[500], fold.train)
        np.testing.assert_array_equal(fold.labeled[200], fold.train)
    assert notes == ["the training parts have at most 139 labels, so L = 200, 350, 500 keeps all they have"]


@pytest.mark.parametrize("as_mask", [True, False])
def test_predefined_parts(as_mask):
    y = np.arange(100.0) + 0.5
    y[[3, 70]] = np.nan
    test = np.arange(60, 100)
    given_test = np.isin(np.arange(100), test) if as_mask else test
    notes = []
    folds = semi_supervised_folds(y, n_labeled=(10, 59, 60), test=given_test, random_state=0, notes=notes)
    (fold,) = folds
    np.testing.assert_array_equal(fold.test, np.setdiff1d(test, [70]))
    np.testing.assert_array_equal(fold.train, np.arange(60))
    assert {n: len(rows) for n, rows in fold.labeled.items()} == {10: 10, 59: 59, 60: 59}
    assert np.isin(fold.labeled[10], fold.labeled[59]).all()
    assert 3 not in fold.labeled[59]
    assert notes == ["the training parts have at most 59 labels, so L = 60 keeps all they have"]


def test_parts():
    rng = np.random.default_rng(0)
    table, target = make_table(rng, 60, [0, 3]), make_target(rng, 60, "multi_target", unlabeled=0.3)
    fold = semi_supervised_folds(target, 3, (8, 16), random_state=0)[1]
    train, train_target, test, test_target = fold.parts(table, target, 8)
    np.testing.assert_array_equal(train.values, table.values[fold.train])
    np.testing.assert_array_equal(fold.train[train_target.labeled], fold.labeled[8])
    np.testing.assert_array_equal(train_target.values[train_target.labeled], target.values[fold.labeled[8]])
    np.testing.assert_array_equal(test.values, table.values[fold.test])
    np.testing.assert_array_equal(test_target.values, target.values[fold.test])


def test_any_form_of_target():
    y = [{"a"}, None, {"a", "b"}, {"b"}, set(), {"a"}]
    (fold,) = semi_supervised_folds(y, n_labeled=(2,), test=[4, 5], random_state=0)
    assert 1 not in fold.labeled[2]
    labels = np.array([1, 1, -1, 2, 2, 1, 2, -1, 1, 2])
    folds = semi_supervised_folds(labels, 2, (2,), unlabeled=-1, random_state=0)
    assert sorted(np.concatenate([f.test for f in folds])) == [0, 1, 3, 4, 5, 6, 8, 9]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_folds": 1}, "n_folds must be"),
        ({"n_folds": 2.5}, "n_folds must be"),
        ({"n_folds": True}, "n_folds must be"),
        ({"n_folds": 50}, "30 labelled rows are too few for 50 folds"),
        ({"n_labeled": ()}, "n_labeled must be"),
        ({"n_labeled": (0, 5)}, "n_labeled must be"),
        ({"n_labeled": (5.5,)}, "n_labeled must be"),
        ({"test": [3, 99]}, "rows outside 0"),
        ({"test": [0.5]}, "test must be row numbers"),
        ({"test": np.ones(7, bool)}, "test must be row numbers"),
        ({"test": []}, "test must be row numbers"),
        ({"test": [35]}, "No row of the test part is labelled"),
        ({"test": np.arange(30)}, "No row of the training part is labelled"),
    ],
)
def test_bad_input(arguments, sentence):
    y = np.arange(40.0) + 0.5
    y[30:] = np.nan
    with pytest.raises(ValueError, match=sentence):
        semi_supervised_folds(y, **arguments)


def test_real_predefined_parts(data_folder):
    from semirank import load

    parts = [data_folder / "mlc" / f"emotions.{part}.arff" for part in ("train", "test")]
    data = load(parts, [-1, -2, -3, -4, -5, -6])
    (fold,) = semi_supervised_folds(data.target, test=data.part == 1, random_state=0)
    assert (len(fold.train), len(fold.test)) == (391, 202)
    kept = {n: len(rows) for n, rows in fold.labeled.items()}
    assert kept == {50: 50, 100: 100, 200: 200, 350: 350, 500: 391}
