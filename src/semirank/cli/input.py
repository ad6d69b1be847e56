"""From the words of a command line to data and parameters."""

from __future__ import annotations

import ast
import contextlib
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..runtime.messages import plural

if TYPE_CHECKING:
    from ..data.column_summary import ColumnSummary
    from ..data.dataset import Dataset
    from ..data.target import Target

# Parameters of --set that say how to read the target; the others are for the ranker.
READING = ("unlabeled", "hierarchy_decay", "nominal", "sparse_base")
_FILE_ENDINGS = (".arff", ".csv", ".tsv", ".txt", ".parquet", ".pq", ".xlsx", ".xlsm", ".gz")
_TREE_LINES = (
    "tree = Path({path!r}).read_text(encoding='utf-8').splitlines()",
    "tree = [line.strip(){cut} for line in tree if line.strip()]",
)
_SETS_LINE = "y = [c if c is None else {p.strip() for p in str(c).split(';') if p.strip()} for c in data.y]"


class Input(NamedTuple):
    """What a command works on, and the Python lines that make the same (`data.X` and `y`).

    `target` may hide labels that the data have; `params` are what --set gave for the ranker; `n_train` rows
    come before a predefined test part.
    """

    data: Dataset
    target: Target
    notes: list[str]
    lines: list[str]
    params: dict[str, Any]
    n_train: int | None = None

    def column_table(self) -> list[dict[str, Any]]:
        """The columns as a ranking keeps them."""
        return [column._asdict() for column in self.data.columns]

    def file_positions(self) -> tuple[int, ...] | None:
        """Which columns of the file the features are; nothing where they are the first ones."""
        positions = self.data.positions
        return None if positions == tuple(range(len(positions))) else positions


def read(
    files: Sequence[str],
    *,
    task: str = "auto",
    labels_from_column: str | None = None,
    hierarchy: Path | None = None,
    set_: Sequence[str] | None = None,
    labels: int | None = None,
    seed: int = 0,
    settings: Callable[[dict[str, Any]], Input] | None = None,
    **typed: list[str] | str | None,
) -> Input:
    """Load the data of a command line: files, a pipe, or a data set of the registry by its name.

    `settings` reads them as a settings file of CLUS says, given what else the command line says of them;
    `typed` are other options of `load`, None or empty where nothing was typed.
    """
    if labels_from_column is not None and typed.get("targets"):
        raise ValueError("Give either --target or --labels-from-column, not both.")
    params = parameters(set_ or ())
    options = {name: params.pop(name) for name in READING if name in params}
    options |= {name: words for name, words in typed.items() if words not in (None, [])}
    if task != "auto":
        options["task"] = task
    if settings is not None:
        if labels_from_column or hierarchy:
            raise ValueError("--labels-from-column and --hierarchy do not go with a settings file of CLUS.")
        given = settings(options)
        given = given._replace(params=given.params | params)
    elif _is_name(files):
        others = {"labels-from-column": labels_from_column, "hierarchy": hierarchy}
        for_files = [*options, *(name for name, value in others.items() if value is not None)]
        if for_files:
            words = ", ".join(f"--{'target' if name == 'targets' else name}" for name in for_files)
            raise ValueError(
                f"There is no file {files[0]}; if the data set of the registry is meant, leave out {words}: "
                "it has its own target and columns."
            )
        given = _read_registered(files[0], params)
    else:
        given = _read_files(files, options, labels_from_column, hierarchy, params)
    return given if labels is None else _with_fewer_labels(given, labels, seed)


def describe_columns(
    files: Sequence[str], **given: Any
) -> tuple[Sequence[ColumnSummary], list[str], list[dict[str, Any]]]:
    """What is understood of every column, notes, and warnings; without a target, columns have no roles."""
    from ..data.column_summary import remark_notes, summarize_columns
    from ..data.dataset import read_file_columns
    from ..data.read_files import FileOptions

    if given["targets"] or _is_name(files):
        from ..judging.data_warnings import data_warnings

        found = read(files, **given)
        warnings = [warning._asdict() for warning in data_warnings(found.data.X, found.target)]
        return with_warnings(found.data.columns, warnings), found.notes, warnings
    options = {name: given[name] for name in ("numeric", "nominal", "missing", "decimal") if given[name]}
    for name in ("drop", "unlabeled"):
        if given[name]:
            raise ValueError(f"--{name} goes with --target; without it, all columns are shown.")
    with contextlib.ExitStack() as stack:
        paths = [_from_pipe(stack) if file == "-" else Path(file) for file in files]
        raw, columns = read_file_columns(paths, FileOptions(**options))
    rows = summarize_columns(raw.names, columns)
    notes = [*raw.notes, *remark_notes((row.name, c.remarks) for row, c in zip(rows, columns))]
    return rows, [*notes, f"{plural(len(rows), 'column')}, {plural(len(columns[0].values), 'row')}"], []


def with_warnings(
    columns: Sequence[ColumnSummary], warnings: Sequence[dict[str, Any]]
) -> Sequence[ColumnSummary]:
    """The columns with what warnings say of single features among what is odd."""
    from ..results.warning_words import feature_words

    said = feature_words(warnings)
    return [
        column._replace(odd="; ".join(filter(None, [said.get(column.name, ""), column.odd])))
        if column.role == "feature"
        else column
        for column in columns
    ]


def _is_name(files: Sequence[str]) -> bool:
    """Whether the single argument can only be the name of a data set."""
    word = Path(files[0])
    alone = len(files) == 1 and files[0] != "-" and word.name == files[0]
    return alone and not word.is_file() and word.suffix.lower() not in _FILE_ENDINGS


def _read_registered(name: str, params: dict[str, Any]) -> Input:
    from ..datasets.registry import available, cache_folder, data_folder, find, open_dataset

    try:
        entry = find(name, data_folder())
    except ValueError as error:
        raise ValueError(f"There is no file {name!r}, so a data set was looked for. {error}") from None
    # The data folder comes first; what was fetched before there was one is in the cache.
    elsewhere = entry.name not in available().present and entry.name in available(cache_folder()).present
    folder = cache_folder() if elsewhere else None
    _, data, n_train, _ = open_dataset(entry.name, folder)
    arguments = repr(entry.name) if folder is None else f"{entry.name!r}, {str(folder)!r}"
    lines = ["import semirank as sr", "from semirank.study import open_dataset", ""]
    lines += [f"data = open_dataset({arguments}).dataset", "y = data.target"]
    first, *rest = data.notes
    notes = [first, f"the data come from the registry: {entry.name}", *rest]
    return Input(data, data.target, notes, lines, params, n_train)


def _read_files(
    files: Sequence[str],
    options: dict[str, Any],
    labels_from_column: str | None,
    hierarchy: Path | None,
    params: dict[str, Any],
) -> Input:
    lines = ["import semirank as sr", ""]
    tree = None if hierarchy is None else read_hierarchy(hierarchy)
    if tree is not None:
        cut = "" if isinstance(tree[0], str) else ".split(',')"
        lines.insert(0, "from pathlib import Path")
        lines += [line.format(path=str(hierarchy), cut=cut) for line in _TREE_LINES]
    if labels_from_column is None:
        data, line = load_files(files, options if tree is None else options | {"hierarchy": tree})
        lines += [line, "y = data.target"]
        return Input(data, data.target, with_columns(data, data.notes), lines, params)
    task = options.get("task", "auto")
    if task not in ("auto", "multi_label", "hierarchical"):
        raise ValueError(f"--labels-from-column gives sets of labels, which do not fit --task {task}.")
    decay = options.pop("hierarchy_decay", 0.75)
    data, line = load_files(files, options | {"targets": [labels_from_column], "task": "classification"})
    target, notes, more = _label_sets(data, tree, decay)
    return Input(data, target, with_columns(data, notes), [*lines, line, *more], params)


def with_columns(data: Dataset, notes: Sequence[str]) -> list[str]:
    """The notes with one line about all columns."""
    from ..data.column_summary import count_kinds

    return [*notes, f"{count_kinds(data.columns)} (`semirank describe` shows every column)"]


def load_files(files: Sequence[str], options: dict[str, Any]) -> tuple[Dataset, str]:
    """The data set of some files, and the Python line that reads it."""
    from ..data.dataset import load

    with contextlib.ExitStack() as stack:
        paths = [_from_pipe(stack) if file == "-" else Path(file) for file in files]
        data = load(paths if len(paths) > 1 else paths[0], **options)
    if "targets" not in options:
        _refuse_other_targets(data, paths[0])
    names = [path.name if file == "-" else file for path, file in zip(paths, files)]
    arguments = [repr(names if len(names) > 1 else names[0])]
    arguments += [f"{k}={'tree' if k == 'hierarchy' else repr(v)}" for k, v in options.items()]
    return data, f"data = sr.load({', '.join(arguments)})"


def _refuse_other_targets(data: Dataset, path: Path) -> None:
    """Stop where a file is called like a registered data set that has other targets than the last column."""
    from ..data.choose_columns import list_names
    from ..datasets.recognize import expected_targets

    expected = expected_targets(path, [*data.feature_names, *data.target_names])
    if expected is not None and set(expected[1]) != set(data.target_names):
        entry, targets = expected
        raise ValueError(
            f"{path.name} looks like the data set {entry.name}, whose target is {list_names(targets)}; name "
            f"the target with --target, or rank the data set by its name."
        )


def _label_sets(data: Dataset, tree: list[Any] | None, decay: float) -> tuple[Target, list[str], list[str]]:
    """The target as sets of labels, notes and Python lines; a cell with ";" alone is a known, empty set."""
    from ..data.encode_target import encode_target
    from ..data.summary import describe_target, plain_word, target_questions

    cells = [None if cell is None else plain_word(cell) for cell in data.y]
    sets = [None if c is None else {part.strip() for part in c.split(";") if part.strip()} for c in cells]
    said = [*describe_target(data.target), *target_questions(data.target)]
    notes = [note for note in data.notes if note not in said]
    task = "multi_label" if tree is None else "hierarchical"
    target = encode_target(sets, task=task, notes=notes, hierarchy=tree, hierarchy_decay=decay)
    if tree is None:
        return target, notes, [_SETS_LINE]
    encode = f"y = encode_target(y, hierarchy=tree, hierarchy_decay={decay!r})"
    return target, notes, ["from semirank.data.encode_target import encode_target", _SETS_LINE, encode]


def _with_fewer_labels(given: Input, labels: int, seed: int) -> Input:
    """The same with all labels but some hidden; the notes say so."""
    from ..data.keep_labels import keep_labels
    from ..data.summary import describe_target

    kept = keep_labels(given.target, labels, random_state=seed)
    said = f"{labels} of {int(given.target.labeled.sum())} labels were kept at random with seed {seed}"
    before = describe_target(given.target)
    first, *more = describe_target(kept)
    notes = [first, said, *more, *(note for note in given.notes if note not in before)]
    line = f"y = sr.keep_labels(y, {labels}, random_state={seed})"
    return given._replace(target=kept, notes=notes, lines=[*given.lines, line])


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
    if not lines:
        raise ValueError(f"{path} is empty; it needs a label path or a parent,child pair per line.")
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


def split_commas(words: Sequence[str] | None, option: str = "") -> list[str]:
    """The parts of words such as "genie3,rforest", each once; an option that is given must hold one.

    Examples
    --------
    >>> split_commas(["genie3,rforest", "genie3"])
    ['genie3', 'rforest']
    """
    parts = [part.strip() for word in words or () for part in word.split(",")]
    names = list(dict.fromkeys(part for part in parts if part))
    if words and option and not names:
        raise ValueError(f"{option} names nothing, got {', '.join(map(repr, words))}.")
    return names


def whole_numbers(text: str, option: str) -> list[int]:
    """Numbers such as 50,100,200.

    Examples
    --------
    >>> whole_numbers("50, 100", "--label-counts")
    [50, 100]
    """
    parts = split_commas([text])
    if not parts or not all(part.isdecimal() and len(part) < 10 for part in parts):
        raise ValueError(f"{option} takes whole numbers such as 50,100,200, got {text!r}.")
    return [int(part) for part in parts]
