"""Sensitivity of kernel ridge regression: against predicting again, and what it can tell."""

from __future__ import annotations

import numpy as np
import pytest

from semirank import Table
from semirank.data.target import Target
from semirank.data.tasks import TASKS
from semirank.rankers.sensitivity import (
    POWERS,
    ask,
    mean_changes,
    permutations,
    sensitivity,
    space_weights,
)
from semirank.teacher.lesson import Lesson, relative_loss, scale_target
from semirank.teacher.ridge import fit_kernel
from semirank.teacher.space import fit_space

from ..teacher.test_teacher import problem
from . import naive_consensus


@pytest.mark.parametrize("task", TASKS)
def test_equals_predicting_again(task, monkeypatch):
    table, target, _ = problem(task, n=90, n_labeled=40)
    shares = np.random.default_rng(1).dirichlet(np.ones(6))
    shares[2] = 0.0
    asked = ask(table, target, shares / shares.sum(), 3, None)
    monkeypatch.setattr("semirank.rankers.sensitivity.POWERS", (1.0,))
    sharp = ask(table, target, shares / shares.sum(), 3, None)
    slow = naive_consensus.sensitivity(asked, [permutations(3, f, len(asked.points)) for f in range(6)])
    fast = mean_changes(asked, 3)
    np.testing.assert_allclose(fast, slow, rtol=1e-8, atol=1e-14)
    assert mean_changes(sharp, 3)[2] == 0.0  # it has no place in the space
    assert (fast[[0, 1]] > 0).all()
    np.testing.assert_array_equal(mean_changes(asked, 3, n_jobs=2), fast)


@pytest.mark.parametrize("n", [2, 3, 40, 499, 500, 800])
def test_no_row_takes_from_itself(n):
    sources = permutations(7, 3, n)
    assert len(sources) == min(n - 1, -(-500 // n))
    assert (np.sort(sources, axis=1) == np.arange(n)).all()
    assert (sources != np.arange(n)).all()
    assert len({tuple(source) for source in sources.tolist()}) == len(sources)


def test_the_space_is_weighted_as_held_out_labels_ask_for(monkeypatch):
    """Shares that name the right features are taken as they are, those that name wrong ones are not."""
    table, target, _ = problem("regression", n=200, n_labeled=80)
    right = np.array([0.45, 0.45, 0.02, 0.02, 0.02, 0.04])
    for shares in (right, right[::-1]):
        chosen = ask(table, target, shares, 0, None)
        errors = []
        for power in POWERS:
            monkeypatch.setattr("semirank.rankers.sensitivity.POWERS", (power,))
            alone = ask(table, target, shares, 0, None)
            known = np.flatnonzero(target.labeled)
            weights = space_weights(shares, power)[alone.feature]
            lesson = lesson_of(table, target, known, fit_space(table).points(table.values) * weights)
            errors.append(relative_loss(lesson.learnt, fit_kernel(lesson).held_out))
            if errors[-1] == min(errors):
                expected = alone
        monkeypatch.setattr("semirank.rankers.sensitivity.POWERS", POWERS)
        np.testing.assert_array_equal(chosen.points, expected.points)


def lesson_of(table, target, rows, points):
    labels = target.take(rows)
    _, learnt = scale_target(labels)
    return Lesson(table.take(rows), labels, learnt, points[rows], points, 0, None)


def test_finds_what_the_target_depends_on():
    """An interaction, which no feature shows alone."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(400, 8))
    y = np.where(np.arange(400) < 120, values[:, 3] * values[:, 6], np.nan)
    table = Table(values, np.zeros(8, np.int64), tuple("abcdefgh"), (None,) * 8)
    target = Target("regression", y[:, None], ("y",), np.ones(1))
    found = sensitivity(table, target, np.full(8, 1 / 8))
    assert set(np.argsort(-found)[:2]) == {3, 6}


def test_all_rows_are_asked_about():
    """Labelled rows are learnt from, all rows count in the mean."""
    table, target, _ = problem("regression", n=120, n_labeled=40)
    asked = ask(table, target, np.full(6, 1 / 6), 0, None)
    assert len(asked.points) == 120
    assert len(asked.model.centres) == 40


def test_rows_are_sampled_where_they_would_cost_too_much(monkeypatch):
    table, target, _ = problem("regression", n=600, n_labeled=40)
    monkeypatch.setattr("semirank.rankers.sensitivity._CELLS", 40 * 6 * 300)
    asked = ask(table, target, np.full(6, 1 / 6), 0, None)
    assert len(asked.points) == 300
    again = ask(table, target, np.full(6, 1 / 6), 0, None)
    np.testing.assert_array_equal(asked.points, again.points)
    whole = sensitivity(table, target, np.full(6, 1 / 6))
    assert np.argmax(whole) in (0, 1, 5)


def test_progress():
    table, target, _ = problem("regression", n=60, n_labeled=30)
    said = []
    sensitivity(table, target, np.full(6, 1 / 6), progress=lambda *call: said.append(call))
    assert said[0] == (1, 6, "sensitivity")
    assert said[-1] == (6, 6, "sensitivity")
