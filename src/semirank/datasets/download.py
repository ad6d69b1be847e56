"""Data sets from elsewhere, put into a folder whole or not at all."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..runtime.progress import Progress
from .manifest import FILE, SIZES, Listed, file_sha256, open_listed, read_folder, sizes
from .registry import Entry, data_folder, find

OPENML = "https://www.openml.org/api/v1/json/data/"
TIMEOUT = 30  # seconds without a byte
CHUNK = 1 << 16
_A_DAY = 24 * 3600


def fetch(
    name: str, folder: str | os.PathLike[str] | None = None, *, progress: Progress | None = None
) -> Path:
    """Put a data set of the registry into a folder, where :func:`open_dataset` finds it.

    Files are checked against their checksums and the data set against the sizes printed in the paper before
    anything appears in the folder. A data set that is already there, and whole, is left alone.

    Parameters
    ----------
    name : str
    folder : path, optional
        Default: the folder that the variable SEMIRANK_DATA names, else the user's cache.
    progress : callable, optional
        Called as (bytes so far, bytes in all, file).

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
    if (there := _whole(entry, place)) is not None:
        return there
    if entry.source.kind in ("folder", "unknown"):
        hand = "get it by hand from " if entry.source.kind == "folder" else ""
        raise ValueError(f"{entry.name} cannot be fetched; {hand}{entry.source.where}.")
    return _put(entry, place, progress)


def _whole(entry: Entry, place: Path) -> Path | None:
    """The folder of a data set that is there and as its manifest says."""
    try:
        listed = read_folder(place)[entry.name]
        open_listed(listed)
    except (KeyError, ValueError):
        return None
    return listed.folder


def _put(entry: Entry, place: Path, progress: Progress | None) -> Path:
    home = place / _folder_name(entry)
    home.mkdir(parents=True, exist_ok=True)
    for left in home.glob(".fetch-*"):  # of a fetch that was killed, not of one that runs now
        if time.time() - left.stat().st_mtime > _A_DAY:
            shutil.rmtree(left, ignore_errors=True)
    try:
        # Beside the data, so that moving a finished file is one step that nobody sees half done.
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=home) as stage:
            came = _come(entry, Path(stage), progress)
            described = _described(entry, came)
            manifest = Path(stage) / FILE
            manifest.write_text(json.dumps([described], indent=1) + "\n", encoding="utf-8")
            for path in [*came.files, manifest]:  # the manifest last: with it the data set exists
                shutil.copymode(manifest, path)  # downloads are readable by their owner only
                os.replace(path, home / path.name)
    finally:
        with contextlib.suppress(OSError):  # not empty, unless nothing came
            home.rmdir()
    return home


def _folder_name(entry: Entry) -> str:
    return re.sub(r"[^a-z0-9]+", "-", entry.name.lower()).strip("-")


class _Come(NamedTuple):
    """The data file, or the train and the test part, and how to read them."""

    files: list[Path]
    targets: tuple[str, ...]
    drop: tuple[str, ...]


def _come(entry: Entry, stage: Path, progress: Progress | None) -> _Come:
    source = entry.source
    if source.kind == "bundled":
        return _Come([_digits(stage)], source.targets, source.drop)
    if source.kind == "openml":
        said = _openml_says(source.openml)
        path = _download(
            said["url"], f"md5:{said['md5_checksum']}", stage / f"{stage.parent.name}.arff", progress
        )
        targets = source.targets or tuple(_names(said.get("default_target_attribute")))
        ignored = [*_names(said.get("row_id_attribute")), *_names(said.get("ignore_attribute"))]
        return _Come([path], targets, (*source.drop, *ignored))
    files = [
        _download(file.url, f"sha256:{file.sha256}", stage / Path(urlsplit(file.url).path).name, progress)
        for file in source.files
    ]
    return _Come(files, source.targets, source.drop)


def _digits(stage: Path) -> Path:
    """scikit-learn's digits as a file."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    lines = ["@relation digits", *(f"@attribute {name} numeric" for name in digits.feature_names)]
    lines += ["@attribute class {0,1,2,3,4,5,6,7,8,9}", "@data"]
    rows = zip(digits.data.astype(int).tolist(), digits.target.tolist())
    lines += [",".join(map(str, [*pixels, digit])) for pixels, digit in rows]
    path = stage / "digits.arff"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _openml_says(number: int | None) -> dict[str, Any]:
    """OpenML's description of a data set."""
    requests = _package("requests")
    url = f"{OPENML}{number}"
    with _clear_errors(url):
        answer = requests.get(url, timeout=TIMEOUT)
        answer.raise_for_status()
    try:
        said = answer.json()["data_set_description"]
        if said["url"] and said["md5_checksum"]:
            return said
    except (ValueError, KeyError, TypeError):
        pass
    raise ValueError(f"{url} does not answer with the description of a data set.")


def _names(said: str | list[str] | None) -> list[str]:
    """Names that OpenML gives as a list, or as one text with commas."""
    names = said.split(",") if isinstance(said, str) else said or []
    return [name.strip() for name in names if name.strip()]


def _download(url: str, checksum: str, path: Path, progress: Progress | None) -> Path:
    """A file from an address, once its checksum has been found right."""
    pooch = _package("pooch")
    requests = _package("requests")
    pooch.get_logger().setLevel("WARNING")

    def download(url: str, file: str, _: Any) -> None:
        # Not pooch's own, which leaves the connection open where a download fails.
        with requests.get(url, timeout=TIMEOUT, stream=True) as answer, open(file, "wb") as out:
            answer.raise_for_status()
            total, done = int(answer.headers.get("content-length", 0)), 0
            for chunk in answer.iter_content(CHUNK):
                out.write(chunk)
                done += len(chunk)
                if progress is not None:
                    progress(done, max(done, total), path.name)

    with _clear_errors(url):
        pooch.retrieve(url, checksum, fname=path.name, path=path.parent, downloader=download)
    return path


def _package(name: str) -> Any:
    """A package that only fetching needs."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError("Fetching data needs pooch; install it with 'pip install pooch'.") from None


@contextlib.contextmanager
def _clear_errors(url: str) -> Iterator[None]:
    """What can go wrong on the way, in a sentence each."""
    requests = _package("requests")
    try:
        yield
    except requests.HTTPError as error:
        said = str(error).partition(" for url")[0]
        raise ConnectionError(f"{url} cannot be had: the server says {said}.") from None
    except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError):
        raise ConnectionError(f"The download of {url} broke off; nothing was kept, try again.") from None
    except requests.Timeout:
        raise ConnectionError(f"{urlsplit(url).netloc} does not answer; try again later.") from None
    except requests.ConnectionError:
        raise ConnectionError(f"{urlsplit(url).netloc} cannot be reached; is the network there?") from None
    except requests.RequestException as error:
        raise ConnectionError(f"{url} cannot be had: {error}.") from None
    except ValueError as error:
        if "hash" not in str(error):
            raise
        raise ValueError(
            f"What came from {url} is not the expected file, its checksum differs; nothing was kept."
        ) from None


def _described(entry: Entry, came: _Come) -> dict[str, Any]:
    """The manifest of files that have come, which must be the data set of the paper."""
    listed = Listed(
        name=entry.name,
        task=entry.task,
        folder=came.files[0].parent,
        files=tuple(path.name for path in came.files),
        targets=came.targets,
        drop=came.drop,
        sizes={},
        parts=(),
        sha256={},
        stand_in_for=entry.stand_in_for,
        where=entry.source.where,
    )
    counted = sizes(open_listed(listed).dataset)
    for key, number in _printed(entry).items():
        if counted[key] != number:
            raise ValueError(
                f"{entry.name} as it was fetched has {counted[key]} {SIZES[key]}, "
                f"but the paper says {number}; nothing was kept."
            )
    return {
        "name": entry.name,
        "task": entry.task,
        "files": list(listed.files),
        "target_attributes": list(listed.targets),
        "drop": list(listed.drop),
        **counted,
        "sha256": {path.name: file_sha256(path) for path in came.files},
        "stand_in_for": listed.stand_in_for,
        "source": listed.where,
    }


def _printed(entry: Entry) -> dict[str, float]:
    """The sizes of the paper under the names of a manifest."""
    labels = "labels_in_hierarchy" if entry.task == "hierarchical" else "labels"
    names = {"examples": "examples", "features": "features", "classes": "classes_declared"}
    names |= {"labels": labels, "targets": "targets"}
    return {names[key]: number for key, number in entry.printed.items() if key in names}
