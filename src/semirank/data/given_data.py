"""What a user passes as X, y and target: arrays, a frame with its target column, an AnnData object."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..runtime.messages import did_you_mean, short
from .columns import NamedColumn, column_names, frame_kind, is_anndata, native_frame
from .encode_features import encode_features
from .table import Table


def given_data(
    X: Any,
    y: Any,
    target: str | Sequence[str] | None,
    feature_names: Sequence[str] | None,
    params: dict[str, Any],
) -> tuple[Any, Any]:
    """X and y as rankers take them.

    Where X is encoded here, `categorical_features` is taken out of `params`: it has had its effect.

    Parameters
    ----------
    X : array, frame, sparse matrix, Table or AnnData
    y : target in any form that the rankers take, or None where `target` names columns
    target : str or sequence of str, optional
        Columns of the frame X, or of ``X.obs``.
    feature_names : sequence of str, optional
        Names of the columns of an array.
    params : dict
        Parameters of a ranker.

    Examples
    --------
    >>> import pandas as pd
    >>> X, y = given_data(pd.DataFrame({"a": [1, 2], "b": [3, 4]}), None, "b", None, {})
    >>> list(X), list(y)
    (['a'], [3, 4])
    """
    if is_anndata(X):
        X, y = _read_anndata(X, y, target, params.pop("categorical_features", "from_dtype"))
    elif target is not None:
        X = native_frame(X)
        if frame_kind(X) is None:
            raise TypeError(
                f"target= is for frames and AnnData objects, and X is of type {type(X).__name__}."
            )
        if y is not None:
            raise TypeError("Either name the column of X to rank for as target=, or pass y, not both.")
        X, y = split_target(X, target)
    if feature_names is not None:
        if isinstance(X, Table) or frame_kind(native_frame(X)) is not None:
            raise TypeError("feature_names= is for arrays; X has names of its own.")
        nominal = params.pop("categorical_features", "from_dtype")
        X = encode_features(X, categorical_features=nominal, names=list(feature_names))
    return X, y


def _read_anndata(
    data: Any, y: Any, target: str | Sequence[str] | None, categorical_features: Any
) -> tuple[Table, Any]:
    """`.X` under the names of `.var_names`, and y or the columns of `.obs`."""
    if (y is None) == (target is None):
        raise TypeError("Either name the column of .obs to rank for as target=, or pass y.")
    if data.X is None:
        raise ValueError("The AnnData object has no X; put the matrix to rank into .X first.")
    if not data.var_names.is_unique:
        raise ValueError("The .var_names are not unique; call .var_names_make_unique() first.")
    if target is not None:
        columns = _target_columns(target, data.obs, ".obs")
        y = data.obs[columns[0] if len(columns) == 1 else columns]
    matrix = data.to_memory().X if data.isbacked else data.X
    names = list(data.var_names)
    return encode_features(matrix, categorical_features=categorical_features, names=names), y


def _target_columns(target: str | Sequence[str], columns: Iterable[Any], where: str) -> list[Any]:
    """The target columns under the names that the frame has for them, which may be numbers."""
    names = [target] if isinstance(target, str) else [str(name) for name in target]
    if not names:
        raise ValueError(f"target is an empty list; name at least one column of {where}.")
    spelled = {str(name): name for name in columns}
    for name in names:
        if name not in spelled:
            raise ValueError(
                f"There is no column {short(name)} in {where}{did_you_mean(name, list(spelled))}."
            )
    return [spelled[name] for name in names]


def split_target(frame: Any, target: str | Sequence[str]) -> tuple[Any, Any]:
    """A frame without its target columns, and these: one column, or several as a frame."""
    frame = native_frame(frame)
    names = _target_columns(target, column_names(frame), "X")
    kind, one = frame_kind(frame), len(names) == 1
    if kind == "pandas":
        return frame.drop(columns=names), frame[names[0] if one else names]
    if kind == "polars":
        return frame.drop(names), frame[names[0] if one else names]
    given = NamedColumn(frame.column(names[0]), names[0]) if one else frame.select(names)
    return frame.drop_columns(names), given
