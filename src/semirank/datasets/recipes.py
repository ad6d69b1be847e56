"""From the files of a public repository to a data set: a recipe is a list of steps out of seven words."""

from __future__ import annotations

import csv
import gzip
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from ..data.read_arff import read_attributes
from ..data.read_text import parse_numbers, read_text

Step = Mapping[str, Mapping[str, Any]]

_MISSING = "?"
_QUOTES = re.compile("['\"]")
_DECLARED = re.compile(r"""(?im)^[ \t]*@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)(.*)$""")
_PLAIN = re.compile(r"[\w.+/@:<>=-]+")
# Rows with this share of zeros are written as sparse ones.
_SPARSE = 0.7


class Column(NamedTuple):
    """A column of any kind that ARFF knows.

    `cells` are numbers, or positions in `values`, NaN where missing; `nodes` are those that a hierarchical
    attribute declares.
    """

    name: str
    kind: str  # "numeric", "nominal", "string", "key" or "hierarchical"
    cells: np.ndarray
    values: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()

    def texts(self) -> list[str]:
        """The cells as text."""
        values = self.values
        if self.kind == "numeric":
            return list(map(_number, self.cells.tolist()))
        return [_MISSING if code != code else values[int(code)] for code in self.cells.tolist()]


class Rows(NamedTuple):
    """Columns, the part of each row ("train", "test" or "all"), and which columns are targets."""

    columns: tuple[Column, ...]
    part: np.ndarray
    targets: tuple[str, ...] = ()


def cook(recipe: Iterable[Step], files: Sequence[Path]) -> Rows:
    """Follow a recipe.

    Parameters
    ----------
    recipe : iterable of {word: arguments}
        See docs/datasets.md for the words.
    files : sequence of Path
        What the recipe calls file 0, 1, ...

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "fruit.csv"
    >>> _ = file.write_text("kind;size\\nlemon;3\\nlime;2\\n")
    >>> recipe = [
    ...     {"read": {"files": [0], "format": "csv", "sep": ";"}},
    ...     {"nominal": {"columns": ["kind"]}},
    ...     {"targets": {"columns": ["kind"]}},
    ... ]
    >>> print(arff_text(cook(recipe, [file]), "all"), end="")
    @relation all
    @attribute size numeric
    @attribute kind {lemon,lime}
    @data
    3,lemon
    2,lime
    """
    rows = Rows((), np.empty(0, dtype=object))
    for step in recipe:
        [(word, arguments)] = step.items()
        rows = WORDS[word](rows, files, **arguments)
    return rows


def digits() -> Rows:
    """The digits that come with scikit-learn."""
    from sklearn.datasets import load_digits

    found = load_digits()
    pixels = [Column(name, "numeric", cells) for name, cells in zip(found.feature_names, found.data.T)]
    target = Column("class", "nominal", found.target.astype(np.float64), tuple(map(str, range(10))))
    return Rows((*pixels, target), np.full(len(found.data), "all", dtype=object), ("class",))


def write_arff(rows: Rows, stem: Path) -> list[Path]:
    """Write the data file, or the train and the test part, gzipped; the same rows give the same bytes."""
    parts = [part for part in ("train", "test", "all") if (rows.part == part).any()]
    paths = [Path(f"{stem}.arff.gz" if part == "all" else f"{stem}.{part}.arff.gz") for part in parts]
    for part, path in zip(parts, paths):
        path.write_bytes(gzip.compress(arff_text(rows, part).encode(), 6, mtime=0))
    return paths


def arff_text(rows: Rows, part: str) -> str:
    """One part as an ARFF file."""
    here = np.flatnonzero(rows.part == part)
    attributes = [f"@attribute {_quoted(column.name)} {_kind(column)}" for column in rows.columns]
    lines = [f"@relation {part}", *attributes, "@data"]
    columns = [c._replace(cells=c.cells[here], values=tuple(map(_quoted, c.values))) for c in rows.columns]
    # Only a number 0 and the first value of a nominal column may be left out of sparse rows.
    used = [c.cells != 0 if c.kind in ("numeric", "nominal") else c.cells == c.cells for c in columns]
    if np.mean(used) > 1 - _SPARSE:
        lines += map(",".join, zip(*(column.texts() for column in columns)))
    else:
        cells: list[list[str]] = [[] for _ in here]
        for j, (column, at) in enumerate(zip(columns, used)):
            for i, text in zip(np.flatnonzero(at), column._replace(cells=column.cells[at]).texts()):
                cells[i].append(f"{j} {text}")
        lines += ["{" + ",".join(row) + "}" for row in cells]
    return "\n".join(lines) + "\n"


def _kind(column: Column) -> str:
    if column.kind == "nominal":
        return "{" + ",".join(map(_quoted, column.values)) + "}"
    return f"{column.kind} {','.join(column.nodes)}" if column.nodes else column.kind


def _quoted(text: str) -> str:
    if text == _MISSING or _PLAIN.fullmatch(text):
        return text
    return "'" + re.sub(r"([\\'])", r"\\\1", text) + "'"


def _number(value: float) -> str:
    return _MISSING if value != value else repr(value).removesuffix(".0")


def _coded(texts: Sequence[str], values: Sequence[str]) -> np.ndarray:
    """The position of each text in a list of values, NaN where it is missing."""
    place = {_MISSING: np.nan, **{value: float(i) for i, value in enumerate(values)}}
    return np.array([place[text] for text in texts], dtype=np.float64)


def _names(raw: Iterable[str]) -> list[str]:
    """Names without quotes and blanks around them; the n-th of a name is name__n."""
    seen: Counter[str] = Counter()
    names = []
    for name in (_QUOTES.sub("", name.replace("\\", "")).strip() for name in raw):
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}__{seen[name]}")
    return names


def _arff(path: Path, *, as_text: bool = False) -> list[Column]:
    """The columns of an ARFF file; as_text takes every cell as it is written, whatever its kind."""
    text = read_text(path)
    names = iter(_names(found[1] for found in _DECLARED.finditer(text)))
    text = _DECLARED.sub(lambda m: f"@attribute '{next(names)}' {'string' if as_text else m[2]}", text)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / path.name
        plain.write_text(text, encoding="utf-8")
        attributes, rows = read_attributes(plain)
    return [
        Column(a.name, a.kind, cells, a.values, () if a.hierarchy is None else a.hierarchy.labels)
        for a, cells in zip(attributes, rows)
    ]


def _csv(path: Path, sep: str) -> list[Column]:
    header, *lines = csv.reader(read_text(path).splitlines(), delimiter=sep)
    found = []
    for name, texts in zip(_names(header), zip(*lines)):
        numbers = parse_numbers(texts, frozenset((_MISSING, "")))
        if numbers is not None:
            found.append(Column(name, "numeric", numbers))
        else:
            values = tuple(sorted({*texts} - {_MISSING}))
            found.append(Column(name, "string", _coded(texts, values), values))
    return found


def _svmlight(path: Path) -> list[Column]:
    from sklearn.datasets import load_svmlight_file

    X, label = load_svmlight_file(str(path))
    numbered = enumerate(X.toarray().T, 1)
    return [*(Column(f"V{j}", "numeric", cells) for j, cells in numbered), Column("class", "numeric", label)]


def _below(upper: Column, lower: Column) -> Column:
    """Two columns below each other; values that only the lower one has come behind the others."""
    values = tuple(dict.fromkeys((*upper.values, *lower.values)))
    cells = lower.cells if values == lower.values else _coded(lower.texts(), values)
    return upper._replace(cells=np.concatenate([upper.cells, cells]), values=values)


def _read(
    rows: Rows, paths: Sequence[Path], *, files: Sequence[int], format: str, sep: str = ",", part: str = "all"
) -> Rows:
    readers: dict[str, Callable[[Path], list[Column]]]
    readers = {"arff": _arff, "csv": lambda path: _csv(path, sep), "svmlight": _svmlight}
    for number in files:
        columns = readers[format](paths[number])
        if rows.columns and [c.name for c in rows.columns] != [c.name for c in columns]:
            raise ValueError(f"{paths[number].name} has other columns than the files before it.")
        came = np.full(len(columns[0].cells), part, dtype=object)
        stacked = tuple(map(_below, rows.columns, columns)) if rows.columns else tuple(columns)
        rows = rows._replace(columns=stacked, part=np.concatenate([rows.part, came]))
    return rows


def _changed(rows: Rows, names: Iterable[str], change: Callable[[Column], Column]) -> Rows:
    wanted = set(names)
    if unknown := wanted - {column.name for column in rows.columns}:
        raise ValueError(f"The recipe names columns that are not there: {', '.join(sorted(unknown))}.")
    return rows._replace(columns=tuple(change(c) if c.name in wanted else c for c in rows.columns))


def _decode(rows: Rows, paths: Sequence[Path], *, file: int, values: Mapping[str, Sequence[str]]) -> Rows:
    declared = {column.name: column for column in _arff(paths[file])}
    written = {column.name: column for column in _arff(paths[file], as_text=True)}

    def change(column: Column) -> Column:
        name = column.name
        if name in values:
            return column._replace(kind="nominal", values=tuple(values[name]))
        codes = sorted({*written[name].texts()})
        texts = [codes[int(cell)] for cell in column.cells]
        if declared[name].kind == "numeric":
            numbers = parse_numbers(texts, frozenset(_MISSING))
            assert numbers is not None  # they come from a column of numbers
            return column._replace(cells=numbers)
        return declared[name]._replace(cells=_coded(texts, declared[name].values))

    return _changed(rows, (c.name for c in rows.columns if c.name in values or c.name in declared), change)


def _nominal(rows: Rows, paths: Sequence[Path], *, columns: Sequence[str]) -> Rows:
    def change(column: Column) -> Column:
        texts = column.texts()
        values = tuple(sorted({*texts} - {_MISSING}))
        return Column(column.name, "nominal", _coded(texts, values), values)

    return _changed(rows, columns, change)


def _drop(rows: Rows, paths: Sequence[Path], *, columns: Sequence[str]) -> Rows:
    rows = _changed(rows, columns, lambda column: column)  # refuses names that are not there
    return rows._replace(columns=tuple(c for c in rows.columns if c.name not in columns))


def _take(rows: Rows, paths: Sequence[Path], *, take: Mapping[str, Sequence[Sequence[int]]]) -> Rows:
    ranges = [(part, np.arange(*bounds)) for part, bounds_of in take.items() for bounds in bounds_of]
    chosen = np.concatenate([numbers for _, numbers in ranges])
    part = np.concatenate([np.full(len(numbers), part, dtype=object) for part, numbers in ranges])
    return Rows(tuple(c._replace(cells=c.cells[chosen]) for c in rows.columns), part, rows.targets)


def _closed_hierarchy(rows: Rows, paths: Sequence[Path], *, column: str) -> Rows:
    def change(found: Column) -> Column:
        steps = [node.split("/") for node in found.nodes]
        nodes = {"/".join(path[:depth]) for path in steps for depth in range(1, len(path) + 1)}
        texts = ["@".join(dict.fromkeys(text.split("@"))) for text in found.texts()]
        values = tuple(dict.fromkeys(text for text in texts if text != _MISSING))
        return Column(column, "hierarchical", _coded(texts, values), values, tuple(sorted(nodes)))

    return _changed(rows, [column], change)


def _targets(
    rows: Rows,
    paths: Sequence[Path],
    *,
    columns: Sequence[str] = (),
    xml: int | None = None,
    names: Sequence[str] = (),
) -> Rows:
    if xml is not None:
        labels = ElementTree.parse(paths[xml]).getroot().iter()
        columns = _names(label.attrib["name"] for label in labels if "name" in label.attrib)
    renamed = dict(zip(columns, names or columns))
    rows = _changed(rows, columns, lambda column: column._replace(name=renamed[column.name]))
    targets = [column for column in rows.columns if column.name in renamed.values()]
    features = [column for column in rows.columns if column.name not in renamed.values()]
    return rows._replace(columns=(*features, *targets), targets=tuple(c.name for c in targets))


WORDS: dict[str, Callable[..., Rows]] = {
    "read": _read,
    "decode": _decode,
    "nominal": _nominal,
    "drop": _drop,
    "rows": _take,
    "closed_hierarchy": _closed_hierarchy,
    "targets": _targets,
}
