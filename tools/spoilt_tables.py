"""What accidents of tables are made of: a clean table, how it is written, read, ranked and judged."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from semirank import ReliefRanker, load

CLASSES = ("lemon", "plum", "cherry", "sour cherry")


class Outcome(NamedTuple):
    """A ranking with what was said on the way, or an error."""

    names: tuple[str, ...]
    scores: tuple[float, ...]
    said: tuple[str, ...]
    error: str = ""


class Sheet(NamedTuple):
    """A table of words."""

    columns: dict[str, list[str]]
    target: str

    @property
    def n_rows(self) -> int:
        return len(self.columns[self.target])

    def copy(self) -> Sheet:
        return Sheet({name: list(cells) for name, cells in self.columns.items()}, self.target)


Given = Callable[[Path], Outcome]


class Accident(NamedTuple):
    """A clean table and the spoilt one.

    `same`: the rankings must be equal. `named`: all these words must stand in one note, or in the error; ()
    if nothing need be said. With `named` alone the rankings may differ, since the accident was told.
    """

    kind: str
    clean: Given
    dirty: Given
    same: bool = True
    named: tuple[str, ...] = ()


def make_sheet(rng: random.Random) -> Sheet:
    """A clean table: fractions, large whole numbers, signs, counts, names, days, and a class or a number."""
    n = rng.randrange(60, 90)
    first = date(2015, 1, 1)
    size = [round(rng.lognormvariate(1, 1), 3) for _ in range(n)]
    columns = {
        "size": [f"{value:.3f}" for value in size],
        "weight": [str(rng.randrange(50, 9_000_000) if i % 3 else rng.randrange(50, 2000)) for i in range(n)],
        "change": [f"{rng.gauss(0, 5):.2f}" for _ in range(n)],
        "count": [str(rng.randrange(1, 8)) for _ in range(n)],
        "colour": [rng.choice(("red", "green", "dark blue")) for _ in range(n)],
        "day": [(first + timedelta(days=rng.randrange(2000))).isoformat() for _ in range(n)],
    }
    if rng.random() < 0.5:
        columns["fruit"] = [CLASSES[(value > 2) + 2 * (rng.random() < 0.3)] for value in size]
    else:
        columns["fruit"] = [f"{10 * value + rng.gauss(0, 1):.2f}" for value in size]
    for i in rng.sample(range(n), n // 3):
        columns["fruit"][i] = ""
    names = list(columns)
    rng.shuffle(names)
    return Sheet({name: columns[name] for name in names}, "fruit")


def as_csv(
    sheet: Sheet, delimiter: str = ",", above: str = "", newline: str = "\n", quote_all: bool = False
) -> str:
    """The table as the text of a CSV file."""
    out = io.StringIO()
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=newline)
    writer.writerow(sheet.columns)
    writer.writerows(zip(*sheet.columns.values()))
    return above + out.getvalue()


def from_file(
    content: str | bytes, suffix: str = "csv", target: str | int = "fruit", **options: Any
) -> Given:
    """How the table in a file ranks."""

    def rank(folder: Path) -> Outcome:
        path = folder / f"table.{suffix}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        try:
            data = load(path, target, **options)
            ranking = ReliefRanker(random_state=0, n_neighbors=5).fit(data.X, data.target).to_ranking()
        except ValueError as error:
            return Outcome((), (), (), str(error))
        return Outcome(ranking.names, tuple(ranking.scores), (*data.notes, *ranking.notes))

    return rank


def from_frame(make: Callable[[], tuple[Any, Any]]) -> Given:
    """How a frame and a target in memory rank."""

    def rank(folder: Path) -> Outcome:
        X, y = make()
        try:
            ranking = ReliefRanker(random_state=0, n_neighbors=5).fit(X, y).to_ranking()
        except ValueError as error:
            return Outcome((), (), (), str(error))
        return Outcome(ranking.names, tuple(ranking.scores), tuple(ranking.notes))

    return rank


def some_rows(sheet: Sheet, rng: random.Random, share: float) -> list[int]:
    """At least one row, and at most this share of them."""
    return rng.sample(range(sheet.n_rows), rng.randrange(1, max(2, int(share * sheet.n_rows) + 1)))


def with_cells(
    sheet: Sheet, column: str, change: Callable[[str], str], rows: list[int] | None = None
) -> Sheet:
    """The table with other cells in one column."""
    other = sheet.copy()
    cells = other.columns[column]
    for i in range(sheet.n_rows) if rows is None else rows:
        if cells[i]:
            cells[i] = change(cells[i])
    return other


def with_column(sheet: Sheet, name: str, cells: list[str], rng: random.Random) -> Sheet:
    """The table with one more column, somewhere."""
    names = list(sheet.columns)
    names.insert(rng.randrange(len(names) + 1), name)
    return Sheet({key: cells if key == name else sheet.columns[key] for key in names}, sheet.target)


def fault_of(accident: Accident, folder: Path) -> str:
    """What is wrong with the way the accident was taken, "" for nothing."""
    clean, dirty = accident.clean(folder), accident.dirty(folder)
    if clean.error:
        return f"the clean table was refused: {clean.error}"
    same = not dirty.error and clean.names == dirty.names and clean.scores == dirty.scores
    said = (dirty.error,) if dirty.error else dirty.said
    named = any(all(word in note for word in accident.named) for note in said)
    if accident.same and not same:
        return f"another ranking; error: {dirty.error!r}, notes: {dirty.said}"
    if accident.named and not named:
        return f"not named ({', '.join(accident.named)}); error: {dirty.error!r}, notes: {dirty.said}"
    return ""
