"""Warnings about data: planted faults are named, data in order are not, for all five tasks."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tools.false_alarms import LOOKS, PLANTED, clean, plant

from semirank import Ranking, Table, evaluate, label_curves, rank
from semirank.data.encode_target import encode_target
from semirank.data.tasks import TASKS
from semirank.judging.data_warnings import data_warnings
from semirank.judging.labelled_rows import _auc, _rank_sum, same_rows
from semirank.judging.telltale import telling_values

SIZE = (500, 40, 120)


def table_of(values, n_values=None):
    values = np.asarray(values, dtype=float)
    d = values.shape[1]
    n_values = np.zeros(d, dtype=np.int64) if n_values is None else np.asarray(n_values)
    return Table(values, n_values, tuple(f"x{j}" for j in range(d)), (None,) * d)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("look", LOOKS)
def test_data_in_order_are_not_warned_about(task, look):
    for seed in range(2):
        assert data_warnings(*clean(task, look, SIZE, seed)) == []


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("look", ["numbers", "mixed", "whole numbers"])
def test_every_planted_fault_is_named(task, look, kind):
    table, target, feature = plant(kind, *clean(task, look, SIZE, 3), 3)
    found = [warning for warning in data_warnings(table, target) if warning.kind == kind]
    assert found
    if feature >= 0:
        assert any(table.names[feature] in warning.features for warning in found)
        assert any(table.names[feature] in warning.text for warning in found)
    else:
        (warning,) = found
        copies = set(warning.rows)
        assert copies
        assert not target.labeled[list(copies)].any()
        for row in copies:
            same = (table.values == table.values[row]) | np.isnan(table.values + table.values[row])
            assert target.labeled[same.all(axis=1)].any()


class TestGivesTheTargetAway:
    def test_a_class_under_other_names(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 3, 60)
        table = table_of(np.column_stack([rng.normal(size=60), 7 - y]), [0, 0])
        target = encode_target([f"c{v}" if i < 30 else None for i, v in enumerate(y)])
        (told,) = telling_values(table, target)
        assert (told.feature, told.same) == (1, True)
        (warning,) = data_warnings(table, target)
        assert "the target under other names" in warning.text
        assert "--drop x1" in warning.text

    def test_rows_in_the_order_of_the_classes_fool_nobody(self):
        """Of equal values, the order of the file must not count."""
        y = ["a"] * 50 + ["b"] * 50
        values = np.zeros((100, 2))
        values[::7, 1] = 1
        assert telling_values(table_of(values), encode_target(y)) == []

    def test_an_identifier_predicts_nothing(self):
        rng = np.random.default_rng(0)
        codes = np.arange(80)
        values = np.column_stack([codes, rng.permutation(codes)])
        target = encode_target(rng.choice(["a", "b"], 80).tolist())
        assert telling_values(table_of(values, [80, 0]), target) == []

    def test_few_labels_agree_by_chance(self):
        """Among thousands of two-valued features, some equal ten labels."""
        rng = np.random.default_rng(0)
        values = (rng.random((200, 5000)) < 0.5).astype(float)
        y = np.where(np.arange(200) < 10, rng.integers(0, 2, 200).astype(float), np.nan)
        y[:10] = values[:10, 3]
        target = encode_target(y, task="classification")
        assert (values[:10] == y[:10, None]).all(axis=0).sum() >= 1
        assert telling_values(table_of(values), target) == []

    def test_a_share_of_missing_values_hides_nothing(self):
        rng = np.random.default_rng(0)
        y = rng.normal(size=200)
        leak = np.exp(y)
        leak[rng.random(200) < 0.4] = np.nan
        table = table_of(np.column_stack([rng.normal(size=(200, 5)), leak]))
        assert [told.feature for told in telling_values(table, encode_target(y))] == [5]

    def test_one_of_several_targets_is_named(self):
        rng = np.random.default_rng(0)
        Y = rng.normal(size=(100, 3))
        table = table_of(np.column_stack([rng.normal(size=(100, 4)), 2 - 5 * Y[:, 1]]))
        (warning,) = data_warnings(table, encode_target(Y))
        assert warning.kind == "leak"
        assert "is y1 under other names" in warning.text


def test_missing_values_everywhere_alike_tell_nothing():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, 20))
    values[rng.random(values.shape) < 0.4] = np.nan
    assert data_warnings(table_of(values), encode_target(rng.choice(["a", "b"], 300).tolist())) == []


class TestSameRows:
    def test_few_bits_repeat_by_themselves(self):
        rng = np.random.default_rng(0)
        values = rng.integers(0, 2, size=(300, 6))
        assert same_rows(table_of(values), np.arange(300) % 3 == 0) is None

    def test_more_twins_than_labels_dealt_out_at_random_give(self):
        rng = np.random.default_rng(0)
        values = rng.integers(0, 2, size=(300, 12))
        values[200:240] = values[:40]
        assert same_rows(table_of(values), np.arange(300) < 60) is not None

    def test_missing_values_equal_each_other_and_nothing_else(self):
        values = np.random.default_rng(0).normal(size=(30, 3))
        values[:4, 0] = np.nan
        values[20:24] = values[:4]
        values[24] = np.nan_to_num(values[3])  # zero is no hole
        found = same_rows(table_of(values), np.arange(30) < 10)
        assert found.unlabeled.tolist() == [20, 21, 22, 23]
        assert found.labeled.tolist() == [0, 1, 2, 3]

    def test_huge_numbers(self):
        values = np.random.default_rng(0).normal(size=(30, 3)) * 1e300
        values[20:24] = values[:4]
        assert len(same_rows(table_of(values), np.arange(30) < 10).unlabeled) == 4


def test_scores_of_bins_are_those_of_pairs():
    rng = np.random.default_rng(0)
    from scipy.stats import mannwhitneyu

    ones, zeros = rng.integers(0, 9, 5).astype(float), rng.integers(1, 9, 5).astype(float)
    a, b = (np.repeat(np.arange(5), part.astype(int)) for part in (ones, zeros))
    pairs = np.sign(a[:, None] - b)
    assert _auc(ones, zeros) == pytest.approx((pairs.mean() + 1) / 2)
    p = mannwhitneyu(a, b, method="asymptotic", use_continuity=False).pvalue
    from scipy.stats import norm

    assert 2 * norm.sf(abs(_rank_sum(ones, zeros))) == pytest.approx(p)


@pytest.fixture(scope="module")
def leaking():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = np.where(X[:, 2] > 0, "high", "low").astype(object)
    y[45:] = None
    return X, y


class TestWhereTheyAreShown:
    WORDS = "'x2' gives the target away"

    def test_at_the_top_of_a_ranking(self, leaking, tmp_path):
        ranking = rank(*leaking, method="laplace")
        (warning,) = ranking.warnings
        assert (warning["kind"], warning["features"]) == ("leak", ["x2"])
        assert repr(ranking).startswith(f"Warning: {self.WORDS}")
        assert ranking._repr_html_().startswith("<p><b>Warning: ")
        assert ranking.to_columns()["warning"].count("gives the target away") == 1
        for ending in ("json", "csv", "fimp"):
            ranking.save(tmp_path / f"r.{ending}")
            (again,) = Ranking.load(tmp_path / f"r.{ending}").warnings
            assert again["kind"] == "leak"
            assert "x2" in again["text"]
        assert Ranking.load(tmp_path / "r.json").warnings == [warning]
        ranking.save(tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text()
        assert page.index("gives the target away") < page.index('class="tiles"')

    def test_at_the_top_of_an_evaluation(self, leaking, tmp_path):
        X, y = leaking
        found = evaluate(X, y, method="laplace", methods=[], n_repeats=1, n_folds=3)
        assert repr(found).startswith(f"Warning: {self.WORDS}")
        assert found.to_dict()["warnings"] == found.ranking.warnings == found.warnings
        curves = label_curves(X, y, methods="laplace", n_labeled=(20,), n_folds=3, k=3)
        assert repr(curves).startswith(f"Warning: {self.WORDS}")
        assert len(curves.to_dict()["warnings"]) == 1
        curves.save(tmp_path / "c.html")
        assert 'id="warnings"' in (tmp_path / "c.html").read_text()

    def test_before_the_ranking_in_the_terminal(self, leaking, tmp_path, monkeypatch, call):
        monkeypatch.chdir(tmp_path)
        X, y = leaking
        lines = [",".join([*map(str, row), label or ""]) for row, label in zip(X.tolist(), y)]
        (tmp_path / "d.csv").write_text("\n".join(["x0,x1,x2,x3,y", *lines]) + "\n")
        code, out, _ = call("rank", "d.csv", "-t", "y", "-m", "laplace")
        assert code == 0
        assert out.startswith(f"Warning: {self.WORDS}")
        code, out, _ = call("describe", "d.csv", "-t", "y")
        assert code == 0
        assert out.startswith(f"Warning: {self.WORDS}")
        code, out, _ = call("describe", "d.csv", "-t", "y", "--json", "--odd")
        assert [column["name"] for column in json.loads(out)] == ["x2"]
        code, out, _ = call(
            "evaluate", "d.csv", "-t", "y", "-m", "laplace", "--repeats", "1", "--folds", "3"
        )  # fmt: skip
        assert out.startswith(f"Warning: {self.WORDS}")

    def test_one_class_only(self, tmp_path, monkeypatch, call):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "d.csv").write_text("a,b,y\n1,2,p\n2,3,p\n3,5,\n4,1,\n")
        code, out, _ = call("describe", "d.csv", "-t", "y")
        assert code == 0
        assert out.startswith("Warning: all 2 labelled rows are of one class, 'p', so no feature")
        code, _, err = call("rank", "d.csv", "-t", "y")
        assert code == 2
        assert "label some rows of another class" in err


def test_nothing_depends_on_chance():
    table, target, _ = plant("shift", *clean("classification", "mixed", SIZE, 5), 5)
    assert data_warnings(table, target) == data_warnings(table, target)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 12])
def test_tiny_data(n_rows):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows, dtype=float)[:, None]
    table = table_of(rng.normal(size=(n_rows, 2)))
    from semirank import Target

    for hidden in range(n_rows + 1):
        values = y.copy()
        values[:hidden] = np.nan
        data_warnings(table, Target("regression", values, ("y",), np.ones(1)))
        data_warnings(table, Target("multi_label", (values > 1) * 1.0, ("y",), np.ones(1)))
    for empty in (np.full((n_rows, 2), np.nan), np.zeros((n_rows, 2))):
        data_warnings(table_of(empty), Target("regression", y, ("y",), np.ones(1)))


def test_identifiers_are_named_and_do_not_lead():
    """A column of 150 names in 200 rows, among a feature that tells the class and two that do not."""
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=(200, 3)), rng.integers(0, 150, 200)])
    y = np.where(values[:, 1] + 0.5 * rng.normal(size=200) > 0, "p", "q").astype(object)
    y[80:] = None
    names = tuple(f"n{i}" for i in range(150))
    table = Table(values, np.array([0, 0, 0, 150]), ("a", "b", "c", "code"), (None, None, None, names))
    ranking = rank(table, y, random_state=0)
    (warning,) = [w for w in ranking.warnings if w["kind"] == "identifiers"]
    assert warning["text"].endswith("leave it out (--drop code)")
    assert warning["features"] == ["code"]
    assert repr(ranking).startswith(f"Warning: {warning['text']}")
    assert ranking.select(1) == ["b"]
    assert ranking.scores[3] < 0.2 * ranking.scores[1]
    forest = rank(table, y, method="forest", importance="genie3", supervision=1.0, random_state=0)
    assert forest.select(1) == ["code"]  # the bias that the consensus does not have
