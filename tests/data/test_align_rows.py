"""Frames of every kind, and rows that carry an index."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from semirank.data.align_rows import align_rows
from semirank.data.encode_features import encode_features
from semirank.data.encode_target import encode_target
from semirank.data.given_data import split_target

from ..optional import needs_pandas, optional, pa, pd, pl

narwhals = optional("narwhals")
DATA = {"n": [1.5, 2.5, 3.5], "c": ["b", "a", "b"], "y": ["p", None, "q"]}


def frames():
    class Named(pd.DataFrame if pd else object):
        @property
        def _constructor(self):
            return Named

    yield "subclass", lambda: Named(pd.DataFrame(DATA))
    yield "polars", lambda: pl.DataFrame(DATA)
    yield "lazy", lambda: pl.DataFrame(DATA).lazy()
    yield "pyarrow", lambda: pa.table(DATA)
    yield "narwhals", lambda: narwhals.from_native(pl.DataFrame(DATA))


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in frames()])
class TestFrames:
    def test_names_and_kinds(self, make):
        X, y = split_target(make(), "y")
        table = encode_features(X)
        assert table.names == ("n", "c")
        assert table.categories == (None, ("a", "b"))
        assert table.values.tolist() == [[1.5, 1], [2.5, 0], [3.5, 1]]
        target = encode_target(y)
        assert target.names == ("y",)
        assert target.classes.tolist() == ["p", "q"]
        assert target.labeled.tolist() == [True, False, True]

    def test_encoded_whole(self, make):
        assert encode_features(make()).names == ("n", "c", "y")

    def test_several_targets(self, make):
        X, y = split_target(make(), ["n", "c"])
        assert encode_features(X).names == ("y",)
        assert encode_features(y).names == ("n", "c")

    def test_wrong_name(self, make):
        with pytest.raises(ValueError, match=r"There is no column 'yy' in X \(did you mean 'y'\?\)"):
            split_target(make(), "yy")
        with pytest.raises(ValueError, match="empty list"):
            split_target(make(), [])


def test_columns_may_be_named_by_numbers():
    pd = pytest.importorskip("pandas")
    X, y = split_target(pd.DataFrame({0: [1.0, 2.0], 2: [3.0, 4.0]}), "2")
    assert encode_features(X).values.tolist() == [[1.0], [2.0]]
    assert y.tolist() == [3.0, 4.0]
    assert split_target(pd.DataFrame({0: [1.0, 2.0], 2: [3.0, 4.0]}), [2])[1].tolist() == [3.0, 4.0]


def test_a_subclass_keeps_its_categories():
    class Own(pd.DataFrame):
        pass

    frame = Own({"c": pd.Categorical([3, 1, 3], categories=[3, 1, 2])})
    assert encode_features(frame).categories == ((3, 1, 2),)


@needs_pandas
class TestIndex:
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=["p", "q", "r"])

    def test_the_same_labels_are_aligned(self):
        notes: list[str] = []
        y = pd.Series([30, 10, 20], index=["r", "p", "q"])
        assert align_rows(self.X, y, notes).tolist() == [10, 20, 30]
        assert notes == ["the rows of y were put in the order of X by their index"]
        assert align_rows(self.X, y.to_frame())[0].tolist() == [10, 20, 30]

    def test_others_are_refused(self):
        for index in (["p", "q", "s"], ["p", "q", "q"], [0, 1, 2]):
            with pytest.raises(ValueError, match="have different labels"):
                align_rows(self.X, pd.Series([1, 2, 3], index=index))

    def test_nothing_to_align(self):
        notes: list[str] = []
        for y in (pd.Series([1, 2, 3], index=self.X.index), np.arange(3), [1, 2, 3], pd.Series([1, 2])):
            assert align_rows(self.X, y, notes) is y
        assert notes == []


@pytest.mark.parametrize(
    ("make", "days"),
    [
        (lambda: pd.DataFrame({"d": pd.to_datetime(["1970-01-02 12:00", None])}), 1.5),
        (lambda: pd.DataFrame({"d": pd.to_datetime(["1970-01-02 12:00", None], utc=True)}), 1.5),
        (lambda: pd.DataFrame({"d": pd.to_timedelta(["36h", None])}), 1.5),
        (lambda: pd.DataFrame({"d": np.array([datetime.date(1970, 1, 3), None], dtype=object)}), 2.0),
        (lambda: pl.DataFrame({"d": [datetime.date(1970, 1, 3), None]}), 2.0),
        (lambda: pl.DataFrame({"d": [datetime.datetime(1970, 1, 2, 12), None]}), 1.5),
        (lambda: pl.DataFrame({"d": [datetime.timedelta(hours=36), None]}), 1.5),
        (lambda: pa.table({"d": pa.array([1, None], pa.date32())}), 1.0),
        (lambda: pa.table({"d": pa.array([129_600, None], pa.timestamp("s", tz="UTC"))}), 1.5),
        (lambda: np.array([["1970-01-02T12"], ["NaT"]], dtype="M8[h]"), 1.5),
    ],
)
def test_dates_are_days(make, days):
    notes: list[str] = []
    values = encode_features(make(), notes=notes).values
    assert values[0, 0] == days
    assert np.isnan(values[1, 0])
    assert any("read as days" in note for note in notes)


@pytest.mark.parametrize(
    "make",
    [
        lambda large: np.array([[large], [3]]),
        lambda large: pd.DataFrame({"x0": [large, 1]}),
        lambda large: pd.DataFrame({"x0": pd.array([large, None], dtype="Int64")}),
        lambda large: pd.DataFrame({"x0": np.array([large, None], dtype=object)}),
        lambda large: pl.DataFrame({"x0": [large, None]}),
        lambda large: pa.table({"x0": [large, None]}),
    ],
    ids=["array", "pandas", "nullable", "objects", "polars", "pyarrow"],
)
def test_integers_beyond_exactness_are_named(make):
    notes: list[str] = []
    encode_features(make(2**53 + 1), notes=notes)
    assert [
        note for note in notes if "'x0' holds whole numbers beyond 2^53" in note and str(2**53 + 1) in note
    ]
    notes.clear()
    encode_features(make(2**53), notes=notes)
    assert not [note for note in notes if "2^53" in note]


@needs_pandas
@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([str(i / 2) for i in range(60)], "is text that holds numbers (such as '0.0'): --numeric"),
        ([f"{i},5" for i in range(60)], "is text that holds numbers (such as '0,5')"),
        ([f"{i} mg" for i in range(60)], "is text that holds numbers (such as '0 mg')"),
        ([f"2020-01-{1 + i % 30:02}" for i in range(60)], "is text that holds dates (such as '2020-01-01')"),
        (["u", "NA", "v"] * 20, 'has a value such as "NA"'),
        (["Red", "red", "blue"] * 20, "has values that differ only in case or blanks ('Red', 'red')"),
        ([-999.0, 1.5, 2.5] * 20, "has -999 for its only value below 0: use --missing -999, or NaN"),
    ],
)
def test_values_that_are_hardly_meant_so_are_named(values, said):
    notes: list[str] = []
    encode_features(pd.DataFrame({"t": values}), notes=notes)
    assert [note for note in notes if note.startswith(f"'t' {said}")]


@needs_pandas
@pytest.mark.parametrize(
    "values", [["1", "2", "x"] * 20, [f"chr{i}" for i in range(60)], [-999.0, -3, 2] * 20]
)
def test_other_values_are_not(values):
    notes: list[str] = []
    encode_features(pd.DataFrame({"t": values}), notes=notes)
    assert not [note for note in notes if note.startswith("'t'")]
