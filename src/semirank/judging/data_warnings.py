"""What to know of the data before a ranking is believed (Def. 3.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..data.odd_features import drop_options, identifiers
from ..data.summary import ONE_CLASS, target_counts
from ..data.table import Table
from ..data.target import Target
from ..runtime.messages import first_names, short
from .labelled_rows import labeled_differ, same_rows
from .telltale import Told, telling_holes, telling_values

KINDS = ("one_class", "leak", "missingness", "shift", "duplicates", "identifiers")
_SHOWN = 5  # features or rows that a sentence names
_KEPT = 1000  # that a warning keeps


class DataWarning(NamedTuple):
    """One thing about the data that a ranking rests on.

    Attributes
    ----------
    kind : {"one_class", "leak", "missingness", "shift", "duplicates", "identifiers"}
    text : str
        What it is, and what can be done.
    features : tuple of str
        The features concerned, the most conspicuous first.
    rows : tuple of int
        The rows concerned, counted from 0.
    """

    kind: str
    text: str
    features: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()


def data_warnings(table: Table, target: Target) -> list[DataWarning]:
    """Everything that is conspicuous; of large data a sample is looked at, always the same.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(60, 2))
    >>> table = Table(values, np.zeros(2, int), ("size", "copy"), (None, None))
    >>> y = np.where(np.arange(60) < 40, 3 * values[:, 1] + 2, np.nan)[:, None]
    >>> [w.kind for w in data_warnings(table, Target("regression", y, ("y",), np.ones(1)))]
    ['leak']
    """
    return [
        *_one_class(target),
        *_leaks(table, target),
        *_missingness(table, target),
        *_shift(table, target.labeled),
        *_duplicates(table, target.labeled),
        *(DataWarning("identifiers", text, names[:_KEPT]) for text, names in identifiers(table)),
    ]


def _one_class(target: Target) -> Iterator[DataWarning]:
    present = [name for name, count in target_counts(target).items() if count]
    if target.classes is not None and len(present) == 1:
        n = int(target.labeled.sum())
        rows = "the one labelled row is" if n == 1 else f"all {n} labelled rows are"
        yield DataWarning("one_class", f"{rows} of one class, {short(present[0])}, {ONE_CLASS}")


def _leaks(table: Table, target: Target) -> Iterator[DataWarning]:
    found = telling_values(table, target)
    for same in (True, False):
        some = [told for told in found if told.same == same]
        if not some:
            continue
        names, of = _names(table, some), _of(target, some)
        if same:
            does = f"is {of} under other names, the same up to coding"
        else:
            sure = f"{some[0].share:.3f} of 1 explained"
            does = f"gives {of} away: alone it predicts held-out labels almost perfectly ({sure})"
        unless = f"leave it out unless it is known before the target is ({drop_options(names)})"
        yield DataWarning("leak", f"{_each(names)} {does}; {unless}", names)


def _missingness(table: Table, target: Target) -> Iterator[DataWarning]:
    if found := telling_holes(table, target):
        names = _names(table, found)
        text = (
            f"whether {_each(names)} is missing tells {_of(target, found)} ({found[0].share:.2f} of 1 "
            "explained), so the reason why values are missing has to do with it: a high rank may be that of "
            "the reason"
        )
        yield DataWarning("missingness", text, names)


def _shift(table: Table, labeled: np.ndarray) -> Iterator[DataWarning]:
    if found := labeled_differ(table, labeled):
        names = tuple(table.names[j] for j in found.features[:_KEPT])
        text = (
            "labelled rows differ from unlabelled ones: a classifier finds the labelled one of a pair in "
            f"{100 * found.auc:.0f} of 100 cases, most by {first_names(names, _SHOWN)}; the ranking holds "
            "for rows like the labelled ones"
        )
        yield DataWarning("shift", text, names)


def _duplicates(table: Table, labeled: np.ndarray) -> Iterator[DataWarning]:
    if twins := same_rows(table, labeled):
        pairs = [f"{i} = {j}" for i, j in zip(twins.unlabeled[:_SHOWN], twins.labeled)]
        more = ", ..." if len(twins.unlabeled) > _SHOWN else ""
        text = (
            f"{len(twins.unlabeled)} unlabelled rows are copies of labelled ones in all features (rows "
            f"from 0: {', '.join(pairs)}{more}); leave them out, or give them the label if it is known"
        )
        yield DataWarning("duplicates", text, (), tuple(twins.unlabeled[:_KEPT].tolist()))


def _names(table: Table, found: Sequence[Told]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(table.names[told.feature] for told in found))[:_KEPT]


def _of(target: Target, found: Sequence[Told]) -> str:
    """The target, or the target variables that are meant."""
    names = list(dict.fromkeys(target.names[told.column] for told in found if told.column >= 0))
    if len(target.names) == 1 or not names:
        return "the target"
    return first_names(names, _SHOWN)


def _each(names: Sequence[str]) -> str:
    return (
        short(names[0])
        if len(names) == 1
        else f"each of {len(names)} features ({first_names(names, _SHOWN)})"
    )
