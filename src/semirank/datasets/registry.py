"""The data sets of the study by name: what the paper says of them, where they are, and their rows."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from ..data.dataset import Dataset
from ..data.tasks import HEADINGS, TASKS
from ..runtime.messages import did_you_mean
from .manifest import Listed, NoManifestError, open_listed, read_folder
from .recipes import digits, write_arff

VARIABLE = "SEMIRANK_DATA"


class RemoteFile(NamedTuple):
    """A file behind an address that names one commit of a public repository.

    `git_blob` is git's own id of the content. Of files whose content was never seen here, nothing else is
    known: `sha256` and `n_bytes` are None.
    """

    url: str
    git_blob: str
    sha256: str | None = None
    n_bytes: int | None = None

    @property
    def name(self) -> str:
        """The last part of the address."""
        return Path(unquote(urlsplit(self.url).path)).name


@dataclass(frozen=True)
class Source:
    """Where a data set can be had.

    Attributes
    ----------
    kind : "bundled", "recipe", "folder" or "unknown"
        With scikit-learn, made from `files` by `recipe`, only from a folder of the user, or nowhere.
    where : str
        The same for the reader, who may have to get it by hand.
    licence : str
        What is known of the terms of use.
    openml : int or None
        The id of the data set on OpenML, if it is there too.
    targets, drop : sequence of str
        Columns of OpenML's file that are the target, and columns to leave out.
    files : tuple of RemoteFile
        The original files.
    recipe : sequence of {word: arguments}
        The steps from `files` to the data set, see `semirank.datasets.recipes`.
    unseen : tuple of RemoteFile
        More original files, which the data set of this registry is not made from.
    """

    kind: str
    where: str
    licence: str = ""
    openml: int | None = None
    targets: Sequence[str] = ()
    drop: Sequence[str] = ()
    files: tuple[RemoteFile, ...] = ()
    recipe: Sequence[Mapping[str, Any]] = ()
    unseen: tuple[RemoteFile, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A data set of the registry.

    Attributes
    ----------
    name : str
        As in the paper.
    task : str
        One of the five tasks.
    group : str
        The paper's heading, such as "MLC".
    printed : mapping
        What the paper prints: examples, features, classes, labels or targets, and more; empty for stand-ins.
    stand_in_for : str or None
        The data set of the paper in whose place this one is used.
    predefined_split : bool
        Whether it comes as a train and a test part.
    source : Source
    content : str or None
        The digest of the content that it has when it is fetched.
    recorded : str or None
        What the records of the study carry for this content: a digest of the bytes of the first files.
    """

    name: str
    task: str
    group: str
    printed: Mapping[str, float]
    stand_in_for: str | None
    predefined_split: bool
    source: Source
    content: str | None = None
    recorded: str | None = None


class StudyData(NamedTuple):
    """An opened data set.

    `dataset` holds all rows, those of the train part first; `n_train` is their number, or None where there
    is no predefined split; `sha256` tells one content from another: equal data have equal digests, whatever
    files they come from.
    """

    entry: Entry
    dataset: Dataset
    n_train: int | None
    sha256: str


class Availability(NamedTuple):
    """Names of the data sets that are there, and (name, why) of the others.

    `missing` are those of the registry that the folder does not have, `broken` those that its manifest lists
    without their files being there.
    """

    present: list[str]
    missing: list[tuple[str, str]]
    broken: list[tuple[str, str]]

    def why(self) -> dict[str, str]:
        """Name -> why, of all that are not there."""
        return dict([*self.missing, *self.broken])


@cache
def entries() -> tuple[Entry, ...]:
    """The paper's data sets in its order, each followed by its stand-ins.

    Examples
    --------
    >>> sum(entry.stand_in_for is None for entry in entries())
    38
    >>> [entry.name for entry in entries() if entry.stand_in_for == "Ecogen"]
    ['Slovenian rivers (sr)', 'Diatoms']
    """
    origins = _packaged("origins.json")
    return tuple(_entry(item, origins.get(item["name"], {})) for item in _packaged("datasets.json"))


def _packaged(file: str) -> Any:
    return json.loads(resources.files(__package__).joinpath(file).read_text(encoding="utf-8"))


def _entry(item: dict[str, Any], origin: dict[str, Any]) -> Entry:
    files = {key: tuple(RemoteFile(**file) for file in origin.get(key, ())) for key in ("files", "unseen")}
    source = Source(**{"kind": "recipe", "recipe": origin.get("recipe", ()), **files, **item.pop("source")})
    return Entry(**{"stand_in_for": None, **item}, task=HEADINGS[item["group"]], source=source)


def find(name: str, folder: str | os.PathLike[str] | None = None) -> Entry:
    """The data set of this name, upper or lower case; with a folder, those of its own manifest count too.

    Examples
    --------
    >>> find("digits").printed["examples"]
    1797
    >>> find("digit")
    Traceback (most recent call last):
    ...
    ValueError: There is no data set 'digit' (did you mean 'Digits'?).
    """
    names = {entry.name.lower(): entry for entry in (entries() if folder is None else known(folder))}
    found = names.get(name.lower())
    if found is None:
        # The names are long: a beginning may be too short to look alike.
        begun = [e.name for lower, e in names.items() if lower.startswith(name.lower())] if name else []
        near = did_you_mean(begun[0] if begun else name, begun or [e.name for e in names.values()])
        raise ValueError(
            f"There is no data set {name!r}{near or '; `semirank datasets list` shows those there are'}."
        )
    return found


def _own_entry(listed: Listed) -> Entry:
    """A data set of the user's own manifest."""
    group = TASKS[listed.task].heading
    source = Source("folder", listed.where)
    return Entry(listed.name, listed.task, group, {}, listed.stand_in_for, listed.split, source)


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder of data sets: the one given, else the one SEMIRANK_DATA names, else the user's cache."""
    if folder is not None:
        return Path(folder)
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    return cache_folder()


def cache_folder() -> Path:
    """Where downloaded data sets are kept unless the user names another folder."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "semirank" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "semirank"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "semirank"


class _Contents(NamedTuple):
    """A folder and the data sets in it."""

    place: Path
    listed: dict[str, Listed]
    cache: bool  # the user's cache, which may be empty, and where bundled data sets count as present


def _contents(folder: str | os.PathLike[str] | None) -> _Contents:
    place = data_folder(folder)
    in_cache = place.absolute() == cache_folder().absolute()
    try:
        return _Contents(place, read_folder(place), in_cache)
    except NoManifestError as error:
        if in_cache:
            return _Contents(place, {}, True)
        if str(place) == os.environ.get(VARIABLE):
            raise NoManifestError(f"{error} It is the one that {VARIABLE} names.") from None
        raise


def known(folder: str | os.PathLike[str] | None = None) -> tuple[Entry, ...]:
    """The registry, and the other data sets that a folder's own manifest lists."""
    names = {entry.name for entry in entries()}
    own = [_own_entry(listed) for name, listed in _contents(folder).listed.items() if name not in names]
    return (*entries(), *own)


def open_dataset(name: str, folder: str | os.PathLike[str] | None = None) -> StudyData:
    """Read a data set and hold it against its manifest.

    Parameters
    ----------
    name : str
        A name of the registry or of the folder's own manifest.
    folder : path, optional
        A folder with a manifest.json. Default: the one that the variable SEMIRANK_DATA names, else the user's
        cache, where `semirank datasets fetch` puts data.

    Returns
    -------
    StudyData

    Raises
    ------
    ValueError
        If the name is not known, the data set is not there, or files and sizes are not those of the manifest.

    Examples
    --------
    >>> import tempfile
    >>> from semirank.datasets.download import fetch
    >>> folder = tempfile.mkdtemp()
    >>> _ = fetch("Digits", folder)
    >>> opened = open_dataset("Digits", folder)
    >>> opened.dataset.X.shape, opened.n_train
    ((1797, 64), None)
    >>> open_dataset("Chess", folder)
    Traceback (most recent call last):
    ...
    ValueError: Chess is not in ...: get it with 'semirank datasets fetch Chess'.
    """
    place, listed, in_cache = _contents(folder)
    entry = find(name, place)
    if entry.name not in listed and in_cache and entry.source.kind == "bundled":
        return _bundled(entry)
    if entry.name not in listed:
        raise ValueError(f"{entry.name} is not in {place}: {how_to_get(entry)}.")
    found = listed[entry.name]
    if found.task != entry.task:
        raise ValueError(f"{entry.name} is a data set for {entry.task}, but the manifest says {found.task}.")
    if found.split != entry.predefined_split:
        number = "a train and a test file" if entry.predefined_split else "one file"
        raise ValueError(f"{entry.name} needs {number}, but the manifest lists {len(found.files)}.")
    return _opened(entry, found)


def _opened(entry: Entry, listed: Listed) -> StudyData:
    """Known content has the digest that the records carry."""
    dataset, n_train, sha256 = open_listed(listed)
    recorded = entry.recorded if sha256 == entry.content else None
    return StudyData(entry, dataset, n_train, recorded or sha256)


def _bundled(entry: Entry) -> StudyData:
    """A data set that comes with scikit-learn needs no folder."""
    with tempfile.TemporaryDirectory() as folder:
        [path] = write_arff(digits(), Path(folder) / "digits")
        return _opened(entry, Listed(entry.name, entry.task, path.parent, (path.name,), ("class",)))


def available(folder: str | os.PathLike[str] | None = None) -> Availability:
    """Which data sets of the registry and of the folder's own manifest are there, and why the others are not.

    Those with a manifest whose files exist count as present; nothing is read.
    """
    place, listed, in_cache = _contents(folder)
    found = Availability([], [], [])
    for entry in known(place):
        here = listed.get(entry.name)
        if here is None and not (in_cache and entry.source.kind == "bundled"):
            found.missing.append((entry.name, f"not in {place}: {how_to_get(entry)}"))
        elif here is not None and (lost := here.missing_file()) is not None:
            found.broken.append((entry.name, f"the file {lost} does not exist"))
        else:
            found.present.append(entry.name)
    return found


def how_to_get(entry: Entry) -> str:
    """How to get a data set that is not there."""
    source = entry.source
    if source.kind in ("bundled", "recipe"):
        return f"get it with 'semirank datasets fetch {_quoted(entry.name)}'"
    if source.kind == "unknown":
        return f"{source.where}{_instead(entry)}"
    raw = f" ('semirank datasets fetch {_quoted(entry.name)} --raw' downloads the original files)"
    files = raw if source.files or source.unseen else ""
    return f"it has to be got by hand, from {source.where}{files}{_instead(entry)}"


def _instead(entry: Entry) -> str:
    names = [other.name for other in entries() if other.stand_in_for == entry.name]
    return f"; {' or '.join(names)} can stand in" if names else ""


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name
