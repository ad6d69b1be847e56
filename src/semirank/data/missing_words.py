"""Words that stand for a missing value, words and numbers that may, and words that look alike."""

from __future__ import annotations

from collections.abc import Iterable

from ..runtime.messages import short

# What pandas reads as missing, and the sign of ARFF files. One list for features and targets (Def. 3.1).
MISSING = frozenset(
    (
        "", "?", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
        "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
    )
)  # fmt: skip
# What often means "not known" but may be a class: kept, and asked about.
_DOUBTFUL = frozenset(
    (
        "unknown", "unlabeled", "unlabelled", "not determined", "undetermined", "not known", "not available",
        "not applicable", "not assessed", "not labeled", "not labelled", "not measured", "not tested",
        "missing", "undefined", "unspecified", "unassigned", "no label", "none", "n.a.", "n.d.", "nd", "tbd",
        "-", "--", ".", "*", "??", "???",
    )
)  # fmt: skip
ALIKE = "differ only in case or blanks"
_DOUBTFUL_NUMBERS = frozenset((-1.0, -9.0, -99.0, -999.0, -9999.0))


def as_number(word: object) -> float | None:
    """The number that a value is or spells, or None.

    Examples
    --------
    >>> as_number("-9"), as_number(2), as_number("red"), as_number("1_2")
    (-9.0, 2.0, None, None)
    """
    if isinstance(word, str) and "_" in word:  # Python reads 1_2 as 12, which nobody means in a data file
        return None
    try:
        return float(word)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def same(value: object, word: object) -> bool:
    """Whether two values are the same as text or as numbers.

    Examples
    --------
    >>> same("-1", -1), same(-1.0, "-1"), same("unknown", "unknown"), same("1", "-1")
    (True, True, True, False)
    """
    if value is None or type(value).__name__ == "NAType":
        return False
    if str(value) == str(word):
        return True
    number = as_number(value)
    return number is not None and number == as_number(word)


def doubtful(values: Iterable[object]) -> list[object]:
    """Those of the values that may mean "not known".

    A negative number is doubtful only where no other value is below 0.

    Examples
    --------
    >>> doubtful(["a", "unknown", "N/a"]), doubtful([0, 1, -1]), doubtful([-2, -1, 0])
    (['unknown', 'N/a'], [-1], [])
    """
    values = list(values)
    numbers = [as_number(value) for value in values]
    below = {number for number in numbers if number is not None and number < 0}
    folded = {word.casefold() for word in MISSING if word}
    found = []
    for value, number in zip(values, numbers):
        text = " ".join(str(value).casefold().replace("_", " ").split())
        if number is not None:
            asked = number in _DOUBTFUL_NUMBERS and below == {number}
        else:
            asked = text in _DOUBTFUL or text in folded
        if asked:
            found.append(value)
    return found


def look_alikes(values: Iterable[object]) -> list[list[object]]:
    """Groups of values that differ only in case or blanks.

    Examples
    --------
    >>> look_alikes(["Red", "red", "dark blue", "darkblue", "x"])
    [['Red', 'red'], ['dark blue', 'darkblue']]
    """
    alike: dict[str, list[object]] = {}
    for value in values:
        alike.setdefault("".join(str(value).casefold().split()), []).append(value)
    return [group for group in alike.values() if len(group) > 1]


def ask(value: object, taken_as: str) -> str:
    """The note that asks whether a value marks unlabelled rows, with the option that says so.

    Examples
    --------
    >>> ask(-1, "a class")
    '-1 was taken as a class; use unlabeled=-1 (--unlabeled -1) if it marks unlabelled rows'
    """
    word = str(value)
    typed = word if word and all(c.isalnum() or c in "-._" for c in word) else f"'{word}'"
    empty = taken_as == "a label" and word.casefold() == "none"
    return (
        f"{short(value)} was taken as {taken_as}; use unlabeled={short(value)} (--unlabeled {typed}) "
        f"if it marks unlabelled rows{', or empty sets if it means that there is no label' if empty else ''}"
    )
