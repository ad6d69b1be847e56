"""Data sets from elsewhere, put into a folder whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..runtime.optional import optional
from ..runtime.progress import Progress
from .manifest import FILE, SIZES, Listed, check_files, file_sha256, open_listed, read_folder, sizes
from .recipes import cook, digits, write_arff
from .registry import Entry, RemoteFile, data_folder, find, how_to_get

OPENML = "https://www.openml.org/api/v1/json/data/"
TIMEOUT = 30  # seconds without a byte
_A_DAY = 24 * 3600


class UnreachableError(ConnectionError):
    """A server that does not answer at all: asking it for something else is no use."""


def fetch(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    openml: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Put a data set of the registry into a folder, where :func:`open_dataset` finds it.

    Downloads are checked against their checksums, and the data set made from them against the digest of its
    content, before anything appears in the folder. What is already there, and whole, is left alone.

    Parameters
    ----------
    name : str
    folder : path, optional
        Default: the folder that the variable SEMIRANK_DATA names, else the user's cache.
    openml : bool, default=False
        Take OpenML's copy, which must have the sizes printed in the paper; the study counts it as other data
        unless its content is the same.
    progress : callable, optional
        Called as (files so far, files in all, data set).

    Returns
    -------
    Path
        The folder with the files of this data set.

    Raises
    ------
    ConnectionError
        If a server cannot be reached, does not have the file, or breaks off.
    ValueError
        If a file or the data set is not what it should be, or the data set can only be got by hand.
    """
    entry = find(name)
    place = data_folder(folder)
    if (there := _whole(entry, place, openml)) is not None:
        return there
    if openml and entry.source.openml is None:
        raise ValueError(f"{entry.name} is not on OpenML, as far as is known here.")
    if not openml and entry.source.kind not in ("bundled", "recipe"):
        raise ValueError(f"{entry.name} cannot be fetched: {how_to_get(entry)}.")
    home = place / _folder_name(entry)
    with _stage(home) as stage:
        if openml:
            listed = _from_openml(entry, stage)
        else:
            raw = _downloaded(entry, entry.source.files, stage / "raw", progress)
            rows = cook(entry.source.recipe, raw) if raw else digits()
            listed = _listed(entry, write_arff(rows, stage / home.name), rows.targets)
        manifest = stage / FILE
        manifest.write_text(json.dumps([_described(entry, listed)], indent=1) + "\n", encoding="utf-8")
        for path in [*listed.paths(), manifest]:  # the manifest last: with it the data set exists
            os.replace(path, home / path.name)
    return home


def fetch_raw(
    name: str, folder: str | os.PathLike[str] | None = None, *, progress: Progress | None = None
) -> Path:
    """Download the original files of a data set as they are, and make nothing of them.

    These include files that the data set of the registry is not made from, because nobody who wrote its
    recipe had them: they are checked by git's id of their content. Parameters and errors as in :func:`fetch`.

    Returns
    -------
    Path
        The folder with the files.
    """
    entry = find(name)
    files = (*entry.source.files, *entry.source.unseen)
    if not files:
        raise ValueError(f"No addresses of original files of {entry.name} are known; {how_to_get(entry)}.")
    home = data_folder(folder) / _folder_name(entry) / "raw"
    _downloaded(entry, files, home, progress)
    return home


def _whole(entry: Entry, place: Path, openml: bool) -> Path | None:
    """The folder of a data set that is there and as its manifest says."""
    try:
        listed = read_folder(place)[entry.name]
        check_files(listed)
    except (KeyError, ValueError):
        return None
    return None if openml and not listed.where.startswith("OpenML") else listed.folder


@contextlib.contextmanager
def _stage(home: Path) -> Iterator[Path]:
    """A folder to work in, beside the data: moving a finished file is one step that nobody sees half done."""
    home.mkdir(parents=True, exist_ok=True)
    for left in home.glob(".fetch-*"):  # of a fetch that was killed, not of one that runs now
        if time.time() - left.stat().st_mtime > _A_DAY:
            shutil.rmtree(left, ignore_errors=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=home) as stage:
            yield Path(stage)
    finally:
        with contextlib.suppress(OSError):  # not empty, unless nothing came
            home.rmdir()


def _folder_name(entry: Entry) -> str:
    return re.sub(r"[^a-z0-9]+", "-", entry.name.lower()).strip("-")


def _downloaded(
    entry: Entry, files: tuple[RemoteFile, ...], folder: Path, progress: Progress | None
) -> list[Path]:
    """Original files of a data set; those that are in the folder already are not asked for again."""
    paths = []
    for i, file in enumerate(files):
        if progress is not None:
            progress(i, len(files), entry.name)
        path = _download(file.url, file.sha256, folder / file.name)
        if file.sha256 is None and _git_blob(path) != file.git_blob:
            path.unlink()
            raise ValueError(_not_expected(file.url))
        paths.append(path)
    return paths


def _git_blob(path: Path) -> str:
    """The name that git has for the content of a file."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _from_openml(entry: Entry, stage: Path) -> Listed:
    source = entry.source
    url = f"{OPENML}{source.openml}"
    try:
        said = json.loads(_download(url, None, stage / "openml.json").read_bytes())["data_set_description"]
        address, md5 = said["url"], said["md5_checksum"]
    except (ValueError, KeyError, TypeError):
        address = md5 = ""
    if not (address and md5):
        raise ValueError(f"{url} does not answer with the description of a data set.")
    path = _download(address, f"md5:{md5}", stage / f"{_folder_name(entry)}.arff")
    targets = source.targets or _names(said.get("default_target_attribute"))
    ignored = [*_names(said.get("row_id_attribute")), *_names(said.get("ignore_attribute"))]
    return _listed(entry, [path], targets, [*source.drop, *ignored], f"OpenML {source.openml}")


def _names(said: str | list[str] | None) -> list[str]:
    """Names that OpenML gives as a list, or as one text with commas."""
    names = said.split(",") if isinstance(said, str) else said or []
    return [name.strip() for name in names if name.strip()]


def _download(url: str, checksum: str | None, path: Path) -> Path:
    """A file from an address, once its checksum has been found right."""
    complaint = "Fetching data needs pooch; install it with 'pip install pooch'."
    pooch, requests = (optional(module, complaint) for module in ("pooch", "requests"))
    pooch.get_logger().setLevel("WARNING")
    host = urlsplit(url).netloc
    # Not streamed, since a failed stream would leave its connection open, and the files are small.
    get = pooch.HTTPDownloader(timeout=TIMEOUT, stream=False, chunk_size=1 << 20)
    try:
        pooch.retrieve(url, checksum, fname=path.name, path=path.parent, downloader=get)
    except requests.HTTPError as error:
        said = str(error).partition(" for url")[0]
        raise ConnectionError(f"{url} cannot be had: the server says {said}.") from None
    except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError):
        raise ConnectionError(f"The download of {url} broke off; nothing was kept, try again.") from None
    except requests.Timeout:
        raise UnreachableError(f"{host} does not answer; try again later.") from None
    except requests.ConnectionError:
        raise UnreachableError(f"{host} cannot be reached; is the network there?") from None
    except requests.RequestException as error:
        raise ConnectionError(f"{url} cannot be had: {error}".rstrip(".") + ".") from None
    except ValueError:
        raise ValueError(_not_expected(url)) from None
    path.chmod(0o644)  # pooch's files are readable by their owner only
    return path


def _not_expected(url: str) -> str:
    return f"What came from {url} is not the expected file, its checksum differs; nothing was kept."


def _listed(
    entry: Entry, files: list[Path], targets: Sequence[str], drop: Sequence[str] = (), where: str = ""
) -> Listed:
    names = tuple(path.name for path in files)
    return Listed(entry.name, entry.task, files[0].parent, names, (*targets,), (*drop,), where=where)


def _described(entry: Entry, listed: Listed) -> dict[str, Any]:
    """The manifest of files that have come, which must be the data set they are said to be."""
    dataset, _, sha256 = open_listed(listed)
    counted = sizes(dataset)
    if listed.where:  # OpenML's copy may write the same data in another way
        for key, number in _printed(entry).items():
            if counted[key] != number:
                raise ValueError(
                    f"{entry.name} as it was fetched has {counted[key]} {SIZES[key]}, "
                    f"but the paper says {number}; nothing was kept."
                )
    elif sha256 != (entry.content or sha256):
        raise ValueError(
            f"What was made from the files of {entry.name} differs from what the registry expects; "
            "nothing was kept."
        )
    return {
        "name": entry.name,
        "task": entry.task,
        "files": list(listed.files),
        "target_attributes": list(listed.targets),
        "drop": list(listed.drop),
        **counted,
        "sha256": {path.name: file_sha256(path) for path in listed.paths()},
        "stand_in_for": entry.stand_in_for,
        "source": listed.where or entry.source.where,
        "licence": entry.source.licence,
    }


def _printed(entry: Entry) -> dict[str, float]:
    """The sizes of the paper under the names of a manifest."""
    labels = "labels_in_hierarchy" if entry.task == "hierarchical" else "labels"
    renamed = {"classes": "classes_declared", "labels": labels}
    printed = {renamed.get(key, key): number for key, number in entry.printed.items()}
    return {key: number for key, number in printed.items() if key in SIZES}
