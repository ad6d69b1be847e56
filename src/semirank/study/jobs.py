"""One job: rank with and without the unlabelled rows, judge both (Def. 2.1, 2.2)."""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..data.tasks import TASKS
from ..datasets.registry import StudyData, open_dataset
from ..judging.knn_judge import POOLS, judge_rankings
from ..judging.splits import Fold
from .job import Job, Preset, Study, stable_number
from .plan import SIDES, folds_of
from .rankings import JobRanking
from .records import Record

_SAMPLE = 60  # rows of each kind in the small ranking that loads the kernels
_prepared: set[tuple[str, str]] = set()


class Timed(NamedTuple):
    """Importances by the name of the score, and what they took."""

    scores: dict[str, np.ndarray]
    # Processor time of this thread, the only one of a job: other work on the machine does not count.
    seconds: float
    tuning_seconds: float
    setting: dict[str, float]


def prepare_job(job: Job, study: Study) -> None:
    """What only the first job of a kind in a process needs: read the data, load or compile the kernels.

    A few rows are ranked to load the kernels, so that no job's time includes that.
    """
    if (job.dataset, job.family) in _prepared:
        return
    train, target, _, _ = _parts(job, study)
    labeled = target.labeled
    rows = np.concatenate([np.flatnonzero(part)[:_SAMPLE] for part in (labeled, ~labeled)])
    small = replace(study.preset, n_trees=2, tuning_trees=2, levels=(0.5,))
    train, target = train.take(rows), target.take(rows)
    rank_both(job.family, train, target, small, 0)
    for pool in POOLS:
        judge_rankings(np.ones(train.shape[1]), train, target, train, target, small.judge_k, pool, 1)
    _prepared.add((job.dataset, job.family))


class Result(NamedTuple):
    """What a job found."""

    records: list[Record]
    rankings: list[JobRanking]


def run_job(job: Job, study: Study) -> Result:
    """Rank and judge; apart from the seconds, the result depends on the arguments and the data alone."""
    parts = _parts(job, study)
    train, train_target, test, _ = parts
    seed = stable_number(study.seed, *job.place)
    found = rank_both(job.family, train, train_target, study.preset, seed)
    names = [(side, score) for side, ranked in found.items() for score in ranked.scores]
    rankings = np.stack([found[side].scores[score] for side, score in names])
    task = TASKS[train_target.task]
    n_labels = int(train_target.labeled.sum())
    about = (job.dataset, task.name, job.group, job.fold, job.n_labeled, n_labels, len(test), job.family)
    records = []
    for pool in POOLS:
        judged = judge_rankings(rankings, *parts, study.preset.judge_k, pool, 1)
        if not np.isfinite(judged).all():
            raise ValueError(f"The judge gave {judged[~np.isfinite(judged)][0]} for a ranking.")
        for (side, score), values in zip(names, judged.tolist()):
            ranked = found[side]
            took = (ranked.seconds, ranked.tuning_seconds, json.dumps(ranked.setting, sort_keys=True))
            for k, value in zip(study.preset.judge_k, values):
                judge = (pool, k, task.measure, task.greater_is_better, value)
                records.append(Record(*about, side, score, *judge, *took))
    kept = [JobRanking(*name, scores) for name, scores in zip(names, rankings) if job.family != "equal"]
    return Result(records, kept)


def rank_both(family: str, table: Table, target: Target, preset: Preset, seed: int) -> dict[str, Timed]:
    """The rankings of a family for each side; those without unlabelled rows see the labelled ones alone."""
    if family == "equal":
        return {"ssl": Timed({"equal": np.ones(table.shape[1])}, 0.0, 0.0, {})}
    rank = {"relief": _relief, "laplace": _laplace}.get(family, partial(_forest, family))
    with warnings.catch_warnings():
        # Warnings about single fits (too few labels to tune with) show in the settings.
        warnings.simplefilter("ignore", UserWarning)
        return {side: rank(table, target, unlabeled, preset, seed) for side, unlabeled in SIDES.items()}


def _forest(family: str, table: Table, target: Target, unlabeled: bool, preset: Preset, seed: int) -> Timed:
    from ..rankers.forest_supervision import choose_supervision
    from ..trees.ensemble import forest_plan, forest_scores, grow_forest, prepare

    began = time.thread_time()
    if not unlabeled:
        labeled = target.labeled
        table, target = table.take(labeled), target.take(labeled)
    n_features = table.shape[1]
    plan = forest_plan(family, n_features, n_trees=preset.n_trees, seed=seed, min_labeled=preset.min_labeled)
    data = prepare(table, normalize_weights=preset.normalize_weights)
    prepared = time.thread_time()
    w = 1.0
    if unlabeled:
        small = plan._replace(n_trees=preset.tuning_trees)
        # The importance plays no part: these rules compare predictions of the forests.
        found = choose_supervision(preset.rule, "genie3", data, target, small, levels=preset.levels, n_jobs=1)
        w = found.supervision
    tuned = time.thread_time()
    forest = grow_forest(data, target, w, plan, out_of_bag=["rforest"], n_jobs=1)
    scores = forest_scores(forest)[0]
    # Without a labelled out-of-bag row the damage is unknown, and no importance is positive.
    scores.setdefault("rforest", np.zeros(n_features))
    seconds = (prepared - began) + (time.thread_time() - tuned)
    return Timed(scores, seconds, tuned - prepared if unlabeled else 0.0, {"w": w})


def _relief(table: Table, target: Target, unlabeled: bool, preset: Preset, seed: int) -> Timed:
    from ..rankers.relief import relief_scores

    rank = partial(relief_scores, table, target, use_unlabeled=unlabeled, seed=seed, n_jobs=1)
    began = time.thread_time()
    chosen = rank(n_neighbors=preset.relief_neighbors, influence=preset.relief_influences)
    tuned = time.thread_time()
    # Again with the setting fixed: all settings share one search, so its time cannot be told from the first.
    found = rank(n_neighbors=[chosen.n_neighbors], influence=[chosen.influence])
    w0, w1 = chosen.influence
    setting = {"k": chosen.n_neighbors} | ({"w0": w0, "w1": w1} if unlabeled else {})
    return Timed({"relief": found.importances}, time.thread_time() - tuned, tuned - began, setting)


def _laplace(table: Table, target: Target, unlabeled: bool, preset: Preset, seed: int) -> Timed:
    from ..rankers.laplace import laplace_scores

    began = time.thread_time()
    scores = laplace_scores(table, target, use_unlabeled=unlabeled, n_jobs=1)
    return Timed({"laplace": scores}, time.thread_time() - began, 0.0, {})


def _parts(job: Job, study: Study) -> tuple[Table, Target, Table, Target]:
    data = data_of(job, study)
    fold = _folds(job.dataset, study)[job.fold]
    return fold.parts(data.dataset.X, data.dataset.target, job.n_labeled)


def data_of(job: Job, study: Study) -> StudyData:
    """The data set of a job, which must be the one that it was planned for."""
    data = opened_data(job.dataset, study.folder)
    if data.sha256 != job.sha256:
        raise ValueError(f"The files of {job.dataset} changed while the study was running; start it again.")
    return data


# A process keeps the last two data sets.
opened_data = lru_cache(maxsize=2)(open_dataset)


@lru_cache(maxsize=2)
def _folds(name: str, study: Study) -> list[Fold]:
    return folds_of(opened_data(name, study.folder), study)
