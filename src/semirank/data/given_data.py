"""What a user passes as X, y and target: arrays, a frame with its target column, an AnnData object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .align_rows import split_target
from .columns import frame_kind, is_anndata, native_frame
from .encode_features import encode_features
from .read_anndata import read_anndata
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
        X, y = read_anndata(X, y, target, params.pop("categorical_features", "from_dtype"))
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
