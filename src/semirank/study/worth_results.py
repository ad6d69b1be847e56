"""From the records of the preset `worth` to captured importance and worth (Def. 2.6)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..data.tasks import TASKS
from ..evaluation.captured import captured
from ..evaluation.cells import half, label_counts
from ..evaluation.references import DECIDING, Reference
from ..evaluation.worth import Summary, Worth, summarise, worth
from ..results.shares import as_shares
from .job import Job
from .records import Record
from .worth_methods import FAMILIES, FAMILY, FOREIGN, LABEL_ONLY, REFERENCES, SUBSETS, TEACHER

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
    losses : dict of (data set, number of labels) to {seed: float}
        Out-of-fold loss of the teacher.
    subsets : dict of (data set, number of labels, ranking) to {(seed, model): float}
        R2 of models on the first features of a ranking.
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
    losses: dict[tuple[str, int], dict[int, float]] = field(default_factory=dict)
    subsets: dict[tuple[str, int, str], dict[tuple[int, str], float]] = field(default_factory=dict)
    # What was computed already: several tables ask for the same, and intervals take a while.
    _worths: dict[tuple[str, str, int, str], Worth | None] = field(default_factory=dict, repr=False)

    @property
    def methods(self) -> tuple[str, ...]:
        """Those that have any ranking, in the order of the families."""
        seen = {method for _, method in self.judged}
        names = (name for family in FAMILIES.values() for name in family.shown.values())
        return tuple(name for name in names if name in seen)

    def mean(self, name: str, method: str, n_labeled: int, by: str = "foreign") -> float:
        """The score of a method on a data set, mean over the seeds that have it; NaN for none."""
        known = self.values(name, method, n_labeled, by, self.seeds(name))
        known = known[~np.isnan(known)]
        return float(known.mean()) if len(known) else float("nan")

    def means(self, name: str, wanted: Iterable[tuple[str, int]], by: str = "foreign") -> np.ndarray:
        """Scores of (method, number of labels) on a data set, means over the seeds that have all of them.

        NaN where there is no such seed.
        """
        seeds = self.seeds(name)
        table = np.array([self.values(name, method, n, by, seeds) for method, n in wanted])
        whole = ~np.isnan(table).any(axis=0)
        return table[:, whole].mean(axis=1) if whole.any() else np.full(len(table), np.nan)

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
            best = max(some.r2.get(model, -np.inf) for some in references for model in DECIDING)
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
    foreign, own = foreign_references(records), family_references(records)
    judged: dict[tuple[str, str], dict[tuple[int, int], Judged]] = {}
    losses: dict[tuple[str, int], dict[int, float]] = {}
    subsets: dict[tuple[str, int, str], dict[tuple[int, str], float]] = {}
    for r in records:
        if r.family == TEACHER:
            losses.setdefault((r.dataset, r.n_labeled), {})[r.fold] = r.value
        elif r.family == SUBSETS:
            ranking, _, model = r.score.partition(" ")
            subsets.setdefault((r.dataset, r.n_labeled, ranking), {})[r.fold, model] = r.value
        elif r.family in FAMILIES:
            place = (r.dataset, r.fold)
            both = captured_by(r, foreign.get(place), own.get(place))
            method = FAMILIES[r.family].shown[r.side, r.score]
            curve = judged.setdefault((r.dataset, method), {})
            curve[r.n_labeled, r.fold] = Judged(*both, TASKS[r.task].sign * r.value)
    groups = {name: group for name, group, _ in about if name in n_train}
    tasks = {name: task for name, _, task in about if name in n_train}
    return WorthResults(groups, tasks, n_train, foreign, judged, tuple(levels), losses, subsets)


def captured_by(
    record: Record, foreign: Reference | None, own: tuple[str, np.ndarray] | None
) -> tuple[float, float]:
    """Captured importance of a ranking by the foreign and the family reference, NaN without one.

    Records without importances hold these numbers themselves.
    """
    content = json.loads(record.setting)
    if "captured" in content:
        by_foreign, by_family = (np.nan if value is None else float(value) for value in content["captured"])
        return by_foreign, by_family
    cell, scores = _content(record)
    by_foreign = foreign.captured(scores) if foreign and foreign.digest == cell else float("nan")
    by_family = captured(scores, as_shares(own[1])) if own and own[0] == cell else float("nan")
    return by_foreign, by_family


def _content(record: Record) -> tuple[str, np.ndarray]:
    content = json.loads(record.setting)
    return content["cell"], np.array(content["importances"], dtype=np.float64)


def family_references(records: Iterable[Record]) -> dict[tuple[str, int], tuple[str, np.ndarray]]:
    """Cell and importances of every family reference among the records, by data set and seed."""
    return {(r.dataset, r.fold): _content(r) for r in records if r.family == FAMILY}


def foreign_references(records: Iterable[Record]) -> dict[tuple[str, int], Reference]:
    """Every foreign reference among the records, by data set and seed."""
    found: dict[tuple[str, int], Reference] = {}
    for r in (row for row in records if row.family == FOREIGN):
        cell, importances = _content(r)
        importances = as_shares(importances)  # whole parts in a short file
        place = (r.dataset, r.fold)
        reference = found.setdefault(place, Reference(r.dataset, r.fold, cell, {}, {}))
        reference.r2[r.score] = r.value
        reference.importances[r.score] = importances
    return found
