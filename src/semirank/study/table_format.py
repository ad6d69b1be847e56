"""A table that can be written as Markdown, CSV and HTML."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..report.svg_charts import text as escaped
from ..results.csv_cells import csv_text
from ..runtime.atomic_write import atomic_write_all


@dataclass(frozen=True)
class StudyTable:
    """Rows of values under a title; None is an empty cell.

    Attributes
    ----------
    name : str
        Stem of the file names.
    title, text : str
        What the table shows; one without a title is for programs and written as CSV only.
    columns : tuple of str
    rows : sequence of tuples
    notes : sequence of str
        What the figures rest on, and what is missing.
    digits : int
        Decimals of fractions; more in the CSV file, and where a fraction above 0 would be shown as 0.
    signed : frozenset of str
        Columns with a + before fractions above 0.
    bold : frozenset of (row, column)
        Best values.

    Examples
    --------
    >>> print(StudyTable("x", "A table", "Two values.", ("name", "v"), (("a|b", 0.25),)).markdown())
    # A table
    <BLANKLINE>
    Two values.
    <BLANKLINE>
    | name | v |
    |:--|--:|
    | a\\|b | 0.25 |
    <BLANKLINE>
    """

    name: str
    title: str
    text: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    notes: Sequence[str] = ()
    digits: int = 2
    signed: frozenset[str] = frozenset()
    bold: frozenset[tuple[int, int]] = frozenset()

    def csv(self) -> str:
        """The bare values, fractions with six significant digits."""
        rows = ([f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in self.rows)
        return csv_text(self.columns, rows)

    def markdown(self) -> str:
        """The table with its title, text and notes."""
        marks = [":--" if is_text else "--:" for is_text in self._text_columns()]
        lines = [f"# {self.title}", "", self.text, ""]
        if self.rows:
            lines += [_line(map(_plain, self.columns)), f"|{'|'.join(marks)}|"]
            lines += map(_line, self._cells(_plain, "**{}**"))
        else:
            lines.append("There are no records for this table yet.")
        if self.notes:
            lines += ["", *(f"- {_plain(note)}" for note in self.notes)]
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """The table and its notes, all text escaped."""
        css = [' class="text"' if is_text else "" for is_text in self._text_columns()]
        head = "".join(f'<th scope="col"{c}>{escaped(name)}</th>' for c, name in zip(css, self.columns))
        rows = (map("<td{}>{}</td>".format, css, row) for row in self._cells(escaped, "<b>{}</b>"))
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
        notes = "".join(f"<li>{escaped(note)}</li>" for note in self.notes)
        table = "<p>There are no records for this table yet.</p>"
        if self.rows:
            table = f'<table class="plain"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
            table = f'<div class="scroll" tabindex="0">{table}</div>'
        return table + (f'<ul class="notes">{notes}</ul>' if notes else "")

    def _text_columns(self) -> list[bool]:
        return [any(isinstance(row[j], str) for row in self.rows) for j in range(len(self.columns))]

    def _cells(self, plain: Callable[[str], str], bold: str) -> Iterator[list[str]]:
        """The cells of every row as text; `bold` is what the best values are put into."""
        for i, row in enumerate(self.rows):
            shown = [plain(self._shown(value, name)) for value, name in zip(row, self.columns)]
            yield [bold.format(c) if c and (i, j) in self.bold else c for j, c in enumerate(shown)]

    def _shown(self, value: Any, column: str) -> str:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return ""
        if isinstance(value, float):
            if column in self.signed:
                return f"{value:+.{self.digits}f}"
            if 0 < value < 0.5 * 10**-self.digits:
                return f"{value:.1g}"  # a small p-value is not 0.00
            return f"{value:.{self.digits}f}"
        return str(value)


def _plain(value: str) -> str:
    """Text of one Markdown cell that means nothing to Markdown or HTML."""
    value = " ".join(value.split()).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{c}" if c in "|*`[]\\" else c for c in value).replace("_", r"\_")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def save_tables(tables: Iterable[StudyTable], out: Path | str) -> list[Path]:
    """Write tables as Markdown and CSV into a folder, made if it is not there; returns the files."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[Path, str | bytes] = {}
    for table in tables:
        if table.title:
            files[folder / f"{table.name}.md"] = table.markdown()
        files[folder / f"{table.name}.csv"] = table.csv()
    atomic_write_all(files)
    return list(files)
