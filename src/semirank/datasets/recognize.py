"""A user's file that is known by its name: which of its columns are the target of that data set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .manifest import NoManifestError, read_folder
from .registry import Entry, data_folder, entries


def expected_targets(path: Path, names: Sequence[str]) -> tuple[Entry, tuple[str, ...]] | None:
    """The registered data set that a file is called after, and its target among the columns `names`.

    The names come from the manifest of the data folder, or else from the printed number of targets: they are
    the last columns. None if no data set is called so, or nothing is known of its target.

    Examples
    --------
    >>> entry, targets = expected_targets(Path("edm1.arff"), ["ASM", "BMean", "DFlow", "DGap"])
    >>> entry.name, targets
    ('Edm1', ('DFlow', 'DGap'))
    """
    stem = re.sub(r"([-_.](train|test))?(\.arff)?(\.gz)?$", "", path.name, flags=re.IGNORECASE)
    entry = {_plain(entry.name): entry for entry in entries()}.get(_plain(stem))
    if entry is None:
        return None
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


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
