"""Words for messages: quoted values, plurals, and the names a user may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from itertools import islice

_SHOWN = 60  # characters of a quoted value
_MAX_COMPARED = 2000  # names that a wrong one is compared with


def short(value: object) -> str:
    """A value as a message quotes it: in quotes if it is text, on one line, never longer than a line.

    Examples
    --------
    >>> short("red\\n")
    "'red\\\\n'"
    >>> len(short("x" * 10**6))
    63
    """
    # Cut before it is quoted: the repr of a huge text is huge.
    shown = repr(value[: _SHOWN + 3] if isinstance(value, str) else value)
    return shown if len(shown) <= _SHOWN + 2 else f"{shown[:_SHOWN]}..."


def short_name(text: str) -> str:
    """The same without quotes, for lists of names.

    Examples
    --------
    >>> short_name("red")
    'red'
    """
    shown = short(text)
    return shown[1:] if shown.endswith("...") else shown[1:-1]


def first_names(names: Sequence[str], most: int) -> str:
    """The first names of a list, and an ellipsis where there are more.

    Examples
    --------
    >>> first_names(["size", "colour"], 3), first_names(["size", "colour", "weight"], 2)
    ('size, colour', 'size, colour, ...')
    """
    return ", ".join(map(short_name, names[:most])) + (", ..." if len(names) > most else "")


def plural(count: int, noun: str) -> str:
    """A number of things.

    Examples
    --------
    >>> plural(1, "label"), plural(3, "label"), plural(2, "class")
    ('1 label', '3 labels', '2 classes')
    """
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith('s') else 's'}"


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Words that offer the nearest known names, or nothing.

    Examples
    --------
    >>> did_you_mean("sise", ["size", "colour"])
    " (did you mean 'size'?)"
    """
    name = str(name)
    if len(name) > _SHOWN:  # the time of a comparison grows with the square of the length
        return ""
    some = (str(k) for k in islice(known, _MAX_COMPARED))
    near = difflib.get_close_matches(name, [k for k in some if len(k) <= 200], n=3, cutoff=0.6)
    return f" (did you mean {' or '.join(map(short, near))}?)" if near else ""
