"""ARFF files: Weka dense and sparse, CLUS hierarchical (Def. 3.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..runtime.messages import did_you_mean, short
from .columns import Column, FileColumns, ensure_dense
from .hierarchy import ROOT, Hierarchy
from .read_text import parse_numbers, read_text

# Possessive quantifiers (*+, ++) never backtrack: a line is read once from left to right, however long it is.
_QUOTED = r"""'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+\""""
_DECLARATION = re.compile(rf"(?is)@attribute\s++({_QUOTED}|[^\s{{'\"][^\s{{]*+)\s*+(.*+)")
_CELL = re.compile(rf"\s*+({_QUOTED}|[^,'\"\s][^,]*+|)\s*+(,|$)")
_SPARSE_CELL = re.compile(rf"\s*+(\d++)\s++({_QUOTED}|[^,'\"\s][^,]*+)\s*+(,|$)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_NUMERIC = ("numeric", "real", "integer")
_HOLE = frozenset("?")


class Attribute(NamedTuple):
    """One declared attribute.

    kind is "numeric", "nominal" (values: as declared), "string", "key" (CLUS's row name) or
    "hierarchical" (values of these three: the distinct ones that occur).
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()
    hierarchy: Hierarchy | None = None


def read_arff(path: Path, *, sparse_base: int = 0) -> FileColumns:
    """Read an ARFF file, plain or gzipped.

    Parameters
    ----------
    path : Path
    sparse_base : {0, 1}, default=0
        Number of the first attribute in sparse rows: 0 for Weka, 1 for CLUS.

    Returns
    -------
    FileColumns

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from semirank.data.read_arff import read_arff
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.arff"
    >>> _ = path.write_text("@relation r\\n@attribute a real\\n@attribute b {x,y}\\n@data\\n1.5,y\\n?,x\\n")
    >>> [column.values.tolist() for column in read_arff(path).columns]
    [[1.5, nan], [1.0, 0.0]]
    """
    attributes, cells = read_attributes(path, sparse_base=sparse_base)
    columns, hierarchies, skip = [], {}, {}
    for j, (attribute, values) in enumerate(zip(attributes, cells)):
        if attribute.kind == "numeric":
            columns.append(Column("number", values, None, np.dtype(np.float64)))
            continue
        kind = "category" if attribute.kind == "nominal" else "text"
        columns.append(Column(kind, values, attribute.values, np.dtype(object)))
        if attribute.hierarchy is not None:
            hierarchies[attribute.name] = attribute.hierarchy
            skip[j] = "is a set of labels"
        elif attribute.kind == "key":
            skip[j] = "names the rows"
    return FileColumns(tuple(a.name for a in attributes), columns, True, hierarchies, skip)


def read_attributes(path: Path, *, sparse_base: int = 0) -> tuple[list[Attribute], np.ndarray]:
    """The attributes of an ARFF file, and a row of numbers or codes for each, NaN for "?"."""
    if sparse_base not in (0, 1):
        raise ValueError(f"sparse_base must be 0 (Weka) or 1 (CLUS), got {sparse_base!r}.")
    lines = read_text(path).split("\n")
    declared, start = _header(lines, path.name)
    numbered = [
        (number, line)
        for number, line in enumerate(map(str.strip, lines[start:]), start + 1)
        if line and line[0] != "%"
    ]
    if numbered and numbered[0][1][0] == "{":
        return _read_sparse(numbered, declared, path.name, sparse_base)
    return _read_dense(numbered, declared, path.name)


def _header(lines: list[str], file: str) -> tuple[list[Attribute], int]:
    """The attributes and the position of the first data line."""
    attributes: dict[str, Attribute] = {}
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        keyword = line[:11].split(None, 1)[0].lower() if line else ""
        if keyword.startswith("@attribute"):
            try:
                attribute = _attribute(line)
                if attribute.name in attributes:
                    raise ValueError(f"the attribute {short(attribute.name)} is declared twice.")
            except ValueError as error:
                raise ValueError(f"{file}, line {number}: {error}") from None
            attributes[attribute.name] = attribute
        elif keyword.startswith("@data"):
            if not attributes:
                raise ValueError(f"{file}, line {number}: @data comes before any @attribute.")
            return list(attributes.values()), number
        elif line and line[0] not in "%@":
            raise ValueError(f"{file}, line {number}: {short(line)} is no ARFF declaration (before @data).")
    raise ValueError(f"{file} has no @data line, so it is no complete ARFF file.")


def _attribute(line: str) -> Attribute:
    match = _DECLARATION.fullmatch(line)
    if match is None:
        raise ValueError(f"{short(line)} is not '@attribute name type'.")
    name, kind = _unquote(match[1]), match[2]
    if kind.startswith("{"):
        inside, brace, _ = kind[1:].rpartition("}")
        values = _split(inside) if brace else None
        if values is None:
            raise ValueError(f"the values of {short(name)} are not written as {{a,b,c}}.")
        return Attribute(name, "nominal", tuple(dict.fromkeys(v for v in values if v)))
    word = (re.match(r"[A-Za-z]*", kind) or [""])[0].lower()
    if word in _NUMERIC:
        return Attribute(name, "numeric")
    if word in ("string", "key"):
        return Attribute(name, word)
    if word == "hierarchical":
        entries = list(dict.fromkeys(e.strip() for e in kind[len(word) :].split(",") if e.strip()))
        return Attribute(name, word, (), _hierarchy(entries))
    if word == "date":
        raise ValueError(f"the attribute {short(name)} is a date; write it as a number instead.")
    raise ValueError(f"the attribute {short(name)} has the unknown type {short(kind)}.")


def _hierarchy(entries: list[str]) -> Hierarchy:
    """Tree paths, or parent/child pairs of a DAG, told apart by "root" as a parent."""
    if any(entry.startswith(f"{ROOT}/") for entry in entries):
        return Hierarchy.from_edges([entry.split("/") for entry in entries])
    return Hierarchy.from_paths(entries)


def _unquote(cell: str) -> str:
    if len(cell) > 1 and cell[0] in "'\"" and cell[-1] == cell[0]:
        return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), cell[1:-1])
    return cell.rstrip()


def _split(line: str) -> list[str] | None:
    """The cells of a line; None if its quotes do not match up."""
    if "'" not in line and '"' not in line:
        return list(map(str.strip, line.split(","))) if " " in line or "\t" in line else line.split(",")
    found = _walk(_CELL, line)
    return None if found is None else [_unquote(match[1]) for match in found]


def _walk(pattern: re.Pattern[str], line: str) -> list[re.Match[str]] | None:
    """The matches of a line from comma to comma; None if it cannot be read to its end."""
    found = []
    match = pattern.match(line)
    while match is not None:
        found.append(match)
        if not match[match.re.groups]:
            return found
        match = pattern.match(line, match.end())
    return None


def _cells(line: str, expected: int) -> list[str] | None:
    if " %" in line and "'" not in line and '"' not in line:
        line = line.partition(" %")[0]
    cells = _split(line)
    if cells is not None and len(cells) == 1 and expected > 1:
        cells = line.split()  # some old files separate cells by blanks
    return cells


def _read_dense(
    lines: list[tuple[int, str]], attributes: list[Attribute], file: str
) -> tuple[list[Attribute], np.ndarray]:
    rows = []
    for number, line in lines:
        row = _cells(line, len(attributes))
        if row is None:
            raise ValueError(f"{file}, line {number}: the quotes do not match up.")
        if len(row) != len(attributes):
            raise ValueError(f"{file}, line {number}: {len(row)} values, {len(attributes)} expected.")
        rows.append(row)
    cells = np.empty((len(attributes), len(rows)))
    final = []
    for j, (attribute, column) in enumerate(zip(attributes, zip(*rows) if rows else [()] * len(attributes))):
        attribute, convert = _converter(attribute, column)
        final.append(attribute)
        numbers = parse_numbers(column, _HOLE) if attribute.kind == "numeric" else None
        try:
            cells[j] = list(map(convert, column)) if numbers is None else numbers
        except (KeyError, ValueError):
            for (number, _), cell in zip(lines, column):
                _check(cell, convert, attribute, f"{file}, line {number}")
    return final, cells


def _converter(attribute: Attribute, occurring: Sequence[str]) -> tuple[Attribute, Callable[[str], float]]:
    """From a cell to its number or code; where no values are declared, those that occur are the values."""
    if attribute.kind == "numeric":
        return attribute, _number
    if attribute.kind != "nominal":
        attribute = attribute._replace(values=tuple(sorted(set(occurring) - _HOLE)))
    return attribute, {**{v: float(i) for i, v in enumerate(attribute.values)}, "?": np.nan}.__getitem__


def _check(cell: str, convert: Callable[[str], float], attribute: Attribute, where: str) -> float:
    """The number or code of a cell; one clear sentence where it has none."""
    try:
        return convert(cell)
    except (KeyError, ValueError):
        pass
    if attribute.kind == "numeric":
        raise ValueError(f"{where}: {short(cell)} is no number (attribute {short(attribute.name)}).")
    near = did_you_mean(cell, attribute.values)
    raise ValueError(
        f"{where}: {short(cell)} is no declared value of the attribute {short(attribute.name)}{near}."
    )


def _read_sparse(
    lines: list[tuple[int, str]], attributes: list[Attribute], file: str, sparse_base: int
) -> tuple[list[Attribute], np.ndarray]:
    """Cells that a row leaves out are 0, or the first declared value; other kinds are unknown then."""
    rows = []
    texts: dict[int, list[str]] = {
        j: [] for j, a in enumerate(attributes) if a.kind not in ("numeric", "nominal")
    }
    for number, line in lines:
        pairs = _sparse_cells(line)
        if pairs is None:
            raise ValueError(f"{file}, line {number}: a sparse row is written as {{position value, ...}}.")
        pairs = [(j - sparse_base, cell) for j, cell in pairs]
        for j, cell in pairs:
            if not 0 <= j < len(attributes):
                raise ValueError(
                    f"{file}, line {number}: position {short(j + sparse_base)} is outside "
                    f"{sparse_base}..{len(attributes) - 1 + sparse_base} (sparse_base={sparse_base})."
                )
            if j in texts:
                texts[j].append(cell)
        rows.append(pairs)
    final, converters = zip(*(_converter(a, texts.get(j, ())) for j, a in enumerate(attributes)))
    ensure_dense((len(rows), len(attributes)), file)
    cells = np.zeros((len(attributes), len(rows)))
    cells[list(texts)] = np.nan
    for i, (pairs, (number, _)) in enumerate(zip(rows, lines)):
        for j, cell in pairs:
            try:
                cells[j, i] = converters[j](cell)
            except (KeyError, ValueError):
                _check(cell, converters[j], final[j], f"{file}, line {number}")
    return list(final), cells


def _number(cell: str) -> float:
    if "_" in cell:
        raise ValueError
    return np.nan if cell == "?" else float(cell)


def _sparse_cells(line: str) -> list[tuple[int, str]] | None:
    if not line.startswith("{") or not line.endswith("}"):
        return None
    inside = line[1:-1].strip()
    if not inside:
        return []
    if "'" not in inside and '"' not in inside:
        parts = [pair.split(None, 1) for pair in inside.split(",")]
        try:
            return [(int(j), cell.rstrip()) for j, cell in parts]
        except ValueError:
            return None
    found = _walk(_SPARSE_CELL, inside)
    # Python refuses to convert numbers of thousands of digits; none of that length is a position.
    if found is None or any(len(match[1]) > 18 for match in found):
        return None
    return [(int(match[1]), _unquote(match[2])) for match in found]
