"""What the words of a column mean: numbers in several spellings, dates, or just words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from .missing_words import as_number

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400.0

# Digits in groups of three, kept apart by a sign that is no decimal mark: 1'234'567, 1 234,5.
_SPACED = re.compile(r"[+-]?[1-9]\d{0,2}(?:[ '’\u00a0\u202f]\d{3})+(?:[.,]\d*)?")
_COMMA_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?(?:[eE][+-]?\d+)?")
_DOT_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?(?:[eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d+,\d*|,\d+)(?:[eE][+-]?\d+)?")

_ISO_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[ T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_WRITTEN_DATE = re.compile(
    r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})|(\d{1,2})([/.-])(\d{1,2})\5(\d{4})"
    r"(?:,? (\d{1,2}):(\d{2})(?::(\d{2}))?)?"
)


def dots_group_digits(words: Iterable[str]) -> bool:
    """Whether every dot in the words can group digits, as in 1.234.567.

    Examples
    --------
    >>> dots_group_digits(["1.234", "5"]), dots_group_digits(["1.234", "0.5"])
    (True, False)
    """
    return all(_DOT_GROUPS.fullmatch(word) for word in words if "." in word)


def comma_evidence(words: Iterable[str]) -> tuple[bool, bool, bool]:
    """Whether words show that a comma is a decimal mark, that it groups digits, or leave it open.

    Examples
    --------
    >>> comma_evidence(["1,5"]), comma_evidence(["1,234.5"]), comma_evidence(["1,234"])
    ((True, False, False), (False, True, False), (False, False, True))
    """
    decimal = groups = unclear = False
    for word in words:
        if "," not in word:
            continue
        grouped = bool(_COMMA_GROUPS.fullmatch(word))
        fraction = bool(_DECIMAL_COMMA.fullmatch(word) or _DOT_GROUPS.fullmatch(word))
        unclear |= grouped and fraction
        decimal |= fraction and not grouped
        groups |= grouped and not fraction
    return decimal, groups, unclear


def spelled_number(word: str, decimal: str) -> float | None:
    """The number that a word spells with a decimal mark and digits in groups, or None.

    Examples
    --------
    >>> spelled_number("1.234,5", ","), spelled_number("4,675", "."), spelled_number("1 234", ".")
    (1234.5, 4675.0, 1234.0)
    """
    if _SPACED.fullmatch(word):
        word = re.sub(r"[ '’\u00a0\u202f]", "", word)
    if decimal == ",":
        if _DOT_GROUPS.fullmatch(word):
            return as_number(word.replace(".", "").replace(",", "."))
        if _DECIMAL_COMMA.fullmatch(word):
            return as_number(word.replace(",", "."))
    elif _COMMA_GROUPS.fullmatch(word):
        return as_number(word.replace(",", ""))
    return as_number(word)


def date_reader(words: Iterable[str]) -> tuple[Callable[[str], float | None], bool]:
    """A function from a word to its days since 1970-01-01, and whether day and month were told by guess.

    Of 3/4/2020 the first number is the month, unless one of the words has a first number above 12.

    Examples
    --------
    >>> read, guessed = date_reader(["2/1/1970", "31/1/1970"])
    >>> read("2/1/1970"), read("1970-01-03 12:00"), read("soon"), guessed
    (1.0, 2.5, None, False)
    """
    day_first = month_first = written = False
    for word in words:
        match = _WRITTEN_DATE.fullmatch(word)
        if match and match[4] and match[5] != ".":  # with dots the day comes first
            written = True
            day_first |= int(match[4]) > 12
            month_first |= int(match[6]) > 12

    def read(word: str) -> float | None:
        try:
            if _ISO_DATE.fullmatch(word):
                complete = len(word) < 11 or word[11:13].isdigit()  # 9:30 may be written without its zero
                moment = datetime.fromisoformat(word if complete else f"{word[:11]}0{word[11:]}")
            elif match := _WRITTEN_DATE.fullmatch(word):
                moment = _moment(match, day_first)
            else:
                return None
        except ValueError:
            return None
        return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH).total_seconds() / _DAY

    return read, written and not day_first and not month_first


def _moment(match: re.Match[str], day_first: bool) -> datetime:
    if match[1]:
        return datetime(int(match[1]), int(match[2]), int(match[3]))
    first, second = int(match[4]), int(match[6])
    day, month = (first, second) if day_first or match[5] == "." else (second, first)
    hour, minute, seconds = (int(part or 0) for part in match.groups()[7:])
    return datetime(int(match[7]), month, day, hour, minute, seconds)
