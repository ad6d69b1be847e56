"""One job of the preset `worth`: a reference, or the rankings of a method from some labels (Def. 2.6)."""

from __future__ import annotations

import json
import time
from functools import lru_cache

import numpy as np

from ..data.tasks import TASKS
from ..evaluation.cells import Cell, draw_cell
from .job import Job, Study, stable_number
from .jobs import Result, data_of, opened_data
from .rankings import Rankings
from .records import Record
from .worth_measured import fitted_teacher, measured_records
from .worth_methods import FAMILIES, FAMILY, FOREIGN, MEASURED, SUBSETS, TEACHER, rank_reference
from .worth_plan import WorthPreset, judge_k

PARTS = 1_000_000  # importances are kept as whole parts of the sum of their sizes
DIGITS = 6  # of references
_DIGEST = 16  # characters that tell cells apart
_SAMPLE = 60  # rows of each kind in the small ranking that loads the kernels
_prepared: set[tuple[str, str]] = set()


def prepare_worth_job(job: Job, study: Study) -> None:
    """What only the first job of a kind in a process needs: read the data, load or compile the kernels."""
    cell = _cell(job, study)
    if job.family == FOREIGN or (job.dataset, job.family) in _prepared:
        return
    target = cell.labeled(min(_SAMPLE, len(cell.order)))
    rows = np.sort(cell.order[: 2 * _SAMPLE])
    ranks = {FAMILY: rank_reference, TEACHER: fitted_teacher, SUBSETS: FAMILIES["consensus"].rank}
    rank = ranks.get(job.family) or FAMILIES[job.family].rank
    rank(cell.train.take(rows), target.take(rows), 0)
    _prepared.add((job.dataset, job.family))


def run_worth_job(job: Job, study: Study) -> Result:
    """Rank; the result depends on the arguments and the data alone, but for the seconds.

    The importances are in the records, since a cell has not all features of its data set.
    """
    cell = _cell(job, study)
    if job.family == FOREIGN:
        return Result(_reference_records(job, cell), [])
    if job.family == FAMILY:  # a seed of its own: no ranking is held against itself
        seed = stable_number(study.seed, job.dataset, job.fold, FAMILY)
        found = rank_reference(cell.train, cell.labeled(job.n_labeled), seed)
    else:  # the methods share their seed, so that rankers on labelled rows are the same in all
        seed = stable_number(study.seed, job.dataset, job.fold, job.n_labeled)
        if job.family in MEASURED:
            return Result(measured_records(job, cell, seed, cell.digest[:_DIGEST]), [])
        found = FAMILIES[job.family].rank(cell.train, cell.labeled(job.n_labeled), seed)
    return Result(_ranking_records(job, cell, found), [])


def _reference_records(job: Job, cell: Cell) -> list[Record]:
    """One record for each model of a foreign reference: its R2 and, in the setting, the importances."""
    from ..evaluation.references import foreign_reference

    began = time.thread_time()
    reference = foreign_reference(cell)
    seconds = time.thread_time() - began
    records = []
    for model, r2 in reference.r2.items():
        shares = [float(f"{share:.{DIGITS}g}") for share in reference.importances[model].tolist()]
        records.append(_record(job, cell, ("sl", model), ("R2", True, r2), seconds, shares))
    return records


def _ranking_records(job: Job, cell: Cell, found: Rankings) -> list[Record]:
    """One record for each ranking: the score of the fair judge and, in the setting, the importances."""
    from ..evaluation.ranking_judges import fair_knn

    task = TASKS[cell.train_target.task]
    judged = fair_knn(np.stack([scores for scores, _ in found.values()]), cell, job.n_labeled)
    records = []
    for ((side, score), (importances, seconds)), value in zip(found.items(), judged.tolist()):
        if not (np.isfinite(importances).all() and np.isfinite(value)):
            raise ValueError(f"{side} {score}: the ranking or its score is not finite.")
        judged_as = (task.measure, task.greater_is_better, task.sign * value)
        records.append(_record(job, cell, (side, score), judged_as, seconds, as_parts(importances)))
    return records


def _record(
    job: Job, cell: Cell, name: tuple[str, str], judged: tuple[str, bool, float], seconds: float, parts: list
) -> Record:
    """A ranking: side and score, what it was judged, and the importances with the cell they belong to."""
    about = (job.dataset, job.task, job.group, job.fold, job.n_labeled, job.n_labeled, len(cell.test))
    setting = json.dumps({"cell": cell.digest[:_DIGEST], "importances": parts})
    which = (job.family, *name, "labelled", judge_k(job))
    return Record(*about, *which, *judged, seconds, 0.0, setting)


def as_parts(importances: np.ndarray) -> list[int]:
    """Importances as whole parts per million of the sum of their sizes; short, and enough for an order.

    Examples
    --------
    >>> as_parts(np.array([3.0, -1.0, 0.0]))
    [750000, -250000, 0]
    """
    total = np.abs(importances).sum()
    return np.round(PARTS * importances / (total if total > 0 else 1.0)).astype(int).tolist()


def _cell(job: Job, study: Study) -> Cell:
    data_of(job, study)
    return _drawn(job.dataset, job.fold, study)


@lru_cache(maxsize=2)
def _drawn(name: str, fold: int, study: Study) -> Cell:
    preset = study.preset
    assert isinstance(preset, WorthPreset)
    dataset = opened_data(name, study.folder).dataset
    # Another seed of the study has other cells.
    seed = study.seed * preset.n_folds + fold
    return draw_cell(
        name, dataset.X, dataset.target, seed, max_rows=preset.max_rows, max_labels=preset.max_labels
    )
