"""Features from arrays, frames and sparse matrices."""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from semirank import Table
from semirank.data.encode_features import encode_features, encode_like, feature_names
from semirank.runtime import memory as _memory

from ..optional import pd, pl


def same(a: Table, b: Table) -> bool:
    return (
        np.array_equal(a.values, b.values, equal_nan=True)
        and a.categories == b.categories
        and a.names == b.names
        and np.array_equal(a.n_values, b.n_values)
    )


def well_formed(table: Table) -> bool:
    return (
        table.values.dtype == np.float64
        and table.values.flags.c_contiguous
        and table.values.flags.writeable
        and type(table.values) is np.ndarray
        and table.n_values.dtype == np.int64
        and table.shape == (len(table.values), len(table.names)) == (len(table), len(table.categories))
        and [0 if c is None else len(c) for c in table.categories] == table.n_values.tolist()
    )


texts = st.one_of(st.none(), st.sampled_from(["red", "blue", "grün", "", "10", "9"]))
numbers = st.one_of(st.none(), st.floats(-5, 5, allow_nan=False), st.integers(-3, 3).map(float))
bools = st.one_of(st.none(), st.booleans())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(numbers, texts, bools), min_size=1, max_size=12))
def test_numpy_pandas_polars_and_lists_agree(rows):
    names = ["size", "colour", "ripe"]
    size, colour, ripe = (list(column) for column in zip(*rows))
    if all(v is None for v in colour) or all(v is None for v in ripe):
        return  # an untyped column of nothing but holes has no kind
    by_list = encode_features([list(row) for row in rows], names=names)
    array = np.empty((len(rows), 3), dtype=object)
    array[:] = rows
    frame = pd.DataFrame(
        {"size": np.array(size, dtype=float), "colour": colour, "ripe": pd.array(ripe, dtype="boolean")}
    )
    polar = pl.DataFrame(
        {"size": size, "colour": colour, "ripe": ripe},
        schema={"size": pl.Float64, "colour": pl.String, "ripe": pl.Boolean},
    )
    assert well_formed(by_list)
    assert by_list.categories[0] is None
    assert by_list.categories[1] == tuple(sorted({c for c in colour if c is not None}))
    assert by_list.categories[2] == (False, True)
    for other in (array, frame.astype({"colour": object}), frame, polar, frame.convert_dtypes()):
        table = encode_features(other, names=names)
        assert well_formed(table)
        assert same(table, by_list)
    decoded = [None if np.isnan(v) else by_list.categories[1][int(v)] for v in by_list.values[:, 1]]
    assert decoded == colour


def test_declared_categories_count_in_their_order():
    values, declared = ["b", None, "a"], ["c", "b", "a"]
    pandas = encode_features(pd.DataFrame({"f": pd.Categorical(values, categories=declared)}))
    polars = encode_features(pl.DataFrame({"f": pl.Series(values, dtype=pl.Enum(declared))}))
    assert same(pandas, polars)
    assert pandas.categories == (("c", "b", "a"),)
    assert pandas.n_values.tolist() == [3]
    assert pandas.values[:, 0].tolist()[::2] == [1.0, 2.0]
    assert np.isnan(pandas.values[1, 0])


def test_polars_categorical_counts_what_occurs():
    pl.Series(["zebra", "yak"], dtype=pl.Categorical)  # shares polars' list of categories
    table = encode_features(pl.DataFrame({"f": pl.Series(["b", "a", None], dtype=pl.Categorical)}))
    assert table.categories == (("a", "b"),)
    assert table.values[:2, 0].tolist() == [1.0, 0.0]


def test_numeric_categories():
    frame = pd.DataFrame({"f": pd.Categorical([3, 1, 3])})
    assert encode_features(frame).categories == ((1, 3),)
    assert encode_features(frame, categorical_features=None).values[:, 0].tolist() == [3.0, 1.0, 3.0]


@pytest.mark.parametrize(
    "dtype", ["Int64", "Float64", "float32", "int8", "uint16", "Int64[pyarrow]", "Sparse[float]"]
)
def test_pandas_numbers(dtype):
    column = pd.array([1, 2, 3], dtype="int64[pyarrow]" if "pyarrow" in dtype else dtype)
    table = encode_features(pd.DataFrame({"f": column}))
    assert table.categories == (None,)
    assert table.values[:, 0].tolist() == [1.0, 2.0, 3.0]


def test_missing_values_of_every_kind():
    frame = pd.DataFrame(
        {
            "int": pd.array([1, pd.NA], dtype="Int64"),
            "float": [np.nan, 1.5],
            "text": ["a", None],
            "string": pd.array([pd.NA, "a"], dtype="string"),
            "object": pd.Series(["a", np.nan], dtype=object),
            "mixed": pd.Series([pd.NA, 2], dtype=object),
            "arrow": pd.array(["a", None], dtype="string[pyarrow]"),
            "flag": pd.array([True, None], dtype="bool[pyarrow]"),
            "decimal": pd.Series([Decimal("1.5"), None], dtype=object),
        }
    )
    table = encode_features(frame)
    assert np.isnan(table.values).sum(axis=0).tolist() == [1] * 9
    assert [c is None for c in table.categories] == [
        True,
        True,
        False,
        False,
        False,
        True,
        False,
        False,
        True,
    ]
    polar = pl.DataFrame({"i": [1, None], "f": [float("nan"), None], "s": [None, "a"], "n": [None, None]})
    assert np.isnan(encode_features(polar).values).tolist() == [
        [False, True, True, True],
        [True, True, False, True],
    ]


def test_object_arrays_of_numbers_are_numbers():
    table = encode_features(np.array([[1, 2.5], [None, np.float32(3)]], dtype=object))
    assert table.categories == (None, None)
    assert np.isnan(table.values[1, 0])


def test_masked_cells_are_missing():
    X = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    assert np.isnan(encode_features(X).values).tolist() == [[False, True], [False, False]]


def test_text_arrays_are_nominal():
    table = encode_features(np.array([["b", "x"], ["a", "x"]]))
    assert table.categories == (("a", "b"), ("x",))
    assert encode_features(np.array([[b"b"], [b"a"]])).categories == (("a", "b"),)
    assert encode_features(np.array([[True], [False]])).categories == ((False, True),)


def test_sparse_matrices():
    X = sp.random(20, 6, density=0.3, random_state=0, format="csr")
    for form in (X, X.tocsc(), X.tocoo(), sp.csr_array(X)):
        assert np.array_equal(encode_features(form).values, X.toarray())


def test_too_large_sparse_matrix(monkeypatch):
    monkeypatch.setattr(_memory, "_ALWAYS", 0)
    monkeypatch.setattr(_memory, "free_memory", lambda: 1000)
    with pytest.raises(
        MemoryError,
        match=r"sparse matrix of shape \(100, 50\), made dense, would need about 117.2 KiB .*fewer rows",
    ):
        encode_features(sp.csr_matrix((100, 50)))


class TestCategoricalFeatures:
    X = np.array([[5.0, 1.0], [7.0, 2.0], [5.0, np.nan]])

    @pytest.mark.parametrize("choice", [[0], [True, False], np.array([0]), np.array([True, False])])
    def test_masks_and_positions(self, choice):
        table = encode_features(self.X, categorical_features=choice)
        assert table.categories == ((5.0, 7.0), None)
        assert table.values[:, 0].tolist() == [0.0, 1.0, 0.0]

    def test_names(self):
        frame = pd.DataFrame(self.X, columns=["a", "b"])
        assert encode_features(frame, categorical_features=["b"]).categories == (None, (1.0, 2.0))
        table = encode_features(self.X, names=["a", "b"], categorical_features=["a"])
        assert table.categories == ((5.0, 7.0), None)

    @pytest.mark.parametrize("choice", [None, [], np.zeros(2, dtype=bool)])
    def test_none(self, choice):
        assert encode_features(self.X, categorical_features=choice).categories == (None, None)
        assert encode_features(self.X > 2, categorical_features=choice).categories == (None, None)

    @pytest.mark.parametrize(
        ("choice", "message"),
        [
            ([2], r"lie in 0\.\.1"),
            ([-1], r"lie in 0\.\.1"),
            ([True], r"shape \(2,\)"),
            ("colour", "'from_dtype', None or a list"),
            ([1.5], "bools, positions or names"),
            (["a"], "only if X has column names"),
        ],
    )
    def test_refused(self, choice, message):
        with pytest.raises(ValueError, match=message):
            encode_features(self.X, categorical_features=choice)

    def test_unknown_name_gets_a_suggestion(self):
        frame = pd.DataFrame(self.X, columns=["colour", "size"])
        with pytest.raises(ValueError, match=r"'color', no column of X .did you mean 'colour'"):
            encode_features(frame, categorical_features=["color"])

    def test_text_left_out_is_refused(self):
        with pytest.raises(ValueError, match=r"'a' should be numeric .* holds text such as 'x'"):
            encode_features(pd.DataFrame({"a": ["x", "y"]}), categorical_features=None)

    def test_integers_stay_integers(self):
        assert encode_features(np.array([[3], [1]]), categorical_features=[0]).categories == ((1, 3),)

    def test_bools_among_numbers_are_numbers(self):
        table = encode_features(np.array([[True], [2], [None]], dtype=object))
        np.testing.assert_array_equal(table.values, [[1.0], [2.0], [np.nan]])
        assert table.categories == (None,)

    def test_inexact_numbers_are_refused(self):
        with pytest.raises(ValueError, match="pass them as text"):
            encode_features(np.array([[2**60], [1]]), categorical_features=[0])


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.arange(3.0), ValueError, "Reshape your data"),
        (pd.Series([1.0, 2.0]), ValueError, "Reshape your data"),
        (3.0, ValueError, "got scalar array"),
        (np.zeros((2, 2, 2)), ValueError, "dim 3"),
        (np.zeros((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
        (
            np.zeros((3, 0)),
            ValueError,
            r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required\.",
        ),
        (pd.DataFrame({"a": []}), ValueError, r"0 sample\(s\)"),
        (pl.DataFrame({"a": []}), ValueError, r"0 sample\(s\)"),
        (np.array([[1 + 1j]]), ValueError, "Complex data not supported"),
        (pd.DataFrame({"a": [1j]}), ValueError, "Complex data not supported"),
        (np.array([[1.0, np.inf]]), ValueError, "'x1' contains infinity"),
        (pd.DataFrame({"a": [1.0], "b": [-np.inf]}), ValueError, "'b' contains infinity"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), ValueError, "'a' appears more than once"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), ValueError, "'1' appears more than once"),
        (pd.DataFrame({"d": pd.interval_range(0, 1)}), TypeError, "'d'"),
        (pl.DataFrame({"d": [datetime.time(12)]}), ValueError, "'d' is of type time of day"),
        (np.zeros((2, 1), dtype=[("a", int)]), ValueError, "neither numbers nor categories"),
        (
            np.array([[{"foo": 1}], [1.0]], dtype=object),
            TypeError,
            "argument must be a string or a real number",
        ),
        (np.array([["a"], [1.5]], dtype=object), TypeError, "'x0' mixes text with values such as 1.5"),
        ([["a"], [2]], TypeError, "'x0' mixes text"),
        (pl.DataFrame({"l": [[1], [2]]}), TypeError, "'l' cannot be read"),
        ([[1, 2], [3]], ValueError, "equal length"),
    ],
)
def test_refused(X, error, message):
    with pytest.raises(error, match=message):
        encode_features(X)


def test_names():
    assert encode_features([[1, 2]]).names == ("x0", "x1")
    assert encode_features(pd.DataFrame([[1, 2]])).names == ("0", "1")
    assert encode_features([[1, 2]], names=["a", "b"]).names == ("a", "b")
    with pytest.raises(ValueError, match="1 feature names were given for 2 features"):
        encode_features([[1, 2]], names=["a"])
    assert feature_names(np.zeros((1, 2))) is None
    assert feature_names(pd.DataFrame([[1, 2]])) is None
    assert feature_names(pd.DataFrame({"a": [1]})).tolist() == ["a"]
    assert feature_names(pl.DataFrame({"a": [1]})).tolist() == ["a"]
    assert feature_names(encode_features([[1, 2]])).tolist() == ["x0", "x1"]
    with pytest.raises(TypeError, match="all input features have string names"):
        feature_names(pd.DataFrame([[1, 2]], columns=[1, "a"]))


def test_tables_pass_through():
    table = encode_features([[1, 2]])
    assert encode_features(table) is table
    with pytest.raises(ValueError, match="encoded Table"):
        encode_features(table, categorical_features=[0])


def test_read_only_and_odd_memory_is_copied():
    X = np.arange(6.0).reshape(2, 3)
    X.flags.writeable = False
    for odd in (X, np.asfortranarray(X), X.astype(">f8"), X[:, ::2], X.astype(np.float32)):
        table = encode_features(odd)
        assert well_formed(table)
        assert np.array_equal(table.values, odd)
        assert well_formed(encode_like(odd, table))


def test_notes_about_idle_features():
    notes: list[str] = []
    encode_features([[1.0, 5.0, np.nan], [2.0, 5.0, np.nan]], names=["a", "b", "c"], notes=notes)
    assert notes == [
        "1 of 3 features is always missing and cannot matter (c)",
        "1 of 3 features is constant and cannot matter (b)",
    ]
    notes.clear()
    encode_features(np.ones((2, 5)), notes=notes)
    assert notes == ["5 of 5 features are constant and cannot matter (x0, x1, x2, ...)"]


FREE = "has fewer than 3 rows for a value, as identifiers and free text have: leave it out"


def test_notes_on_identifiers():
    n = 25
    order = np.random.default_rng(0).permutation(n)
    number, halves, gap = order + 7, order / 2, np.where(order == 3, n, order)
    hole = np.where(order == 3, np.nan, order)
    name = np.array([f"gene{i}" for i in order])
    twice = np.where(order == 3, "gene4", name)

    def notes_of(*columns):
        notes = []
        encode_features(np.column_stack([np.asarray(c, dtype=object) for c in columns]), notes=notes)
        return notes

    assert notes_of(number, halves, gap, hole, twice) == [
        "1 of 5 features tells every row from all others: leave it out if it is an identifier (--drop x0)",
        f"1 of 5 features {FREE} (--drop x4)",
    ]
    assert notes_of(name, number, twice) == [
        "2 of 3 features tell every row from all others: leave them out if they are identifiers "
        "(--drop x0 --drop x1)",
        f"1 of 3 features {FREE} (--drop x2)",
    ]
    assert notes_of(name[:19], number[:19]) == []


class TestEncodeLike:
    frame = pd.DataFrame({"n": [1.0, 2.0], "c": ["red", "blue"]})

    def test_unknown_categories_are_missing(self):
        table = encode_features(self.frame)
        new = encode_like(pd.DataFrame({"n": [np.nan, 3], "c": ["green", "red"]}), table)
        assert np.isnan(new.values).tolist() == [[True, True], [False, False]]
        assert new.values[1].tolist() == [3.0, 1.0]
        assert new.categories == table.categories
        assert new.n_values is table.n_values

    def test_every_source_agrees(self):
        table = encode_features(self.frame)
        rows = [[5.0, "blue"], [None, None]]
        expected = encode_like(pd.DataFrame(rows, columns=["n", "c"]), table)
        for other in (
            rows,
            np.array(rows, dtype=object),
            pl.DataFrame(rows, schema=["n", "c"], orient="row"),
        ):
            assert same(encode_like(other, table), expected)
        assert expected.values[0].tolist() == [5.0, 0.0]

    def test_an_encoded_table(self):
        table = encode_features(self.frame)
        assert encode_like(table, table) is table
        other = encode_features(pd.DataFrame({"n": [1.0], "c": ["red"]}))
        assert encode_like(other, table).values.tolist() == [[1.0, 1.0]]

    def test_wrong_number_of_features(self):
        table = encode_features(np.zeros((2, 5)))
        with pytest.raises(
            ValueError, match="X has 3 features, but ForestRanker is expecting 5 features as input"
        ):
            encode_like(np.zeros((2, 3)), table, estimator_name="ForestRanker")

    def test_names_must_match(self):
        table = encode_features(self.frame)
        start = "The feature names should match those that were passed during fit.\n"
        with pytest.raises(ValueError, match=start + "Feature names must be in the same order"):
            encode_like(self.frame[["c", "n"]], table)
        with pytest.raises(ValueError, match=start + "Feature names unseen at fit time:\n- m\n"):
            encode_like(self.frame.rename(columns={"n": "m"}), table)
        with pytest.raises(
            ValueError, match=start + "Feature names seen at fit time, yet now missing:\n- c\n"
        ):
            encode_like(self.frame[["n"]], table)
        many = encode_features(pd.DataFrame(np.zeros((1, 9)), columns=list("abcdefghi")))
        with pytest.raises(ValueError, match=r"- e\n- \.\.\.\n"):
            encode_like(pd.DataFrame(np.zeros((1, 9)), columns=list("mnopqrstu")), many)

    def test_named_rows_fit_unnamed_ones(self):
        table = encode_features(np.zeros((1, 2)))
        assert encode_like(pd.DataFrame([[1.0, 2.0]], columns=["a", "b"]), table).values.tolist() == [
            [1.0, 2.0]
        ]

    def test_kinds_must_match(self):
        table = encode_features(self.frame)
        with pytest.raises(ValueError, match="'n' should be a number, but holds text such as 'x'"):
            encode_like(pd.DataFrame({"n": ["x"], "c": ["red"]}), table)
        with pytest.raises(ValueError, match="'c' had categories such as 'blue' in fit, but holds 7"):
            encode_like(pd.DataFrame({"n": [1.0], "c": [7]}), table)

    def test_all_missing_columns_fit_everything(self):
        table = encode_features(self.frame)
        for c in ([np.nan], [None]):
            new = encode_like(pd.DataFrame({"n": pd.Series([None], dtype=object), "c": c}), table)
            assert np.isnan(new.values).all()
        none = encode_like(pd.DataFrame({"n": pd.Series([None], dtype="str"), "c": ["red"]}), table)
        assert np.isnan(none.values[0, 0])

    def test_numbers_as_categories(self):
        table = encode_features([[3], [1]], categorical_features=[0])
        assert encode_like([[1.0], [2.0], [3.0]], table).values[:, 0].tolist()[::2] == [0.0, 1.0]

    def test_infinity_is_refused(self):
        with pytest.raises(ValueError, match="'x0' contains infinity"):
            encode_like([[np.inf]], encode_features([[1.0]]))
        with pytest.raises(ValueError, match="'x0' contains infinity"):
            encode_like([[np.inf]], encode_features([[1.0]], categorical_features=[0]))


def test_take_keeps_the_features():
    table = encode_features(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]}))
    some = table.take(np.array([2, 0]))
    assert some.values.tolist() == [[3.0, 0.0], [1.0, 0.0]]
    assert some.categories == table.categories
    assert len(table.take(np.array([True, False, False]))) == 1


def test_frames_libraries_stay_unloaded():
    code = (
        "import sys, numpy as np; from semirank.data.encode_features import encode_features;"
        "from semirank.data.encode_target import encode_target; import semirank; semirank.load;"
        "encode_features(np.eye(2)); encode_target([0, 1]);"
        "print([m for m in ('pandas', 'polars', 'pyarrow', 'sklearn', 'scipy', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
