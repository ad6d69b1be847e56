"""From the words of a command line to data and parameters."""

from __future__ import annotations

import ast
import contextlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..data.dataset import Dataset
    from ..data.table import Table
    from ..data.target import Target

# Parameters of --set that say how to read the target; the others are for the ranker.
READING = ("unlabeled", "hierarchy_decay", "nominal", "sparse_base")


class Input(NamedTuple):
    """What a command works on, and the Python lines that make the same (`data.X` and `y`)."""

    X: Table
    target: Target
    notes: list[str]
    lines: list[str]


def read(
    paths: Sequence[str],
    *,
    targets: Sequence[str] = (),
    features: Sequence[str] = (),
    drop: Sequence[str] = (),
    task: str = "auto",
    labels_from_column: str | None = None,
    hierarchy: Path | None = None,
    **reading: Any,
) -> Input:
    """Load the data of a command line."""
    from ..data.dataset import load

    if labels_from_column is not None and targets:
        raise ValueError("Give either --target or --labels-from-column, not both.")
    options: dict[str, Any] = dict(reading)
    if features:
        options["features"] = list(features)
    if drop:
        options["drop"] = list(drop)
    tree = None if hierarchy is None else read_hierarchy(hierarchy)
    if tree == []:
        raise ValueError(f"{hierarchy} is empty; it needs a label path or a parent,child pair per line.")
    lines = ["import semirank as sr", ""]
    if labels_from_column is not None:
        if task not in ("auto", "multi_label", "hierarchical"):
            raise ValueError(f"--labels-from-column gives sets of labels, which do not fit --task {task}.")
        options |= {"targets": [labels_from_column], "task": "classification"}
        decay = options.pop("hierarchy_decay", 0.75)
    else:
        if targets:
            options["targets"] = list(targets)
        if task != "auto":
            options["task"] = task
    shown = dict(options)
    if tree is not None:
        cut = "" if isinstance(tree[0], str) else ".split(',')"
        lines.insert(0, "from pathlib import Path")
        lines.append(f"tree = Path({str(hierarchy)!r}).read_text(encoding='utf-8').splitlines()")
        lines.append(f"tree = [line.strip(){cut} for line in tree if line.strip()]")
        if labels_from_column is None:
            options["hierarchy"] = tree
    with contextlib.ExitStack() as stack:
        real = [_from_pipe(stack) if path == "-" else Path(path) for path in paths]
        data = load(real if len(real) > 1 else real[0], **options)
        names = [path.name if name == "-" else name for path, name in zip(real, paths)]
    arguments = [repr(names if len(names) > 1 else names[0]), *(f"{k}={v!r}" for k, v in shown.items())]
    if "hierarchy" in options:
        arguments.append("hierarchy=tree")
    lines.append(f"data = sr.load({', '.join(arguments)})")
    if labels_from_column is None:
        return Input(data.X, data.target, list(data.notes), [*lines, "y = data.target"])
    return _with_label_sets(data, tree, decay, lines)


def _with_label_sets(data: Dataset, tree: list[Any] | None, decay: float, lines: list[str]) -> Input:
    """The target as sets of labels; a cell with nothing but ";" is a known, empty set."""
    from ..data.encode_target import encode_target
    from ..data.summary import describe_target

    cells = [None if cell is None else _label(cell) for cell in data.y]
    sets = [None if c is None else {part.strip() for part in c.split(";") if part.strip()} for c in cells]
    notes = [note for note in data.notes if note not in describe_target(data.target)]
    options: dict[str, Any] = {"task": "multi_label"}
    if tree is not None:
        options = {"task": "hierarchical", "hierarchy": tree, "hierarchy_decay": decay}
    target = encode_target(sets, n_rows=len(data), notes=notes, **options)
    made = "y = [c if c is None else {p.strip() for p in str(c).split(';') if p.strip()} for c in data.y]"
    if tree is not None:
        lines.insert(0, "from semirank.data.encode_target import encode_target")
        made += f"\ny = encode_target(y, hierarchy=tree, hierarchy_decay={decay!r})"
    return Input(data.X, target, notes, [*lines, made])


def _label(cell: object) -> str:
    """A label that looks like a number was read as one: 7.0 is the label "7"."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _from_pipe(stack: contextlib.ExitStack) -> Path:
    """Standard input as a file, named by what it looks like."""
    from ..data.read_files import sniff_format
    from ..data.read_text import read_bytes

    content = read_bytes(sys.stdin.buffer, "the pipe")
    if not content.strip():
        raise ValueError("Nothing came through the pipe.")
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    path = Path(folder) / f"stdin.{sniff_format(content) or 'csv'}"
    path.write_bytes(content)
    return path


def read_hierarchy(path: Path) -> list[Any]:
    """A hierarchy from a text file: a path a/b/c or a pair parent,child on every line.

    In pairs, the parent "root" stands for no parent.
    """
    from ..data.read_text import read_text
    from ..runtime.messages import short

    lines = [line.strip() for line in read_text(path).split("\n") if line.strip()]
    if not any("," in line for line in lines):
        return lines
    for line in lines:
        if line.count(",") != 1:
            raise ValueError(f"{path.name}: the line {short(line)} is no parent,child pair as others are.")
    return [line.split(",") for line in lines]


def parameters(settings: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE pairs; a value is a Python literal where it reads as one, else text.

    Examples
    --------
    >>> parameters(["n_estimators=50", "ensemble=bagging", "influence=(0, 1)"])
    {'n_estimators': 50, 'ensemble': 'bagging', 'influence': (0, 1)}
    """
    found: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name.isidentifier():
            raise ValueError(f"--set takes NAME=VALUE, got {setting!r}.")
        try:
            found[name] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):  # the last two: nested too deeply
            found[name] = {"true": True, "false": False, "null": None}.get(value.strip(), value.strip())
    return found


def python_call(lines: Sequence[str], params: dict[str, Any]) -> str:
    """The Python lines that repeat what a command did."""
    arguments = "".join(f"    {name}={value!r},\n" for name, value in params.items())
    return "\n".join([*lines, f"ranking = sr.rank(\n    data.X,\n    y,\n{arguments})"])
