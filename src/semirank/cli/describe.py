"""`semirank describe`: what was understood of every column of a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from . import options, terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..data.column_summary import ColumnSummary

_HEAD = ["column", "role", "kind", "values", "missing", "odd"]


def describe(
    files: options.Files,
    target: options.Targets = None,
    drop: options.Drop = None,
    numeric: options.Numeric = None,
    nominal: options.Nominal = None,
    missing: options.Missing = None,
    unlabeled: options.Unlabeled = None,
    decimal: options.Decimal = None,
    only_odd: Annotated[bool, typer.Option("--odd", help="Only columns with something odd.")] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what is understood of every column of a file: kind, values, missing, anything odd.

    The target need not be named.
    """
    from .input import describe_columns

    columns, notes, warnings = describe_columns(
        files, drop=drop, numeric=numeric, nominal=nominal, missing=missing, targets=target,
        unlabeled=unlabeled, decimal=decimal,
    )  # fmt: skip
    shown = [column for column in columns if column.odd or not only_odd]
    if not quiet:
        for note in notes:
            terminal.say(note)
    if as_json:
        print(json.dumps([column._asdict() for column in shown], ensure_ascii=False))
    else:
        terminal.show_warnings(warnings)
        _show(shown)


def _show(columns: Sequence[ColumnSummary]) -> None:
    from ..results.text_table import clipped, printable

    rows = []
    for c in columns:
        name, values = clipped(printable(c.name)), clipped(printable(c.values))
        rows.append([name, c.role, c.kind, values, str(c.missing or ""), printable(c.odd)])
    terminal.show_table(_HEAD, rows)
