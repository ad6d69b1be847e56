"""The settings that tuning chose: table 8."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

from ..rankers.methods import ENSEMBLES
from .results import Results
from .table_format import StudyTable
from .tables_words import basis, join


def supervision(results: Results) -> StudyTable:
    """Table 8: how often each supervision level was chosen."""
    chosen = [(label, family, found) for label, family, name, found in _chosen(results) if name == "w"]
    levels = sorted({level for *_, counter in chosen for level in counter})
    rows = []
    for label, family, counter in chosen:
        rows.append((label, family, *(counter[level] / counter.total() for level in levels), counter.total()))
    text = (
        "Share of the (data set, L, fold) cells in which each w was chosen; 1 ignores the features in the "
        "impurity, 0 the target. Stand-ins are counted."
    )
    columns = ("group", "family", *(f"w = {level:g}" for level in levels), "cells")
    notes = (basis(results, results.about),)
    return StudyTable("8_supervision", "Supervision levels that were chosen", text, columns, rows, notes)


def relief_settings(results: Results) -> StudyTable:
    """Table 8, second part: the settings of Relief."""
    rows = []
    for label, family, parameter, counter in _chosen(results):
        if family == "relief":
            shares = (f"{v:g}: {100 * counter[v] / counter.total():.0f} %" for v in sorted(counter))
            rows.append((label, parameter, join(shares), counter.total()))
    text = (
        "Influence of the farthest (w0) and nearest (w1) unlabelled rows and number of neighbours (k): share "
        "of the (data set, L, fold) cells in which each value was chosen. Stand-ins are counted."
    )
    columns = ("group", "parameter", "value: share", "cells")
    return StudyTable("8_relief_settings", "Relief settings that were chosen", text, columns, rows)


def _chosen(results: Results) -> Iterator[tuple[str, str, str, Counter[Any]]]:
    """(group or "all", family, parameter, how often each value was chosen), in the order of the tables."""
    counts: dict[tuple[str, str, str], Counter[Any]] = {}
    for (name, family), cells in results.settings.items():
        for label, setting in product((results.about[name].group, "all"), cells.values()):
            for parameter, value in setting.items():
                counts.setdefault((label, family, parameter), Counter())[value] += 1
    labels, families, parameters = (*results.groups, "all"), (*ENSEMBLES, "relief"), ("w", "w0", "w1", "k")
    for label, family, parameter in product(labels, families, parameters):
        if counter := counts.get((label, family, parameter)):
            yield label, family, parameter, counter
