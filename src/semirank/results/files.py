"""Rankings on disk: json (all of it), csv (the table), fimp (CLUS), html (the report); and in AnnData."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime.atomic_write import atomic_write
from .agreement import rank_numbers
from .csv_cells import csv_text, original_cell
from .warning_words import fimp_lines, from_feature_words, from_fimp_lines

if TYPE_CHECKING:
    from .ranking import Ranking

FORMATS = (".json", ".csv", ".fimp", ".html")
Columns = dict[str, np.ndarray]  # by name


def save(ranking: Ranking, path: str | PathLike[str], *, safe_csv: bool = True) -> None:
    """Write `ranking` in the format of the extension, whole or not at all."""
    suffix = suffix_of(path)
    if suffix == ".html":
        from ..report.html import render

        text = render(ranking)
    elif suffix == ".csv":
        text = to_csv(ranking, safe=safe_csv)
    else:
        text = {".json": to_json, ".fimp": to_fimp}[suffix](ranking)
    atomic_write(path, text)


def load(path: str | PathLike[str], make: Callable[[dict[str, Any]], Ranking]) -> Ranking:
    """Read a ranking from json, csv or fimp; `make` builds it from its fields."""
    suffix = suffix_of(path)
    if suffix == ".html":
        raise ValueError(f"{path}: a report cannot be read back; save the ranking as .json as well.")
    read = {".json": from_json, ".csv": from_csv, ".fimp": from_fimp}[suffix]
    try:
        return make(read(Path(path).read_bytes().decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a text file in UTF-8.") from error
    except (ValueError, TypeError, csv.Error) as error:
        why = " ".join(str(error).split())
        why = why if len(why) <= 300 else f"{why[:300]} ..."
        raise ValueError(f"{path} does not hold a ranking: {why}") from error


def to_json(ranking: Ranking) -> str:
    return json.dumps(
        {"format": "semirank ranking 1", **ranking.to_dict()}, ensure_ascii=False, allow_nan=False
    )


def from_json(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno} is not valid JSON.") from error
    except RecursionError:
        raise ValueError("its JSON is nested too deeply.") from None
    if isinstance(values, dict) and "n_keep" in values and isinstance(values.get("ranking"), dict):
        return dict(values["ranking"])  # an evaluation, which holds the ranking it is about
    if not isinstance(values, dict) or values.pop("format", None) != "semirank ranking 1":
        raise ValueError('the entry "format": "semirank ranking 1" is not there.')
    return values


def to_csv(ranking: Ranking, *, safe: bool = True) -> str:
    columns = ranking.to_columns()
    rows = (["" if value != value else value for value in row] for row in zip(*columns.values()))
    return csv_text(columns, rows, safe=safe, quoting=csv.QUOTE_NONNUMERIC)


def from_csv(text: str) -> dict[str, Any]:
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    if not rows:
        raise ValueError("the file is empty.")
    header, body = list(map(original_cell, rows[0])), rows[1:]
    if "feature" not in header:
        raise ValueError('the column "feature" is not there.')
    for number, row in enumerate(body, start=2):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} values, {len(header)} expected.")
    columns = dict(zip(header, zip(*body))) if body else dict.fromkeys(header, ())
    names = tuple(map(original_cell, columns.pop("feature")))
    columns.pop("rank", None)
    said = from_feature_words(names, columns.pop("warning", ("",) * len(names)))
    numbers = {name: _numbers(name, cells) for name, cells in columns.items()}
    place = np.argsort(numbers.pop("column", np.arange(len(names))), kind="stable")
    numbers = {name: values[place] for name, values in numbers.items()}
    more: dict[str, Any] = {"missing_share": numbers.pop("missing_share", None)}
    targets, classes = (_beginning_with(kind, numbers) for kind in ("target:", "class:"))
    errors = {
        name.removesuffix("_se"): numbers.pop(name)
        for name in list(numbers)
        if name.endswith("_se") and name.removesuffix("_se") in numbers
    }
    found = _assemble(tuple(names[i] for i in place), numbers, targets, classes, " ".join(header))
    more |= {"all_standard_errors": errors, "standard_errors": errors.get(found["importance"])}
    return found | more | {"warnings": said}


def to_fimp(ranking: Ranking) -> str:
    """CLUS's table: number, name, [ranks], [scores]; one entry per importance, then per target or class.

    The number is that of the attribute in the file, from 1: leaving out others does not change it.
    """
    for name in ranking.names:
        if any(c in name for c in "\t\r\n"):
            raise ValueError(f"fimp cannot hold the tab or line break in the name {name!r}; save as .json.")
    titles = list(ranking.all_scores)
    columns = list(ranking.all_scores.values())
    if ranking.per_target is not None:
        titles += [f"{ranking.importance}:{target}" for target in ranking.target_names]
        columns += list(ranking.per_target.T)
    if ranking.per_class is not None:
        titles += [f"{ranking.importance}:class:{name}" for name in ranking.class_names]
        columns += list(ranking.per_class.T)
    titles = [title.translate(_NOT_IN_TITLES) for title in titles]
    ranks = np.column_stack([rank_numbers(column) for column in columns]).tolist()
    scores = np.column_stack(columns).tolist()
    header = "\t".join(
        ["attributeDatasetIndex", "attributeName", _bracket(f"{t}Rank" for t in titles), _bracket(titles)]
    )
    lines = [f"Ranking method: {ranking.method}, semirank {ranking.version}", *fimp_lines(ranking.warnings)]
    if ranking.teacher:
        lines.append(_TEACHER + json.dumps(ranking.teacher, allow_nan=False))
    lines += [header, "-" * len(header)]
    places = range(len(ranking)) if ranking.positions is None else ranking.positions
    for i in ranking.order:
        lines.append(f"{places[i] + 1}\t{ranking.names[i]}\t{_bracket(ranks[i])}\t{_bracket(scores[i])}")
    return "\n".join(lines) + "\n"


def from_fimp(text: str) -> dict[str, Any]:
    """The first score is the main one; main:class:NAME is a score per class, main:NAME one per target."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    rule = next((i for i, line in enumerate(lines) if line.startswith("------")), None)
    if not rule:
        raise ValueError("the line of dashes below the table's header is not there.")
    head = lines[rule - 1].split("\t")
    if len(head) != 4:
        raise ValueError(f"line {rule} has {len(head)} columns, 4 expected.")
    titles = _unbracket(head[3])
    rows = []
    for number, line in enumerate(lines[rule + 1 :], start=rule + 2):
        if not line.strip():
            continue
        cells = line.split("\t")
        values = _unbracket(cells[-1])
        if len(cells) != 4 or len(values) != len(titles):
            raise ValueError(f"line {number} does not have 4 columns and {len(titles)} scores.")
        try:
            rows.append((int(cells[0]), cells[1], [float(value) for value in values]))
        except ValueError:
            raise ValueError(f"line {number} has something else where numbers are expected.") from None
    rows.sort(key=lambda row: row[0])
    table = np.array([scores for _, _, scores in rows]).reshape(len(rows), len(titles))
    columns = dict(zip(titles, table.T))
    if len(columns) < len(titles):
        raise ValueError("two scores share one name.")
    classes, targets = (_beginning_with(f"{titles[0]}:{kind}", columns) for kind in ("class:", ""))
    names = tuple(name for _, name, _ in rows)
    teacher = [line.removeprefix(_TEACHER) for line in lines[:rule] if line.startswith(_TEACHER)]
    told = (line for line in lines[:rule] if not line.startswith(_TEACHER))  # whose members are no methods
    found = _assemble(names, columns, targets, classes, " ".join(told))
    numbers = [number for number, _, _ in rows]
    if numbers != list(range(1, len(rows) + 1)) and len(set(numbers)) == len(rows):
        found["positions"] = [number - 1 for number in numbers]
    more = {"teacher": json.loads(teacher[0])} if teacher else {}
    return found | more | {"warnings": from_fimp_lines(lines[:rule])}


def to_anndata(ranking: Ranking, data: Any, prefix: str) -> None:
    """PREFIX_rank, PREFIX_genie3, PREFIX_genie3_se and so on as columns of `.var`, in place of older ones."""
    data.var[f"{prefix}_rank"] = ranking.ranks
    for name, scores in ranking.all_scores.items():
        data.var[f"{prefix}_{name}"] = scores
        if name in ranking.all_standard_errors:
            data.var[f"{prefix}_{name}_se"] = ranking.all_standard_errors[name]


# Neither csv nor fimp has a place for the method, but names of scores, or the first line of CLUS, tell it; a
# test holds that every method of ours is found.
_TOLD_BY = {
    "consensus": "consensus",
    "relief": "relief",
    "lapl": "laplace",
    **dict.fromkeys(("genie3", "forest", "symbolic"), "forest"),
}
_TEACHER = "Teacher: "  # begins the line of a fimp file that holds what a teacher found
_NOT_IN_TITLES = str.maketrans(dict.fromkeys(",[]\t\r\n", "_"))  # they carry the layout of a fimp file


def _assemble(
    names: tuple[str, ...], scores: Columns, targets: Columns, classes: Columns, description: str
) -> dict[str, Any]:
    if not scores:
        raise ValueError("there is no column with scores.")
    importance = next(iter(scores))
    method = next((m for word, m in _TOLD_BY.items() if word in description.lower()), "unknown method")
    return {
        "names": names,
        "scores": scores[importance],
        "method": method,
        "importance": importance,
        "all_scores": scores,
        "per_target": np.column_stack(list(targets.values())) if targets else None,
        "target_names": tuple(targets),
        "per_class": np.column_stack(list(classes.values())) if classes else None,
        "class_names": tuple(classes),
    }


def _beginning_with(prefix: str, columns: Columns) -> Columns:
    """The columns whose names begin so, under the rest of their names, taken out of `columns`."""
    names = [name for name in columns if name.startswith(prefix)]
    return {name.removeprefix(prefix): columns.pop(name) for name in names}


def _numbers(name: str, cells: tuple[str, ...]) -> np.ndarray:
    try:
        return np.array([float(cell) if cell.strip() else np.nan for cell in cells])
    except ValueError:
        raise ValueError(f'the column "{name}" holds something that is not a number.') from None


def _bracket(items: Iterable[object]) -> str:
    return f"[{', '.join('NaN' if item != item else str(item) for item in items)}]"


def _unbracket(text: str) -> list[str]:
    return [item.strip() for item in text.strip().removeprefix("[").removesuffix("]").split(",")]


def suffix_of(path: str | PathLike[str], formats: Sequence[str] = FORMATS) -> str:
    """The extension of a file; another one than those of the formats is an error."""
    suffix = Path(path).suffix.lower()
    if suffix not in formats:
        raise ValueError(f"{path}: the extension must be one of {', '.join(formats)}.")
    return suffix
