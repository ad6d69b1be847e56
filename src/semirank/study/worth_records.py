"""Records of the preset `worth` without their importances: short enough for a repository (Def. 2.6)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import numpy as np

from .job import Job
from .records import Record
from .worth_methods import FAMILIES, REFERENCES
from .worth_plan import is_current
from .worth_results import captured_by, family_references, foreign_references

SHORT_PARTS = 100_000  # importances of references become whole parts of their sum
ROUNDED_TO = 5  # of captured importance and scores


Place = tuple[str, int, int, str]


def short_form(
    jobs: Mapping[Place, Job], records: Iterable[Record], seed: int
) -> tuple[dict[Place, Job], list[Record]]:
    """Jobs of the version that this code has, and their records, for a file of a few hundred kilobytes."""
    kept = {
        place: job._replace(cost=_rounded(job.cost), job_seconds=_rounded(job.job_seconds or 0.0))
        for place, job in jobs.items()
        if is_current(job, seed)
    }
    rows = [r for r in records if (r.dataset, r.fold, r.n_labeled, r.family) in kept]
    return kept, short_records(rows)


def _rounded(seconds: float) -> float:
    return float(f"{seconds:.2g}")


def short_records(records: Iterable[Record]) -> list[Record]:
    """What the tables need: how much every ranking captures, in place of its importances.

    References keep theirs, in whole parts, so that new rankings can be held against them: captured importance
    changes by less than 0.0001. A ranking whose foreign reference is not finished stays as it is.

    Examples
    --------
    >>> setting = '{"cell": "c", "importances": [0.123456, 0.876544]}'
    >>> about = ("Digits", "classification", "classification", 0, 900, 900, 450, "reference_foreign")
    >>> found = Record(*about, "sl", "network", "labelled", 0, "R2", True, 0.61, 2.0, 0.0, setting)
    >>> short_records([found])[0].setting
    '{"cell":"c","importances":[12346,87654]}'
    """
    records = list(records)
    foreign, own = foreign_references(records), family_references(records)
    found = []
    for r in records:
        content = json.loads(r.setting)
        if r.family in REFERENCES and "importances" in content:
            shares = np.array(content["importances"], dtype=np.float64)
            shares = np.abs(shares) / max(np.abs(shares).sum(), 1e-300)
            content["importances"] = np.round(SHORT_PARTS * shares).astype(int).tolist()
        elif r.family in FAMILIES and "importances" in content and (r.dataset, r.fold) in foreign:
            both = captured_by(r, foreign[r.dataset, r.fold], own.get((r.dataset, r.fold)))
            content = {"captured": [None if np.isnan(value) else round(value, ROUNDED_TO) for value in both]}
        value, setting = float(f"{r.value:.{ROUNDED_TO}g}"), json.dumps(content, separators=(",", ":"))
        found.append(r._replace(value=value, seconds=_rounded(r.seconds), setting=setting))
    return found
