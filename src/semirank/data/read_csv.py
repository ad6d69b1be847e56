"""CSV files and their kin: any of four delimiters, quotes, numbers or words."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .columns import Column, FileColumns, text_column, unique_names
from .read_text import parse_numbers, read_text

MISSING = ("", "?", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null")


def read_csv(path: Path, missing: frozenset[str]) -> FileColumns:
    """The columns of a CSV file; cells in `missing` are missing values."""
    text = read_text(path)
    delimiter = "\t" if path.name.lower().removesuffix(".gz").endswith(".tsv") else _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    header: list[str] = []
    rows = []
    try:
        for row in reader:
            if not row or row == [""]:
                continue
            cells = [cell.strip() for cell in row]
            if not header:
                header = cells
            elif len(cells) == len(header):
                rows.append(cells)
            else:
                raise ValueError(
                    f"{path.name}, line {reader.line_num}: {len(row)} values, {len(header)} expected."
                )
    except csv.Error as error:
        raise ValueError(f"{path.name}, line {reader.line_num}: {error}.") from None
    if not header:
        raise ValueError(f"{path.name} is empty.")
    names = unique_names([name or f"unnamed{j}" for j, name in enumerate(header)], len(header))
    columns = [_column(cells, missing) for cells in (zip(*rows) if rows else [()] * len(names))]
    notes, skip = [], {}
    if all(parse_numbers([name], frozenset()) is not None for name in header):
        notes.append("the first line was taken as column names although it holds numbers")
    first = columns[0].values
    if not header[0] and columns[0].kind == "number" and (first[1:] == first[:-1] + 1).all():
        skip[0] = "counts the rows"
    return FileColumns(names, columns, skip=skip, notes=notes)


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


def _column(cells: Sequence[str], missing: frozenset[str]) -> Column:
    numbers = parse_numbers(cells, missing)
    if numbers is None:
        return text_column(cells, missing)
    known = numbers[~np.isnan(numbers)]
    whole = len(known) and np.isfinite(known).all() and (known == np.floor(known)).all()
    return Column("number", numbers, None, np.dtype(np.int64 if whole else np.float64))
