"""A tree as text."""

from __future__ import annotations

import re

import numpy as np
import pytest

from semirank import ForestRanker
from semirank.data.encode_features import encode_features
from semirank.data.encode_target import encode_target
from semirank.data.table import Table
from semirank.trees.ensemble import bootstrap_weights

from ..rankers.test_forest import mixed
from .cases import rows_in_nodes

ONE = {"n_estimators": 1, "bootstrap": False, "random_state": 0, "min_labeled": 0}


def test_numbers():
    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    y = np.array([1.0, 1.0, np.nan, 7.0, 9.0, np.nan])
    ranker = ForestRanker(supervision=1.0, task="regression", **ONE).fit(X, y)
    assert ranker.export_text().splitlines() == [
        "6 rows, 4 labelled",
        "├─ x0 <= 3.5: 3 rows, 2 labelled → y = 1",
        "└─ x0 > 3.5: 3 rows, 2 labelled",
        "   ├─ x0 <= 4.5: 1 row, 1 labelled → y = 7",
        "   └─ x0 > 4.5: 2 rows, 1 labelled → y = 9",
    ]


@pytest.mark.parametrize("task", ["classification", "multi_target", "multi_label", "hierarchical"])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_counts_are_those_of_the_rows(task, bootstrap):
    """Every line against the rows that reach the node, by walking them down the tree."""
    X, y, tree = mixed(task, m=60)
    options = ONE | {"bootstrap": bootstrap, "n_estimators": 2, "supervision": 0.5}
    ranker = ForestRanker(**options, hierarchy=tree).fit(X, y)
    member = ranker._forest.members[1]
    table, target = encode_features(X), encode_target(y, hierarchy=tree)
    weight = np.ones(60)
    if bootstrap:
        weight = bootstrap_weights(target.labeled, np.random.default_rng([ranker.seed_, 1]))
    passed = rows_in_nodes(member.tree, table.values, np.flatnonzero(weight))
    todo, expected = [0], []
    while todo:
        node = todo.pop()
        rows = np.array(passed[node])
        expected.append((weight[rows].sum(), weight[rows][target.labeled[rows]].sum()))
        if member.tree.feature[node] >= 0:
            todo += [member.tree.right[node], member.tree.left[node]]
    lines = ranker.export_text(1).splitlines()
    found = [re.search(r"(\d+) rows?, (\d+) labelled", line).groups() for line in lines]
    assert [tuple(map(int, pair)) for pair in found] == expected
    assert sum(" → " in line for line in lines) == len(member.means)


def test_shares_of_classes():
    X = np.repeat([0.0, 1.0], 8)[:, None]
    y = np.array(list("aaab" + "bbbb" + "cccc" + "cccb"), dtype=object)
    assert ForestRanker(supervision=1.0, **ONE).fit(X, y).export_text().splitlines() == [
        "16 rows, 16 labelled",
        "├─ x0 <= 0.5: 8 rows, 8 labelled → b 62.5 %, a 37.5 %",
        "└─ x0 > 0.5: 8 rows, 8 labelled → c 87.5 %, b 12.5 %",
    ]


def test_names_of_values_and_missing_ones():
    values = np.array([0.0, 1.0, 2.0, np.nan] * 4)
    table = Table(values[:, None], np.array([4]), ("colour",), (("red", "green", "blue", "never"),))
    y = np.where(values == 1.0, 5.0, 1.0)
    ranker = ForestRanker(supervision=1.0, task="regression", **ONE).fit(table, y)
    assert ranker.export_text().splitlines() == [
        "16 rows, 16 labelled",
        "├─ colour in {red, blue, never} or missing: 12 rows, 12 labelled → y = 1",
        "└─ colour in {green}: 4 rows, 4 labelled → y = 5",
    ]


def test_long_prototypes_are_cut():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (rng.random((40, 9)) < 0.7).astype(float)
    first = ForestRanker(supervision=1.0, max_depth=1, **ONE).fit(X, y).export_text().splitlines()[1]
    assert first.endswith("and 4 more")
    assert first.split(" → ")[1].count(",") == 4


@pytest.mark.parametrize("number", [-1, 2, 0.0, True, "first"])
def test_a_tree_that_is_not_there(number):
    X, y, _ = mixed("regression")
    ranker = ForestRanker(n_estimators=2, supervision=1.0, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="must be a whole number from 0 to 1"):
        ranker.export_text(number)
