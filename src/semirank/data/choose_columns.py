"""Which columns of a file are the target, and which are features."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from ..runtime.messages import did_you_mean, plural, short, short_name
from .columns import Column, FileColumns
from .hierarchy import Hierarchy
from .read_label_file import find_label_file, read_label_file

Selection = str | int | Iterable[str | int]

_RANGE = re.compile(r"(\d{1,12})-(\d{1,12})")
_POSITION = re.compile(r"[+-]?\d{1,12}")
_SHOWN = 8  # names that a message lists


# The target columns of a file by position, their hierarchy if a label file nests them, and notes.
Targets = tuple[list[int], Hierarchy | None, list[str]]


def choose_targets(selection: Selection | None, raw: FileColumns, path: Path) -> Targets:
    """The target columns that were asked for, or those that the file itself makes clear.

    An ARFF file without a named target has the labels of Mulan's XML file beside it, else its last column,
    unless the file ends with several columns of zeros and ones: they may be a label set.
    """
    names = raw.names
    if selection is not None:
        items = _as_list(selection)
        chosen = find_columns(items, names, path.name)
        if not chosen:
            raise ValueError("No target column was named.")
        exact = all(isinstance(item, str) and item in names for item in items)
        return chosen, None, [] if exact else [_named(chosen, names)]
    if not raw.declared:
        _refuse_unclear(raw, path.name)  # which names the labels that the file ends with
        raise ValueError(f"Name the target column of {path.name}, one of {list_names(names)}.")
    label_file = find_label_file(path)
    listed = None if label_file is None else read_label_file(label_file)
    if label_file is not None and listed is not None:
        return _from_label_file(label_file.name, *listed, names, path.name)
    _refuse_unclear(raw, path.name)
    last = len(names) - 1
    return [last], None, [f"the last column, {short_name(names[last])}, was taken as the target"]


def choose_features(
    selection: Selection | None, drop: Selection, targets: Sequence[int], raw: FileColumns, file: str
) -> list[int]:
    """The feature columns: those asked for, else all but the target, the dropped and the set aside."""
    out = set(find_columns(drop, raw.names, file))
    for j in targets:
        if j in out:
            raise ValueError(f"The target {short(raw.names[j])} cannot also be dropped.")
    if selection is None:
        left = {*out, *targets, *raw.skip}
        used = [j for j in range(len(raw.names)) if j not in left]
    else:
        used = [j for j in find_columns(selection, raw.names, file) if j not in out]
    if not used:
        raise ValueError(f"{file} has no feature columns left beside the target.")
    for j in {*targets} & {*used}:
        raise ValueError(f"{short(raw.names[j])} cannot be a feature and the target at once.")
    return used


def find_columns(selection: Selection, names: Sequence[str], file: str) -> list[int]:
    """Positions of the chosen columns.

    A text is the exact name of a column, or else positions from 0 such as "3", "-1", "72-77" and
    "72-77,80", or else a pattern such as "TAG_*".

    Examples
    --------
    >>> find_columns(["b", "2-3,0"], ["a", "b", "c", "d"], "letters.csv")
    [1, 2, 3, 0]
    """
    place = {name: j for j, name in enumerate(names)}
    found: dict[int, None] = {}
    for item in _as_list(selection):
        whole = item in place or not isinstance(item, str)
        parts = [item] if whole else [part.strip() for part in str(item).split(",")]
        if all(part in place or _is_position(part) for part in parts):
            for part in parts:
                found.update(dict.fromkeys([place[part]] if part in place else _span(part, names, file)))
            continue
        match = [j for j, name in enumerate(names) if fnmatch.fnmatchcase(name, str(item))]
        if not match:
            near = did_you_mean(item, names)
            if len(names) == 1:
                near = f"; its only one is {short(names[0])}, if cells are separated by , ; | or tabs"
            raise ValueError(f"{file} has no column {short(item)}{near}.")
        found.update(dict.fromkeys(match))
    return list(found)


def list_names(names: Sequence[str]) -> str:
    """Names for a message; of many, the first ones and the last.

    Examples
    --------
    >>> list_names(["a", "b"]), list_names([f"x{i}" for i in range(50)])
    ('a, b', 'x0, x1, x2, x3, x4, x5, x6, ..., x49')
    """
    if len(names) > _SHOWN:
        names = [*names[: _SHOWN - 1], "...", names[-1]]
    return ", ".join(map(short_name, names))


def _as_list(selection: Selection) -> list[str | int]:
    return [selection] if isinstance(selection, str | int | np.integer) else list(selection)


def _is_position(part: str | int) -> bool:
    return not isinstance(part, str) or any(form.fullmatch(part) for form in (_POSITION, _RANGE))


def _span(part: str | int, names: Sequence[str], file: str) -> range:
    """One position, or all those of a range with both of its ends."""
    size = len(names)
    ends = _RANGE.fullmatch(part) if isinstance(part, str) else None
    if ends is None:
        position = int(part)
        if not -size <= position < size:
            raise ValueError(
                f"{file} has {size} columns, so there is no position {short(position)}; they count from 0."
            )
        return range(position % size, position % size + 1)
    first, last = int(ends[1]), int(ends[2])
    if last >= size:
        raise ValueError(f"{file} has {size} columns, 0 to {size - 1}, so {part} goes beyond them.")
    if first > last:
        raise ValueError(f"The range {part} of columns runs backwards; write {last}-{first}.")
    return range(first, last + 1)


def _named(chosen: Sequence[int], names: Sequence[str]) -> str:
    if len(chosen) == 1:
        return f"the target is the column {short_name(names[chosen[0]])}"
    return f"the target is the {len(chosen)} columns {list_names([names[j] for j in chosen])}"


def _from_label_file(
    label_file: str, labels: list[str], tree: Hierarchy | None, names: Sequence[str], file: str
) -> Targets:
    place = {name: j for j, name in enumerate(names)}
    for label in labels:
        if label not in place:
            raise ValueError(
                f"{label_file} lists the label {short(label)}, but {file} has no such column"
                f"{did_you_mean(label, names)}; correct it, or name the target."
            )
    kind = "a hierarchy of labels" if tree else "the label set"
    note = f"{label_file} beside it gives {kind}: {list_names(labels)}"
    return [place[label] for label in labels], tree, [note]


def _refuse_unclear(raw: FileColumns, file: str) -> None:
    """Stop where the last column may be one label of a set, unless zeros and ones are all over the file."""
    size = len(raw.names)
    first = next((j + 1 for j in reversed(range(size)) if not _is_zero_one(raw.columns[j])), 0)
    if size - first < 2 or 2 * sum(map(_is_zero_one, raw.columns[:-1])) > size - 1:
        return
    raise ValueError(
        f"{file} ends with {plural(size - first, 'column')} of zeros and ones "
        f"({list_names(raw.names[first:])}), so its target is not clear; name it: {first}-{size - 1} for "
        f"all of them, {size - 1} for the last alone."
    )


def _is_zero_one(column: Column) -> bool:
    if column.categories is not None:
        return {str(category) for category in column.categories} == {"0", "1"}
    values = column.values[~np.isnan(column.values)]
    return bool(len(values) and ((values == 0) | (values == 1)).all())
