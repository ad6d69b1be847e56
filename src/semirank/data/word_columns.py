"""Columns of words as numbers, dates or names (Def. 3.3)."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..runtime.messages import plural, short
from .cell_kinds import comma_evidence, date_reader, dots_group_digits, spelled_number, without_sign
from .columns import DATES, EXACT, ROUNDED, Column, text_column
from .missing_words import MISSING, as_number
from .odd_features import MANY_NUMBERS

MAX_WORDS = 0.05  # share of other words that a column of numbers may hold
_SHOWN = 4  # words that a remark lists
SIGNED = "has {} with its numbers, which are read without it"
DECIMAL_COMMAS = "has decimal commas, read as numbers"
GROUPED = "has digits in groups (1,234), read as numbers"
DOTS_GROUP = "has digits in groups (1.234), read as numbers"
UNCLEAR_COMMAS = (
    "has commas that may be decimal marks or group digits; they were taken as {} (--decimal {} for the other)"
)


class Reading(NamedTuple):
    """How the words of a file are to be read.

    Attributes
    ----------
    missing : frozenset of str
        Words that stand for a missing value.
    decimal : {"auto", ".", ","}
    kinds : mapping of int to str
        Columns by position that are "numeric" or "nominal" because the user says so.
    delimiter : str
        What separates the cells: it tells which decimal mark is likely where nothing else does.
    decimal_commas : bool
        Whether other columns are known to have decimal commas.
    """

    missing: frozenset[str] = MISSING
    decimal: str = "auto"
    kinds: Mapping[int, str] = {}
    delimiter: str = ","
    decimal_commas: bool = False


class _Words(NamedTuple):
    """One column: its cells, and how often each word that is not missing occurs."""

    name: str
    cells: Sequence[str]
    counts: Counter[str]
    kind: str


def word_columns(
    names: Sequence[str], columns: Sequence[Sequence[str]], lines: Sequence[int], reading: Reading
) -> list[Column]:
    """The columns that words make; `lines` are the lines of the file that the rows come from.

    Examples
    --------
    >>> cells = [f"{i}.5" for i in range(30)] + ["<35"]
    >>> column, = word_columns(["size"], [cells], range(2, 33), Reading())
    >>> column.kind, column.values[-2:].tolist()
    ('number', [29.5, nan])
    >>> column.remarks[0][:48]
    'is read as numbers; 1 of its 31 values is no num'
    """
    gone = {number for word in reading.missing if (number := as_number(word)) is not None}
    found = []
    for j, (name, cells) in enumerate(zip(names, columns)):
        counts = Counter(cells)
        for word in list(counts):
            # NaN is missing in any spelling that Python reads
            if word in reading.missing or (value := as_number(word)) in gone or value != value:
                del counts[word]
        found.append(_Words(name, cells, counts, reading.kinds.get(j, "")))
    decimal, groups, _ = comma_evidence(word for column in found for word in column.counts)
    evidence = (decimal or reading.decimal_commas, groups)
    return [_column(column, lines, reading, evidence) for column in found]


def _column(column: _Words, lines: Sequence[int], reading: Reading, evidence: tuple[bool, bool]) -> Column:
    if column.kind != "nominal" and (plain := _without_signs(column, lines, reading, evidence)):
        return plain
    words = list(column.counts)
    mark, remarks = _decimal_mark(words, reading, evidence)
    numbers = {word: spelled_number(word, mark) for word in words}
    if column.kind == "nominal":
        exact = all(v is not None and abs(v) < EXACT for v in numbers.values())
        return _as_numbers(column, numbers, ()) if exact else _as_words(column, ())
    others = {word: column.counts[word] for word in words if numbers[word] is None}
    if not others:
        return _as_numbers(column, numbers, (*remarks, *_rounded(numbers)))
    known, odd = sum(column.counts.values()), sum(others.values())
    values = {value for value in numbers.values() if value is not None}
    if column.kind == "numeric" and not values:
        raise ValueError(f"Column {short(column.name)} holds no number, so it cannot be numeric.")
    if column.kind == "numeric" or (odd <= MAX_WORDS * known and _is_quantity(values)):
        said = (*remarks, _words_missing(column, others, known, lines), *_rounded(numbers))
        return _as_numbers(column, numbers, said)
    read, guessed = date_reader(others)
    days = {word: read(word) for word in words}
    undated = {word: column.counts[word] for word in words if days[word] is None}
    if sum(undated.values()) <= MAX_WORDS * known:
        said = (DATES + (", the month taken as the first number" if guessed else ""),)
        said += (_words_missing(column, undated, known, lines),) if undated else ()
        return _as_numbers(column, days, said)
    return _as_words(column, _why_text(column, others, known, values))


def _without_signs(
    column: _Words, lines: Sequence[int], reading: Reading, evidence: tuple[bool, bool]
) -> Column | None:
    """The numbers of a column in which every number has the same percent sign or currency."""
    parts = {word: without_sign(word) for word in column.counts}
    signs = {sign for _, sign in parts.values() if sign}
    if len(signs) != 1:
        return None
    # A number without the sign may be of another scale.
    if any(not sign and spelled_number(word, ".") is not None for word, (_, sign) in parts.items()):
        return None
    cells = [parts[cell][0] if cell in parts else cell for cell in column.cells]
    counts: Counter[str] = Counter()
    for word, count in column.counts.items():
        counts[parts[word][0]] += count
    words = _Words(column.name, cells, counts, column.kind)
    found = _column(words, lines, reading, evidence)
    if found.kind != "number" or DATES in found.remarks:
        return None
    return found._replace(remarks=(SIGNED.format(*signs), *found.remarks))


def _decimal_mark(
    words: Sequence[str], reading: Reading, evidence: tuple[bool, bool]
) -> tuple[str, tuple[str, ...]]:
    """What stands before the fraction in these words, and what to say about it."""
    decimal, groups, unclear = comma_evidence(words)
    commas = decimal or groups or unclear
    dots_group = dots_group_digits(words)
    if reading.decimal != "auto":
        mark = reading.decimal
        # A dot that cannot group digits is a decimal mark, whatever the other columns have.
        mark = "." if mark == "," and not commas and not dots_group else mark
    elif decimal or groups:
        mark = "," if decimal else "."
    elif unclear and any("." in word for word in words) and not dots_group:
        mark = "."
    elif unclear and evidence[0] == evidence[1]:
        mark = "," if reading.delimiter == ";" else "."
        taken = ("decimal marks", ".") if mark == "," else ("groups", ",")
        return mark, (UNCLEAR_COMMAS.format(*taken),)
    else:
        mark = "," if evidence[0] and not evidence[1] and dots_group else "."
    if mark == ",":
        grouped = any("." in word for word in words)
        return mark, (DECIMAL_COMMAS,) if commas else (DOTS_GROUP,) if grouped else ()
    return mark, (GROUPED,) if commas else ()


def _is_quantity(values: set[float]) -> bool:
    """More than a few different numbers, or fractions: no codes (Def. 3.3)."""
    return len(values) > MANY_NUMBERS or any(value % 1 for value in values if abs(value) < np.inf)


def _as_numbers(column: _Words, numbers: Mapping[str, float | None], remarks: Iterable[str]) -> Column:
    values = {word: np.nan if value is None else value for word, value in numbers.items()}
    array = np.array([values.get(cell, np.nan) for cell in column.cells], dtype=np.float64)
    return number_column(array, tuple(remarks))


def number_column(values: np.ndarray, remarks: tuple[str, ...] = ()) -> Column:
    """A column of numbers, whose dtype is that of integers where all are whole."""
    known = values[~np.isnan(values)]
    whole = len(known) and np.isfinite(known).all() and (known == np.floor(known)).all()
    return Column("number", values, None, np.dtype(np.int64 if whole else np.float64), remarks)


def _as_words(column: _Words, remarks: Iterable[str]) -> Column:
    gone = frozenset(column.cells) - column.counts.keys()
    return text_column(column.cells, gone)._replace(remarks=tuple(remarks))


def _rounded(numbers: Mapping[str, float | None]) -> tuple[str, ...]:
    large = ((word, value) for word, value in numbers.items() if value is not None and abs(value) >= EXACT)
    for word, value in large:
        if word.lstrip("+-").isdigit() and int(word) != int(value):
            return (ROUNDED.format(word),)
    return ()


def _words_missing(column: _Words, others: Mapping[str, int], known: int, lines: Sequence[int]) -> str:
    """Which words are missing, how often, and where first."""
    first = {word: lines[column.cells.index(word)] for word in list(others)[:_SHOWN]}
    listed = [
        f"{short(word)} ({plural(others[word], 'time')}, first in line {line})"
        for word, line in first.items()
    ]
    listed += [f"and {len(others) - _SHOWN} more"] if len(others) > _SHOWN else []
    odd = sum(others.values())
    verb = "is no number and counts" if odd == 1 else "are no numbers and count"
    return (
        f"is read as numbers; {odd} of its {known} values {verb} as missing: {', '.join(listed)}; "
        f"--nominal {shlex.quote(column.name)} would keep all of them as names"
    )


def _why_text(column: _Words, others: Mapping[str, int], known: int, values: set[float]) -> tuple[str, ...]:
    """Why a column that is mostly numbers stays text; nothing for others."""
    odd = sum(others.values())
    if 2 * odd >= known:
        return ()
    example = short(max(others, key=others.__getitem__))
    if odd > MAX_WORDS * known:
        why = f"{odd} of its {known} values ({100 * odd / known:.2g} %) are no numbers, such as {example}"
    else:
        why = f"it holds {example} and only {plural(len(values), 'different whole number')}"
    return (f"stays text, because {why}; --numeric {shlex.quote(column.name)} would make those missing",)
