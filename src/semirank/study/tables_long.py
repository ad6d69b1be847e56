"""Tables for programs, too long to be read: differences, curves and times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .paper import printed_differences
from .results import Difference, Key, Results, level_means, levels_and_folds
from .table_format import StudyTable
from .tables_words import join


def long_differences(found: Sequence[Difference], k: int) -> StudyTable:
    """Every difference with `k` neighbours, beside the printed one."""
    rows = [
        (*d[:5], d.value, _printed(d), d.ssl_family, d.sl_family, join(d.levels), d.n_folds) for d in found
    ]
    columns = (*Difference._fields[:5], "difference", "paper", "ssl_family", "sl_family", "L", "folds")
    return StudyTable(f"differences_{k}nn", "", "", columns, rows)


def long_curves(results: Results) -> StudyTable:
    """Every curve of every method: the means over folds."""
    rows = []
    for key, curve in sorted(results.values.items()):
        levels, _ = levels_and_folds(curve)
        for level, value in zip(levels, level_means(curve, curve)):
            rows.append((*key, level, value, sum(cell[0] == level for cell in curve)))
    columns = (*Key._fields, "L", "value", "folds")
    return StudyTable("curves", "", "", columns, rows)


def long_times(results: Results) -> StudyTable:
    """Mean seconds of every family, data set, side and L."""
    rows = []
    for key, cells in sorted(results.seconds.items()):
        for level in levels_and_folds(cells)[0]:
            some = np.array([cells[cell] for cell in cells if cell[0] == level], dtype=float)
            rows.append((*key, level, *some.mean(axis=0).tolist(), len(some)))
    columns = ("dataset", "family", "side", "L", "seconds", "tuning_seconds", "folds")
    return StudyTable("times", "", "", columns, rows)


def _printed(d: Difference) -> float | None:
    """The printed difference; for no ranking the mean over the scores, for stand-ins none."""
    printed = {} if d.stand_in_for else printed_differences(d.group, d.dataset)
    if d.score == "equal" and printed:
        return sum(printed.values()) / len(printed)
    return printed.get(d.score)
