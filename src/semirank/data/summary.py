"""What was understood of the target, in words."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..runtime.messages import first_names, plural, short, short_name
from .missing_words import ALIKE, ask, doubtful, look_alikes
from .target import Target
from .tasks import NUMBERS, TASKS

ONE_CLASS = (
    "so no feature can tell it from others and there is nothing to rank by: label some rows of another "
    "class, or, if the unlabelled rows may stand for it, give them a class of their own"
)
_SHOWN_COUNTS = 8  # classes or labels that a note counts


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
    if TASKS[target.task].kind == NUMBERS:
        return {}
    names = target.names if target.classes is None else target.classes.tolist()
    return dict(zip(map(plain_word, names), np.nansum(target.columns(), axis=0).astype(int).tolist()))


def plain_word(name: object) -> str:
    """A class or label as text: one that looks like a number may have been read as one, 7.0 is "7"."""
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
    some = first_names(target.names, _SHOWN_COUNTS)
    return [f"the target is {some}" if len(target.names) == 1 else f"the targets are {some}"]


def target_questions(target: Target) -> list[str]:
    """What may have been meant otherwise: values that look like "unknown", names that look alike."""
    task = TASKS[target.task]
    if task.kind == NUMBERS:
        return _doubtful_numbers(target)
    if target.hierarchy is not None:
        return []
    names = target.names if target.classes is None else target.classes.tolist()
    nouns = "labels" if target.classes is None else "classes"
    notes = [ask(value, f"a {task.noun}") for value in doubtful(names)[:3]]
    notes += [
        f"the {nouns} {', '.join(map(short, same))} {ALIKE}; make them one if they are the same"
        for same in look_alikes(names)[:3]
    ]
    return notes


def _doubtful_numbers(target: Target) -> list[str]:
    notes: dict[str, None] = {}
    for values in target.values.T:
        below = np.unique(values[values < 0])
        if len(below) == 1:
            for value in doubtful([int(below[0]) if below[0] % 1 == 0 else below[0]]):
                notes[ask(value, "a number")] = None
    return list(notes)
