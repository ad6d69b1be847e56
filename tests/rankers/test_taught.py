"""Rankers on a completed target: equal to the two steps by hand, for all tasks; what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from semirank import (
    ConsensusRanker,
    ForestRanker,
    LaplaceRanker,
    Ranking,
    ReliefRanker,
    TaughtRanker,
    Teacher,
)
from semirank.data.target import Target
from semirank.data.tasks import NUMBERS, TASKS
from semirank.rankers.taught import as_seen_by, at_names, content_rows, found_in_words

from ..teacher.test_teacher import problem
from .planted import clusters, found

QUICK = Teacher(members=["linear", "graph"], random_state=0)
FOREST = ForestRanker(supervision=1.0, n_estimators=10, importance=("genie3", "rforest"), random_state=1)


class TestTasks:
    @pytest.mark.parametrize("ranker", [FOREST, ReliefRanker(n_neighbors=7)], ids=["forest", "relief"])
    @pytest.mark.parametrize("task", TASKS)
    def test_equals_the_two_steps(self, task, ranker):
        table, target, _ = problem(task)
        taught = TaughtRanker(ranker, teacher=QUICK, random_state=2).fit(table, target)
        order = content_rows(table, target, np.arange(len(table)))
        teacher = clone(QUICK).fit(table.take(order), target.take(order))
        student = teacher.student_target(target.take(order))
        if task == "classification" and isinstance(ranker, ReliefRanker):
            student = Target(student.task, student.values, student.names, np.ones(2))
        inner = (
            clone(ranker).set_params(random_state=ranker.random_state or 2).fit(table.take(order), student)
        )
        for name, scores in inner.importances_.items():
            np.testing.assert_array_equal(taught.importances_[name], scores)
        np.testing.assert_array_equal(taught.feature_importances_, inner.feature_importances_)
        np.testing.assert_allclose(taught.teacher_.completed_[order], teacher.completed_)
        assert (taught.task_, taught.n_labeled_, taught.n_rows_) == (task, 60, 160)
        per = taught.importances_per_class_ if task == "classification" else taught.importances_per_target_
        np.testing.assert_array_equal(per, inner.importances_per_target_)
        assert taught.predict(table).shape[0] == 160
        assert taught.score(table, target) == taught.teacher_.score(table, target)
        assert hasattr(taught, "predict_proba") == (TASKS[task].kind != NUMBERS)

    @pytest.mark.parametrize("task", TASKS)
    def test_ranking(self, task):
        table, target, _ = problem(task)
        taught = TaughtRanker(FOREST, teacher=QUICK).fit(table, target)
        ranking = taught.to_ranking()
        assert (ranking.method, ranking.task) == ("taught forest", task)
        assert (ranking.n_rows, ranking.n_labeled) == (160, 60)
        assert ranking.teacher["members"] == ["linear", "graph"]
        assert list(ranking.teacher["scores"]) == ["linear", "graph", "stack"]
        assert ranking == Ranking.from_dict(ranking.to_dict())
        again: dict[str, object] = {"X": table, "y": target}
        exec(ranking.origin["python"], again)
        assert again["ranking"].method == "taught forest"
        if task == "classification":
            assert ranking.class_names == ("no", "yes")
            assert ranking.per_class.shape == (6, 2)

    def test_report_shows_how_to_repeat_it_in_python(self, tmp_path):
        table, target, _ = problem("regression")
        TaughtRanker(teacher=QUICK).fit(table, target).to_ranking().save(tmp_path / "r.html")
        text = (tmp_path / "r.html").read_text(encoding="utf-8")
        assert "ranking = TaughtRanker(teacher=Teacher(" in text
        assert "semirank rank DATA_FILE" not in text

    def test_laplace(self):
        table, target, _ = problem("regression")
        taught = TaughtRanker(LaplaceRanker(), teacher=QUICK).fit(table, target)
        assert taught.feature_importances_.shape == (6,)
        assert taught.to_ranking().method == "taught laplace"
        assert taught.importances_per_target_ is None

    def test_partly_known_rows(self):
        table, target, _ = problem("multi_target", holes=0.3)
        taught = TaughtRanker(FOREST, teacher=QUICK).fit(table, target)
        assert taught.importances_per_target_.shape == (6, 2)

    def test_labelled_rows_alone(self):
        table, target, _ = problem("regression")
        alone = TaughtRanker(teacher=QUICK, use_unlabeled=False, random_state=0).fit(table, target)
        known = np.flatnonzero(target.labeled)
        same = TaughtRanker(teacher=QUICK, random_state=0).fit(table.take(known), target.take(known))
        np.testing.assert_array_equal(alone.feature_importances_, same.feature_importances_)

    def test_columns_that_do_not_vary_score_nothing(self):
        table, target, _ = problem("multi_target")
        values = np.column_stack([target.values[:, 0], np.where(target.labeled, 4.0, np.nan)])
        taught = TaughtRanker(FOREST, teacher=QUICK)
        taught.fit(table, Target("multi_target", values, ("s", "t"), np.ones(2)))
        assert taught.importances_per_target_[:, 0].any()
        assert not taught.importances_per_target_[:, 1].any()


class TestUnlabelledRows:
    def test_taught_relief_finds_what_semi_supervised_relief_does_not(self):
        table, target, relevant = clusters("classification", n=600)
        taught = TaughtRanker(random_state=0).fit(table, target)
        paper = ReliefRanker(random_state=0).fit(table, target)
        assert found(taught.feature_importances_, relevant) == 5
        assert found(paper.feature_importances_, relevant) <= 2

    def test_class_columns_have_one_scale_in_distances(self):
        _, target, _ = problem("classification")
        student = Target("multi_target", np.zeros((3, 2)), ("no", "yes"), np.array([0.2, 1.0]))
        assert as_seen_by(ReliefRanker(), student, target).weights.tolist() == [1.0, 1.0]
        assert as_seen_by(ForestRanker(), student, target).weights.tolist() == [0.2, 1.0]
        _, labels, _ = problem("hierarchical")
        assert as_seen_by(ReliefRanker(), student, labels).weights.tolist() == [0.2, 1.0]

    def test_label_weights_count_in_distances(self):
        """A label of weight 0 cannot matter to Relief."""
        table, _, whole = problem("multi_target")
        both = Target("multi_target", whole.values, whole.names, np.array([1.0, 0.0]))
        one = Target("regression", whole.values[:, :1], ("s",), np.ones(1))
        ranked = (ReliefRanker().fit(table, target).feature_importances_ for target in (both, one))
        np.testing.assert_allclose(*ranked, rtol=1e-12)


class TestDeterminism:
    @pytest.mark.parametrize("ranker", [FOREST, ReliefRanker(n_iterations=50)], ids=["forest", "relief"])
    def test_rows_threads_and_seeds(self, ranker):
        table, target, _ = problem("classification")
        one = TaughtRanker(ranker, n_jobs=1, random_state=3).fit(table, target)
        two = TaughtRanker(ranker, n_jobs=2, random_state=3).fit(table, target)
        np.testing.assert_array_equal(one.feature_importances_, two.feature_importances_)
        rows = np.random.default_rng(0).permutation(len(table))
        moved = TaughtRanker(ranker, random_state=3).fit(table.take(rows), target.take(rows))
        np.testing.assert_array_equal(moved.feature_importances_, one.feature_importances_)
        np.testing.assert_array_equal(moved.teacher_.completed_, one.teacher_.completed_[rows])

    def test_inner_seed_is_kept(self):
        table, target, _ = problem("regression")
        taught = TaughtRanker(FOREST, teacher=QUICK, random_state=5).fit(table, target)
        assert (taught.ranker_.seed_, taught.teacher_.seed_, taught.seed_) == (1, 0, 5)
        assert taught.ranker is FOREST
        assert not hasattr(FOREST, "feature_importances_")


class TestBadInput:
    @pytest.mark.parametrize(
        ("ranker", "teacher", "error", "sentence"),
        [
            (ForestRanker(supervision=0.5), None, ValueError, "supervision=0.5: on a completed target"),
            (ForestRanker(supervision="cv"), None, ValueError, "supervision='cv': on a completed target"),
            (ConsensusRanker(), None, TypeError, "is no ranker that TaughtRanker can use"),
            ("relief", None, TypeError, "'relief' is no ranker that TaughtRanker can use"),
            (
                ReliefRanker(task="regression"),
                None,
                ValueError,
                "task='regression' was given to ReliefRanker",
            ),
            (ReliefRanker(n_features_to_select=2), None, ValueError, "give n_features_to_select to Taught"),
            (None, ReliefRanker(), TypeError, r"teacher=ReliefRanker\(\) is no Teacher"),
            (None, Teacher(unlabeled=-1), ValueError, "unlabeled=-1 was given to Teacher"),
        ],
    )
    def test_parameters(self, ranker, teacher, error, sentence):
        table, target, _ = problem("regression")
        with pytest.raises(error, match=sentence):
            TaughtRanker(ranker, teacher=teacher).fit(table, target)

    def test_default_forest_looks_at_the_target_only(self):
        table, target, _ = problem("regression")
        taught = TaughtRanker(ForestRanker(n_estimators=5), teacher=QUICK).fit(table, target)
        assert taught.ranker_.supervision_ == 1.0
        assert taught.ranker_.supervision_path_ == []

    def test_too_few_labels(self):
        table, target, _ = problem("regression", n_labeled=9)
        with pytest.raises(ValueError, match="Only 9 rows are labelled"):
            TaughtRanker().fit(table, target)


def test_words():
    table, target, _ = problem("regression")
    words = found_in_words(Teacher(members=["random_forest", "linear"], random_state=0).fit(table, target))
    assert words.startswith("the teacher predicts held-out labels with RRMSE 0.")
    assert "its random forest alone 0." in words
    assert words.endswith("comes from linear regression") or "from linear regression, 0." in words
    assert "alone" not in found_in_words(clone(QUICK).fit(table, target))


def test_names_without_a_column_are_zero():
    assert at_names(np.array([[1.0], [2.0]]), ("b",), ("a", "b")).tolist() == [[0.0, 1.0], [0.0, 2.0]]


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@parametrize_with_checks(
    [TaughtRanker(teacher=Teacher(members=["linear"]), n_features_to_select=1, random_state=0)]
)
def test_estimator_checks(estimator, check):
    check(estimator)
