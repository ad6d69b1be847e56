"""Features of any kind as a Table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..runtime.memory import ensure_room
from ..runtime.messages import did_you_mean, short
from .column_summary import remark_notes
from .columns import (
    Column,
    as_nominal,
    as_numbers,
    column_names,
    frame_kind,
    is_anndata,
    is_number,
    make_dense,
    native_frame,
    read_array,
    read_columns,
    recode,
    rounded,
    series_kind,
    unique_names,
)
from .odd_features import describe_features, value_remarks
from .table import Table


def encode_features(
    X: Any,
    *,
    categorical_features: Any = "from_dtype",
    names: Sequence[str] | None = None,
    notes: list[str] | None = None,
    remarks: dict[str, tuple[str, ...]] | None = None,
) -> Table:
    """Encode features for the rankers (Def. 1.1, 3.1).

    Parameters
    ----------
    X : array, list of rows, pandas or polars DataFrame, pyarrow Table, scipy.sparse matrix or Table
        A Table is returned as it is, a sparse matrix is made dense.
    categorical_features : "from_dtype", None, mask, positions or names, default="from_dtype"
        Which features are nominal. "from_dtype": category, string, object and bool columns.
    names : sequence of str, optional
        Feature names for data without any; otherwise "x0", "x1", ...
    notes : list of str, optional
        Collects sentences about features that can play no part.
    remarks : dict, optional
        Collects remarks on single features, by name.

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
    said: list[tuple[str, tuple[str, ...]]] = []
    if isinstance(X, Table):
        if not isinstance(categorical_features, str) or categorical_features != "from_dtype":
            raise ValueError(
                "X is an encoded Table, so its nominal features are fixed; leave out categorical_features."
            )
        table = X
    else:
        data = _frame_or_matrix(X)
        n_rows, n_features = data.shape
        own = names if frame_kind(data) is None else [str(name) for name in column_names(data)]
        final = unique_names(own if names is None else names, n_features)
        nominal = nominal_mask(categorical_features, n_features, own)
        if _is_numeric(data) and (nominal is None or not nominal.any()):
            values, none = _finite(_matrix(data), final), (None,) * n_features
            table = Table(values, np.zeros(n_features, dtype=np.int64), final, none)
            said += [(name, rounded(part)) for name, part in zip(final, data.T)] if rounded(data) else []
        else:
            table = table_from_columns(read_columns(data, final), final, n_rows, nominal, said)
    if remarks is not None:
        remarks.update(said)
    if notes is not None:
        notes += [*describe_features(table), *remark_notes([*said, *value_remarks(table)])]
    return table


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
    data: Any = X if isinstance(X, Table) else _frame_or_matrix(X)
    _check_names(feature_names(data), table)
    if isinstance(X, Table) and X.categories == table.categories:
        return X
    n_rows, n_features = data.shape
    if n_features != len(table.names):
        raise ValueError(
            f"X has {n_features} features, but {estimator_name} is expecting "
            f"{len(table.names)} features as input."
        )
    if _is_numeric(data) and not table.n_values.any():
        values = _matrix(data)
    else:
        by_feature = np.empty((n_features, n_rows))
        columns = _table_columns(X) if isinstance(X, Table) else read_columns(data, table.names)
        for j, (column, name, fitted) in enumerate(zip(columns, table.names, table.categories)):
            if fitted is None:
                by_feature[j] = as_numbers(column, f"Column {short(name)} should be a number, but")
            else:
                by_feature[j] = _codes_like(column, fitted, name)
        values = np.ascontiguousarray(by_feature.T)
    return replace(table, values=_finite(values, table.names))


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
    names = column_names(X)
    text = [isinstance(name, str) for name in names]
    if any(text) and not all(text):
        raise TypeError(
            "Feature names are only supported if all input features have string names; "
            "use X.columns = X.columns.astype(str) to make them so."
        )
    return np.array(names, dtype=object) if names and all(text) else None


def nominal_mask(choice: Any, n_features: int, names: Sequence[str] | None) -> np.ndarray | None:
    """Mask of the nominal features, or None where the dtypes decide."""
    if isinstance(choice, str):
        if choice == "from_dtype":
            return None
        raise ValueError(f"categorical_features must be 'from_dtype', None or a list, got {choice!r}.")
    mask = np.zeros(n_features, dtype=bool)
    given = np.asarray(() if choice is None else choice)
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


def table_from_columns(
    columns: Iterable[Column],
    names: tuple[str, ...],
    n_rows: int,
    nominal: np.ndarray | None = None,
    said: list[tuple[str, tuple[str, ...]]] | None = None,
) -> Table:
    """Put columns side by side; `nominal` (a mask) decides over their kind where it is given.

    `said` collects the remarks on the columns.
    """
    ensure_room(16.0 * len(names) * n_rows, f"A table of {n_rows} rows and {len(names)} columns")
    by_feature = np.empty((len(names), n_rows))
    categories: list[tuple[object, ...] | None] = [None] * len(names)
    for j, (column, name) in enumerate(zip(columns, names)):
        if column.kind != "number" if nominal is None else nominal[j]:
            by_feature[j], categories[j] = as_nominal(column, name)
        else:
            wanted = "should be numeric because categorical_features leaves it out, but"
            by_feature[j] = as_numbers(column, f"Column {short(name)} {wanted}")
        if said is not None and column.remarks:
            said.append((name, column.remarks))
    values = _finite(np.ascontiguousarray(by_feature.T), names)
    n_values = np.array([0 if c is None else len(c) for c in categories], dtype=np.int64)
    return Table(values, n_values, names, tuple(categories))


def _frame_or_matrix(X: Any) -> Any:
    """A frame, or a 2-D array; sparse matrices made dense."""
    X = native_frame(X)
    if is_anndata(X):
        raise TypeError(
            "X is an AnnData object; use semirank.rank(X, target=...) with the name of an .obs column, "
            "or pass X.to_df()."
        )
    if frame_kind(X) is None:
        X = make_dense(X, "The sparse matrix")
        X = read_array(X if series_kind(X) is None else X.to_numpy())
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


def _is_numeric(data: Any) -> bool:
    return isinstance(data, np.ndarray) and data.dtype.kind in "iuf"


def _matrix(array: np.ndarray) -> np.ndarray:
    ensure_room(8.0 * array.size, f"A table of {array.shape[0]} rows and {array.shape[1]} columns")
    # writeable, aligned and contiguous: kernels are compiled for one kind of array only
    with np.errstate(over="ignore"):  # a long double beyond float64 is refused as infinity
        return np.require(array, np.float64, ["C", "A", "W", "E"])


def _table_columns(table: Table) -> Iterable[Column]:
    for values, categories in zip(table.values.T, table.categories):
        yield Column("number" if categories is None else "category", values, categories, np.dtype(object))


def _finite(values: np.ndarray, names: Sequence[str]) -> np.ndarray:
    infinite = np.isinf(values).any(axis=0)
    if infinite.any():
        name = short(names[int(infinite.argmax())])
        raise ValueError(f"Column {name} contains infinity; replace it or make it missing (NaN).")
    return values


def _codes_like(column: Column, fitted: tuple[object, ...], name: str) -> np.ndarray:
    """Codes of a new column among the fitted categories."""
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
    if given is None or tuple(given) == fitted or fitted == unique_names(None, len(fitted)):
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
