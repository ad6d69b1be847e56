"""One column of an array, a frame or a file, whatever library it comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..runtime.memory import ensure_room
from ..runtime.messages import short, short_name

if TYPE_CHECKING:
    from .hierarchy import Hierarchy

EXACT = 2.0**53  # whole numbers beyond this are not all exact as float64
DATES = "holds dates, read as days since 1970-01-01"
ROUNDED = "holds whole numbers beyond 2^53, which are rounded (such as {}): leave identifiers out (--drop)"


class Column(NamedTuple):
    """One column as read.

    kind is "number" (values are the numbers), "bool" (0/1), or "text" and "category" (codes of
    `categories`); NaN where missing. dtype is that of the user's own values. remarks say what is odd
    about the column, as sentences that begin with their verb.
    """

    kind: str
    values: np.ndarray
    categories: tuple[object, ...] | None
    dtype: np.dtype
    remarks: tuple[str, ...] = ()


class FileColumns(NamedTuple):
    """The columns of a file, whatever its format."""

    names: tuple[str, ...]
    columns: list[Column]
    declared: bool = False  # the file itself says what kind a column is
    hierarchies: Mapping[str, Hierarchy] = {}
    skip: Mapping[int, str] = {}  # columns that are not features unless asked for, and why
    notes: Sequence[str] = ()
    part: np.ndarray = np.zeros(0, dtype=np.int64)  # per row the number of its file


@dataclass(frozen=True)
class NamedColumn:
    """A column of a library whose columns do not know their names."""

    values: Any
    name: str


_FRAMES = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")}
_SERIES = {("polars", "Series"), ("pyarrow", "ChunkedArray"), ("pyarrow", "Array")}


def _classes(X: Any) -> set[tuple[str, str]]:
    """Library and name of the class of X and of all that it is made from, without any import."""
    return {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(X).__mro__}


def frame_kind(X: Any) -> str | None:
    """ "pandas", "polars" or "pyarrow" for a table of theirs or of a subclass."""
    return next((library for library, _ in _classes(X) & _FRAMES), None)


def native_frame(X: Any) -> Any:
    """A frame to read column by column: lazy ones collected, those of other libraries as Arrow tables."""
    if frame_kind(X) is not None or isinstance(X, np.ndarray | list | tuple):
        return X
    if ("polars", "LazyFrame") in _classes(X):
        return X.collect()
    if _classes(X) & {("narwhals", "DataFrame"), ("narwhals", "LazyFrame")}:
        return native_frame(X.to_native())
    if hasattr(X, "__arrow_c_stream__") and hasattr(X, "columns") and series_kind(X) is None:
        import pyarrow

        return pyarrow.table(X)
    return X


def column_names(frame: Any) -> list[Any]:
    """The names of the columns of a frame."""
    return list(frame.column_names if frame_kind(frame) == "pyarrow" else frame.columns)


def series_kind(y: Any) -> str | None:
    """ "pandas", "polars" or "pyarrow" for a column (or pandas array or index) of theirs."""
    classes = _classes(y)
    if classes & _FRAMES:
        return None
    return next(
        (library for library, name in classes if library == "pandas" or (library, name) in _SERIES), None
    )


def is_anndata(X: Any) -> bool:
    """Whether X is an AnnData object, or of a class made from it."""
    return ("anndata", "AnnData") in _classes(X)


def make_dense(values: Any, what: str) -> Any:
    """A sparse matrix as an array, if memory can hold it; anything else as it is."""
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        ensure_dense(values.shape, what)
        return values.toarray()
    return values


def ensure_dense(shape: tuple[int, ...], what: str) -> None:
    """Stop before something sparse is made dense that memory cannot hold, with the copies on its way."""
    ensure_room(24.0 * shape[0] * shape[-1], f"{what} of shape {tuple(shape)}, made dense,")


def read_array(values: Any) -> np.ndarray:
    """The array a user means by a list or array-like: text and numbers side by side stay what they are."""
    if isinstance(values, np.ma.MaskedArray):
        mask, values = np.ma.getmaskarray(values), np.ma.getdata(values).astype(object)
        values[mask] = None
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"The rows are not of equal length or not arrays ({error}).") from None
    if array.dtype.kind in "US" and isinstance(values, list | tuple):
        array = np.array(values, dtype=object)
    return array.astype(str) if array.dtype.kind == "S" else array


def read_columns(data: Any, names: Sequence[str]) -> Iterable[Column]:
    """The columns of a frame or of a 2-D array, one after the other."""
    return map(read_column, split_columns(data), names)


def split_columns(data: Any) -> Iterable[Any]:
    """The columns of a frame or of a 2-D array as they are."""
    kind = frame_kind(data)
    if kind == "polars":
        return data.iter_columns()
    if kind == "pyarrow":
        return data.itercolumns()
    return (data.iloc[:, j] for j in range(data.shape[1])) if kind == "pandas" else data.T


def read_column(values: Any, name: str) -> Column:
    """Read one column of an array or frame."""
    readers = {"pandas": pandas_column, "polars": polars_column, "pyarrow": arrow_column}
    return readers.get(series_kind(values) or "", array_column)(values, name)


def array_column(array: np.ndarray, name: str) -> Column:
    """Read one column of an array."""
    kind = array.dtype.kind
    if kind in "iuf":
        with np.errstate(over="ignore"):  # a long double beyond float64 is refused as infinity
            return Column("number", array.astype(np.float64), None, array.dtype, rounded(array))
    if kind == "b":
        return Column("bool", array.astype(np.float64), (False, True), array.dtype)
    if kind == "U":
        categories, codes = np.unique(array, return_inverse=True)
        return Column("text", codes.astype(np.float64), tuple(categories.tolist()), array.dtype)
    if kind == "O":
        return _object_column(array, name)
    if kind in "mM":
        return date_column(array)
    if kind == "c":
        raise ValueError("Complex data not supported; pass real and imaginary parts as separate numbers.")
    raise _kind_refused(name, array.dtype)


def pandas_column(series: Any, name: str) -> Column:
    """Read one column of a pandas frame."""
    from pandas.api import types

    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return array_column(series.to_numpy(), name)
    if dtype.name == "category":
        categories = series.cat.categories
        codes = _with_holes(series.cat.codes.to_numpy())
        return Column("category", codes, tuple(categories.tolist()), categories.to_numpy().dtype)
    if types.is_bool_dtype(dtype):
        return Column("bool", series.to_numpy(np.float64, na_value=np.nan), (False, True), np.dtype(bool))
    if types.is_numeric_dtype(dtype):
        whole = types.is_integer_dtype(dtype)
        values = series.to_numpy(np.float64, na_value=np.nan)
        remarks = rounded(series.dropna().to_numpy(object)) if whole else ()
        return Column("number", values, None, np.dtype(np.int64 if whole else np.float64), remarks)
    if types.is_string_dtype(dtype):
        import pandas

        codes, known = pandas.factorize(series, sort=True)
        return Column("text", _with_holes(codes), tuple(known.tolist()), np.dtype(object))
    if types.is_datetime64_any_dtype(dtype):  # with a time zone: numpy holds the time in UTC
        return date_column(series.to_numpy("M8[us]"))
    return _object_column(series.to_numpy(object), name)


def _with_holes(codes: np.ndarray) -> np.ndarray:
    """Codes as floats, with NaN for -1."""
    values = codes.astype(np.float64)
    values[codes < 0] = np.nan
    return values


def polars_column(series: Any, name: str) -> Column:
    """Read one column of a polars frame."""
    import polars

    dtype = series.dtype
    if dtype.is_numeric() or dtype == polars.Null:
        whole = dtype.is_integer()
        remarks = rounded(series.drop_nulls().to_numpy()) if whole else ()
        own = np.dtype(np.int64 if whole else np.float64)
        return Column("number", series.cast(polars.Float64).to_numpy(), None, own, remarks)
    if dtype == polars.Boolean:
        return Column("bool", series.cast(polars.Float64).to_numpy(), (False, True), np.dtype(bool))
    if dtype == polars.Time:
        raise _kind_refused(name, "time of day")
    if dtype.is_temporal():
        return date_column(series.to_numpy())
    if dtype == polars.Enum:
        kind, categories = "category", dtype.categories
    elif dtype in (polars.String, polars.Categorical):
        # a polars Categorical shares its list of categories with other columns, so only those present count
        kind = "text" if dtype == polars.String else "category"
        series = series.cast(polars.String)
        categories = series.drop_nulls().unique().sort()
        series = series.cast(polars.Enum(categories))
    else:
        return _object_column(np.array([*series.to_list(), None], dtype=object)[:-1], name)
    codes = series.to_physical().cast(polars.Float64).to_numpy()
    return Column(kind, codes, tuple(categories.to_list()), np.dtype(object))


def arrow_column(column: Any, name: str) -> Column:
    """Read one column of a pyarrow table."""
    import pyarrow
    from pyarrow import types

    kind = column.type
    if types.is_boolean(kind):
        values = column.cast(pyarrow.int8()).cast(pyarrow.float64()).to_numpy()
        return Column("bool", values, (False, True), np.dtype(bool))
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        whole = types.is_integer(kind)
        remarks = rounded(column.drop_null().to_numpy()) if whole else ()
        values = column.cast(pyarrow.float64(), safe=False).to_numpy()
        return Column("number", values, None, np.dtype(np.int64 if whole else np.float64), remarks)
    if types.is_time(kind) or types.is_interval(kind):
        raise _kind_refused(name, kind)
    if types.is_temporal(kind):
        return date_column(column.to_numpy())
    text = types.is_string(kind) or types.is_large_string(kind)
    if not text and not types.is_dictionary(kind):
        raise _kind_refused(name, kind)
    array = (column.dictionary_encode() if text else column).combine_chunks()
    categories = array.dictionary.to_pylist()
    if not categories:
        return Column("number", np.full(len(column), np.nan), None, np.dtype(np.float64))
    codes = array.indices.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
    if text:
        order = sorted(range(len(categories)), key=categories.__getitem__)
        codes, categories = recode(codes, np.argsort(order)), [categories[i] for i in order]
    return Column("text" if text else "category", codes, tuple(categories), np.dtype(object))


def text_column(cells: Iterable[str | None], missing: frozenset[str | None]) -> Column:
    """A column of words, coded in alphabetical order."""
    cells = list(cells)
    categories = tuple(sorted({*cells} - missing))  # type: ignore[type-var]
    code = dict.fromkeys(missing, np.nan) | {word: float(i) for i, word in enumerate(categories)}
    return Column("text", np.array([code[cell] for cell in cells]), categories, np.dtype(object))


def _object_column(array: np.ndarray, name: str) -> Column:
    """Python objects: text, bools or anything float() takes, with None, NaN and pandas.NA as holes."""
    types = set(map(type, array))
    holes = {t for t in types if t.__name__ in ("NoneType", "NAType", "NaTType")}
    known = types - holes
    if any(issubclass(t, str | bool | np.bool_) for t in known):
        floats = {t for t in known if issubclass(t, float | np.floating)}
        if all(v != v for v in array if type(v) in floats):
            holes, known = holes | floats, known - floats
    if holes - {type(None)}:
        array = array.copy()
        array[[type(v) in holes for v in array]] = None
    is_text = [issubclass(t, str) for t in known]
    if is_text and all(is_text):
        return text_column(array, frozenset([None]))
    if any(is_text):
        other = next(v for v in array if v is not None and not isinstance(v, str))
        raise TypeError(
            f"Column {short(name)} mixes text with values such as {short(other)}; "
            "make it all text or all numbers."
        )
    if known and all(issubclass(t, date) or t is np.datetime64 for t in known):
        return date_column(np.array([None if v is None else _plain_moment(v) for v in array], dtype="M8[us]"))
    try:
        values = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"Column {short(name)} cannot be read as numbers or text: {error}.") from None
    if known and all(issubclass(t, bool | np.bool_) for t in known):
        return Column("bool", values, (False, True), np.dtype(bool))
    whole = known and all(issubclass(t, int | np.integer) for t in known)
    remarks = rounded(np.array([v for v in array if v is not None], dtype=object)) if whole else ()
    return Column("number", values, None, np.dtype(np.int64 if whole else np.float64), remarks)


def date_column(moments: np.ndarray) -> Column:
    """Dates as days since 1970-01-01, lengths of time as days (Def. 3.1)."""
    dates = moments.dtype.kind == "M"
    whole = np.datetime64(0, "D") if dates else np.timedelta64(0, "D")
    days = (moments - whole).astype("m8[us]") / np.timedelta64(1, "D")  # NaN for NaT
    remark = DATES if dates else "holds lengths of time, read as days"
    return Column("number", days, None, np.dtype(np.float64), (remark,))


def rounded(array: np.ndarray) -> tuple[str, ...]:
    """The remark about whole numbers that float64 cannot hold, if there are any."""
    if array.dtype.kind not in "iuO" or array.dtype.itemsize < 8 or not array.size:
        return ()
    large = (array > 2**53) | (array < -(2**53))
    return (ROUNDED.format(array[large.astype(bool)][0]),) if large.any() else ()


def _plain_moment(moment: Any) -> Any:
    """A date or time in UTC, without its zone."""
    zone = getattr(moment, "tzinfo", None)
    return moment if zone is None else moment.astimezone(UTC).replace(tzinfo=None)


def _kind_refused(name: str, kind: object) -> ValueError:
    kind = short_name(str(kind))
    return ValueError(f"Column {short(name)} is of type {kind}, which is neither numbers nor categories.")


def as_nominal(column: Column, name: str) -> tuple[np.ndarray, tuple[object, ...]]:
    """Codes and categories; the categories of a column of numbers are its distinct values."""
    if column.categories is not None:
        return column.values, column.categories
    known = ~np.isnan(column.values)
    values = column.values[known]
    if np.isinf(values).any():
        raise ValueError(f"Column {short(name)} contains infinity; replace it or make it missing (NaN).")
    if values.size and np.abs(values).max() > EXACT:
        raise ValueError(
            f"Column {short(name)} has categories too large for exact numbers; pass them as text."
        )
    distinct, inverse = np.unique(values, return_inverse=True)
    codes = np.full(len(known), np.nan)
    codes[known] = inverse
    return codes, tuple(distinct.astype(column.dtype).tolist())


def as_numbers(column: Column, complaint: str) -> np.ndarray:
    """The numbers of a column; refused if it holds text, after the words of a complaint."""
    if column.kind in ("number", "bool") or not column.categories:
        return column.values
    if column.kind == "text" or not all(map(is_number, column.categories)):
        raise ValueError(f"{complaint} holds text such as {short(str(column.categories[0]))}.")
    return recode(column.values, np.array(column.categories, dtype=np.float64))


def recode(codes: np.ndarray, new: ArrayLike) -> np.ndarray:
    """The new value of every code, NaN where missing."""
    values = np.append(np.asarray(new, dtype=np.float64), np.nan)
    return values[np.where(np.isnan(codes), -1, codes).astype(np.int64)]


def is_number(value: object) -> bool:
    """Whether a value is a plain number (or bool)."""
    return isinstance(value, int | float | np.number | np.bool_)


def unique_names(names: Sequence[object] | None, n_features: int) -> tuple[str, ...]:
    """The names as a tuple of unique str, "x0", "x1", ... where there are none."""
    if names is None:
        return tuple(f"x{i}" for i in range(n_features))
    counts = Counter(map(str, names))
    if len(names) != n_features:
        raise ValueError(f"{len(names)} feature names were given for {n_features} features.")
    if twice := [short(name) for name, count in counts.items() if count > 1]:
        raise ValueError(
            f"Column names must be unique, but {', '.join(twice[:3])} "
            f"{'appears' if len(twice) == 1 else 'appear'} more than once; rename or drop the repeats."
        )
    return tuple(counts)
