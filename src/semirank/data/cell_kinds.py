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

# Minus signs and dashes that stand for one; a currency at either end of a number, a percent sign behind it.
_MINUS = re.compile(r"[\u2212\u2012\u2013](?=[\d.,])")
_SIGN = re.compile(r"([$€£¥]) ?([^$€£¥%]+)|([^$€£¥%]+?) ?([$€£¥%])")
# A number with a few signs or short words around it: 3.5 mg, <35, ~7 (est.).
_WITH_UNIT = re.compile(r"[^\w\s]{0,2}\s?\d[\d.,]*(?:\s?[^\d\s]{1,8}){0,2}")

_ISO_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[ T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_TIME = r"(?:,? (?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?)?"
_WRITTEN_DATES = tuple(
    re.compile(form + _TIME)
    for form in (
        r"(?P<year>\d{4})[/.](?P<month>\d{1,2})[/.](?P<day>\d{1,2})",
        r"(?P<one>\d{1,2})(?P<sign>[/.-])(?P<two>\d{1,2})(?P=sign)(?P<year>\d{4})",
        r"(?P<one>\d{1,2})(?P<sign>[/.])(?P<two>\d{1,2})(?P=sign)(?P<year>\d{2})",
        r"(?P<day>\d{1,2})[ ./-]?(?P<name>[A-Za-z]{3,9})[ ,./-]{0,2}(?P<year>\d{4}|\d{2})",
        r"(?P<name>[A-Za-z]{3,9})[ .-]{1,2}(?P<day>\d{1,2})[ ,-]{1,2}(?P<year>\d{4}|\d{2})",
    )
)
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_CENTURY = 69  # two digits of a year from here on are of the last century, as C's strptime has it


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
    word = _MINUS.sub("-", word)
    if _SPACED.fullmatch(word):
        word = re.sub(r"[ '’\u00a0\u202f]", "", word)
    if decimal == ",":
        if _DOT_GROUPS.fullmatch(word) or _DECIMAL_COMMA.fullmatch(word):
            word = word.replace(".", "").replace(",", ".")
    elif _COMMA_GROUPS.fullmatch(word):
        word = word.replace(",", "")
    return as_number(word)


def without_sign(word: str) -> tuple[str, str]:
    """A word without its percent sign or currency, and this sign ("" if there is none).

    Examples
    --------
    >>> without_sign("45 %"), without_sign("$3.5"), without_sign("7")
    (('45', '%'), ('3.5', '$'), ('7', ''))
    """
    match = _SIGN.fullmatch(word)
    if match is None:
        return word, ""
    return (match[2], match[1]) if match[1] else (match[3], match[4])


def holds_number(word: str) -> bool:
    """Whether a word is a number in some spelling, perhaps with a unit or a sign.

    Examples
    --------
    >>> [holds_number(word) for word in ("3.5 mg", "<35", "1,5", "-2", "chr1", "7q31")]
    [True, True, True, True, False, False]
    """
    return as_number(word) is not None or bool(_WITH_UNIT.fullmatch(word))


def date_reader(words: Iterable[str]) -> tuple[Callable[[str], float | None], bool]:
    """A function from a word to its days since 1970-01-01, and whether telling day from month was a guess.

    Of 3/4/2020 the first number is the month, unless one of the words has a first number above 12.

    Examples
    --------
    >>> read, guessed = date_reader(["2/1/1970", "31/1/1970"])
    >>> read("2/1/1970"), read("1970-01-03 12:00"), read("4-Jan-70"), read("soon"), guessed
    (1.0, 2.5, 3.0, None, False)
    """
    day_first = month_first = written = False
    for word in words:
        found = _written_date(word)
        if found and found.get("one") and found["sign"] != ".":  # with dots the day comes first
            written = True
            day_first |= int(found["one"]) > 12
            month_first |= int(found["two"]) > 12

    def read(word: str) -> float | None:
        try:
            if _ISO_DATE.fullmatch(word):
                complete = len(word) < 11 or word[11:13].isdigit()  # 9:30 may be written without its zero
                moment = datetime.fromisoformat(word if complete else f"{word[:11]}0{word[11:]}")
            elif found := _written_date(word):
                moment = _moment(found, day_first)
            else:
                return None
        except ValueError:
            return None
        return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH).total_seconds() / _DAY

    return read, written and not day_first and not month_first


def _written_date(word: str) -> dict[str, str] | None:
    """The parts of a date that is not written as ISO 8601 has it."""
    if not word[:1].isalnum() or not word[-1:].isdigit() or len(word) > 40:
        return None
    matches = (form.fullmatch(word) for form in _WRITTEN_DATES)
    return next((match.groupdict() for match in matches if match), None)


def _moment(found: dict[str, str], day_first: bool) -> datetime:
    year = int(found["year"])
    if len(found["year"]) == 2:
        year += 1900 if year >= _CENTURY else 2000
    if name := found.get("name"):
        month = next((i for i, full in enumerate(_MONTHS, 1) if full.startswith(name.lower())), 0)
        day = int(found["day"])
    elif found.get("one"):
        one, two = int(found["one"]), int(found["two"])
        day, month = (one, two) if day_first or found["sign"] == "." else (two, one)
    else:
        day, month = int(found["day"]), int(found["month"])
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    return datetime(year, month, day, hour, minute, second)
