"""Rows of X and y that carry labels of their own: the index of pandas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..runtime.messages import did_you_mean, short
from .columns import NamedColumn, column_names, frame_kind, native_frame, series_kind


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


def target_columns(target: str | Sequence[str], columns: Iterable[object], where: str) -> list[str]:
    """The names of the target columns; refused if they are not among these columns."""
    names = [target] if isinstance(target, str) else list(target)
    if not names:
        raise ValueError(f"target is an empty list; name at least one column of {where}.")
    known = [str(name) for name in columns]
    for name in names:
        if name not in known:
            raise ValueError(f"There is no column {short(name)} in {where}{did_you_mean(name, known)}.")
    return names


def split_target(frame: Any, target: str | Sequence[str]) -> tuple[Any, Any]:
    """A frame without its target columns, and these: one column, or several as a frame."""
    frame = native_frame(frame)
    names = target_columns(target, column_names(frame), "X")
    chosen = names[0] if len(names) == 1 else names
    kind = frame_kind(frame)
    if kind == "pandas":
        return frame.drop(columns=names), frame[chosen]
    if kind == "polars":
        return frame.drop(names), frame[chosen]
    one = len(names) == 1
    given = NamedColumn(frame.column(names[0]), names[0]) if one else frame.select(names)
    return frame.drop_columns(names), given
