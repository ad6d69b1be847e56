"""The paper's evaluation on any table: every score recomputed slowly, both pools, areas, files, refusals."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from semirank import ForestRanker, LabelCurves, ReliefRanker, label_curves, semi_supervised_folds
from semirank.data.encode_features import encode_features
from semirank.data.encode_target import encode_target
from semirank.evaluation.curves import area
from semirank.evaluation.label_curves import _draw
from semirank.judging.measures import task_score
from semirank.results.evaluation import NO_RANKING

from ..neighbors.naive_neighbors import knn_prototypes, make_table, make_target


def correlation(table, target, use_unlabeled, seed):
    """Weights that depend on the side, so that mixed-up sides would show."""
    known = target.labeled
    found = np.abs(np.corrcoef(table.values[known].T, target.values[known].T)[-1, :-1])
    return found if use_unlabeled else found**2


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    X = rng.random((90, 4))
    y = X[:, 0] + 0.5 * X[:, 1]
    y[rng.permutation(90)[:20]] = np.nan
    return X, y


@pytest.fixture(scope="module")
def found(numbers):
    options = {"n_labeled": (12, 30, 500), "n_folds": 4, "k": (3, 7), "random_state": 5}
    return label_curves(*numbers, methods={"correlation": correlation}, **options)


def test_every_score_is_the_slow_one(numbers, found):
    table, target = encode_features(numbers[0]), encode_target(numbers[1])
    folds = semi_supervised_folds(target, 4, (12, 30, 500), random_state=5)
    for curve in found.curves:
        for i, n in enumerate((12, 30, 500)):
            scores = []
            for fold in folds:
                train, train_target, test, test_target = fold.parts(table, target, n)
                weights = np.ones(4)
                if curve.side:
                    weights = correlation(train, train_target, curve.side == "semi-supervised", 0)
                means = knn_prototypes(weights, train, train_target, test, curve.k, curve.pool)
                scores.append(task_score("regression", test_target.values, means))
            mean = np.average(scores, weights=[len(fold.test) for fold in folds])
            assert curve.scores[i] == pytest.approx(mean, abs=1e-12)
        assert curve.area == area((12, 30, 500), curve.scores)


def test_what_is_there(found):
    keys = {curve[:4] for curve in found.curves}
    sides = [("correlation", "semi-supervised"), ("correlation", "supervised"), (NO_RANKING, "")]
    assert keys == {(*side, pool, k) for side in sides for pool in ("labelled", "all") for k in (3, 7)}
    assert len(found.curves) == len(keys)
    assert (found.n_labeled, found.k, found.rankers) == ((12, 30, 500), (3, 7), ("correlation",))
    assert found.labels_used[2] == pytest.approx(70 * 3 / 4)  # all labels of three folds of four
    assert any("L = 500 keeps all they have" in note for note in found.notes)


def test_differences_point_upwards_where_unlabelled_rows_help(found):
    semi = found.find("correlation", "semi-supervised", "labelled", 7).area
    wide = found.find("correlation", "semi-supervised", "all", 7).area
    supervised = found.find("correlation", "supervised", "labelled", 7).area
    assert found.difference("correlation") == supervised - semi  # RRMSE: smaller is better
    assert found.difference("correlation", "paper") == supervised - wide
    assert [row["k"] for row in found.differences()] == [3, 7]
    with pytest.raises(KeyError, match="no curve of 'correlation'"):
        found.difference("correlation", k=4)


def test_rankers_get_the_same_seed_on_both_sides_and_their_parameters():
    rng = np.random.default_rng(1)
    table, target = make_table(rng, 60, [0, 0, 3]), make_target(rng, 60, "classification")
    seen = []

    class Spy(ForestRanker):
        def fit(self, X, y, **options):
            seen.append((self.use_unlabeled, self.random_state, self.n_estimators, len(X), y.labeled.sum()))
            return super().fit(X, y, **options)

    spy = Spy(importance="symbolic", supervision=0.5)
    found = label_curves(table, target, methods={"spy": spy}, n_labeled=(15, 25), n_folds=3, n_estimators=3)
    assert len(seen) == 3 * 2 * 2
    assert spy.n_estimators != 3  # the user's own ranker stays as it is
    for with_rows, without in zip(seen[::2], seen[1::2]):
        assert (with_rows[0], without[0]) == (True, False)
        assert with_rows[1:] == without[1:]
    assert len({s[1] for s in seen}) == 6
    assert {s[2] for s in seen} == {3}
    assert {_draw(0, fold, n) for fold in range(3) for n in (15, 25)} == {s[1] for s in seen}
    assert found.rankers == ("spy genie3", "spy symbolic", "spy genie3_oob")


def test_the_preset_sets_the_rankers_and_parameters_win():
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    y = X[:, 0] + X[:, 1]
    cases = {"n_labeled": (20,), "n_folds": 2, "k": 3, "random_state": 1}
    paper = label_curves(X, y, methods="relief", preset="paper", **cases)
    tuned = label_curves(X, y, methods="relief", n_neighbors="auto", influence="auto", **cases)
    assert [curve.scores.tolist() for curve in paper.curves] == [c.scores.tolist() for c in tuned.curves]
    own = label_curves(X, y, methods="relief", preset="paper", n_neighbors=5, influence=(0.0, 1.0), **cases)
    fixed = label_curves(X, y, methods="relief", n_neighbors=5, **cases)
    assert [curve.scores.tolist() for curve in own.curves] == [c.scores.tolist() for c in fixed.curves]
    with pytest.raises(ValueError, match="says nothing about method='consensus'"):
        label_curves(X, y, methods="consensus", preset="paper", **cases)


@pytest.mark.parametrize("task", ["classification", "multi_target", "multi_label", "hierarchical"])
def test_all_tasks(task):
    rng = np.random.default_rng(2)
    table, target = make_table(rng, 60, [0, 0]), make_target(rng, 60, task)
    found = label_curves(table, target, methods=ReliefRanker(), n_labeled=(20, 40), n_folds=3, k=5)
    assert found.task == task
    assert np.isfinite([curve.scores for curve in found.curves]).all()
    assert found.summary().startswith("With 20 to 40 labels and the unlabelled rows, ReliefRanker ranks best")


def test_a_predefined_test_part(numbers):
    test = np.arange(60, 90)
    found = label_curves(*numbers, methods={"c": correlation}, n_labeled=(12, 24), test=test, k=3)
    assert found.n_folds == 1
    assert found.labels_used == (12, 24)


def test_interrupted_work_goes_on_from_the_cache(numbers, tmp_path):
    calls = []

    def counted(table, target, use_unlabeled, seed):
        calls.append(seed)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return correlation(table, target, use_unlabeled, seed)

    options = {"methods": {"counted": counted}, "n_labeled": (12, 30), "n_folds": 3, "k": 3}
    with pytest.raises(KeyboardInterrupt):
        label_curves(*numbers, cache=tmp_path, **options)
    steps = []
    found = label_curves(*numbers, cache=tmp_path, progress=lambda *step: steps.append(step), **options)
    assert len(calls) == 5 + 12 - 4
    assert steps[-1] == (6, 6, "training parts")
    again = label_curves(*numbers, **options)
    for one, two in zip(found.curves, again.curves):
        np.testing.assert_array_equal(one.scores, two.scores)


class TestFiles:
    def test_json_csv_and_frame(self, found, tmp_path):
        found.save(tmp_path / "c.json")
        values = json.loads((tmp_path / "c.json").read_text())
        assert len(values["curves"]) == 12
        assert values["curves"][0]["scores"] == found.curves[0].scores.tolist()
        found.save(tmp_path / "c.csv")
        rows = list(csv.DictReader((tmp_path / "c.csv").read_text().splitlines()))
        assert [float(row["area"]) for row in rows] == [curve.area for curve in found.curves]
        assert list(rows[0]) == ["ranker", "side", "pool", "k", "L=12", "L=30", "L=500", "area"]
        frame = pytest.importorskip("pandas").DataFrame(found.to_columns())
        assert found.to_frame().equals(frame)

    def test_page(self, found, tmp_path):
        hostile = found.find("correlation", "supervised", "all", 3)._replace(ranker="<script>x</script>")
        curves = [c._replace(ranker=hostile.ranker) if c.side else c for c in found.curves]
        renamed = LabelCurves(**{**vars(found), "curves": tuple(curves), "notes": ["<b>"]})
        renamed.save(tmp_path / "c.html")
        page = (tmp_path / "c.html").read_text()
        assert page.count('<svg class="chart"') == 8
        assert "<script>" not in page
        assert "&lt;b&gt;" in page
        with pytest.raises(ValueError, match=r"the extension must be one of \.json, \.csv, \.html"):
            found.save(tmp_path / "c.txt")

    def test_picture(self, found):
        pytest.importorskip("matplotlib")
        figure = found.plot()
        assert len(figure.axes) == 4
        assert [len(ax.lines) for ax in figure.axes] == [4] * 4
        assert {ax.get_title() for ax in figure.axes} == {
            f"{k} neighbours, {judge} judge" for k in (3, 7) for judge in ("fair", "paper's")
        }

    def test_text(self, found):
        lines = found.table().splitlines()
        assert lines[0].split() == ["ranker", "side", "pool", "L=12", "L=30", "L=500", "area"]
        assert len(lines) == 7
        assert found.table(3) != found.table()
        assert repr(found).startswith(found.summary())
        assert "by the fair judge: correlation" in found.sentences()[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_labeled": (1,)}, r"L = 1 leaves too little to rank by in fold 1 \(No row of y is labelled"),
        ({"n_labeled": (0, 5)}, "n_labeled must be whole numbers"),
        ({"n_folds": 1}, "n_folds must be a whole number of at least 2"),
        ({"n_folds": 80}, "too few for 80 folds"),
        ({"k": 0}, "k must be one or several whole numbers"),
        ({"methods": "forrest"}, "did you mean 'forest'"),
        ({"methods": "relief", "n_trees": 5}, "None of the methods has a parameter 'n_trees'"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_bad_input(numbers, options, message):
    options = {"methods": {"c": correlation}, "n_labeled": (12,), "n_folds": 3} | options
    with pytest.raises((ValueError, TypeError), match=message):
        label_curves(*numbers, **options)


def test_one_class_left_is_said_before_the_work():
    y = np.array(["a"] * 58 + ["b"] * 2)
    X = np.random.default_rng(0).random((60, 2))
    with pytest.raises(ValueError, match=r"L = 4 leaves too little to rank by in fold .* only one class"):
        label_curves(X, y, methods={"c": correlation}, n_labeled=(4,), n_folds=3)
