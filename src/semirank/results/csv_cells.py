"""Cells of CSV files that a spreadsheet shows and does not run (Def. 3.4)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

# What a spreadsheet takes for a formula, also behind quotation marks that were put there before.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def safe_cell(value: Any) -> Any:
    """The value with ' before it if it is text that a spreadsheet would run; numbers stay as they are.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("-0.5"), safe_cell(-0.5), safe_cell("age")
    ("'=1+1", '-0.5', -0.5, 'age')
    """
    if not isinstance(value, str) or len(value) < 2 or not _FORMULA.match(value) or _is_number(value):
        return value
    return f"'{value}"


def original_cell(text: str) -> str:
    """What `safe_cell` was given.

    Examples
    --------
    >>> [original_cell(safe_cell(text)) for text in ("=1+1", "'=1+1", "'tis", "-0.5")]
    ['=1+1', "'=1+1", "'tis", '-0.5']
    """
    rest = text[1:]
    inside = text.startswith("'") and len(rest) > 1 and _FORMULA.match(rest) and not _is_number(rest)
    return rest if inside else text


def csv_text(
    columns: Iterable[str],
    rows: Iterable[Iterable[Any]],
    *,
    safe: bool = True,
    quoting: Any = csv.QUOTE_MINIMAL,
) -> str:
    """The text of a CSV file; `safe` keeps spreadsheets from running its cells.

    Examples
    --------
    >>> print(csv_text(("a", "b"), [(1, "x,y"), (None, "=0.5+1")]), end="")
    a,b
    1,"x,y"
    ,'=0.5+1
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=quoting)
    lines = [list(columns), *rows]
    writer.writerows([safe_cell(value) for value in line] if safe else line for line in lines)
    return text.getvalue()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
