"""Made-up records of a study, and the slow obvious twin of what its tables are computed from."""

from __future__ import annotations

import json
import random
from functools import cache

from semirank.study.records import Record

TASKS = {
    "classification": ("classification", "macro F1", True),
    "MLC": ("multi_label", "pooled AUPRC", True),
    "HMLC": ("hierarchical", "pooled AUPRC", True),
    "STR": ("regression", "RRMSE", False),
    "MTR": ("multi_target", "RRMSE", False),
}
ENSEMBLES = ["random_forest", "extra_trees", "bagging"]
FOREST_SCORES = ["genie3", "rforest", "symbolic"]


def make_records(datasets, *, n_folds=3, levels=(50, 200, 500), seed=0, keep=1.0):
    """Records of every method on `datasets` (name -> group); a share `keep` of the jobs is finished."""
    rng = random.Random(seed)
    found = []
    for dataset, group in datasets.items():
        task, measure, greater = TASKS[group]
        folds = 1 if group in ("MLC", "HMLC") else n_folds
        families = [*ENSEMBLES, "relief", "equal", *(["laplace"] if group == "STR" else [])]
        base = {family: rng.uniform(0.4, 0.6) for family in families}
        for fold in range(folds):
            n_test = rng.randint(20, 60)
            for level in levels:
                for family in families:
                    if rng.random() > keep:
                        continue
                    scores = FOREST_SCORES if family in ENSEMBLES else [family]
                    for side in ["ssl"] if family == "equal" else ["ssl", "sl"]:
                        setting = {}
                        if side == "ssl" and family in ENSEMBLES:
                            setting = {"w": rng.choice([0.0, 0.25, 0.5, 0.75, 1.0])}
                        if side == "ssl" and family == "relief":
                            setting = {
                                "k": rng.choice([15, 20, 30]),
                                "w0": 0.25,
                                "w1": rng.choice([0.5, 1.0]),
                            }
                        seconds, tuning = rng.uniform(0.1, 3), rng.uniform(1, 9)
                        for score in scores:
                            for pool in ["labelled", "all"]:
                                for k in [20, 40]:
                                    gain = level / 2500 + 0.05 * (pool == "all") * (group != "MTR")
                                    value = base[family] + (gain if greater else -gain) + rng.gauss(0, 0.02)
                                    job = (dataset, task, group, fold, level, level, n_test)
                                    ranking = (family, side, score, pool, k, measure, greater, value)
                                    cost = (seconds, tuning, json.dumps(setting))
                                    found.append(Record(*job, *ranking, *cost))
    rng.shuffle(found)
    return found


def chosen(records, **wanted):
    return [r for r in records if all(getattr(r, name) == value for name, value in wanted.items())]


def naive_areas(curves):
    """Areas, larger better, of lists of records over the (L, fold) that all of them have; None if none."""
    cells = [(r.n_labeled, r.fold) for r in curves[0]]
    cells = [c for c in cells if all(any((r.n_labeled, r.fold) == c for r in some) for some in curves)]
    if not cells:
        return None
    levels = sorted({level for level, _ in cells})
    areas = []
    for some in curves:
        points = []
        for level in levels:
            here = [r for r in some if r.n_labeled == level and (level, r.fold) in cells]
            points.append(sum(r.value * r.n_test for r in here) / sum(r.n_test for r in here))
        area = points[0] if len(levels) == 1 else 0.0
        for i in range(1, len(levels)):
            area += (levels[i] - levels[i - 1]) * (points[i] + points[i - 1]) / 2 / (levels[-1] - levels[0])
        areas.append(area if some[0].greater_is_better else -area)
    return areas


def naive_ranks(values):
    """1 + how many are better + half of how many others are equal."""
    return [
        1 + sum(w > v + 1e-10 for w in values) + (sum(abs(w - v) <= 1e-10 for w in values) - 1) / 2
        for v in values
    ]


def naive_mean_ranks(rows):
    rows = [naive_ranks(row) for row in rows if row is not None]
    return [sum(column) / len(rows) for column in zip(*rows)] if rows else None


class Twin:
    """Plain recomputation from records; `own` are the data sets (name -> group) that choose ensembles."""

    def __init__(self, records, own):
        self.records, self.own = records, own
        self.by_curve = {}
        for r in records:
            key = (r.dataset, r.family, r.side, r.score, r.pool, r.k)
            self.by_curve.setdefault(key, []).append(r)
        self.group = {r.dataset: r.group for r in records}

    def curve(self, dataset, family, side, score, pool, k):
        return self.by_curve.get((dataset, family, side, score, pool, k), [])

    def ensemble_areas(self, dataset, side, pool, score):
        return naive_areas([self.curve(dataset, family, side, score, pool, 40) for family in ENSEMBLES])

    def times(self, dataset, families, side, end=None):
        """Minus the mean seconds of each family over the cells of all, or those of the first or last L."""
        times = []
        for family in families:
            score = "genie3" if family in ENSEMBLES else family
            some = self.curve(dataset, family, side, score, "all", 40)
            times.append({(r.n_labeled, r.fold): r.seconds for r in some})
        cells = [cell for cell in times[0] if all(cell in some for some in times)]
        if cells and end is not None:
            level = min(cells)[0] if end == "first" else max(cells)[0]
            cells = [cell for cell in cells if cell[0] == level]
        return [-sum(some[cell] for cell in cells) / len(cells) for some in times] if cells else None

    @cache  # noqa: B019, a twin lives as long as its test
    def ensemble(self, group, side, pool, score):
        """The ensemble with the best average rank; of equal ones the faster, then the first in the list."""
        names = [name for name in self.own if self.own[name] == group]
        names = [name for name in names if self.ensemble_areas(name, side, pool, score) is not None]
        ranks = naive_mean_ranks([self.ensemble_areas(name, side, pool, score) for name in names])
        slow = naive_mean_ranks([self.times(name, ENSEMBLES, side) for name in names])
        return ENSEMBLES[min(zip(ranks, slow, range(3)))[2]]

    def chosen_curve(self, dataset, side, pool, score, k):
        family = score
        if score in FOREST_SCORES:
            family = self.ensemble(self.group[dataset], side, pool, score)
        return self.curve(dataset, family, side, score, pool, k)

    @cache  # noqa: B019
    def difference(self, dataset, score, definition, k=40):
        """Area of the semi-supervised side minus the supervised one."""
        sides = {
            "fair": [("ssl", "labelled"), ("sl", "labelled")],
            "paper": [("ssl", "all"), ("sl", "labelled")],
            "all": [("ssl", "all"), ("sl", "all")],
            "pool": [("ssl", "all"), ("ssl", "labelled")],
        }[definition]
        areas = naive_areas([self.chosen_curve(dataset, side, pool, score, k) for side, pool in sides])
        return None if areas is None else areas[0] - areas[1]
