"""From the records of the preset `worth` to captured importance and worth (Def. 2.6)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..data.tasks import TASKS
from ..evaluation.captured import captured, shares
from ..evaluation.cells import half, label_counts
from ..evaluation.references import Reference
from ..evaluation.worth import Summary, Worth, summarise, worth
from .job import Job
from .records import Record
from .worth_methods import FAMILIES, FAMILY, FOREIGN, LABEL_ONLY, REFERENCES

HALVES = ("choosing", "reporting")
BASE = FAMILIES[LABEL_ONLY].shown["sl", "consensus"]
CONSENSUS = FAMILIES["consensus"].shown["ssl", "consensus"]
UNFINISHED = "not finished: fewer than two seeds"


class Judged(NamedTuple):
    """One ranking: captured importance by both references (NaN without one) and fair kNN; more is better."""

    foreign: float
    family: float
    knn: float


@dataclass(frozen=True)
class WorthResults:
    """What a run found, by data set.

    Attributes
    ----------
    groups, tasks, n_train : dict of str to str, str, int
        Group, task and number of training rows of every data set, in the order of their names.
    references : dict of (data set, seed) to Reference
    judged : dict of (data set, method) to {(number of labels, seed): Judged}
        Methods by the names of the tables.
    levels : tuple of int
    """

    groups: dict[str, str]
    tasks: dict[str, str]
    n_train: dict[str, int]
    references: dict[tuple[str, int], Reference]
    judged: dict[tuple[str, str], dict[tuple[int, int], Judged]]
    levels: tuple[int, ...]
    # What was computed already: several tables ask for the same, and intervals take a while.
    _worths: dict[tuple[str, str, int, str], Worth | None] = field(default_factory=dict, repr=False)

    @property
    def methods(self) -> tuple[str, ...]:
        """Those that have any ranking, in the order of the families."""
        seen = {method for _, method in self.judged}
        names = (name for family in FAMILIES.values() for name in family.shown.values())
        return tuple(name for name in names if name in seen)

    def names(self, which: str | None = None) -> tuple[str, ...]:
        """Data sets of a half, or all."""
        return tuple(name for name in self.groups if which in (None, half(name)))

    def seeds(self, name: str) -> list[int]:
        """The seeds for which any ranking of a data set is known."""
        cells = (cell for (n, _), some in self.judged.items() if n == name for cell in some)
        return sorted({seed for _, seed in cells})

    def values(self, name: str, method: str, n_labeled: int, by: str, seeds: Sequence[int]) -> np.ndarray:
        """Scores of a method by a judge for these seeds, NaN where there is none."""
        some = self.judged.get((name, method), {})
        nothing = Judged(np.nan, np.nan, np.nan)
        return np.array([getattr(some.get((n_labeled, seed), nothing), by) for seed in seeds])

    def worth(self, name: str, method: str, level: int, by: str = "foreign") -> Worth | None:
        """What a method is worth on a data set; None where L is more than half of its training rows."""
        place = (name, method, level, by)
        if place not in self._worths:
            self._worths[place] = self._worth(*place)
        return self._worths[place]

    def _worth(self, name: str, method: str, level: int, by: str) -> Worth | None:
        counts = label_counts(self.n_train[name], level)
        if not counts:
            return None
        seeds = self.seeds(name)
        curve = [self.values(name, BASE, n, by, seeds) for n in counts]
        found = worth(
            self.values(name, method, level, by, seeds), np.reshape(curve, (len(counts), -1)).T, counts, level
        )
        if found.n_seeds >= 2:
            return found
        references = [self.references[name, seed] for seed in seeds if (name, seed) in self.references]
        if by == "foreign" and len(references) - sum(bool(some.learned) for some in references) >= 2:
            best = max(max(some.r2.values()) for some in references)
            return found._replace(reason=f"no model learns it (R2 at most {best:.2f})")
        return found._replace(reason=UNFINISHED)

    def summary(self, method: str, level: int, names: Iterable[str], by: str = "foreign") -> Summary:
        """The worth of a method over data sets."""
        found = {name: self.worth(name, method, level, by) for name in names}
        return summarise({name: one for name, one in found.items() if one is not None})

    def knn_differences(self, method: str, level: int, names: Iterable[str]) -> dict[str, float]:
        """Fair kNN of a method minus that of the label-only consensus, mean over the seeds that have both."""
        found = {}
        for name in names:
            seeds = self.seeds(name)
            difference = self.values(name, method, level, "knn", seeds) - self.values(
                name, BASE, level, "knn", seeds
            )
            if (known := ~np.isnan(difference)).any():
                found[name] = float(difference[known].mean())
        return found


def collect_worth(
    records: Iterable[Record], jobs: Iterable[Job] = (), levels: Sequence[int] = ()
) -> WorthResults:
    """Judge every ranking by the references among the records.

    A ranking and a reference of different cells, from data that changed between them, are not compared.
    """
    records = list(records)
    known: list[Record | Job] = [*records, *jobs]
    about = sorted({(row.dataset, row.group, row.task) for row in known})
    n_train = {row.dataset: row.n_labeled for row in known if row.family in REFERENCES}
    foreign = _references(row for row in records if row.family == FOREIGN)
    own = {(r.dataset, r.fold): _content(r) for r in records if r.family == FAMILY}
    judged: dict[tuple[str, str], dict[tuple[int, int], Judged]] = {}
    for r in records:
        if r.family in REFERENCES or r.family not in FAMILIES:
            continue
        cell, scores = _content(r)
        reference, (own_cell, truth) = (
            foreign.get((r.dataset, r.fold)),
            own.get((r.dataset, r.fold), ("", None)),
        )
        by_foreign = reference.captured(scores) if reference and reference.digest == cell else float("nan")
        by_family = (
            captured(scores, shares(truth)) if truth is not None and own_cell == cell else float("nan")
        )
        method = FAMILIES[r.family].shown[r.side, r.score]
        curve = judged.setdefault((r.dataset, method), {})
        curve[r.n_labeled, r.fold] = Judged(by_foreign, by_family, TASKS[r.task].sign * r.value)
    groups = {name: group for name, group, _ in about if name in n_train}
    tasks = {name: task for name, _, task in about if name in n_train}
    return WorthResults(groups, tasks, n_train, foreign, judged, tuple(levels))


def _content(record: Record) -> tuple[str, np.ndarray]:
    content = json.loads(record.setting)
    return content["cell"], np.array(content["importances"], dtype=np.float64)


def _references(records: Iterable[Record]) -> dict[tuple[str, int], Reference]:
    found: dict[tuple[str, int], Reference] = {}
    for r in records:
        cell, importances = _content(r)
        place = (r.dataset, r.fold)
        reference = found.setdefault(place, Reference(r.dataset, r.fold, cell, {}, {}))
        reference.r2[r.score] = r.value
        reference.importances[r.score] = importances
    return found
