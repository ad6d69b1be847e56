"""Excel files (.xlsx), through openpyxl."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime, time, timedelta
from pathlib import Path

from ..runtime.memory import ensure_room
from ..runtime.messages import plural, short
from ..runtime.optional import optional
from .columns import FileColumns
from .read_cells import Line, read_cells
from .word_columns import Reading

_PER_BYTE = 10  # bytes of Python's objects for one of the unpacked XML


def read_excel(path: Path, choose_kinds: Callable[[Sequence[str]], Reading]) -> FileColumns:
    """The columns of the first sheet of an Excel file; formulas count with the values they last had."""
    complaint = f"Reading {path.name} needs openpyxl; install it with 'pip install semirank[excel]'."
    openpyxl = optional("openpyxl", complaint)
    try:
        with zipfile.ZipFile(path) as packed:
            ensure_room(
                _PER_BYTE * sum(part.file_size for part in packed.infolist()), f"The table in {path.name}"
            )
        with (
            warnings.catch_warnings(action="ignore"),  # about styles and pictures that openpyxl does not keep
            closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book,
        ):
            sheets = book.worksheets
            first = (row for sheet in sheets[:1] for row in sheet.iter_rows(values_only=True))
            cells = [list(map(_word, row)) for row in first]
            titles = [sheet.title for sheet in sheets]
    except MemoryError:
        raise
    except Exception as error:  # openpyxl raises whatever the damaged part of a file happens to cause
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path.name} is no readable Excel file ({reason}).") from None
    width = max(map(len, cells), default=0)

    def rows() -> Iterator[tuple[int, list[str] | Line]]:
        return ((line, row + [""] * (width - len(row))) for line, row in enumerate(cells, 1))

    notes = []
    if len(titles) > 1:
        notes.append(f"the first of {plural(len(titles), 'sheet')} was read, {short(titles[0])}")
    return read_cells(rows, path.name, choose_kinds, notes)


def _word(value: object) -> str:
    """A cell as a CSV file would hold it."""
    if value is None:
        return ""
    if isinstance(value, timedelta):
        return repr(value.total_seconds() / 86_400)
    if isinstance(value, datetime) and value.time() == time(0):
        value = value.date()
    return str(value)
