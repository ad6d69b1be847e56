"""AnnData objects: features from `.X`, the target from `.obs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..runtime.messages import did_you_mean
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
        y = _columns(data.obs, target)
    matrix = data.to_memory().X if data.isbacked else data.X
    names = list(data.var_names)
    return encode_features(matrix, categorical_features=categorical_features, names=names), y


def _columns(obs: Any, target: str | Sequence[str]) -> Any:
    """One column, or several as a frame."""
    names = [target] if isinstance(target, str) else list(target)
    if not names:
        raise ValueError("target is an empty list; name at least one column of .obs.")
    for name in names:
        if name not in obs:
            known = [str(column) for column in obs.columns]
            raise ValueError(f"There is no column {name!r} in .obs{did_you_mean(str(name), known)}.")
    return obs[names[0]] if len(names) == 1 else obs[names]
