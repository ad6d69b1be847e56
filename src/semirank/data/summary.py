"""What was understood of features and targets, in words."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

import numpy as np

from ..runtime.messages import plural, short, short_name
from .missing_words import MISSING, as_number, ask, doubtful
from .table import Table
from .target import Target
from .tasks import NUMBERS, TASKS

MANY_NUMBERS = 20  # so many different whole numbers may still be codes
_SHOWN_COUNTS = 8  # classes or labels that a note counts
_NUMBER_WORDS = (
    "text with almost nothing but numbers for values, which numeric columns hold better (--numeric)"
)
_MISSING_WORDS = 'a value such as "NA" or "", to be replaced by None if it stands for missing ones'
_MANY_ROWS = 20  # fewer are easily told apart by chance


def describe_target(target: Target, *, inferred_from_numbers: bool = False) -> list[str]:
    """The task, its size and the labelled rows; a hint where numbers were taken as classes (Def. 3.1).

    Examples
    --------
    >>> target = Target("regression", np.array([[1.5], [np.nan]]), ("y",), np.ones(1))
    >>> describe_target(target)
    ['regression, 1 of 2 rows labelled', 'the target is y']
    """
    task = TASKS[target.task]
    parts = [task.words]
    if task.name != "regression":
        parts.append(plural(target.n_classes or len(target.names), task.noun))
    parts.append(f"{int(target.labeled.sum())} of {len(target)} rows labelled")
    notes = [", ".join(parts), *_named(target)]
    if inferred_from_numbers and target.classes is not None:
        notes.append('the whole numbers in y were taken as classes; use task="regression" for quantities')
    return notes


def target_counts(target: Target) -> dict[str, int]:
    """How many labelled rows have each class or label; nothing for numbers.

    Examples
    --------
    >>> values = np.array([[1.0], [np.nan], [0.0], [1.0]])
    >>> target_counts(Target("classification", values, ("y",), np.ones(1), np.array(["a", "b"])))
    {'a': 1, 'b': 2}
    """
    kind = TASKS[target.task].kind
    if kind == NUMBERS:
        return {}
    names = target.names if target.classes is None else target.classes.tolist()
    return dict(zip(map(_word, names), np.nansum(target.columns(), axis=0).astype(int).tolist()))


def _word(name: object) -> str:
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def list_counts(counts: Mapping[str, int]) -> str:
    """Names with their counts, the first ones where there are many.

    Examples
    --------
    >>> list_counts({"a": 1, "b": 2})
    'a 1, b 2'
    """
    some = [f"{short_name(name)} {count}" for name, count in list(counts.items())[:_SHOWN_COUNTS]]
    more = len(counts) - _SHOWN_COUNTS
    return ", ".join([*some, *([f"and {more} more"] if more > 0 else [])])


def _named(target: Target) -> list[str]:
    """What the target is called, with the counts of its classes or labels."""
    counts = target_counts(target)
    if target.classes is not None:
        return [f"the target is {short_name(target.names[0])}: {list_counts(counts)}"]
    if counts:
        return [f"the labels are {list_counts(counts)}"]
    some = ", ".join(map(short_name, target.names[:_SHOWN_COUNTS]))
    some += ", ..." if len(target.names) > _SHOWN_COUNTS else ""
    return [f"the target is {some}" if len(target.names) == 1 else f"the targets are {some}"]


def target_questions(target: Target) -> list[str]:
    """What may not be meant as it was understood: values that look like "unknown", names that look alike."""
    if target.classes is not None:
        names, noun, plural_noun = target.classes.tolist(), "a class", "classes"
    elif TASKS[target.task].kind == NUMBERS:
        return _doubtful_numbers(target)
    elif target.hierarchy is None:
        names, noun, plural_noun = list(target.names), "a label", "labels"
    else:
        return []
    notes = [ask(value, noun) for value in doubtful(names)[:3]]
    alike: dict[str, list[object]] = {}
    for name in names:
        alike.setdefault("".join(str(name).casefold().split()), []).append(name)
    for same in list(filter(lambda group: len(group) > 1, alike.values()))[:3]:
        listed = ", ".join(map(short, same))
        notes.append(
            f"the {plural_noun} {listed} differ only in case or blanks; make them one if they are the same"
        )
    return notes


def _doubtful_numbers(target: Target) -> list[str]:
    notes: dict[str, None] = {}
    for values in target.values.T:
        below = np.unique(values[values < 0])
        if len(below) == 1:
            for value in doubtful([int(below[0]) if below[0] % 1 == 0 else below[0]]):
                notes[ask(value, "a number")] = None
    return list(notes)


def describe_features(table: Table) -> list[str]:
    """Sentences about features that cannot matter, or should not.

    Examples
    --------
    >>> describe_features(Table(np.ones((3, 1)), np.zeros(1, int), ("size",), (None,)))
    ['1 of 1 features is constant and cannot matter (size)']
    """
    low, high = np.fmin.reduce(table.values, axis=0), np.fmax.reduce(table.values, axis=0)
    notes = identifier_notes(table)
    for found, one, many in (
        (np.isnan(low), "is always missing and cannot matter", "are always missing and cannot matter"),
        (low == high, "is constant and cannot matter", "are constant and cannot matter"),
        (_number_words(table), f"is {_NUMBER_WORDS}", f"are {_NUMBER_WORDS}"),
        (_missing_words(table), f"has {_MISSING_WORDS}", f"have {_MISSING_WORDS}"),
    ):
        if count := int(found.sum()):
            notes.append(
                f"{count} of {len(found)} features {one if count == 1 else many} ({_some(table, found)})"
            )
    return notes


def identifier_notes(table: Table) -> list[str]:
    """Sentences about identifiers and free text, with the option that leaves them out.

    Examples
    --------
    >>> identifier_notes(Table(np.arange(30.0)[:, None], np.zeros(1, int), ("row",), (None,)))
    ['1 of 1 features tells every row from all others: leave it out if it is an identifier (--drop row)']
    """
    low, high = np.fmin.reduce(table.values, axis=0), np.fmax.reduce(table.values, axis=0)
    unique = _identifiers(table, low, high)
    free = _free_text(table) & ~unique
    notes = []
    for found, one, many in (
        (
            unique,
            "tells every row from all others: leave it out if it is an identifier",
            "tell every row from all others: leave them out if they are identifiers",
        ),
        (
            free,
            "has fewer than 3 rows for a value, as identifiers and free text have: leave it out",
            "have fewer than 3 rows for a value, as identifiers and free text have: leave them out",
        ),
    ):
        if count := int(found.sum()):
            drop = " ".join(f"--drop {shlex.quote(table.names[j])}" for j in np.flatnonzero(found)[:3])
            more = " ..." if count > 3 else ""
            notes.append(f"{count} of {len(found)} features {one if count == 1 else many} ({drop}{more})")
    return notes


def odd_features(table: Table) -> list[tuple[np.ndarray, str]]:
    """Masks of features that are odd, and in which way."""
    low, high = np.fmin.reduce(table.values, axis=0), np.fmax.reduce(table.values, axis=0)
    unique = _identifiers(table, low, high)
    return [
        (np.isnan(low), "is always missing and cannot matter"),
        (low == high, "is constant and cannot matter"),
        (unique, "tells every row from all others"),
        (_free_text(table) & ~unique, "has fewer than 3 rows for a value, as identifiers and free text have"),
        (_number_words(table), f"is {_NUMBER_WORDS}"),
        (_missing_words(table), f"has {_MISSING_WORDS}"),
    ]


def _some(table: Table, found: np.ndarray) -> str:
    some = ", ".join(short_name(table.names[j]) for j in np.flatnonzero(found)[:3])
    return some + (", ..." if found.sum() > 3 else "")


def _free_text(table: Table) -> np.ndarray:
    """Nominal features with more than a third as many values as known rows."""
    found = (3 * table.n_values > 1) & (len(table) >= _MANY_ROWS)
    for j in np.flatnonzero(found):
        values = table.values[:, j]
        known = values[~np.isnan(values)]
        # The declared values are no fewer than those that occur.
        found[j] = 3 * table.n_values[j] > len(known) >= _MANY_ROWS and 3 * len(np.unique(known)) > len(known)
    return found


def _number_words(table: Table) -> np.ndarray:
    """Nominal features whose words are almost all numbers, too many for codes."""
    found = table.n_values > MANY_NUMBERS
    for j in np.flatnonzero(found):
        words = [word for word in table.categories[j] or () if isinstance(word, str)]
        spelled = sum(as_number(word) is not None for word in words)
        found[j] = spelled > MANY_NUMBERS and spelled >= 0.95 * len(table.categories[j] or ())
    return found


def _missing_words(table: Table) -> np.ndarray:
    """Nominal features with a value that often stands for a missing one."""
    return np.array(
        [
            any(isinstance(c, str) and c in MISSING for c in categories or ())
            for categories in table.categories
        ]
    )


def _identifiers(table: Table, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Features that look like identifiers: complete, all names different, or whole numbers without a gap."""
    n = len(table)
    nominal = table.n_values > 0
    with np.errstate(over="ignore"):
        gapless = high - low == n - 1
    # What can be told without counting rules out almost all features.
    found = np.where(nominal, table.n_values >= n, gapless) & (n >= _MANY_ROWS)
    for j in np.flatnonzero(found):
        values = table.values[:, j]
        whole = nominal[j] or np.array_equal(values, np.floor(values))
        found[j] = whole and len(np.unique(values)) == n and not np.isnan(values).any()
    return found
