"""What all presets of the study share: their numbers, studies and jobs, and what keys and seeds come from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..rankers.presets import preset_parameters
from ..runtime.messages import did_you_mean

# Relief's settings are those of `semirank.rank(..., preset="paper")`, in every preset.
_RELIEF = preset_parameters("paper", "relief")


@dataclass(frozen=True)
class Preset:
    """All numbers of a study.

    Attributes
    ----------
    name : str
    n_folds : int
        Where the data have no predefined test part.
    n_labeled : tuple of int
        The numbers of labels L; where one exceeds the data, everything is labelled (Def. 2.1).
    n_trees : int
        Of the forests that rank.
    rule : {"cv", "oob"}
        How w is chosen (Def. 1.5), among `levels`, by forests of `tuning_trees`.
    levels : tuple of float
    tuning_trees : int
    min_labeled : int
        Labelled rows that a node needs to be split; 0 grows trees fully.
    relief_neighbors : tuple of int
        k of Relief, chosen together with (w0, w1) out of `relief_influences`.
    relief_influences : tuple of (float, float)
    judge_k : tuple of int
        k of the judge.
    normalize_weights : bool
        Whether the weights in the impurity are divided by their sum; False is the paper's (Def. 1.2).

    Examples
    --------
    >>> from semirank.study.plan import PRESETS
    >>> PRESETS["quick"].n_labeled
    (50, 200, 500)
    """

    name: str
    n_folds: int
    n_labeled: tuple[int, ...]
    n_trees: int
    rule: str
    levels: tuple[float, ...]
    tuning_trees: int
    min_labeled: int
    relief_neighbors: tuple[int, ...] = _RELIEF["n_neighbors"]
    relief_influences: tuple[tuple[float, float], ...] = _RELIEF["influence"]
    judge_k: tuple[int, ...] = (20, 40)
    normalize_weights: bool = True

    def numbers(self) -> dict[str, Any]:
        """The numbers that tell stores and keys apart; `changes` sees to the form of the weights."""
        return {name: value for name, value in asdict(self).items() if name != "normalize_weights"}


class Study(NamedTuple):
    """What all jobs of a run share."""

    preset: Preset
    seed: int
    # Where the data are; None leaves the search to the registry.
    folder: Path | None


class Job(NamedTuple):
    """One data set, fold, number of labels and family of methods; independent of all others.

    Examples
    --------
    >>> job = Job("Digits", 2, 50, "relief", "classification", "classification", "sha256", "key", 1.0)
    >>> job.place, job.describe()
    (('Digits', 2, 50, 'relief'), 'Digits, fold 2, 50 labels, relief')
    """

    dataset: str
    fold: int
    n_labeled: int
    family: str
    task: str
    group: str
    sha256: str
    key: str
    # Estimated seconds.
    cost: float
    # What the store knows of it: "missing", "claimed", "done" or "failed", its seconds, and why it failed.
    state: str = "missing"
    job_seconds: float | None = None
    error: str | None = None

    @property
    def place(self) -> tuple[str, int, int, str]:
        """What the job is about, whatever the data and the numbers of the preset."""
        return self[:4]

    def describe(self) -> str:
        """The job in words."""
        return f"{self.dataset}, fold {self.fold}, {self.n_labeled} labels, {self.family}"


def stable_number(*parts: object) -> int:
    """A seed out of names and numbers, the same in every process and on every machine.

    Examples
    --------
    >>> stable_number(0, "Digits", 1), stable_number(0, "Digits", 2)
    (2003512734, 4204984054)
    """
    return int.from_bytes(digest_of(parts, 4), "big")


def known_name(name: str, known: Iterable[str], what: str) -> str:
    """A name that is one of those known; another is an error that names what there is."""
    known = tuple(known)
    if name not in known:
        near = did_you_mean(name, known)
        raise ValueError(f"There is no {what} {name!r}{near}; there are {', '.join(known)}.")
    return name


def digest_of(parts: object, size: int) -> bytes:
    """A digest of plain values, the same in every process and on every machine."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=size).digest()
