"""Targets of the five kinds: what is inferred, and the words for it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from semirank import Hierarchy
from semirank.data.encode_target import MAX_CLASSES, encode_target, encode_target_like
from semirank.data.missing_words import ask
from semirank.data.target import Target
from semirank.data.tasks import TASKS

from ..optional import pd, pl

nan = np.nan
PATHS = ["r", "r/s", "t"]


def column(target: Target) -> list[float | None]:
    assert target.values.shape[1] == 1
    return [None if np.isnan(v) else v for v in target.values[:, 0]]


def matrix(target: Target) -> list[list[float | None]]:
    return [[None if np.isnan(v) else v for v in row] for row in target.values]


class TestClasses:
    @pytest.mark.parametrize(
        "y",
        [
            ["b", None, "a", "b"],
            ["b", nan, "a", "b"],
            ("b", None, "a", "b"),
            np.array(["b", None, "a", "b"], dtype=object),
            pd.Series(["b", None, "a", "b"]),
            pd.Series(["b", pd.NA, "a", "b"], dtype="string"),
            pd.Series(["b", pd.NA, "a", "b"], dtype=object),
            pd.Series(["b", None, "a", "b"], dtype="category"),
            pd.Categorical(["b", None, "a", "b"]),
            pd.Index(["b", None, "a", "b"], dtype=object),
            pl.Series(["b", None, "a", "b"]),
            pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
            pl.Series(["b", None, "a", "b"], dtype=pl.Enum(["a", "b"])),
        ],
    )
    def test_text(self, y):
        notes: list[str] = []
        target = encode_target(y, notes=notes)
        assert target.task == "classification"
        assert column(target) == [1.0, None, 0.0, 1.0]
        assert target.classes.tolist() == ["a", "b"]
        assert (target.names, target.weights.tolist()) == (("y",), [1.0])
        assert notes == ["classification, 2 classes, 3 of 4 rows labelled", "the target is y: a 1, b 2"]
        assert target.values.flags.c_contiguous

    @pytest.mark.parametrize(
        ("y", "kind"),
        [
            (np.array([3, 1, 3]), "i"),
            (np.array([3.0, 1.0, nan]), "f"),
            ([3, 1, None], "i"),
            (pd.Series([3, 1, None], dtype="Int64"), "i"),
            (pl.Series([3, 1, None]), "i"),
            (np.array([3, 1, 3], dtype=np.uint8), "u"),
        ],
    )
    def test_few_whole_numbers(self, y, kind):
        notes: list[str] = []
        target = encode_target(y, notes=notes)
        assert target.classes.tolist() == [1, 3]
        assert target.classes.dtype.kind == kind
        assert column(target)[:2] == [1.0, 0.0]
        assert 'task="regression"' in notes[2]

    @pytest.mark.parametrize(
        "y",
        [
            np.array([True, False]),
            pd.Series([True, False, None], dtype="boolean"),
            pl.Series([True, False, None]),
            [True, False, None],
        ],
    )
    def test_bools(self, y):
        target = encode_target(y)
        assert target.classes.tolist() == [False, True]
        assert target.classes.dtype == bool
        assert column(target)[:2] == [1.0, 0.0]

    def test_declared_order_without_absent_classes(self):
        target = encode_target(pd.Categorical(["x", "y", None], categories=["z", "y", "x"]))
        assert target.classes.tolist() == ["y", "x"]
        assert column(target) == [1.0, 0.0, None]

    def test_text_arrays_keep_their_type(self):
        assert encode_target(np.array(["bb", "a"])).classes.dtype == np.dtype("<U2")

    def test_numeric_categories_are_classes(self):
        assert encode_target(pd.Series([1.5, 2.5], dtype="category")).task == "classification"

    def test_explicit_task_with_many_numbers(self):
        y = np.arange(100)
        assert encode_target(y).task == "regression"
        assert encode_target(y, task="classification").n_classes == 100

    def test_minus_one_is_a_class_unless_said_otherwise(self):
        y = np.array([-1, 1, 1, 0])
        notes: list[str] = []
        assert encode_target(y, notes=notes).n_classes == 3
        assert ask(-1, "a class") in notes
        target = encode_target(y, unlabeled=-1)
        assert column(target) == [None, 1.0, 1.0, 0.0]
        assert target.labeled.tolist() == [False, True, True, True]

    @pytest.mark.parametrize(
        ("y", "unlabeled"),
        [
            (["a", -1, "b"], -1),
            (pd.Series(["a", -1, "b"], dtype=object), -1),
            (["a", "?", "b"], "?"),
            (pd.Categorical(["a", "?", "b"]), "?"),
            (pl.Series(["a", "?", "b"]), "?"),
            (np.array([0, 9, 1]), 9),
            ([0, pd.NA, 1], -1),
        ],
    )
    def test_unlabeled_value(self, y, unlabeled):
        target = encode_target(y, unlabeled=unlabeled)
        assert column(target) == [0.0, None, 1.0]
        assert target.n_classes == 2

    def test_unlabeled_value_of_another_kind_hides_nothing(self):
        assert encode_target([1, 2], unlabeled="?").labeled.all()
        assert encode_target(["a", "b"], unlabeled=-1).labeled.all()

    def test_column_vectors_are_warned_about(self):
        for y in (np.array([[0], [1]]), pd.DataFrame({"y": [0, 1]}), [[0], [1]]):
            with pytest.warns(
                DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"
            ):
                target = encode_target(y)
            assert target.task == "classification"


class TestNumbers:
    @pytest.mark.parametrize(
        "y", [[1.5, None, 2], np.array([1.5, nan, 2]), pd.Series([1.5, None, 2]), pl.Series([1.5, None, 2])]
    )
    def test_fractional(self, y):
        notes: list[str] = []
        target = encode_target(y, notes=notes)
        assert target.task == "regression"
        assert column(target) == [1.5, None, 2.0]
        assert target.classes is None
        assert notes == ["regression, 2 of 3 rows labelled", "the target is y"]

    @pytest.mark.parametrize(
        ("different", "task"), [(MAX_CLASSES, "classification"), (MAX_CLASSES + 1, "regression")]
    )
    def test_more_than_twenty_values(self, different, task):
        assert encode_target(np.arange(different)).task == task

    def test_explicit(self):
        assert encode_target([1, 2], task="regression").task == "regression"
        assert encode_target([True, False], task="regression").values.ravel().tolist() == [1.0, 0.0]
        assert encode_target(pd.Categorical([3, 5]), task="regression").values.ravel().tolist() == [3.0, 5.0]

    def test_series_name(self):
        assert encode_target(pd.Series([1.5, 2], name="price")).names == ("price",)
        assert encode_target(pl.Series("price", [1.5, 2])).names == ("price",)


class TestSeveral:
    def test_zeros_ones_and_holes_are_labels(self):
        notes: list[str] = []
        target = encode_target([[0, 1, 1], [1, None, 1]], notes=notes)
        assert target.task == "multi_label"
        assert matrix(target) == [[0, 1, 1], [1, None, 1]]
        assert target.names == ("y0", "y1", "y2")
        assert notes == [
            "multi-label classification, 3 labels, 2 of 2 rows labelled",
            "the labels are y0 1, y1 1, y2 2",
            "2 of 3 labels are constant among the labelled rows and play no part",
        ]

    def test_other_numbers_are_targets(self):
        notes: list[str] = []
        y = np.array([[0.5, 1, nan], [2, 1, nan], [nan, nan, nan]])
        target = encode_target(y, notes=notes)
        assert target.task == "multi_target"
        assert np.array_equal(target.values, y, equal_nan=True)
        assert notes == [
            "multi-target regression, 3 targets, 2 of 3 rows labelled",
            "the targets are y0, y1, y2",
            "1 of 3 targets is never known and plays no part",
            "1 of 3 targets is constant among the labelled rows and plays no part",
        ]

    def test_frames(self):
        frame = pd.DataFrame({"a": [0, 1, None], "b": [True, False, False]})
        for y in (frame, pl.from_pandas(frame)):
            target = encode_target(y)
            assert (target.task, target.names) == ("multi_label", ("a", "b"))
            assert matrix(target) == [[0, 1], [1, 0], [None, 0]]

    def test_sparse(self):
        assert matrix(encode_target(sp.csr_matrix([[0, 1], [1, 0]]))) == [[0, 1], [1, 0]]

    def test_unlabeled_cells(self):
        assert matrix(encode_target([[0, -1], [1, 1], [-1, 0]], unlabeled=-1)) == [
            [0, None],
            [1, 1],
            [None, 0],
        ]

    def test_one_column_when_asked(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert encode_target([[0], [1]], task="multi_label").task == "multi_label"
            assert encode_target([[0], [1]], task="multi_target").task == "multi_target"

    def test_explicit_task_wins(self):
        assert encode_target([[0, 1], [1, 0]], task="multi_target").task == "multi_target"


class TestLabelSets:
    @pytest.mark.parametrize(
        "y",
        [
            [{"a"}, {"b", "a"}, None, ()],
            [["a"], ["b", "a"], None, []],
            [("a",), ("b", "a"), nan, frozenset()],
            pd.Series([["a"], ["b", "a"], None, []]),
            pl.Series([["a"], ["b", "a"], None, []]),
            np.array([{"a"}, {"b", "a"}, None, set()], dtype=object),
            [{"a"}, {"b", "a"}, pd.NA, set()],
        ],
    )
    def test_holes_and_empty_sets_differ(self, y):
        target = encode_target(y)
        assert target.task == "multi_label"
        assert target.names == ("a", "b")
        assert matrix(target) == [[1, 0], [1, 1], [None, None], [0, 0]]

    def test_numbers_as_labels(self):
        target = encode_target([{10}, {9, 10}, -1], unlabeled=-1)
        assert target.names == ("9", "10")
        assert matrix(target) == [[0, 1], [1, 1], [None, None]]

    def test_lists_of_numbers_are_rows_unless_uneven(self):
        assert encode_target([[0, 1], [1, 0]]).names == ("y0", "y1")
        assert encode_target([[0, 1], [1]]).names == ("0", "1")
        assert encode_target([{0, 1}, {1, 2}]).names == ("0", "1", "2")

    def test_mixed_labels(self):
        assert encode_target([{1, "a"}, {"a"}]).names == ("1", "a")

    def test_refused(self):
        with pytest.raises(ValueError, match=r"Row 1 of y is 'b', not a set of labels; write \{'b'\}"):
            encode_target([{"a"}, "b"])
        with pytest.raises(ValueError, match="sets of labels, which fit task='multi_label'"):
            encode_target([{"a"}, {"b"}], task="classification")
        with pytest.raises(ValueError, match="'1' appears more than once"):
            encode_target([{1, "1"}, {"a"}])


class TestHierarchical:
    @pytest.mark.parametrize(
        "y",
        [
            ["r/s@t", "r", None],
            ["r/s@t", "r", "?"],
            np.array(["r/s@t", "r", "?"]),
            pd.Series(["t@r/s", "r", None]),
            pl.Series(["r@r/s@t", "r", None]),
            pd.Categorical(["r/s@t", "r", None]),
            [{"r/s", "t"}, {"r"}, None],
            [["r/s", "t"], ["r"], None],
            np.array([[0, 1, 1], [1, 0, 0], [nan, nan, nan]]),
            np.array([[1, 1, 1], [1, 0, 0], [nan, nan, nan]]),
            pd.DataFrame({"t": [1, 0, nan], "r": [0, 1, nan], "r/s": [1, 0, nan]}),
            pd.DataFrame([[0, 1, 1], [1, 0, 0], [nan, nan, nan]]),
            pl.DataFrame({"t": [1, 0, None], "r/s": [1, 0, None], "r": [1, 1, None]}),
        ],
    )
    def test_every_form_closes_upwards(self, y):
        notes: list[str] = []
        target = encode_target(y, hierarchy=PATHS, hierarchy_decay=0.5, notes=notes)
        assert target.task == "hierarchical"
        assert matrix(target) == [[1, 1, 1], [1, 0, 0], [None] * 3]
        assert target.names == tuple(PATHS)
        assert target.weights.tolist() == [1.0, 0.5, 1.0]
        assert target.hierarchy.labels == tuple(PATHS)
        assert notes[:3] == [
            "hierarchical multi-label classification, 3 labels, 2 of 3 rows labelled",
            "the labels are r 2, r/s 1, t 1",
            "1 of 3 labels is constant among the labelled rows and plays no part",
        ]

    def test_dag(self):
        edges = [("root", "a"), ("root", "b"), ("a", "c"), ("b", "c")]
        target = encode_target(["c", "a"], hierarchy=edges)
        assert matrix(target) == [[1, 1, 1], [1, 0, 0]]
        assert target.weights.tolist() == [1.0, 1.0, 0.75]

    def test_array_columns_go_by_position_whatever_the_labels(self):
        tree = Hierarchy.from_paths(["y1", "y0"])
        assert matrix(encode_target(np.array([[1, 0], [0, 1]]), hierarchy=tree)) == [[1, 0], [0, 1]]

    def test_whole_numbers_as_labels(self):
        assert matrix(encode_target([1, 2], hierarchy=["1", "2"])) == [[1, 0], [0, 1]]

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (["r/x", "t"], r"Not in the hierarchy: 'r/x' \(did you mean 'r/s'\?\)"),
            ([{"q1"}, {"q2", "t"}, {"q3"}, {"q4"}], "and 1 more"),
            ([" ", "t"], "Not in the hierarchy: ' '"),
            (np.array([[1, 0, nan], [0, 1, 0]]), "Row 0 of y knows some labels only"),
            (np.array([[1, 0], [0, 1]]), "2 columns, but the hierarchy has 3 labels"),
            (np.array([[2, 0, 1], [0, 1, 0]]), "zeros, ones and holes"),
            (pd.DataFrame({"r": [1, 0], "t": [0, 1]}), "no column for the label 'r/s'"),
            (pd.DataFrame({"r": [1, 0], "t": [0, 1], "u": [0, 1]}), "Not in the hierarchy: 'u'"),
            (["t", "t"], "constant among the labelled rows"),
        ],
    )
    def test_refused(self, y, message):
        with pytest.raises(ValueError, match=message):
            encode_target(y, hierarchy=PATHS)

    def test_task_and_hierarchy_must_agree(self):
        with pytest.raises(ValueError, match="hierarchical task needs hierarchy="):
            encode_target(["a"], task="hierarchical")
        with pytest.raises(ValueError, match="fits the hierarchical task only, not 'regression'"):
            encode_target([1.0], task="regression", hierarchy=PATHS)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(st.none(), st.sets(st.sampled_from(PATHS))), min_size=1, max_size=8))
def test_label_sets_strings_and_matrices_agree(sets):
    known = [s for s in sets if s]
    rows = [[nan] * 3 if s is None else [float(label in s) for label in PATHS] for s in sets]
    try:
        expected = encode_target(np.array(rows), hierarchy=PATHS)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:20]):
            encode_target(sets, hierarchy=PATHS)
        return
    assert np.array_equal(encode_target(sets, hierarchy=PATHS).values, expected.values, equal_nan=True)
    if len(known) == len(sets):
        joined = encode_target(["@".join(s) for s in sets], hierarchy=PATHS)
        assert np.array_equal(joined.values, expected.values)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (None, {}, "requires y to be passed, but the target y is None"),
        ([nan, nan], {}, "No row of y is labelled"),
        ([None, None], {}, "No row of y is labelled"),
        ([], {}, "No row of y is labelled"),
        ([-1, -1], {"unlabeled": -1}, "No row of y is labelled"),
        ([None, None, {"a"}][:2], {"task": "multi_label"}, "No row of y is labelled"),
        ([1, 1, None], {}, r"only one class, 1, in its labelled rows \(n_samples=2\)"),
        (["a", "a"], {}, "only one class, 'a'"),
        ([True, True], {}, "only one class, True"),
        ([1.5, 1.5], {}, "y is constant among the labelled rows"),
        ([[1, 0], [1, 0]], {}, "All targets are constant"),
        ([[1, nan], [1, nan]], {}, "All targets are constant"),
        ([1.0, np.inf], {}, "y contains infinity"),
        ([[1.0, np.inf], [2, 3]], {}, "y contains infinity"),
        ([1, 2], {"n_rows": 3}, r"inconsistent numbers of samples: \[3, 2\]"),
        (
            ["a", "b"],
            {"task": "regression"},
            "task='regression' needs numbers, but 'y' holds text such as 'a'",
        ),
        ([1.5, 2.5], {"task": "classification"}, "Unknown label type: continuous numbers such as 1.5"),
        (
            [1.0, 0.0],
            {"hierarchy": ["y"]},
            "A hierarchical target is strings such as 'a/b@c', sets of labels",
        ),
        ([1, 0], {"task": "multi_label"}, "needs y with a column per target; use task='classification'"),
        ([1, 0], {"task": "multi_target"}, "needs y with a column per target; use task='regression'"),
        ([[1, 2], [0, 1]], {"task": "multi_label"}, "'y1' holds 2 in row 0"),
        ([[1, 2], [0, 1]], {"task": "classification"}, "needs one target, but y has 2 columns"),
        ([[1, 2], [0, 1]], {"task": "regression"}, "needs one target, but y has 2 columns"),
        (
            pd.DataFrame({"a": ["x", "Y"], "b": [1, 2]}),
            {},
            "several columns needs numbers, but 'a' holds text",
        ),
        ([1, 2], {"task": "clasification"}, "did you mean 'classification'"),
        (np.array([1j, 2]), {}, "Complex data not supported"),
        (np.zeros((2, 2, 2)), {}, r"got shape \(2, 2, 2\)"),
        (np.zeros((2, 0)), {}, r"got shape \(2, 0\)"),
        (pd.DataFrame(index=[0, 1]), {}, "without columns"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), {}, "'a' appears more than once"),
    ],
)
def test_refused(y, options, message):
    with pytest.raises(ValueError, match=message):
        encode_target(y, **options)


def test_text_beside_numbers_is_refused():
    with pytest.raises(TypeError, match="'y' mixes text with values such as 3"):
        encode_target(["a", 3])


def test_targets_pass_through():
    target = encode_target([0, 1, None])
    notes: list[str] = []
    assert encode_target(target, notes=notes, n_rows=3) is target
    assert notes == ["classification, 2 classes, 2 of 3 rows labelled", "the target is y: 0 1, 1 1"]
    with pytest.raises(ValueError, match="inconsistent"):
        encode_target(target, n_rows=4)
    with pytest.raises(ValueError, match="No row of y is labelled"):
        encode_target(target.hide(np.arange(3)))


def test_an_empty_column_of_text_is_an_unknown_target():
    pd = pytest.importorskip("pandas")
    y = pd.DataFrame({"a": [1.5, 2.5], "b": pd.array([None, None], dtype="string")})
    target = encode_target(y, task="multi_target")
    np.testing.assert_array_equal(target.values, [[1.5, np.nan], [2.5, np.nan]])


def test_take_hide_and_columns():
    target = encode_target(["b", "a", None])
    assert column(target.take(np.array([1, 2]))) == [0.0, None]
    assert column(target.hide(np.array([0]))) == [None, 0.0, None]
    shares = target.columns()
    assert shares[:2].tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert np.isnan(shares[2]).all()
    numbers = encode_target([1.5, 2.5])
    assert numbers.columns() is numbers.values
    assert {t.task for t in (target, numbers)} < set(TASKS)


class TestEncodeTargetLike:
    def test_classes(self):
        fitted = encode_target(["a", "c", None])
        new = encode_target_like(["c", None, "b", "c"], fitted)
        assert column(new) == [1.0, None, 2.0, 1.0]
        assert new.classes.tolist() == ["a", "c", "b"]
        assert encode_target_like(["a"], fitted).classes is fitted.classes

    def test_numbers(self):
        fitted = encode_target([1.5, 2.5, 7.0])
        assert encode_target_like([1, 1], fitted).values.ravel().tolist() == [1.0, 1.0]
        two = encode_target([[0, 1], [1, 0]])
        assert matrix(encode_target_like([[1, None]], two)) == [[1, None]]
        with pytest.raises(ValueError, match="y has 3 targets, but 2 were fitted"):
            encode_target_like([[1, 0, 1]], two)

    def test_labels(self):
        fitted = encode_target([{"a"}, {"a", "b"}])
        assert matrix(encode_target_like([{"b"}, None], fitted)) == [[0, 1], [None, None]]
        with pytest.raises(ValueError, match="'c' was not seen in fit"):
            encode_target_like([{"c"}], fitted)
        tree = encode_target(["r/s", "t"], hierarchy=PATHS)
        assert matrix(encode_target_like(["r/s"], tree)) == [[1, 1, 0]]

    def test_targets_and_lengths(self):
        fitted = encode_target(["a", "b"])
        assert column(encode_target_like(fitted, fitted)) == [0.0, 1.0]
        with pytest.raises(ValueError, match=r"\[3, 2\]"):
            encode_target_like(["a", "b"], fitted, n_rows=3)
