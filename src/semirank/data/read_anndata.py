"""AnnData objects: features from `.X`, the target from `.obs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .align_rows import target_columns
from .encode_features import encode_features

if TYPE_CHECKING:
    from .table import Table


def read_anndata(
    data: Any,
    y: Any,
    target: str | Sequence[str] | None,
    categorical_features: Any,
) -> tuple[Table, Any]:
    """`.X` under the names of `.var_names`, and y or the columns of `.obs`."""
    if (y is None) == (target is None):
        raise TypeError("Either name the column of .obs to rank for as target=, or pass y.")
    if data.X is None:
        raise ValueError("The AnnData object has no X; put the matrix to rank into .X first.")
    if not data.var_names.is_unique:
        raise ValueError("The .var_names are not unique; call .var_names_make_unique() first.")
    if target is not None:
        columns = target_columns(target, data.obs, ".obs")
        y = data.obs[columns[0] if len(columns) == 1 else columns]
    matrix = data.to_memory().X if data.isbacked else data.X
    names = list(data.var_names)
    return encode_features(matrix, categorical_features=categorical_features, names=names), y
