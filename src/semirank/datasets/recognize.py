"""A user's file that is known by its name: which of its columns are the target of that data set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from .manifest import NoManifestError, read_folder
from .registry import Entry, data_folder, entries


def expected_targets(path: Path, names: Sequence[str]) -> tuple[Entry, tuple[str, ...]] | None:
    """The registered data set that a file is called after, and its target among the columns `names`.

    The names come from the manifest of the data folder, or else from the printed number of targets: they are
    the last columns. Original files go by other names, such as `edm.arff`; their targets are in the recipe.
    None if no data set and no original file is called so, or nothing is known of its target.

    Examples
    --------
    >>> entry, targets = expected_targets(Path("edm1.arff"), ["ASM", "BMean", "DFlow", "DGap"])
    >>> entry.name, targets
    ('Edm1', ('DFlow', 'DGap'))
    """
    stem = _stem(path.name)
    entry = {_plain(entry.name): entry for entry in entries()}.get(stem)
    if entry is None:
        return next(_original(stem, names), None)
    try:
        listed = read_folder(data_folder()).get(entry.name)
    except NoManifestError:
        listed = None
    if listed is not None and listed.targets and set(listed.targets) <= set(names):
        return entry, listed.targets
    count = int(entry.printed.get("targets") or entry.printed.get("labels") or 0)
    if entry.task not in ("multi_target", "multi_label") or not 0 < count < len(names):
        return None
    return entry, tuple(names[-count:])


def _original(stem: str, names: Sequence[str]) -> Iterator[tuple[Entry, tuple[str, ...]]]:
    """The data sets of several targets that are made from a file of this name, with these columns."""
    for entry in entries():
        if stem in {_stem(file.name) for file in entry.source.files}:
            asked = [step["targets"].get("columns", ()) for step in entry.source.recipe if "targets" in step]
            for targets in asked:
                if len(targets) > 1 and set(targets) <= set(names):
                    yield entry, tuple(targets)


def _stem(file: str) -> str:
    return _plain(re.sub(r"([-_.](train|test))?(\.arff)?(\.gz)?$", "", file, flags=re.IGNORECASE))


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
