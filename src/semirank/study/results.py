"""From the study's records to areas under the curves over L, and to differences of areas (Def. 2.3, 2.5).

A run may be unfinished, so methods are always compared over the (L, fold) cells that all of them have: fold
scores are averaged with the sizes of the test parts, then the area is taken over the L that are left.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..data.tasks import HEADINGS
from ..evaluation.curves import area
from ..judging.knn_judge import POOLS
from ..rankers.methods import ENSEMBLES
from .paper import known_stand_ins, paper_names
from .plan import FOREST_SCORES, PAPER_FAMILIES, SCORES, SIDES
from .records import Record
from .statistics import rank_rows

# What is subtracted from what: the side of the ranking and the judge's pool (Def. 2.2).
DEFINITIONS = {
    "fair": (("ssl", "labelled"), ("sl", "labelled")),
    "paper": (("ssl", "all"), ("sl", "labelled")),
    "all": (("ssl", "all"), ("sl", "all")),
    "pool": (("ssl", "all"), ("ssl", "labelled")),  # every feature counts 1, only the pool changes
}

Cell = tuple[int, int]  # (L, fold)


class Key(NamedTuple):
    """One curve over L."""

    dataset: str
    family: str
    side: str
    score: str
    pool: str
    k: int


class About(NamedTuple):
    """What the records say about a data set."""

    group: str
    measure: str
    greater_is_better: bool
    stand_in_for: str | None


class Matrix(NamedTuple):
    """Values of methods (columns) on data sets (rows), larger is better; incomplete ones are left out."""

    names: tuple[str, ...]
    values: np.ndarray
    left_out: tuple[str, ...]


class Difference(NamedTuple):
    """Area of the semi-supervised curve minus the supervised one; more than 0 is better."""

    dataset: str
    group: str
    stand_in_for: str | None
    score: str
    definition: str
    value: float
    ssl_family: str
    sl_family: str
    levels: tuple[int, ...]
    n_folds: int


@dataclass(frozen=True)
class Results:
    """The records of a study, by curve.

    Attributes
    ----------
    about : dict
        Data sets, in the paper's order.
    values : dict of Key -> {(L, fold): (score, test rows)}
    seconds : dict of (dataset, family, side) -> {(L, fold): (seconds, seconds of tuning)}
    settings : dict of (dataset, family) -> {(L, fold): chosen setting}
        Of the semi-supervised side.
    ks : tuple of int
        Neighbour counts of the judge, increasing; the last is the one for comparisons, as in the paper.
    """

    about: dict[str, About]
    values: dict[Key, dict[Cell, tuple[float, int]]]
    seconds: dict[tuple[str, str, str], dict[Cell, tuple[float, float]]]
    settings: dict[tuple[str, str], dict[Cell, dict[str, Any]]]
    ks: tuple[int, ...]

    @cached_property
    def ensembles(self) -> dict[tuple[str, str, str, str], str]:
        """(group, side, pool, score) -> the ensemble that stands for a forest score there.

        It is the one of the best average rank, of equal ones the faster (Def. 2.5). The paper's own data sets
        decide, where there are any.
        """
        chosen = {}
        for group in self.groups:
            names = self.names(group) or self.names(group, stand_ins=True)
            for side, pool, score in product(SIDES, POOLS, FOREST_SCORES):
                family = _best_ensemble(self, names, side, pool, score)
                if family is not None:
                    chosen[group, side, pool, score] = family
        return chosen

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(about.group for about in self.about.values()))

    def names(self, group: str | None = None, *, stand_ins: bool = False) -> tuple[str, ...]:
        """Data sets of a group (of all groups), the paper's own ones or all."""
        some = {n: about for n, about in self.about.items() if stand_ins or about.stand_in_for is None}
        return tuple(name for name, about in some.items() if group in (None, about.group))

    def selections(self) -> list[tuple[str, tuple[str, ...]]]:
        """Sets of data sets to average over: the paper's own by group, all of them, and with stand-ins."""
        found = []
        for group in self.groups:
            own, everything = self.names(group), self.names(group, stand_ins=True)
            found.append((group, own) if own else (f"{group} (stand-ins)", everything))
        own, everything = self.names(), self.names(stand_ins=True)
        found += [("all", own)] if own else []
        return found + ([("all with stand-ins", everything)] if len(everything) > len(own) else [])

    def shown_name(self, dataset: str) -> str:
        """A data set's name, marked if it stands in for another."""
        original = self.about[dataset].stand_in_for
        return dataset if original is None else f"{dataset} [stand-in for {original}]"

    def key(self, dataset: str, side: str, score: str, pool: str, k: int) -> Key:
        """The curve of a score, by the family that stands for it; only forests have a choice."""
        family = self.ensembles.get((self.about[dataset].group, side, pool, score), score)
        return Key(dataset, family, side, score, pool, k)

    def cells(self, dataset: str) -> set[Cell]:
        """The (L, fold) for which anything is known about a data set."""
        return {cell for key, curve in self.values.items() if key.dataset == dataset for cell in curve}

    def areas(self, keys: Sequence[Key]) -> tuple[np.ndarray, tuple[int, ...], int] | None:
        """Areas under several curves of one data set, with the L and the number of folds they rest on.

        Larger is better. They are over the cells that all curves have; None if there are none.
        """
        curves = [self.values.get(key, {}) for key in keys]
        cells = sorted(set.intersection(*map(set, curves)))
        if not cells:
            return None
        levels, n_folds = levels_and_folds(cells)
        sign = 1.0 if self.about[keys[0].dataset].greater_is_better else -1.0
        values = [sign * area(levels, level_means(curve, cells)) for curve in curves]
        return np.array(values), levels, n_folds

    def area_matrix(self, keys: Mapping[str, Sequence[Key]]) -> Matrix:
        """Areas for each data set (the mapping's names); a data set that lacks a curve is left out."""
        found = {name: self.areas(some) for name, some in keys.items()}
        return _matrix({name: areas and areas[0] for name, areas in found.items()})

    def ensemble_matrix(
        self, names: Iterable[str], families: Sequence[str], side: str, score: str, pool: str
    ) -> Matrix:
        """Areas of one forest score by several ensembles."""
        k = self.ks[-1]
        return self.area_matrix({n: [Key(n, f, side, score, pool, k) for f in families] for n in names})

    def quality_matrix(self, names: Iterable[str], columns: Sequence[tuple[str, str, str]]) -> Matrix:
        """Areas of the (side, score, pool) in `columns`, each by the ensemble chosen for it."""
        return self.area_matrix({n: [self.key(n, *column, self.ks[-1]) for column in columns] for n in names})

    def time_matrix(
        self, names: Iterable[str], families: Sequence[str], side: str, end: int | None = None
    ) -> Matrix:
        """Minus the mean seconds of each family over the cells of :meth:`time_cells`: larger is better."""
        rows: dict[str, np.ndarray | None] = {}
        for name in names:
            cells = self.time_cells(name, families, side, end)
            times = [self.seconds.get((name, family, side), {}) for family in families]
            rows[name] = -np.array([np.mean([t[c][0] for c in cells]) for t in times]) if cells else None
        return _matrix(rows)

    def time_cells(self, name: str, families: Sequence[str], side: str, end: int | None) -> list[Cell]:
        """Cells in which all families were timed; `end` = 0 or -1 keeps the smallest or largest L only."""
        times = [set(self.seconds.get((name, family, side), {})) for family in families]
        cells = sorted(set.intersection(*times)) if times else []
        return cells if end is None else [cell for cell in cells if cell[0] == cells[end][0]]

    def compared_everywhere(self, names: Iterable[str], of: str = "score") -> tuple[str, ...]:
        """Scores (or families, `of`="family") that occur in every group that the data sets belong to."""
        found: dict[str, set[str]] = {self.about[name].group: set() for name in names}
        for key in self.values:
            if key.dataset in names:
                found[self.about[key.dataset].group].add(getattr(key, of))
        everywhere = set.intersection(*found.values()) if found else set()
        return tuple(name for name in (SCORES if of == "score" else PAPER_FAMILIES) if name in everywhere)

    def differences(self, definition: str, k: int) -> list[Difference]:
        """Semi-supervised minus supervised, for all data sets and scores that have both."""
        found = []
        for name, about in self.about.items():
            for score in ("equal",) if definition == "pool" else SCORES:
                ssl, sl = (self.key(name, side, score, pool, k) for side, pool in DEFINITIONS[definition])
                if areas := self.areas([ssl, sl]):
                    what = (name, about.group, about.stand_in_for, score, definition)
                    value = float(areas[0][0] - areas[0][1])
                    found.append(Difference(*what, value, ssl.family, sl.family, *areas[1:]))
        return found


def collect(records: Iterable[Record], stand_ins: Mapping[str, str] | None = None) -> Results:
    """Sort records by curve.

    Parameters
    ----------
    records : iterable of Record
        Of one run; two values for the same thing are an error.
    stand_ins : mapping, optional
        Name of a data set that stands in for another -> the name of the other; by default what the registry
        says.
    """
    stand_ins = known_stand_ins() if stand_ins is None else stand_ins
    found = Results({}, {}, {}, {}, ())
    for r in records:
        key, cell = Key(r.dataset, r.family, r.side, r.score, r.pool, r.k), (r.n_labeled, r.fold)
        curve = found.values.setdefault(key, {})
        if cell in curve:
            raise ValueError(
                f"there are two records of {r.family} on {r.dataset} at L = {cell[0]}, fold {cell[1]}; "
                "pass the records of one preset and seed at a time."
            )
        curve[cell] = (r.value, r.n_test)
        found.about[r.dataset] = About(r.group, r.measure, r.greater_is_better, stand_ins.get(r.dataset))
        if r.family != "equal":
            found.seconds.setdefault((r.dataset, r.family, r.side), {})[cell] = r.seconds, r.tuning_seconds
            if r.side == "ssl":
                found.settings.setdefault((r.dataset, r.family), {})[cell] = json.loads(r.setting or "{}")
    about = dict(sorted(found.about.items(), key=_place))
    return replace(found, about=about, ks=tuple(sorted({key.k for key in found.values})))


def levels_and_folds(cells: Iterable[Cell]) -> tuple[tuple[int, ...], int]:
    """The numbers of labels L, increasing, and how many folds there are.

    Examples
    --------
    >>> levels_and_folds([(200, 0), (50, 0), (50, 1)])
    ((50, 200), 2)
    """
    cells = set(cells)
    return tuple(sorted({level for level, _ in cells})), len({fold for _, fold in cells})


def level_means(curve: Mapping[Cell, tuple[float, int]], cells: Iterable[Cell]) -> list[float]:
    """The score at each L of `cells`: the mean over folds, weighted by the number of test rows."""
    total: dict[int, float] = {}
    rows: dict[int, int] = {}
    for level, fold in sorted(cells):
        value, n_test = curve[level, fold]
        total[level] = total.get(level, 0.0) + value * n_test
        rows[level] = rows.get(level, 0) + n_test
    return [total[level] / rows[level] for level in total]


def _best_ensemble(results: Results, names: Sequence[str], side: str, pool: str, score: str) -> str | None:
    k = results.ks[-1]
    counts = [sum(Key(n, f, side, score, pool, k) in results.values for n in names) for f in ENSEMBLES]
    families = [f for f, count in zip(ENSEMBLES, counts) if count]
    matrix = results.ensemble_matrix(names, families, side, score, pool) if families else None
    if matrix is None or len(matrix.names) == 0:  # none, or no data set that has them all: the most frequent
        return ENSEMBLES[int(np.argmax(counts))] if any(counts) else None
    ranks = rank_rows(matrix.values).mean(axis=0)
    times = results.time_matrix(matrix.names, families, side)
    slow = rank_rows(times.values).mean(axis=0) if len(times.names) else np.zeros(len(families))
    return families[int(np.lexsort((slow.round(9), ranks.round(9)))[0])]


def _matrix(rows: Mapping[str, np.ndarray | None]) -> Matrix:
    kept = {name: row for name, row in rows.items() if row is not None}
    left_out = tuple(name for name in rows if name not in kept)
    return Matrix(tuple(kept), np.array(list(kept.values()), dtype=float), left_out)


def _place(item: tuple[str, About]) -> tuple[int, int, str]:
    """The paper's order; a stand-in comes where the data set it replaces would be."""
    name, about = item
    groups, names = ({key: i for i, key in enumerate(some)} for some in (HEADINGS, paper_names()))
    return groups.get(about.group, len(groups)), names.get(about.stand_in_for or name, len(names)), name
