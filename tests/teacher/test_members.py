"""The members of the teacher against their slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from semirank.data.table import Table
from semirank.data.target import Target
from semirank.data.tasks import TASKS
from semirank.teacher import graph as graphs
from semirank.teacher import ridge
from semirank.teacher.completion import possible, student_target
from semirank.teacher.forests import fit_extra_trees, fit_random_forest
from semirank.teacher.lesson import Lesson, Rows, relative_loss, scale_target
from semirank.teacher.rows import choose_rows, content_order
from semirank.teacher.space import MAX_VALUES, fit_space
from semirank.teacher.stack import stack_weights

from ..neighbors.naive_neighbors import make_table, make_target
from . import naive_teacher as naive


def make_lesson(seed, n=30, n_labeled=18, n_columns=2, missing=0.0):
    rng = np.random.default_rng(seed)
    table = make_table(rng, n, [0, 0, 3, 0, 2], 0.1)
    values = table.values[:n_labeled]
    learnt = np.nan_to_num(values[:, :1]) * rng.normal(size=n_columns) + rng.normal(
        size=(n_labeled, n_columns)
    )
    learnt[rng.random(learnt.shape) < missing] = np.nan
    learnt[0] = 0.3
    learnt[1] = -0.4
    names = tuple(map(str, range(n_columns)))
    target = Target("multi_target", learnt, names, np.ones(n_columns))
    crowd = fit_space(table).points(table.values)
    return Lesson(table.take(np.arange(n_labeled)), target, learnt, crowd[:n_labeled], crowd, 0, None), table


class TestSpace:
    @given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3]), st.sampled_from([None, 1, 3]))
    def test_equals_twin(self, seed, missing, grid):
        table = make_table(np.random.default_rng(seed), 20, [0, 3, 0, 2, 5], missing, grid)
        space = fit_space(table)
        expected, feature = naive.points(table)
        np.testing.assert_allclose(space.points(table.values), expected, atol=1e-9)
        assert space.feature.tolist() == feature.tolist()

    def test_extreme_numbers_and_new_rows(self):
        values = np.array([[1e300, -1e-300], [-1e300, 2e-300], [0.0, np.nan], [5e299, 0.0]])
        table = Table(values, np.zeros(2, np.int64), ("a", "b"), (None, None))
        space = fit_space(table)
        np.testing.assert_allclose((space.points(values) ** 2).sum(axis=0), [4.0, 3.0])
        assert np.isfinite(space.points(np.array([[1.7e308, 1e308]]))).all()

    def test_an_identifier_has_few_columns(self):
        codes = np.arange(500.0)
        codes[100:105] = 7.0  # the only value that occurs more than once
        table = Table(codes[:, None], np.array([500]), ("id",), (tuple(map(str, range(500))),))
        space = fit_space(table)
        assert len(space.feature) == MAX_VALUES
        assert 7.0 in space.value

    def test_order_depends_on_content_alone(self):
        rng = np.random.default_rng(0)
        table = make_table(rng, 60, [0, 3, 0], 0.2, 2)  # many equal rows
        target = make_target(rng, 60, "multi_target", 0.3, 0.2)
        shuffled = rng.permutation(60)
        rows = content_order(table, target.values, fit_space(table))
        other = table.take(shuffled)
        again = shuffled[content_order(other, target.values[shuffled], fit_space(other))]
        np.testing.assert_array_equal(table.values[rows], table.values[again])
        np.testing.assert_array_equal(target.values[rows], target.values[again])
        assert rows.tolist() != list(range(60))

    def test_chosen_rows(self):
        rng = np.random.default_rng(0)
        table = make_table(rng, 400, [0, 0])
        for n_labeled, expected in ((30, 30), (200, 50)):
            values = np.where(np.arange(400) < n_labeled, rng.normal(size=400), np.nan)[:, None]
            target = Target("regression", values, ("y",), np.ones(1))
            chosen = choose_rows(table, target, fit_space(table), 100, 0)
            assert len(chosen.labeled) == expected
            assert len(set(chosen.crowd.tolist())) == 100
            np.testing.assert_array_equal(chosen.crowd[:expected], chosen.labeled)
            assert target.labeled[chosen.labeled].all()
            assert not target.labeled[chosen.crowd[expected:]].any()


class TestScale:
    @pytest.mark.parametrize("task", TASKS)
    def test_variances_add_up_to_one_and_come_back(self, task):
        target = make_target(np.random.default_rng(1), 40, task, 0.0, 0.2)
        scale, learnt = scale_target(target)
        assert np.nanvar(learnt, axis=0).sum() == pytest.approx(1.0)
        known = ~np.isnan(learnt).any(axis=1)
        np.testing.assert_allclose(scale.raw(learnt[known]), target.columns()[known], atol=1e-12)

    def test_labels_count_by_alpha(self):
        target = make_target(np.random.default_rng(1), 40, "hierarchical")
        _, learnt = scale_target(target)
        np.testing.assert_allclose(learnt.var(axis=0), target.weights / target.weights.sum())

    def test_constant_columns_are_answered_by_their_constant(self):
        target = Target("multi_target", np.array([[1.0, 5.0], [2.0, 5.0]]), ("a", "b"), np.ones(2))
        scale, learnt = scale_target(target)
        assert learnt.shape == (2, 1)
        assert scale.raw(np.zeros((1, 1))).tolist() == [[1.5, 5.0]]

    def test_loss_is_one_for_the_mean(self):
        _, learnt = scale_target(make_target(np.random.default_rng(2), 50, "multi_label", 0.0, 0.3))
        assert relative_loss(learnt, np.zeros(learnt.shape)) == pytest.approx(1.0)
        answers = np.random.default_rng(3).normal(size=learnt.shape)
        assert relative_loss(learnt, answers) == pytest.approx(naive.loss(learnt, answers))


class TestRidge:
    @given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3]), st.sampled_from(["linear", "kernel"]))
    def test_leave_one_out_equals_refitting(self, seed, missing, kind):
        lesson, _ = make_lesson(seed, missing=missing)
        if kind == "linear":
            gram = lesson.points @ lesson.points.T / 5
        else:
            gram = ridge.rbf(lesson.points, lesson.points, 0.1)
        held_out, _ = ridge.solve(gram, lesson.learnt, 0.01)
        np.testing.assert_allclose(held_out, naive.ridge_held_out(gram, lesson.learnt, 0.01), atol=1e-7)

    @given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3]))
    def test_choice_is_the_least_error(self, seed, missing):
        lesson, _ = make_lesson(seed, missing=missing)
        grams = [ridge.rbf(lesson.points, lesson.points, width) for width in (0.05, 0.2)]
        which, penalty = ridge.choose(grams, lesson.learnt, None)
        errors = {
            (i, p): naive.loss(lesson.learnt, ridge.solve(gram, lesson.learnt, p)[0])
            for i, gram in enumerate(grams)
            for p in ridge.PENALTIES
        }
        assert errors[which, penalty] <= min(errors.values()) * (1 + 1e-6)

    @pytest.mark.parametrize("missing", [0.0, 0.3])
    def test_choice_of_many_rows_is_that_of_the_first(self, missing, monkeypatch):
        lesson, _ = make_lesson(5, missing=missing)
        grams = [ridge.rbf(lesson.points, lesson.points, width) for width in (0.05, 0.2)]
        monkeypatch.setattr(ridge, "_TRIED", 8)
        found = ridge.choose(grams, lesson.learnt, None)
        errors = np.zeros((2, len(ridge.PENALTIES)))
        for column in lesson.learnt.T:
            rows = np.flatnonzero(~np.isnan(column))[:8]
            for i, gram in enumerate(grams):
                for j, penalty in enumerate(ridge.PENALTIES):
                    held_out = naive.ridge_held_out(gram[np.ix_(rows, rows)], column[rows, None], penalty)
                    errors[i, j] += np.mean((held_out[:, 0] - column[rows]) ** 2)
        which, penalty = np.unravel_index(errors.argmin(), errors.shape)
        assert found == (which, ridge.PENALTIES[penalty])

    @pytest.mark.parametrize("fit", [ridge.fit_linear, ridge.fit_kernel])
    def test_model_answers_as_its_dual_does(self, fit, monkeypatch):
        monkeypatch.setattr(ridge, "MAX_ROWS", 12)  # the other labelled rows are held out as they are
        lesson, table = make_lesson(3)
        answer = fit(lesson)
        found = answer.model.predict(Rows(table.values, lesson.crowd, None))
        if fit is ridge.fit_linear:
            grams = [lesson.crowd @ lesson.crowd.T / 5]
        else:
            unit = ridge.median_distance(lesson.crowd)
            grams = [ridge.rbf(lesson.crowd, lesson.crowd, g / unit) for g in ridge.WIDTHS]
        which, penalty = ridge.choose([gram[:12, :12] for gram in grams], lesson.learnt[:12], None)
        expected = naive.ridge(grams[which], lesson.learnt, np.arange(12), penalty)
        np.testing.assert_allclose(found, expected, atol=1e-7)
        np.testing.assert_allclose(answer.held_out[12:], expected[12:18], atol=1e-7)

    def test_median_distance(self):
        assert ridge.median_distance(np.array([[0.0], [1.0], [3.0]])) == 4.0
        assert ridge.median_distance(np.zeros((3, 2))) == 1.0


class TestGraph:
    @given(st.integers(0, 10_000), st.integers(2, 25))
    def test_spreading_equals_a_dense_solve(self, seed, n):
        rng = np.random.default_rng(seed)
        edges, _, _ = naive.graph(rng.normal(size=(n, 3)), 4)
        start = rng.normal(size=(n, 70))  # more than one block of columns
        expected = naive.spread(edges, start, graphs.SPREAD)
        np.testing.assert_allclose(graphs.spread(csr_matrix(edges), start, 2), expected, atol=1e-7)

    @given(st.integers(0, 10_000), st.sampled_from([3, 12, 40]))
    def test_graph_equals_twin(self, seed, n):
        places = np.random.default_rng(seed).normal(size=(n, 3))
        edges, degree, width = naive.graph(places, graphs.N_NEIGHBORS)
        graph = graphs.build_graph(places)
        np.testing.assert_allclose(graph.edges.toarray(), edges, atol=1e-9)
        np.testing.assert_allclose(graph.degree, degree, rtol=1e-9)
        assert graph.width == pytest.approx(width)

    @pytest.mark.parametrize("missing", [0.0, 0.3])
    def test_single_rows_are_held_out(self, missing):
        lesson, _ = make_lesson(5, missing=missing)
        answer = graphs.fit_graph(lesson)
        edges, _, _ = naive.graph(lesson.crowd, graphs.N_NEIGHBORS)
        for i in range(len(lesson.learnt)):
            expected = naive.spread_labels(edges, lesson.learnt, [i], graphs.SPREAD)[i]
            np.testing.assert_allclose(answer.held_out[i], expected, atol=1e-5)
        everything = naive.spread_labels(edges, lesson.learnt, [], graphs.SPREAD)
        found = answer.model.predict(Rows(lesson.crowd, lesson.crowd, np.arange(30)))
        np.testing.assert_allclose(found, everything, atol=1e-5)

    @pytest.mark.parametrize("missing", [0.0, 0.2])
    def test_folds_are_held_out(self, missing):
        lesson, _ = make_lesson(6, n=90, n_labeled=60, missing=missing)
        lesson = lesson._replace(learnt=lesson.learnt[:, :1])  # few columns: folds are less work
        answer = graphs.fit_graph(lesson)
        fold = np.random.default_rng([0, 1]).permutation(60) % graphs.N_FOLDS
        edges, _, _ = naive.graph(lesson.crowd, graphs.N_NEIGHBORS)
        for f in range(graphs.N_FOLDS):
            held = np.flatnonzero(fold == f)
            expected = naive.spread_labels(edges, lesson.learnt, held, graphs.SPREAD)[held]
            np.testing.assert_allclose(answer.held_out[held], expected, atol=1e-5)

    def test_new_rows_take_the_answers_of_near_ones(self):
        lesson, _ = make_lesson(7, n=60)
        model = graphs.fit_graph(lesson).model
        new = np.random.default_rng(0).normal(size=(5, lesson.crowd.shape[1]))
        found = model.predict(Rows(new, new, None))
        squared = ((new[:, None] - lesson.crowd[None]) ** 2).mean(axis=2)
        for i in range(5):
            near = np.argsort(squared[i])[: graphs.N_NEIGHBORS]
            weight = np.exp(-squared[i, near] / model.width) / np.sqrt(model.degree[near])
            expected = weight @ model.total[near] / (weight @ model.mass[near])
            np.testing.assert_allclose(found[i], expected, rtol=1e-6)
        far = model.predict(Rows(new, 100.0 * new, None))
        assert (far >= model.limits[0]).all()
        assert (far <= model.limits[1]).all()

    @pytest.mark.parametrize(
        ("n", "width", "exact"), [(90, 70, 1000), (50, 80, 1000), (90, 70, 10), (50, 80, 10)]
    )
    def test_leading_directions(self, n, width, exact, monkeypatch):
        """Of points with 40 strong directions, whichever way they are found."""
        monkeypatch.setattr(graphs, "_EXACT", exact)
        rng = np.random.default_rng(0)
        points = rng.normal(size=(n, 40)) @ rng.normal(size=(40, width)) * 10 + rng.normal(size=(n, width))
        found = graphs.leading_directions(points)
        np.testing.assert_allclose(found.T @ found, np.eye(40), atol=1e-9)
        _, _, rows = np.linalg.svd(points, full_matrices=False)
        np.testing.assert_allclose(found @ found.T, rows[:40].T @ rows[:40], atol=1e-3)

    def test_constant_features(self):
        lesson, _ = make_lesson(1)
        nothing = lesson._replace(points=lesson.points[:, :0], crowd=lesson.crowd[:, :0])
        answer = graphs.fit_graph(nothing)
        assert np.isfinite(answer.held_out).all()
        assert np.isfinite(answer.model.predict(Rows(np.zeros((2, 0)), np.zeros((2, 0)), None))).all()


@pytest.mark.parametrize("fit", [fit_random_forest, fit_extra_trees])
def test_forests_hold_out_what_no_tree_saw(fit):
    lesson, table = make_lesson(2, missing=0.2)
    answer = fit(lesson)
    forest = answer.model.forest
    seen_by = [set(range(18)) - set(member.out_of_bag.tolist()) for member in forest.members]
    i = 4
    without_row = forest._replace(members=[m for m, seen in zip(forest.members, seen_by) if i not in seen])
    expected = type(answer.model)(without_row).predict(Rows(table.values[[i]], lesson.crowd[[i]], None))[0]
    np.testing.assert_allclose(answer.held_out[i], expected, atol=1e-12)


class TestStack:
    @given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([0.0, 0.1, 3.0]))
    def test_equals_a_generic_solver(self, seed, m, pull):
        rng = np.random.default_rng(seed)
        learnt = rng.normal(size=(25, 2))
        learnt[rng.random(learnt.shape) < 0.2] = np.nan
        learnt[0] = 0.0
        quality = rng.random(m)
        held_out = [q * np.nan_to_num(learnt) + rng.normal(size=(25, 2)) * 0.5 for q in quality]
        weights = stack_weights(learnt, held_out, pull)
        expected, objective = naive.stack_weights(learnt, held_out, pull)
        assert weights.sum() == pytest.approx(1.0)
        assert weights.min() >= 0.0
        assert objective(weights) <= objective(expected) + 1e-9
        np.testing.assert_allclose(weights, expected, atol=2e-3)

    def test_perfect_members_count_alike(self):
        truth = np.array([[1.0], [-1.0]])
        np.testing.assert_allclose(stack_weights(truth, [truth, truth, truth]), 1 / 3)


class TestCompletion:
    def test_classes_add_up_to_one(self):
        target = make_target(np.random.default_rng(0), 5, "classification")
        shares = possible(target, np.array([[1.4, -0.3, -0.1], [0.2, 0.3, 0.5], [-0.1, 0.0, -0.1]]))
        np.testing.assert_allclose(shares, [[1.0, 0.0, 0.0], [0.2, 0.3, 0.5], [1 / 3, 1 / 3, 1 / 3]])

    def test_no_label_is_more_likely_than_its_parents(self):
        target = make_target(np.random.default_rng(0), 5, "hierarchical")
        shares = possible(target, np.array([[0.4, 0.9, 0.7], [1.2, 0.5, -0.1]]))
        np.testing.assert_allclose(shares, [[0.4, 0.4, 0.4], [1.0, 0.5, 0.0]])

    def test_numbers_stay(self):
        target = make_target(np.random.default_rng(0), 5, "multi_target")
        columns = np.array([[1e9, -3.0, 0.0]])
        assert possible(target, columns) is columns

    def test_students_rank_for_columns_that_vary(self):
        target = make_target(np.random.default_rng(0), 4, "hierarchical")
        student = student_target(target, np.array([[1.0, 0.3, 0.2], [1.0, 0.4, 0.1]]))
        assert (student.task, student.names) == ("multi_target", ("y1", "y2"))
        assert student.weights.tolist() == target.weights[1:].tolist()
        classes = make_target(np.random.default_rng(0), 2, "classification")
        completed = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
        np.testing.assert_allclose(student_target(classes, completed).weights, [1.0, 0.25, 0.25])
        one = student_target(make_target(np.random.default_rng(0), 2, "regression"), np.array([[1.0], [2.0]]))
        assert one.task == "regression"
