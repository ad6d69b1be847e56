"""Features from arrays, pandas and polars frames and sparse matrices."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..runtime.memory import ensure_room
from ..runtime.messages import did_you_mean, short, short_name
from .table import Table

_BOOLS = (bool, np.bool_)
_COMPLEX = "Complex data not supported; pass real and imaginary parts as separate numbers."
_EXACT = 2.0**53  # whole numbers beyond this do not survive the way through float64
_MANY_ROWS = 20  # fewer are easily told apart by chance


class Column(NamedTuple):
    """One column as read, whatever it came from.

    kind is "number" (values are the numbers), "bool" (0/1), or "text" and "category" (codes of
    `categories`); NaN where missing. dtype is what the user's own values are made of.
    """

    kind: str
    values: np.ndarray
    categories: tuple[object, ...] | None
    dtype: np.dtype


def encode_features(
    X: Any,
    *,
    categorical_features: Any = "from_dtype",
    names: Sequence[str] | None = None,
    notes: list[str] | None = None,
) -> Table:
    """Encode features for the rankers (Def. 1.1, 3.1).

    Parameters
    ----------
    X : array, list of rows, pandas or polars DataFrame, scipy.sparse matrix or Table
        A Table is returned as it is, a sparse matrix is made dense.
    categorical_features : "from_dtype", None, mask, positions or names, default="from_dtype"
        Which features are nominal. "from_dtype": category, string, object and bool columns.
    names : sequence of str, optional
        Feature names for data without any; otherwise "x0", "x1", ...
    notes : list of str, optional
        Collects sentences about features that can play no part.

    Returns
    -------
    Table

    Examples
    --------
    >>> from semirank.data.encode_features import encode_features
    >>> table = encode_features([[1.5, "red"], [None, "blue"], [2.5, "red"]], names=["size", "colour"])
    >>> table.values.tolist()
    [[1.5, 1.0], [nan, 0.0], [2.5, 1.0]]
    >>> table.categories
    (None, ('blue', 'red'))
    """
    if isinstance(X, Table):
        if not _is_from_dtype(categorical_features):
            raise ValueError(
                "X is an encoded Table, so its nominal features are fixed; leave out categorical_features."
            )
        return _noted(X, notes)
    data = _plain(X)
    own = _own_names(data)
    final = unique_names(names if names is not None else own, data.shape[1])
    nominal = nominal_mask(categorical_features, data.shape[1], own if own is not None else names)
    if isinstance(data, np.ndarray) and data.dtype.kind in "iuf" and (nominal is None or not nominal.any()):
        table = _finished(_matrix(data), final, (None,) * data.shape[1])
    else:
        table = table_from_columns(_columns(data, final), final, data.shape[0], nominal)
    return _noted(table, notes)


def make_frame(columns: Mapping[str, Any], library: str) -> Any:
    """Columns as a data frame of "pandas" or "polars"."""
    if library not in ("pandas", "polars"):
        raise ValueError(f'library must be "pandas" or "polars", got {library!r}.')
    try:
        module = importlib.import_module(library)
    except ImportError:
        raise ImportError(f"A data frame needs {library}: pip install {library}.") from None
    return module.DataFrame(columns)


def encode_like(X: Any, table: Table, *, estimator_name: str = "semirank") -> Table:
    """Encode new rows as the features of a fitted table.

    Parameters
    ----------
    X : as for :func:`encode_features`
    table : Table
        What the features looked like when fitted; its rows do not matter.
    estimator_name : str
        Who to name in an error.

    Returns
    -------
    Table
        Categories that the table does not know are missing values.

    Examples
    --------
    >>> from semirank.data.encode_features import encode_features, encode_like
    >>> table = encode_features([["red"], ["blue"]])
    >>> encode_like([["blue"], ["green"]], table).values.tolist()
    [[0.0], [nan]]
    """
    if isinstance(X, Table):
        _check_names(np.array(X.names, dtype=object), table)
        if X.categories == table.categories:
            return X
        data: Any = X
    else:
        data = _plain(X)
        _check_names(feature_names(data), table)
    if data.shape[1] != len(table.names):
        raise ValueError(
            f"X has {data.shape[1]} features, but {estimator_name} is expecting "
            f"{len(table.names)} features as input."
        )
    if isinstance(data, np.ndarray) and data.dtype.kind in "iuf" and not table.n_values.any():
        values = _matrix(data)
    else:
        by_feature = np.empty((data.shape[1], data.shape[0]))
        for j, column in enumerate(_columns(data, table.names)):
            if table.categories[j] is None:
                by_feature[j] = _numbers(column, table.names[j], "a number")
            else:
                by_feature[j] = _codes_like(column, table.categories[j], table.names[j])
        values = np.ascontiguousarray(by_feature.T)
    _refuse_infinite(values, table.names)
    return Table(values, table.n_values, table.names, table.categories)


def feature_names(X: Any) -> np.ndarray | None:
    """Names of the features as scikit-learn's `feature_names_in_` has them: all str, or None.

    Examples
    --------
    >>> from semirank.data.encode_features import feature_names
    >>> feature_names([[1, 2]]) is None
    True
    """
    if isinstance(X, Table):
        return np.array(X.names, dtype=object)
    if frame_kind(X) is None:
        return None
    names = list(X.columns)
    text = [isinstance(name, str) for name in names]
    if any(text) and not all(text):
        raise TypeError(
            "Feature names are only supported if all input features have string names; "
            "use X.columns = X.columns.astype(str) to make them so."
        )
    return np.array(names, dtype=object) if names and all(text) else None


def frame_kind(X: Any) -> str | None:
    """ "pandas" or "polars" for a DataFrame of theirs, without importing either."""
    library = type(X).__module__.partition(".")[0]
    return library if library in ("pandas", "polars") and type(X).__name__ == "DataFrame" else None


def is_anndata(X: Any) -> bool:
    """Whether X is an AnnData object, or of a class made from it, without importing anndata."""
    return any(
        kind.__name__ == "AnnData" and kind.__module__.partition(".")[0] == "anndata"
        for kind in type(X).__mro__
    )


def series_kind(y: Any) -> str | None:
    """ "pandas" or "polars" for a Series (or pandas array or index) of theirs, without importing either."""
    library = type(y).__module__.partition(".")[0]
    if library == "polars":
        return library if type(y).__name__ == "Series" else None
    return library if library == "pandas" and not frame_kind(y) else None


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
    if array.dtype.kind == "S":
        array = array.astype(str)
    return array


def array_column(array: np.ndarray, name: str) -> Column:
    """Read one column of an array."""
    kind = array.dtype.kind
    if kind in "iuf":
        with np.errstate(over="ignore"):  # a long double beyond float64 is refused as infinity
            return Column("number", array.astype(np.float64), None, array.dtype)
    if kind == "b":
        return Column("bool", array.astype(np.float64), (False, True), array.dtype)
    if kind == "U":
        categories, codes = np.unique(array, return_inverse=True)
        return Column("text", codes.astype(np.float64), tuple(categories.tolist()), array.dtype)
    if kind == "O":
        return _object_column(array, name)
    if kind in "mM":
        raise ValueError(dates_refused(name))
    if kind == "c":
        raise ValueError(_COMPLEX)
    raise ValueError(
        f"Column {short(name)} is of type {array.dtype}, which is neither numbers nor categories."
    )


def pandas_column(series: Any, name: str) -> Column:
    """Read one column of a pandas frame."""
    from pandas.api import types

    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return array_column(series.to_numpy(), name)
    if dtype.name == "category":
        codes = series.cat.codes.to_numpy().astype(np.float64)
        codes[codes < 0] = np.nan
        categories = tuple(series.cat.categories.tolist())
        return Column("category", codes, categories, series.cat.categories.to_numpy().dtype)
    if types.is_bool_dtype(dtype):
        return Column("bool", series.to_numpy(np.float64, na_value=np.nan), (False, True), np.dtype(bool))
    if types.is_numeric_dtype(dtype):
        own = np.dtype(np.int64 if types.is_integer_dtype(dtype) else np.float64)
        return Column("number", series.to_numpy(np.float64, na_value=np.nan), None, own)
    if types.is_string_dtype(dtype):
        import pandas

        codes, known = pandas.factorize(series, sort=True)
        values = codes.astype(np.float64)
        values[codes < 0] = np.nan
        return Column("text", values, tuple(known.tolist()), np.dtype(object))
    if types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        raise ValueError(dates_refused(name))
    return _object_column(series.to_numpy(object), name)


def polars_column(series: Any, name: str) -> Column:
    """Read one column of a polars frame."""
    import polars

    dtype = series.dtype
    if dtype.is_numeric():
        own = np.dtype(np.int64 if dtype.is_integer() else np.float64)
        return Column("number", series.cast(polars.Float64).to_numpy(), None, own)
    if dtype == polars.Null:
        return Column("number", np.full(len(series), np.nan), None, np.dtype(np.float64))
    if dtype == polars.Boolean:
        return Column("bool", series.cast(polars.Float64).to_numpy(), (False, True), np.dtype(bool))
    if dtype.is_temporal():
        raise ValueError(dates_refused(name))
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


def _object_column(array: np.ndarray, name: str) -> Column:
    """Python objects: text, bools or anything float() takes, with None, NaN and pandas.NA as holes."""
    types = set(map(type, array))
    holes = {t for t in types if t.__name__ in ("NoneType", "NAType", "NaTType")}
    if holes - {type(None)}:
        array = array.copy()
        array[[type(v) in holes for v in array]] = None
    if not any(issubclass(t, str | bool | np.bool_) for t in types):
        return _object_numbers(array, name)
    floats = {t for t in types if issubclass(t, float | np.floating)}
    if floats and all(v != v for v in array if type(v) in floats):
        array = array.copy()
        array[[type(v) in floats for v in array]] = None
        holes, floats = holes | floats, set()
    rest = types - holes - floats
    if not floats and all(issubclass(t, str) for t in rest):
        known = tuple(sorted(set(array) - {None}))
        code = {None: np.nan, **{v: float(i) for i, v in enumerate(known)}}
        return Column("text", np.array([code[v] for v in array]), known, np.dtype(object))
    if any(issubclass(t, str) for t in rest):
        other = next(v for v in array if v is not None and not isinstance(v, str))
        raise TypeError(
            f"Column {short(name)} mixes text with values such as {short(other)}; "
            "make it all text or all numbers."
        )
    column = _object_numbers(array, name)
    if floats or not all(issubclass(t, _BOOLS) for t in rest):
        return column
    return Column("bool", column.values, (False, True), np.dtype(bool))


def _object_numbers(array: np.ndarray, name: str) -> Column:
    try:
        values = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"Column {short(name)} cannot be read as numbers or text: {error}.") from None
    known = [v for v in array if v is not None]
    whole = bool(known) and all(isinstance(v, int | np.integer) for v in known)
    return Column("number", values, None, np.dtype(np.int64 if whole else np.float64))


def dates_refused(name: str) -> str:
    """The sentence that turns dates away."""
    return (
        f"Column {short(name)} holds dates or times; turn them into numbers "
        "(such as days since the first date) or leave the column out."
    )


def _plain(X: Any) -> Any:
    """A frame, or a 2-D array; sparse matrices made dense."""
    if is_anndata(X):
        raise TypeError(
            "X is an AnnData object; use semirank.rank(X, target=...) with the name of an .obs column, "
            "or pass X.to_df()."
        )
    if frame_kind(X) is None:
        if hasattr(X, "toarray") and hasattr(X, "nnz"):
            ensure_dense(X.shape, "The sparse matrix")
            X = X.toarray()
        if series_kind(X) is not None:
            X = X.to_numpy()
        X = read_array(X)
        if X.ndim < 2:
            raise ValueError(
                f"Expected 2D array, got {'scalar' if X.ndim == 0 else '1D'} array instead. "
                "Reshape your data using array.reshape(-1, 1) if it has a single feature "
                "or array.reshape(1, -1) if it is a single sample."
            )
        if X.ndim > 2:
            raise ValueError(f"Found array with dim {X.ndim}, while dim <= 2 is required.")
    for what, size in zip(("sample", "feature"), X.shape):
        if size == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={tuple(X.shape)}) while a minimum of 1 is required."
            )
    return X


def ensure_dense(shape: tuple[int, ...], what: str) -> None:
    """Stop before something sparse is made dense that memory cannot hold, with the copies on its way."""
    ensure_room(24.0 * shape[0] * shape[-1], f"{what} of shape {tuple(shape)}, made dense,")


def _own_names(data: Any) -> list[str] | None:
    return None if frame_kind(data) is None else [str(name) for name in data.columns]


def unique_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...]:
    """The names as a tuple of unique str, "x0", "x1", ... where there are none."""
    if names is None:
        return tuple(f"x{i}" for i in range(n_features))
    names = tuple(str(name) for name in names)
    if len(names) != n_features:
        raise ValueError(f"{len(names)} feature names were given for {n_features} features.")
    if len(set(names)) < n_features:
        seen: set[str] = set()
        twice = list(dict.fromkeys(n for n in names if n in seen or seen.add(n)))  # type: ignore[func-returns-value]
        raise ValueError(
            f"Column names must be unique, but {', '.join(map(short, twice[:3]))} "
            f"{'appears' if len(twice) == 1 else 'appear'} more than once; rename or drop the repeats."
        )
    return names


def _is_from_dtype(categorical_features: Any) -> bool:
    return isinstance(categorical_features, str) and categorical_features == "from_dtype"


def nominal_mask(choice: Any, n_features: int, names: Sequence[str] | None) -> np.ndarray | None:
    """Mask of the nominal features, or None where the dtypes decide."""
    if _is_from_dtype(choice):
        return None
    mask = np.zeros(n_features, dtype=bool)
    if choice is None:
        return mask
    if isinstance(choice, str):
        raise ValueError(f"categorical_features must be 'from_dtype', None or a list, got {choice!r}.")
    given = np.asarray(choice)
    if given.size == 0:
        return mask
    if given.dtype.kind == "b":
        if given.shape != (n_features,):
            raise ValueError(
                f"categorical_features as a mask must have shape ({n_features},), got {given.shape}."
            )
        return given
    if given.dtype.kind in "iu":
        if given.min() < 0 or given.max() >= n_features:
            raise ValueError(f"categorical_features as positions must lie in 0..{n_features - 1}.")
        mask[given] = True
        return mask
    if not all(isinstance(name, str) for name in given.ravel()):
        raise ValueError("categorical_features must be a list of bools, positions or names.")
    if names is None:
        raise ValueError("categorical_features can hold names only if X has column names; use positions.")
    place = {str(name): j for j, name in enumerate(names)}
    for name in given.ravel().tolist():
        if name not in place:
            near = did_you_mean(name, place)
            raise ValueError(f"categorical_features names {short(name)}, no column of X{near}.")
        mask[place[name]] = True
    return mask


def _matrix(array: np.ndarray) -> np.ndarray:
    ensure_room(8.0 * array.size, f"A table of {array.shape[0]} rows and {array.shape[1]} columns")
    # writeable, aligned and contiguous: kernels are compiled for one kind of array only
    with np.errstate(over="ignore"):  # a long double beyond float64 is refused as infinity
        return np.require(array, np.float64, ["C", "A", "W", "E"])


def _columns(data: Any, names: Sequence[str]) -> Iterator[Column]:
    kind = frame_kind(data)
    if isinstance(data, Table):
        for j, categories in enumerate(data.categories):
            what = "number" if categories is None else "category"
            yield Column(what, data.values[:, j], categories, np.dtype(object))
    elif kind == "pandas":
        for j, name in enumerate(names):
            yield pandas_column(data.iloc[:, j], name)
    elif kind == "polars":
        for series, name in zip(data.iter_columns(), names):
            yield polars_column(series, name)
    else:
        for j, name in enumerate(names):
            yield array_column(data[:, j], name)


def table_from_columns(
    columns: Iterable[Column], names: tuple[str, ...], n_rows: int, nominal: np.ndarray | None
) -> Table:
    """Put columns side by side; `nominal` (a mask) decides over their kind where it is given."""
    ensure_room(16.0 * len(names) * n_rows, f"A table of {n_rows} rows and {len(names)} columns")
    by_feature = np.empty((len(names), n_rows))
    categories: list[tuple[object, ...] | None] = []
    for j, column in enumerate(columns):
        if column.kind != "number" if nominal is None else nominal[j]:
            codes, known = as_nominal(column, names[j])
            by_feature[j] = codes
            categories.append(known)
        else:
            by_feature[j] = _numbers(column, names[j], "numeric because categorical_features leaves it out")
            categories.append(None)
    return _finished(np.ascontiguousarray(by_feature.T), names, tuple(categories))


def _finished(
    values: np.ndarray, names: tuple[str, ...], categories: tuple[tuple[object, ...] | None, ...]
) -> Table:
    _refuse_infinite(values, names)
    n_values = np.array([0 if c is None else len(c) for c in categories], dtype=np.int64)
    return Table(values, n_values, names, categories)


def as_nominal(column: Column, name: str) -> tuple[np.ndarray, tuple[object, ...]]:
    """Codes and categories; the categories of a column of numbers are its distinct values."""
    if column.categories is not None:
        return column.values, column.categories
    known = ~np.isnan(column.values)
    values = column.values[known]
    if np.isinf(values).any():
        raise ValueError(f"Column {short(name)} contains infinity; replace it or make it missing (NaN).")
    if values.size and np.abs(values).max() > _EXACT:
        raise ValueError(
            f"Column {short(name)} has categories too large for exact numbers; pass them as text."
        )
    distinct, inverse = np.unique(values, return_inverse=True)
    codes = np.full(len(known), np.nan)
    codes[known] = inverse
    return codes, tuple(distinct.astype(column.dtype).tolist())


def as_numbers(column: Column) -> np.ndarray | None:
    """The numbers of a column, or None if it holds text."""
    if column.kind in ("number", "bool"):
        return column.values
    assert column.categories is not None
    if column.kind == "text" or not all(is_number(c) for c in column.categories):
        return None
    return recode(column.values, np.array(column.categories, dtype=np.float64))


def recode(codes: np.ndarray, new: ArrayLike) -> np.ndarray:
    """The new value of every code, NaN where missing."""
    values = np.append(np.asarray(new, dtype=np.float64), np.nan)
    return values[np.where(np.isnan(codes), -1, codes).astype(np.int64)]


def is_number(value: object) -> bool:
    """Whether a value is a plain number (or bool)."""
    return isinstance(value, int | float | np.number | np.bool_)


def _numbers(column: Column, name: str, expected: str) -> np.ndarray:
    values = as_numbers(column)
    if values is None:
        assert column.categories is not None
        if not column.categories:  # nothing but missing values
            return column.values
        raise ValueError(
            f"Column {short(name)} should be {expected}, but holds text such as "
            f"{short(str(column.categories[0]))}."
        )
    return values


def _codes_like(column: Column, fitted: tuple[object, ...] | None, name: str) -> np.ndarray:
    """Codes of a new column among the fitted categories."""
    assert fitted is not None
    codes, given = as_nominal(column, name)
    if given == fitted or not given:
        return codes
    place = {category: float(i) for i, category in enumerate(fitted)}
    new = np.array([place.get(category, np.nan) for category in given])
    if fitted and all(map(is_number, given)) != all(map(is_number, fitted)) and np.isnan(new).all():
        raise ValueError(
            f"Column {short(name)} had categories such as {short(fitted[0])} in fit, "
            f"but holds {short(given[0])} now."
        )
    return recode(codes, new)


def _check_names(given: np.ndarray | None, table: Table) -> None:
    """Refuse other or reordered names, in scikit-learn's words; rows without names cannot be checked."""
    fitted = table.names
    if given is None or tuple(given) == fitted or fitted == tuple(f"x{i}" for i in range(len(fitted))):
        return
    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(given) - set(fitted)), sorted(set(fitted) - set(given))
    if unseen:
        message += "Feature names unseen at fit time:\n" + _bullets(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _bullets(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise ValueError(message)


def _bullets(names: list[str]) -> str:
    return "".join(f"- {name}\n" for name in [*names[:5], *(["..."] if len(names) > 5 else [])])


def _refuse_infinite(values: np.ndarray, names: Sequence[str]) -> None:
    infinite = np.isinf(values).any(axis=0)
    if infinite.any():
        name = names[int(np.flatnonzero(infinite)[0])]
        raise ValueError(f"Column {short(name)} contains infinity; replace it or make it missing (NaN).")


def _noted(table: Table, notes: list[str] | None) -> Table:
    """The table itself, after a word about features that cannot matter, or should not."""
    if notes is not None:
        low, high = np.fmin.reduce(table.values, axis=0), np.fmax.reduce(table.values, axis=0)
        for found, words in (
            (np.isnan(low), ("is always missing and cannot matter", "are always missing and cannot matter")),
            (low == high, ("is constant and cannot matter", "are constant and cannot matter")),
            (
                _numbering(table, low, high),
                ("tells every row from all others: drop it if it is an identifier",
                 "tell every row from all others: drop them if they are identifiers"),
            ),
        ):  # fmt: skip
            if count := int(found.sum()):
                some = ", ".join(short_name(table.names[j]) for j in np.flatnonzero(found)[:3])
                notes.append(
                    f"{count} of {len(table.names)} features {words[count > 1]} "
                    f"({some}{', ...' if count > 3 else ''})"
                )
    return table


def _numbering(table: Table, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Features that look like identifiers: complete, all names different, or whole numbers without a gap."""
    n = len(table)
    nominal = table.n_values > 0
    with np.errstate(over="ignore"):
        gapless = high - low == n - 1
    # What can be told without counting rules out almost all features.
    found = np.where(nominal, table.n_values >= n, gapless) & (n >= _MANY_ROWS)
    for j in np.flatnonzero(found):
        values = table.values[:, j]
        whole = nominal[j] or np.array_equal(values, np.floor(values))
        found[j] = whole and len(np.unique(values)) == n and not np.isnan(values).any()
    return found
