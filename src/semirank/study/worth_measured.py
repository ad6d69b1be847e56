"""What the preset `worth` measures besides rankings: the teacher's loss, the value of subsets (Def. 2.6)."""

from __future__ import annotations

import json
import time
import warnings
from typing import TYPE_CHECKING

from .records import Record
from .worth_methods import FAMILIES, IN_SUBSETS, TEACHER

if TYPE_CHECKING:
    from ..data.table import Table
    from ..data.target import Target
    from ..evaluation.cells import Cell
    from ..teacher.teacher import Teacher
    from .job import Job


def measured_records(job: Job, cell: Cell, seed: int, digest: str) -> list[Record]:
    """The records of such a job."""
    measure = _teacher if job.family == TEACHER else _subsets
    about = (
        job.dataset,
        job.task,
        job.group,
        job.fold,
        job.n_labeled,
        job.n_labeled,
        len(cell.test),
        job.family,
    )
    return [
        Record(*about, side, score, "labelled", 0, words, greater, value, seconds, 0.0, json.dumps(setting))
        for side, score, words, greater, value, seconds, setting in measure(job, cell, seed, digest)
    ]


def fitted_teacher(table: Table, target: Target, seed: int) -> Teacher:
    """A teacher in the plain space, where that of the consensus takes its losses and weights from."""
    from ..teacher.teacher import Teacher

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about single fits
        return Teacher(random_state=seed, n_jobs=1).fit(table, target)


Measured = list[tuple[str, str, str, bool, float, float, dict]]


def _teacher(job: Job, cell: Cell, seed: int, digest: str) -> Measured:
    """Out-of-fold loss of the stack, 1 where it knows nothing; members and weights in the setting."""
    began = time.thread_time()
    teacher = fitted_teacher(cell.train, cell.labeled(job.n_labeled), seed)
    seconds = time.thread_time() - began
    parts = {name: float(f"{loss:.4g}") for name, loss in teacher.losses_.items() if name != "stack"}
    weights = {name: round(weight, 4) for name, weight in teacher.weights_.items()}
    setting = {"cell": digest, "losses": parts, "weights": weights}
    return [("ssl", "stack", "loss", False, float(teacher.losses_["stack"]), seconds, setting)]


def _subsets(job: Job, cell: Cell, seed: int, digest: str) -> Measured:
    """R2 of foreign models on the first features of a ranking, all training labels known to them."""
    from ..evaluation.ranking_judges import subset_value

    target = cell.labeled(job.n_labeled)
    found: Measured = []
    for family, side, score in IN_SUBSETS:
        importances, seconds = FAMILIES[family].rank(cell.train, target, seed)[side, score]
        for model, r2 in subset_value(importances, cell).items():
            found.append((side, f"{family} {model}", "R2", True, r2, seconds, {"cell": digest}))
    return found
