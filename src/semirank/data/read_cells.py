"""Rows of words, from CSV files and spreadsheets, as columns: one reader for both (Def. 3.3)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from ..runtime.messages import plural
from .cell_kinds import comma_evidence, spelled_number
from .columns import DATES, EXACT, Column, FileColumns, unique_names
from .missing_words import as_number
from .word_columns import DECIMAL_COMMAS, Reading, number_column, word_columns

_GROUP = 3  # digits of a group
_LOOKED_AT = 20  # rows that tell whether the header is one cell short
COMMENT = "#"
WIDE = 500  # cells from which on a line is worth a compiled reader


class Line(NamedTuple):
    """A row that is not yet cut into its cells; nothing but the delimiter separates them."""

    text: str
    delimiter: str

    def parse(
        self, mark: str, skip: np.ndarray, out: np.ndarray, places: np.ndarray
    ) -> tuple[int, list[tuple[int, str]]]:
        """Plain numbers into `out` without cutting the line; its number of cells, and the others as words.

        `mark` is the decimal mark; the rows of `places` are the last arguments of `parse_line`.
        """
        from .parse_line import parse_line

        text = self.text.encode("utf-8", "surrogatepass")
        signs = np.uint8(ord(self.delimiter)), np.uint8(ord(mark))
        n_cells, n_odd = parse_line(np.frombuffer(text, dtype=np.uint8), *signs, skip, out, *places)
        odd = places[1:, :n_odd].T.tolist()
        return n_cells, [(j, text[start:end].decode("utf-8", "surrogatepass")) for j, start, end in odd]


Rows = Callable[[], Iterator[tuple[int, "list[str] | Line"]]]


class _Body(NamedTuple):
    """The rows below the header: numbers with NaN elsewhere, and where the rows stand in the file."""

    numbers: np.ndarray  # (n_columns, n_rows)
    lines: list[int]
    ignored: set[int]
    words: set[int]  # columns that hold words
    marked: list[int]  # rows that begin as comments do, but are as long as the others


def read_cells(
    rows: Rows, file: str, choose_kinds: Callable[[Sequence[str]], Reading], notes: Sequence[str] = ()
) -> FileColumns:
    """The columns of rows of words, the first of which are the names.

    Parameters
    ----------
    rows : callable
        Gives the rows anew whenever it is called, each with its line in the file.
    file : str
        Its name, for messages.
    choose_kinds : callable
        From the names of the columns to the way of reading them.
    notes : sequence of str
        What has been said of the file so far.
    """
    header = [cell.strip() for cell in next(_filled(rows), ())]
    if not header:
        raise ValueError(f"{file} is empty.")
    row_names = _has_row_names(rows, len(header))
    header = ["", *header] if row_names else header
    names = unique_names([name or f"unnamed{j}" for j, name in enumerate(header)], len(header))
    reading = choose_kinds(names)
    body = _read_numbers(rows, header, file, reading.missing)
    columns = _columns(rows, names, body, reading)
    said = list(notes)
    n_rows = len(body.lines)
    used = len(header)
    while used > 1 and not header[used - 1] and n_rows and np.isnan(columns[used - 1].values).all():
        used -= 1
    if (empty := len(header) - used) > 0:
        said.append(f"{plural(empty, 'empty column')} at the end {_were(empty)} left out")
    if ignored := len(body.ignored):
        said.append(f"{plural(ignored, 'empty or comment line')} {_were(ignored)} left out")
    if body.marked and 2 * len(body.marked) < n_rows:
        begin = "begins" if len(body.marked) == 1 else "begin"
        said.append(
            f"{plural(len(body.marked), 'row')} {begin} with {COMMENT} (first in line {body.marked[0]}) and "
            f"{_were(len(body.marked))} read as the others; delete what is a comment"
        )
    if _looks_like_a_row(header[:used], columns):
        said.append("the first line was taken as column names although it holds numbers")
    # An index, even if rows were left out or put in another order since.
    distinct = not header[0] and len(np.unique(columns[0].values)) == n_rows > 0
    skip = {}
    if distinct and columns[0].dtype.kind == "i" and not np.isnan(columns[0].values).any():
        skip[0] = "counts the rows"
    elif row_names or (distinct and columns[0].kind == "text"):
        skip[0] = "names the rows"
    return FileColumns(names[:used], columns[:used], skip=skip, notes=said)


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _cells(row: list[str] | Line, cuts: int = -1) -> list[str]:
    """The cells of a row; with fewer cuts, the last one is all that follows."""
    return row.text.split(row.delimiter, cuts) if isinstance(row, Line) else row


def _filled(rows: Rows) -> Iterator[list[str]]:
    """The rows that hold a word; the first is the header."""
    body = (_cells(row) for _, row in rows())
    return (cells for cells in body if any(cell.strip() for cell in cells))


def _has_row_names(rows: Rows, size: int) -> bool:
    """Whether the rows have one cell more than the header, as R writes names of rows."""
    first = list(islice(_filled(rows), 1, 1 + _LOOKED_AT))
    longer = all(len(cells) == size + 1 for cells in first)
    # An empty cell behind every row is a delimiter too many.
    return len(first) > 1 and longer and any(cells[-1].strip() for cells in first)


def _looks_like_a_row(header: Sequence[str], columns: Sequence[Column]) -> bool:
    """Whether the names are numbers, all of them or those of columns that hold such numbers."""
    numbers = [as_number(name) for name in header]
    if all(number is not None for number in numbers):
        return True
    inside = []
    for name, number, column in zip(header, numbers, columns):
        if column.kind == "number" and name and DATES not in column.remarks:
            low, high = (np.fmax.reduce(sign * column.values, initial=-np.inf) for sign in (-1, 1))
            inside.append(number is not None and -low <= number <= high)
    return 2 * sum(inside) > len(inside)


class _Numbers:
    """Rows of numbers, added one by one; columns with words that are not missing are set aside."""

    def __init__(self, size: int, missing: frozenset[str]) -> None:
        self.size, self.missing = size, missing
        self.flat = array("d")
        self.words: set[int] = set()
        self._out, self._places = np.empty(size), np.empty((4, size), dtype=np.int64)
        self._skip = np.zeros(size, dtype=bool)

    def add_cells(self, cells: list[str]) -> None:
        for j in self.words:
            cells[j] = "nan"
        start = len(self.flat)
        try:
            if "_" in "".join(cells):
                raise ValueError
            self.flat.extend(map(float, cells))
        except ValueError:
            del self.flat[start:]
            self.flat.extend([self._value(j, cell) for j, cell in enumerate(cells)])

    def add_line(self, line: Line) -> bool:
        """Add a long line without cutting it; False if it is empty or of another length than the header."""
        n_cells, odd = line.parse(".", self._skip, self._out, self._places)
        if n_cells != self.size or not line.text.strip(f"{line.delimiter} "):
            return False
        for j, word in odd:
            self._out[j] = self._value(j, word)
            self._skip[j] = j in self.words
        self.flat.frombytes(self._out.tobytes())
        return True

    def _value(self, j: int, cell: str) -> float:
        number = as_number(cell)
        if number is not None:
            return number
        if cell.strip() not in self.missing:
            self.words.add(j)
        return np.nan

    def by_column(self) -> np.ndarray:
        numbers = np.frombuffer(self.flat, dtype=np.float64).reshape(-1, self.size).T
        return _without(np.ascontiguousarray(numbers), self.missing)


def _without(numbers: np.ndarray, missing: frozenset[str]) -> np.ndarray:
    """The numbers with NaN for those that words for missing values spell."""
    gone = [v for word in missing if (v := as_number(word)) is not None and v == v]
    if gone:
        numbers[np.isin(numbers, gone)] = np.nan
    return numbers


def _read_numbers(rows: Rows, header: list[str], file: str, missing: frozenset[str]) -> _Body:
    """Read all cells as numbers; columns with other words are set aside for a second look."""
    size = len(header)
    named = max((j + 1 for j, name in enumerate(header) if name), default=size)
    numbers = _Numbers(size, missing)
    lines: list[int] = []
    ignored: set[int] = set()
    marked: list[int] = []
    empty: list[int] = []  # rows without a word, which count only if others follow
    below = iter(rows())
    for _, row in below:
        if any(cell.strip() for cell in _cells(row)):
            break
    for line, row in below:
        if (row.text if isinstance(row, Line) else row[0]).lstrip().startswith(COMMENT):
            marked.append(line)
        if not empty and isinstance(row, Line) and numbers.add_line(row):
            lines.append(line)
            continue
        cells = _cells(row)
        if not cells[0].strip() and not "".join(cells).strip():
            empty.append(line)
            continue
        if len(cells) != size:
            fitted = _fitted(cells, size, named)
            if fitted is None and marked[-1:] == [line]:
                ignored.add(marked.pop())
                continue
            if fitted is None:
                raise ValueError(f"{file}, line {line}: {len(cells)} values, {size} expected.")
            cells = fitted
        for _ in empty:
            numbers.flat.extend([np.nan] * size)
        lines += [*empty, line]
        empty.clear()
        numbers.add_cells(cells)
    return _Body(numbers.by_column(), lines, ignored | set(empty), numbers.words, marked)


def _fitted(cells: list[str], size: int, named: int) -> list[str] | None:
    """A row with more or fewer empty cells at its end than the header, as long as the header."""
    if named <= len(cells) < size:
        return cells + [""] * (size - len(cells))
    return cells[:size] if len(cells) > size and not "".join(cells[size:]).strip() else None


def _columns(rows: Rows, names: Sequence[str], body: _Body, reading: Reading) -> list[Column]:
    numbers = body.numbers
    hole = np.isnan(numbers)
    with np.errstate(invalid="ignore"):
        whole = (hole | ((numbers == np.floor(numbers)) & np.isfinite(numbers))).all(axis=1) & ~hole.all(
            axis=1
        )
        large = (np.abs(numbers) >= EXACT).any(axis=1)
    by_words = _comma_columns(rows, body, reading)
    # The spelling of numbers that float64 cannot hold is wanted, too.
    chosen = (body.words | set(np.flatnonzero(large).tolist())) - by_words.keys()
    texts = _texts(rows, sorted(chosen), body)
    decimal, groups, _ = comma_evidence({word for j in chosen & body.words for word in texts[j]})
    decimal |= bool(by_words)
    if (reading.decimal == "," or (reading.decimal == "auto" and decimal and not groups)) and len(
        chosen
    ) < len(names):
        # Where commas are decimal marks, dots in other columns may group digits.
        chosen |= {j for j in range(len(names)) if not whole[j] and not hole[j].all() and j not in by_words}
        texts = _texts(rows, sorted(chosen), body)
    order = sorted(chosen)
    kinds = {place: reading.kinds[j] for place, j in enumerate(order) if j in reading.kinds}
    reading = reading._replace(kinds=kinds, decimal_commas=bool(by_words))
    found = word_columns([names[j] for j in order], [texts[j] for j in order], body.lines, reading)
    by_words |= dict(zip(order, found))
    own = (np.dtype(np.float64), np.dtype(np.int64))
    return [
        by_words.get(j) or Column("number", numbers[j], None, own[int(whole[j])]) for j in range(len(names))
    ]


def _comma_columns(rows: Rows, body: _Body, reading: Reading) -> dict[int, Column]:
    """Columns of long lines that hold plain numbers with decimal commas and nothing else.

    At least one number must not have three digits behind its comma, which may group digits then. The words of
    such columns mean the same (Def. 3.3); here they are read without being cut out of the lines.
    """
    size, kept = len(body.numbers), set(body.lines)
    wanted = np.zeros(size, dtype=bool)
    wanted[[j for j in body.words if reading.kinds.get(j) != "nominal"]] = reading.decimal != "."
    clear = np.zeros(size, dtype=bool)
    out, places = np.empty(size), np.empty((4, size), dtype=np.int64)
    values = []
    for line, row in rows():
        if line not in kept:
            continue
        if not isinstance(row, Line) or not wanted.any():
            return {}
        n_cells, odd = row.parse(",", ~wanted, out, places)
        if n_cells != size:
            return {}
        for j, cell in odd:
            word = cell.strip()
            number = None if "." in word else spelled_number(word, ",")
            out[j] = np.nan if number is None else number
            wanted[j] &= number is not None or word in reading.missing
        clear |= (places[0] >= 0) & (places[0] != _GROUP)
        values.append(out[sorted(body.words)])
    columns = dict(zip(sorted(body.words), np.array(values).T))
    return {
        j: number_column(_without(np.ascontiguousarray(column), reading.missing), (DECIMAL_COMMAS,))
        for j, column in columns.items()
        if wanted[j] and clear[j]
    }


def _texts(rows: Rows, chosen: Sequence[int], body: _Body) -> dict[int, Sequence[str]]:
    """The cells of some columns as words."""
    if not chosen:
        return {}
    last, kept = chosen[-1], set(body.lines)
    pick = itemgetter(*chosen) if len(chosen) > 1 else lambda cells: (cells[chosen[0]],)
    taken = []
    for line, row in rows():
        if line in kept:
            cells = _cells(row, last + 1)
            taken.append(pick(cells if len(cells) > last else cells + [""] * (last + 1 - len(cells))))
    return {j: [cell.strip() for cell in cells] for j, cells in zip(chosen, zip(*taken))}
