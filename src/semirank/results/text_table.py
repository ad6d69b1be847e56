"""Tables as text: CSV, and for people columns of equal width, numbers point under point, bars of blocks."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Container[int] = ()) -> str:
    """Lines of cells under a header; the columns `right` end where their header ends.

    Examples
    --------
    >>> print(text_table(["rank", "feature"], [["1", "age"], ["10", "weight"]], right={0}))
    rank  feature
       1  age
      10  weight
    """
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    sides = [str.rjust if place in right else str.ljust for place in range(len(widths))]
    return "\n".join(
        "  ".join(side(cell, width) for side, cell, width in zip(sides, line, widths)).rstrip()
        for line in lines
    )


def printable(text: str) -> str:
    """`text` without control characters, so that a name in the data cannot control the terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def visible(text: str) -> str:
    r"""`text` with characters that steer a display, or turn the direction of writing, as their codes.

    Examples
    --------
    >>> print(visible("age\u202e\x1b"))
    age\u202e\x1b
    """
    if text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode("ascii") if _steers(c) else c for c in text)


def _steers(character: str) -> bool:
    """Whether it is a control character, one for the direction of writing, or half of a surrogate pair."""
    if character in "\n\t":
        return False
    return character in _BIDI or unicodedata.category(character) in ("Cc", "Cs")


def four_digits(value: Any) -> str:
    """A number with four digits, "" for NaN; anything else as it is."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return str(value)


def aligned(values: np.ndarray) -> list[str]:
    """The numbers as texts that have point under point when they are set to the right."""
    texts = [four_digits(value) for value in values]
    tails = [len(text) - text.find(".") if "." in text else 0 for text in texts]
    return [text + " " * (max(tails) - tail) for text, tail in zip(texts, tails)]


def clipped(text: str) -> str:
    """The text cut to 48 characters, the last one an ellipsis where something was cut."""
    return text if len(text) <= 48 else text[:47] + "…"


def bar(share: float) -> str:
    """A bar in eighths of a block, 20 blocks long where the share is 1."""
    eighths = round(max(share, 0.0) * 20 * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
