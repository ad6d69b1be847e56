"""Features that are worth a look: identifiers, constants, text that holds numbers, values that look alike."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import numpy as np

from ..runtime.messages import first_names, short
from .cell_kinds import date_reader, holds_number
from .missing_words import ALIKE, MISSING, as_number, look_alikes
from .table import Table

MANY_NUMBERS = 20  # so many different whole numbers may still be codes
_MANY_ROWS = 20  # fewer are easily told apart by chance
_ALMOST_ALL = 0.95  # share of the values of a text column that hold numbers
_STAND_INS = (-9.0, -99.0, -999.0, -9999.0)  # numbers that often stand for a missing one


# Which features are odd, and in which way: as a predicate of one, and of many.
_Oddity = tuple[np.ndarray, str, str]


def describe_features(table: Table) -> list[str]:
    """Sentences about features that cannot matter, or should not.

    Examples
    --------
    >>> describe_features(Table(np.ones((3, 1)), np.zeros(1, int), ("size",), (None,)))
    ['1 of 1 features is constant and cannot matter (size)']
    """
    notes = identifier_notes(table)
    for found, one, many in _idle(table):
        if count := int(found.sum()):
            some = first_names([table.names[j] for j in np.flatnonzero(found)], 3)
            notes.append(f"{count} of {len(found)} features {one if count == 1 else many} ({some})")
    return notes


def identifier_notes(table: Table) -> list[str]:
    """Sentences about identifiers and free text.

    Examples
    --------
    >>> identifier_notes(Table(np.arange(30.0)[:, None], np.zeros(1, int), ("row",), (None,)))
    ['1 of 1 features tells every row from all others: leave it out if it is an identifier (--drop row)']
    """
    return [text for text, _ in identifiers(table)]


def identifiers(table: Table) -> list[tuple[str, tuple[str, ...]]]:
    """What is said about features that name the rows, with the option that drops them, and their names."""
    advice = (
        ("leave it out if it is an identifier", "leave them out if they are identifiers"),
        ("leave it out", "leave them out"),
    )
    found = []
    for (mask, one, many), (singular, plural) in zip(_names_of_rows(table), advice):
        if names := tuple(table.names[j] for j in np.flatnonzero(mask)):
            what = f"{one}: {singular}" if len(names) == 1 else f"{many}: {plural}"
            found.append((f"{len(names)} of {len(mask)} features {what} ({drop_options(names)})", names))
    return found


def drop_options(names: Sequence[str]) -> str:
    """The options that leave features out, for the first of many."""
    words = " ".join(f"--drop {shlex.quote(name)}" for name in names[:3])
    return f"{words} ..." if len(names) > 3 else words


def value_remarks(table: Table) -> list[tuple[str, tuple[str, ...]]]:
    """Features whose values were probably meant otherwise, with what is odd about them.

    Examples
    --------
    >>> table = Table(np.array([[0.0], [1.0], [0.0]]), np.array([2]), ("sex",), (("F", "f"),))
    >>> value_remarks(table)[0][1][0][:56]
    "has values that differ only in case or blanks ('F', 'f')"
    """
    low = np.fmin.reduce(table.values, axis=0)
    remarks: list[tuple[str, tuple[str, ...]]] = []
    for j, (name, categories) in enumerate(zip(table.names, table.categories)):
        if categories is None:
            found = _of_stand_ins(table.values[:, j]) if low[j] in _STAND_INS else ()
        else:
            found = _of_words([word for word in categories if isinstance(word, str)], len(categories))
        if found:
            remarks.append((name, found))
    return remarks


def odd_features(table: Table) -> dict[int, list[str]]:
    """What is odd about single features, by position."""
    odd: dict[int, list[str]] = {}
    for found, one, _ in (*_idle(table), *_names_of_rows(table)):
        for j in np.flatnonzero(found):
            odd.setdefault(int(j), []).append(one)
    place = {name: j for j, name in enumerate(table.names)}
    for name, said in value_remarks(table):
        odd.setdefault(place[name], []).extend(said)
    return odd


def _idle(table: Table) -> list[_Oddity]:
    """Features that cannot matter."""
    low, high = np.fmin.reduce(table.values, axis=0), np.fmax.reduce(table.values, axis=0)
    never, constant = "always missing and cannot matter", "constant and cannot matter"
    return [
        (np.isnan(low), f"is {never}", f"are {never}"),
        (low == high, f"is {constant}", f"are {constant}"),
    ]


def _names_of_rows(table: Table) -> list[_Oddity]:
    """Features that name the rows, one by one or few at a time."""
    unique = _identifiers(table)
    few = "fewer than 3 rows for a value, as identifiers and free text have"
    return [
        (unique, "tells every row from all others", "tell every row from all others"),
        (_free_text(table) & ~unique, f"has {few}", f"have {few}"),
    ]


def _identifiers(table: Table) -> np.ndarray:
    """Features that look like identifiers: complete, all names different, or whole numbers without a gap."""
    n = len(table)
    low, high = np.fmin.reduce(table.values, axis=0), np.fmax.reduce(table.values, axis=0)
    nominal = table.n_values > 0
    with np.errstate(over="ignore", invalid="ignore"):
        gapless = high - low == n - 1
    # What can be told without counting rules out almost all features.
    found = np.where(nominal, table.n_values >= n, gapless) & (n >= _MANY_ROWS)
    for j in np.flatnonzero(found):
        values = table.values[:, j]
        whole = nominal[j] or np.array_equal(values, np.floor(values))
        found[j] = whole and len(np.unique(values)) == n and not np.isnan(values).any()
    return found


def _free_text(table: Table) -> np.ndarray:
    """Nominal features with more than a third as many values as known rows."""
    found = (3 * table.n_values > 1) & (len(table) >= _MANY_ROWS)
    for j in np.flatnonzero(found):
        values = table.values[:, j]
        known = values[~np.isnan(values)]
        # The declared values are no fewer than those that occur.
        found[j] = 3 * table.n_values[j] > len(known) >= _MANY_ROWS and 3 * len(np.unique(known)) > len(known)
    return found


def _of_stand_ins(values: np.ndarray) -> tuple[str, ...]:
    """The remark about a number that may stand for a missing one, where it is the only one below 0."""
    below = np.unique(values[values < 0])
    if len(below) != 1 or not (values >= 0).any():
        return ()
    number = int(below[0])
    return (f"has {number} for its only value below 0: use --missing {number}, or NaN, if it means missing",)


def _of_words(words: list[str], n_values: int) -> tuple[str, ...]:
    """Remarks about the values of a nominal feature."""
    found = []
    if any(word in MISSING for word in words):
        found.append('has a value such as "NA" or "", to be replaced by None if it stands for missing ones')
    if alike := look_alikes(words):
        some = ", ".join(map(short, alike[0]))
        found.append(f"has values that {ALIKE} ({some}); make them one if they are the same")
    if len(words) > MANY_NUMBERS:
        found += _of_numbers(words, _ALMOST_ALL * n_values)
    return tuple(found)


def _of_numbers(words: list[str], enough: float) -> list[str]:
    """The remark about text that holds numbers or dates, too many different ones for codes."""
    numbers = [word for word in words if holds_number(word)]
    if len(numbers) >= enough:
        plain = sum(as_number(word) is not None for word in numbers) >= enough
        how = "--numeric, or a column of numbers," if plain else "a column of plain numbers"
        return [f"is text that holds numbers (such as {short(numbers[0])}): {how} if they are quantities"]
    read, _ = date_reader(words)
    dates = [word for word in words if read(word) is not None]
    if len(dates) >= enough:
        return [f"is text that holds dates (such as {short(dates[0])}): a column of dates is read as days"]
    return []
