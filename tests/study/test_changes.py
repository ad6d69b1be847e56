"""Which jobs have new keys because a definition changed, and that all others keep theirs."""

from __future__ import annotations

import numpy as np
import pytest

from semirank.data.table import Table
from semirank.data.target import Target
from semirank.datasets.registry import open_dataset
from semirank.judging.splits import Fold, fold_numbers
from semirank.rankers.methods import ENSEMBLES
from semirank.study import PRESETS
from semirank.study.changes import CONSTANTS_LEFT_OUT, changes_for_relief
from semirank.study.plan import Study, job_key, jobs_of

from .study_folder import NAMES, write_folder


@pytest.mark.parametrize("preset", PRESETS)
def test_only_forests_of_the_paper_preset_on_hierarchies_have_new_keys(preset, tmp_path):
    """These data have no constant features, so no key of Relief is new."""
    study = Study(PRESETS[preset], 0, write_folder(tmp_path))
    new = set()
    for name in NAMES:
        for job in jobs_of(open_dataset(name, tmp_path), study):
            usual = job_key(job.dataset, job.sha256, job.fold, job.n_labeled, job.family, study)
            if job.key != usual:
                new.add((job.task, job.family))
    assert new == ({("hierarchical", family) for family in ENSEMBLES} if preset == "paper" else set())


def numbers(n, seed=0):
    """Features that vary, a target that is known everywhere, a fold that trains on all but the first rows."""
    rng = np.random.default_rng(seed)
    table = Table(rng.random((n, 3)), np.array([0, 0, 0]), tuple("abc"), (None,) * 3)
    target = Target("regression", rng.random((n, 1)), ("y",), np.ones(1))
    return table, target, Fold(np.arange(5), np.arange(5, n), {20: np.arange(5, 25)})


def changed(table, target, fold):
    return changes_for_relief(table, target, fold, {20: 7}) == {20: (CONSTANTS_LEFT_OUT,)}


def test_data_without_constant_features():
    table, target, fold = numbers(60)
    assert changes_for_relief(table, target, fold, {20: 7}) == {20: ()}


@pytest.mark.parametrize("value", [3.0, np.nan])
def test_a_feature_that_does_not_vary_among_the_training_rows(value):
    table, target, fold = numbers(60)
    table.values[5:, 1] = value  # test rows know it
    assert changed(table, target, fold)


def test_a_number_that_is_constant_among_the_labelled_rows():
    """All of them are at distance 0, which does not change the order of neighbours."""
    table, target, fold = numbers(60)
    table.values[5:25, 1] = 3.0
    table.values[7, 1] = np.nan
    assert not changed(table, target, fold)
    # Where two labelled rows share no target, their distance is that of the features.
    target = Target("multi_target", np.tile(target.values, 2), ("y", "z"), np.ones(2))
    target.values[5:10, 0] = np.nan
    assert changed(table, target, fold)


def test_a_nominal_feature_with_holes():
    table, target, fold = numbers(60)
    codes = np.tile([0.0, 1.0], 30)
    table = Table(np.column_stack([table.values, codes]), np.array([0, 0, 0, 2]), tuple("abcd"), (None,) * 4)
    assert not changed(table, target, fold)
    table.values[8, 3] = np.nan
    assert not changed(table, target, fold)
    constant = Table(table.values.copy(), table.n_values, table.names, table.categories)
    constant.values[5:25, 3] = 0.0
    assert not changed(constant, target, fold)  # no holes
    constant.values[8, 3] = np.nan
    assert changed(constant, target, fold)
    # The other value in the rows of one tuning fold only: without these rows it is constant.
    folds = fold_numbers(target.take(np.arange(5, 25)), 4, np.random.default_rng(7))
    constant.values[5 + np.flatnonzero(folds == 2)[0], 3] = 1.0
    constant.values[5 + np.flatnonzero(folds == 1)[0], 3] = np.nan
    assert changed(constant, target, fold)
    constant.values[5 + np.flatnonzero(folds == 3)[:2], 3] = 1.0
    assert not changed(constant, target, fold)
