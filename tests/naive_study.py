"""Made-up records of a study, and the slow obvious twin of what its tables are computed from."""

from __future__ import annotations

import json
import random

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


def naive_areas(curves, greater):
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
        areas.append(area if greater else -area)
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


def naive_times(records, dataset, families, side):
    """Minus the mean seconds of each family over the cells that all of them have."""
    times = []
    for family in families:
        some = chosen(records, dataset=dataset, family=family, side=side)
        times.append({(r.n_labeled, r.fold): r.seconds for r in some})
    cells = [cell for cell in times[0] if all(cell in some for some in times)]
    return [-sum(some[cell] for cell in cells) / len(cells) for some in times] if cells else None


def naive_ensemble(records, datasets, side, pool, score, k=40):
    """The ensemble with the best average rank; of equal ones the faster."""
    here = [r for r in records if r.side == side and r.pool == pool and r.score == score and r.k == k]
    rows, times = [], []
    for name in datasets:
        curves = [chosen(here, dataset=name, family=family) for family in ENSEMBLES]
        areas = naive_areas(curves, curves[0][0].greater_is_better) if all(curves) else None
        if areas is not None:
            rows.append(areas)
            times.append(naive_times(records, name, ENSEMBLES, side))
    ranks, slow = naive_mean_ranks(rows), naive_mean_ranks(times)
    return min(zip(ranks, slow, ENSEMBLES))[2]


def naive_difference(records, datasets, dataset, score, definition, k):
    """Area of the semi-supervised side minus the supervised one; `datasets` is the group that chooses."""
    if definition == "pool":
        sides = [("ssl", "all"), ("ssl", "labelled")]
    else:
        ssl_pool = "labelled" if definition == "fair" else "all"
        sides = [("ssl", ssl_pool), ("sl", "all" if definition == "all" else "labelled")]
    curves = []
    for side, pool in sides:
        family = naive_ensemble(records, datasets, side, pool, score) if score in FOREST_SCORES else score
        wanted = {"dataset": dataset, "family": family, "side": side, "score": score, "pool": pool, "k": k}
        curves.append(chosen(records, **wanted))
    if not all(curves):
        return None
    areas = naive_areas(curves, curves[0][0].greater_is_better)
    return None if areas is None else areas[0] - areas[1]
