"""CSV files and their kin: any of four delimiters, quotes, comments, numbers in several spellings."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from ..runtime.messages import plural
from .columns import FileColumns
from .missing_words import as_number
from .read_cells import COMMENT, WIDE, Line, read_cells
from .read_text import read_text
from .word_columns import Reading

_EXCEL_DELIMITER = re.compile(r'(?i)"?sep=(.)"?[,;\t]*')

_QUOTED = re.compile(r'"([^"\n]*)"')


def read_csv(path: Path, choose_kinds: Callable[[Sequence[str]], Reading]) -> FileColumns:
    """The columns of a CSV file; `choose_kinds` gives the way of reading columns of these names."""
    text, offset, delimiter, notes = _dialect(read_text(path), path.name)
    text = _without_quotes(text, delimiter)

    def choose(names: Sequence[str]) -> Reading:
        return choose_kinds(names)._replace(delimiter=delimiter)

    rows = partial(_rows, text, offset, delimiter, path.name)
    return read_cells(rows, path.name, choose, notes)


def _without_quotes(text: str, delimiter: str) -> str:
    """The text without quotation marks, if no cell needs them; it can then be cut at every delimiter."""
    if '"' not in text:
        return text
    size, ends = len(text), ("\n", delimiter)

    def cell(match: re.Match[str]) -> str:
        start, end = match.span()
        whole = (not start or text[start - 1] in ends) and (end == size or text[end] in ends)
        return match[1] if whole and delimiter not in match[1] else match[0]

    plain = _QUOTED.sub(cell, text)
    return text if '"' in plain else plain


def _rows(text: str, offset: int, delimiter: str, file: str) -> Iterator[tuple[int, list[str] | Line]]:
    """The rows, each with the number of its line; blank lines are no rows."""
    if '"' not in text:
        wide = text.count(delimiter, 0, text.find("\n") + 1) >= WIDE and delimiter.isascii()
        for number, line in enumerate(text.split("\n"), offset + 1):
            if delimiter in line or line.strip():
                yield number, Line(line, delimiter) if wide else line.split(delimiter)
        return
    source = io.StringIO(text, newline="")
    reader = csv.reader(source, delimiter=delimiter, skipinitialspace=True)
    first, place = offset + 1, 0  # of the row to come
    last = first, place
    try:
        for cells in reader:
            if cells and cells != [""]:
                yield first, cells
                last = first, place
            first, place = offset + 1 + reader.line_num, source.tell()
    except csv.Error:
        raise ValueError(
            f"{file}, line {first}: a cell has more than {csv.field_size_limit()} characters; "
            "perhaps a quotation mark lacks its other half."
        ) from None
    if _quote_is_open(text[last[1] :], delimiter):
        raise ValueError(f"{file}, line {last[0]}: a quotation mark lacks its other half.")


def _quote_is_open(row: str, delimiter: str) -> bool:
    """Whether the text ends inside quotation marks, which then have swallowed the lines up to the end."""
    source = io.StringIO(row, newline="")
    try:
        list(csv.reader(source, delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error as error:
        return "end of data" in str(error)
    return False


def _dialect(text: str, file: str) -> tuple[str, int, str, list[str]]:
    """The text from its header on, the line before it, the delimiter, and what to say.

    Excel's "sep=;" line and comments above the header are left out.
    """
    start, skipped, delimiter = 0, 0, ""
    comments: list[str] = []
    notes: list[str] = []
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end].strip()
        # A tab that is named as the delimiter is no blank.
        excel = _EXCEL_DELIMITER.fullmatch(text[start:end].strip(" ")) if not skipped else None
        if excel:
            delimiter = excel[1]
        elif line.startswith(COMMENT):
            comments.append(line)
        elif line:
            break
        start, skipped = end + 1, skipped + 1
    rest = text[start:]
    if not delimiter:
        tabs = file.lower().removesuffix(".gz").endswith(".tsv")
        delimiter = "\t" if tabs else _delimiter(rest)
    if comments and _is_header(comments[-1], rest, delimiter):
        rest, skipped = f"{comments.pop().lstrip('#').strip()}\n{rest}", skipped - 1
        notes.append("the last line that begins with # was taken as column names")
    if comments:
        verb = "begins" if len(comments) == 1 else "begin"
        was = "was" if len(comments) == 1 else "were"
        notes.append(f"{plural(len(comments), 'line')} that {verb} with # {was} left out")
    return rest, skipped, delimiter, notes


def _is_header(comment: str, rest: str, delimiter: str) -> bool:
    """Whether a comment names as many columns as the rows have, and the first row is not itself names."""
    lines = [line for line in rest[:1_000_000].split("\n", 20)[:20] if line.strip()][:2]
    try:
        above, *below = (
            next(csv.reader([line], delimiter=delimiter, skipinitialspace=True)) for line in (comment, *lines)
        )
    except (csv.Error, StopIteration):
        return False
    if not below or len(above) != len(below[0]) or len(above) < 2:
        return False
    numbers = [any(as_number(cell) is not None for cell in row) for row in below]
    return numbers[0] or not any(numbers)


def _delimiter(text: str) -> str:
    """The sign that cuts the first lines into the same number of cells, the most cells winning."""
    start = [line for line in text[:100_000].split("\n")[:20] if line.strip()]
    lines = start[:-1] or [text.partition("\n")[0]]

    def cells(sign: str) -> tuple[bool, int]:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=sign, skipinitialspace=True)]
        except csv.Error:
            return False, 0
        return widths[0] > 1 and len(set(widths)) == 1, widths[0]

    return max(",;\t|", key=cells) if any(line.strip() for line in lines) else ","
