"""Folders of data sets: a manifest.json says what is in them, and is held to its word."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..data.dataset import Dataset, load
from ..data.tasks import TASKS
from ..runtime.messages import short

FILE = "manifest.json"
SHORT = {task.abbreviation: name for name, task in TASKS.items()}
# What is counted in a data set and compared with its manifest, where that gives the number.
SIZES = {
    "examples": "rows",
    "features": "features",
    "features_numeric": "numeric features",
    "features_nominal": "nominal features",
    "missing_feature_values": "missing values in the features",
    "classes_declared": "declared classes",
    "classes_present": "classes that occur",
    "labels": "labels",
    "labels_in_hierarchy": "labels in the hierarchy",
    "targets": "targets",
}


class NoManifestError(ValueError):
    """A folder that holds no data sets."""


@dataclass(frozen=True)
class Listed:
    """A data set that a manifest lists.

    Attributes
    ----------
    name : str
    task : str
        One of the five tasks.
    folder : Path
        Where `files` start.
    files : tuple of str
        One data file, or the train and the test part in this order.
    targets, drop : tuple of str
        Columns that are the target, and columns to leave out.
    sizes : mapping
        Expected numbers, by the keys of `SIZES`.
    parts : tuple of int
        Expected rows of each file, or nothing.
    sha256 : mapping
        Expected checksums by file.
    stand_in_for : str or None
    where : str
        Where the data came from.
    """

    name: str
    task: str
    folder: Path
    files: tuple[str, ...]
    targets: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    parts: tuple[int, ...] = ()
    sha256: Mapping[str, str] = field(default_factory=dict)
    stand_in_for: str | None = None
    where: str = ""

    @property
    def split(self) -> bool:
        """Whether the train and the test part are given."""
        return len(self.files) == 2

    def missing_file(self) -> Path | None:
        """The first file that does not exist."""
        return next((path for path in self.paths() if not path.is_file()), None)

    def paths(self) -> list[Path]:
        """The files, as paths."""
        return [self.folder / file for file in self.files]


def read_folder(folder: Path) -> dict[str, Listed]:
    """Every data set of a folder, by name: of its own manifest and of those one level below.

    A downloaded data set has a folder and a manifest of its own, so that two downloads never write one file;
    it comes before one of the same name in the folder's own manifest.
    """
    if not folder.is_dir():
        why = "is a file, not a folder" if folder.exists() else "does not exist"
        raise NoManifestError(f"The data folder {folder} {why}.")
    manifests = [path for path in (folder / FILE, *sorted(folder.glob(f"*/{FILE}"))) if path.is_file()]
    if not manifests:
        raise NoManifestError(f"{folder} has no {FILE}, so it is no folder of data sets.")
    found: dict[str, Listed] = {}
    for path in manifests:
        found |= _read(path)
    return found


def _read(path: Path) -> dict[str, Listed]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError(f"{path} cannot be read as JSON (it is nested too deeply).") from None
    except ValueError as error:  # no JSON, no UTF-8, or a number of thousands of digits
        why = str(error).partition(";")[0]
        raise ValueError(f"{path} cannot be read as JSON ({why}).") from None
    if not isinstance(content, list) or not all(isinstance(item, dict) for item in content):
        raise ValueError(f"{path} must be a JSON list with one object for each data set.")
    found: dict[str, Listed] = {}
    for i, item in enumerate(content):
        listed = _listed(item, path, i)
        if listed.name in found:
            raise ValueError(f"{path} lists {listed.name} twice.")
        found[listed.name] = listed
    return found


def _listed(item: dict[str, Any], path: Path, i: int) -> Listed:
    name = item.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"{path}: data set {i} has no name.")
    _check_text(name, f"{path}: data set {i}")
    place = f"{path}: {name}"
    task = item.get("task")
    task = SHORT.get(task, task) if isinstance(task, str) else task
    if not isinstance(task, str) or task not in TASKS:
        raise ValueError(
            f"{place} has task {short(task)}, but it must be one of {', '.join((*TASKS, *SHORT))}."
        )
    files = _given(item, "files", list, place)
    data = tuple(file for file in files if not file.endswith(".xml"))  # Mulan's lists of label names
    if len(data) not in (1, 2):
        raise ValueError(f"{place} must list one data file, or a train and a test file, not {len(data)}.")
    for file in data:
        if Path(file).is_absolute() or ".." in Path(file).parts:
            raise ValueError(f"{place} lists {file!r}, which is not inside the folder.")
    parts = _given(item, "examples_per_file", dict, place)
    targets, drop = (tuple(_given(item, key, list, place)) for key in ("target_attributes", "drop"))
    numbers = _all(int, {key: item[key] for key in SIZES if item.get(key) is not None}, place)
    rows = tuple(_all(int, parts, place).values())
    checksums = _given(item, "sha256", dict, place)
    sha256 = _all(str, {file: value for file, value in checksums.items() if value is not None}, place)
    words = {key: item.get(key) or "" for key in ("stand_in_for", "source")}
    original, where = _all(str, words, place).values()
    about = (name, task, path.parent, data, targets, drop)
    return Listed(*about, numbers, rows, sha256, stand_in_for=original or None, where=where)


def _given(item: dict[str, Any], key: str, kind: Any, place: str) -> Any:
    """The value of a key, a list of texts or an object; empty where it is not given."""
    value = item.get(key) or kind()
    if not isinstance(value, kind) or (kind is list and not all(isinstance(text, str) for text in value)):
        what = "a list of texts" if kind is list else "an object"
        raise ValueError(f"{place} must give {key!r} as {what}.")
    for text in value:
        _check_text(text, place)
    return value


def _check_text(text: str, place: str) -> None:
    """Refuse names that no file and no terminal takes: control characters, halves of surrogate pairs."""
    if not text.isprintable():
        raise ValueError(f"{place} has the name {short(text)}, with characters that cannot be shown.")


def _all(kind: type, values: dict[str, Any], place: str) -> dict[str, Any]:
    """Values that are all whole numbers (`int`), or all texts (`str`)."""
    for key, value in values.items():
        if type(value) is not kind:
            what = "a number" if kind is int else "a text"
            raise ValueError(f"{place} must give {key!r} as {what}, not {short(value)}.")
    return values


def open_listed(listed: Listed) -> tuple[Dataset, int | None, str]:
    """Read a listed data set and hold it against its manifest: files, checksums and sizes.

    Returns all rows, how many of them are the train part, and a digest of the content.
    """
    check_files(listed)
    dataset = load(listed.paths(), listed.targets or None, task=listed.task, drop=listed.drop)
    rows = np.bincount(dataset.part, minlength=len(listed.files)).tolist()
    _check_sizes(listed, dataset, rows)
    n_train = rows[0] if listed.split else None
    return dataset, n_train, content_sha256(dataset, n_train)


def check_files(listed: Listed) -> None:
    """Hold the files of a listed data set against its checksums."""
    inside = listed.folder.resolve()
    for path in listed.paths():
        if not path.resolve().is_relative_to(inside):
            raise ValueError(
                f"{path} is a link out of the folder of {listed.name}; put the file itself there."
            )
    if (missing := listed.missing_file()) is not None:
        raise ValueError(f"{listed.name} is in the manifest, but its file {missing} does not exist.")
    for file, path in zip(listed.files, listed.paths()):
        expected = listed.sha256.get(file)
        if expected is not None and (found := file_sha256(path)) != expected:
            raise ValueError(
                f"{path} is not the file of the manifest: its sha256 begins with {found[:12]}, "
                f"the manifest says {expected[:12]}."
            )


def content_sha256(dataset: Dataset, n_train: int | None) -> str:
    """A digest of everything that results depend on, whatever file and format it was read from."""
    X, target, tree = dataset.X, dataset.target, dataset.hierarchy
    classes = None if target.classes is None else target.classes.tolist()
    labels = None if tree is None else [tree.labels, tree.parents]
    columns = [X.names, X.categories, dataset.target_names, dataset.target_categories, classes, labels]
    digest = hashlib.sha256(json.dumps([dataset.task, n_train, *columns], default=str).encode())
    for values in (X.values, target.values):
        same = np.where(np.isnan(values), np.nan, values + 0.0)  # NaN has many bits, and zero two signs
        digest.update(repr(same.shape).encode() + np.ascontiguousarray(same, "<f8").tobytes())
    return digest.hexdigest()


def file_sha256(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_sizes(listed: Listed, dataset: Dataset, rows: list[int]) -> None:
    counted = sizes(dataset)
    for key, expected in listed.sizes.items():
        if counted.get(key, expected) != expected:
            raise ValueError(
                f"{listed.name} has {counted[key]} {SIZES[key]}, but its manifest says {expected}."
            )
    for file, found, expected in zip(listed.files, rows, listed.parts):
        if found != expected:
            raise ValueError(
                f"{listed.folder / file} has {found} rows, but the manifest of {listed.name} says {expected}."
            )


def sizes(dataset: Dataset) -> dict[str, int]:
    """What `SIZES` names, as far as the task has it.

    Examples
    --------
    >>> import numpy as np
    >>> import semirank as sr
    >>> from semirank.data.encode_target import encode_target
    >>> X = sr.Table(np.array([[1.0], [np.nan]]), np.array([0]), ("size",), (None,))
    >>> y = encode_target([0.5, 1.5])
    >>> data = sr.Dataset(X, y, ("y",), (None,), np.zeros(2, int), ())
    >>> counted = sizes(data)
    >>> counted["examples"], counted["features"], counted["missing_feature_values"], counted["targets"]
    (2, 1, 1, 1)
    """
    nominal = int((dataset.X.n_values > 0).sum())
    examples, features = dataset.X.shape
    counted = {
        "examples": examples,
        "features": features,
        "features_numeric": features - nominal,
        "features_nominal": nominal,
        "missing_feature_values": int(np.isnan(dataset.X.values).sum()),
    }
    values = dataset.target.values
    if dataset.task == "classification":
        present = len(np.unique(values[~np.isnan(values)]))
        declared = dataset.target_categories[0]
        return counted | {
            "classes_present": present,
            "classes_declared": present if declared is None else len(declared),
        }
    key = "labels_in_hierarchy" if dataset.hierarchy else f"{TASKS[dataset.task].noun}s"
    return counted | {key: values.shape[1]}
