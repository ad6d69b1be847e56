"""Rows of X and y that carry labels of their own: the index of pandas."""

from __future__ import annotations

from typing import Any

from .columns import frame_kind, series_kind


def align_rows(X: Any, y: Any, notes: list[str] | None = None) -> Any:
    """y in the order of the rows of X, where both have an index.

    Refused if their labels are not the same; `notes` collects what was done.

    Examples
    --------
    >>> import pandas as pd
    >>> X, y = pd.DataFrame({"a": [1, 2]}, index=["p", "q"]), pd.Series(["u", "v"], index=["q", "p"])
    >>> align_rows(X, y).tolist()
    ['v', 'u']
    """
    left, right = _index(X), _index(y)
    if left is None or right is None or len(left) != len(right) or left.equals(right):
        return y
    if not left.is_unique or not right.is_unique or not left.isin(right).all():
        raise ValueError(
            "The rows of X and y have different labels (their index), so it is not clear which belong "
            "together; make them the same, or pass y.to_numpy() to go by position."
        )
    if notes is not None:
        notes.append("the rows of y were put in the order of X by their index")
    return y.loc[left]


def _index(data: Any) -> Any:
    """The index of a pandas frame or Series."""
    labelled = frame_kind(data) == "pandas" or series_kind(data) == "pandas"
    return getattr(data, "index", None) if labelled and hasattr(data, "loc") else None
