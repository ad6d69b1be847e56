"""The plan of the preset `worth`: references and rankings of every data set, seed and L (Def. 2.6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..evaluation.cells import MAX_LABELS, MAX_ROWS, half, label_counts, n_training_rows
from .job import Job, Preset, Study, digest_of, known_name
from .worth_methods import (
    FAMILIES,
    FAMILY,
    FOREIGN,
    IN_SUBSETS,
    LABEL_ONLY,
    MEASURED,
    REFERENCES,
    SUBSET_LEVELS,
    SUBSETS,
    USUAL,
    WORTH_FAMILIES,
)
from .worth_peers import missing_peers

if TYPE_CHECKING:
    from ..datasets.registry import StudyData

# Part of the keys of this preset: raise it when a change makes all its results due again.
WORTH_VERSION = 1
REFERENCE_VERSION = 1
MEASURED_VERSION = 1
FIRST_LEVELS, FIRST_SEEDS = 100, 2  # a run that may not come to its end begins with these


@dataclass(frozen=True)
class WorthPreset(Preset):
    """The numbers of this study; `n_folds` seeds, each of which draws a cell of its own from the data."""

    max_rows: int = MAX_ROWS
    max_labels: int = MAX_LABELS

    def numbers(self) -> dict[str, Any]:
        """What tells stores and keys apart: more seeds or numbers of labels leave finished jobs done."""
        return {"name": self.name, "max_rows": self.max_rows, "max_labels": self.max_labels}


WORTH = WorthPreset(
    name="worth",
    n_folds=5,
    n_labeled=(50, 100, 200, 400),
    n_trees=100,
    rule="fixed",
    levels=(0.5,),
    tuning_trees=0,
    min_labeled=4,
)


def worth_families(names: Iterable[str]) -> tuple[str, ...]:
    """The families of these names, in the usual order; all but the value of subsets where none is named.

    Families of packages that are not installed are left out (`absent_peers` says which) or, if they are
    named, refused.

    Examples
    --------
    >>> worth_families(["label_only", "consensus"])
    ('consensus', 'label_only')
    """
    named = {known_name(name, WORTH_FAMILIES, "method") for name in names}
    absent = missing_peers()
    if lacking := [name for name in named if name in absent]:
        raise ValueError(_absence(min(lacking), absent[min(lacking)]) + ".")
    wanted = named or set(USUAL) - set(absent)
    return tuple(family for family in WORTH_FAMILIES if family in wanted)


def absent_peers() -> list[str]:
    """Which families are left out where none is named, in words."""
    return [f"left out: {_absence(name, package)}" for name, package in missing_peers().items()]


def _absence(name: str, package: str) -> str:
    return f"{name} needs {package.replace('_', '-')}, which is not installed (pip install 'semirank[peers]')"


def worth_jobs(data: StudyData, study: Study, families: Sequence[str]) -> list[Job]:
    """The jobs of one data set."""
    preset = study.preset
    assert isinstance(preset, WorthPreset)
    target = data.dataset.target
    n_train = n_training_rows(target, max_rows=preset.max_rows, max_labels=preset.max_labels)
    found = []
    for family in families:
        counts = family_counts(family, target.task, n_train, preset.n_labeled)
        for seed in range(study.preset.n_folds):
            found += [_job(data, study, family, seed, n, n_train) for n in counts]
    return found


def family_counts(family: str, task: str, n_train: int, levels: Iterable[int]) -> list[int]:
    """The numbers of labels at which a family is due on a data set.

    A reference has all training labels. The label-only consensus is due at every number of labels of a curve,
    other methods at each L that leaves at least half of the training rows unlabelled; some methods at some L
    or for some tasks only.

    Examples
    --------
    >>> family_counts("label_only", "regression", 300, (50, 100, 200))
    [25, 50, 100, 200, 300]
    >>> family_counts("relief", "regression", 300, (50, 100, 200))
    [50, 100]
    >>> family_counts("judge", "regression", 300, (50, 100, 200))
    [100]
    >>> family_counts("laplace", "classification", 300, (50, 100, 200))
    []
    """
    levels = list(levels)
    due = due_counts(n_train, levels)
    if family in REFERENCES:
        return [n_train] if due else []
    if family == LABEL_ONLY:
        return list(due)
    only: Sequence[int] = SUBSET_LEVELS if family == SUBSETS else ()
    if family in FAMILIES:
        only = FAMILIES[family].levels
        if not FAMILIES[family].fits(task):
            return []
    return [n for n in due if n in levels and (not only or n in only) and 2 * n <= n_train]


def due_counts(n_train: int, levels: Iterable[int]) -> dict[int, int]:
    """Every number of labels on the curves around the given L, with the least L that needs it.

    Examples
    --------
    >>> due_counts(300, (50, 100, 200))
    {25: 50, 50: 50, 100: 50, 200: 50, 300: 100}
    """
    found: dict[int, int] = {}
    for level in sorted(levels):
        for n in label_counts(n_train, level):
            found.setdefault(n, level)
    return dict(sorted(found.items()))


def _job(data: StudyData, study: Study, family: str, seed: int, n_labeled: int, n_train: int) -> Job:
    name, sha256 = data.entry.name, data.sha256
    key = worth_key(name, sha256, seed, n_labeled, family, study.seed, study.preset)
    cost = _cost(family, n_labeled, n_train, data.dataset.X.shape[1])
    task, group = data.dataset.target.task, data.entry.group
    return Job(name, seed, n_labeled, family, task, group, sha256, key, cost)


def worth_key(
    name: str, sha256: str, seed: int, n_labeled: int, family: str, study_seed: int, preset: Preset
) -> str:
    """A digest of everything that the results of a job depend on."""
    version: int | list[int] = FAMILIES[family].version if family in FAMILIES else MEASURED_VERSION
    if family == SUBSETS:  # the rankings whose first features are handed to models
        version = [MEASURED_VERSION, *(FAMILIES[name].version for name, *_ in IN_SUBSETS)]
    version = REFERENCE_VERSION if family in REFERENCES else version
    about = [WORTH_VERSION, name, sha256, seed, n_labeled, family, version, study_seed]
    return digest_of([*about, preset.numbers()], 16).hex()


def is_current(job: Job, study_seed: int) -> bool:
    """Whether a job of a store is of the version of its method that this code has."""
    if job.family not in WORTH_FAMILIES:
        return False
    return job.key == worth_key(
        job.dataset, job.sha256, job.fold, job.n_labeled, job.family, study_seed, WORTH
    )


def worth_order(job: Job, study: Study) -> tuple[Any, ...]:
    """The place of a job in a run that may not come to its end.

    First two seeds, which a worth needs, at L = 50, then 100; then the other seeds; larger L and the rest
    after that. Of each, first foreign references and the consensus with and without unlabelled rows, then
    random forests, Relief, the peers and the controls, the half on which settings are chosen before the
    other.
    """
    levels = study.preset.n_labeled
    if job.family in REFERENCES:
        level, stage = min(levels), 0 if job.family == FOREIGN else 2
    else:
        # A number of labels on a curve comes with the least L whose curve reaches that far.
        level = next((n for n in sorted(levels) if job.n_labeled <= 4 * n), max(levels))
        level = level if job.family == LABEL_ONLY else job.n_labeled
        stage = MEASURED[job.family] if job.family in MEASURED else FAMILIES[job.family].stage
        stage = stage if level <= FIRST_LEVELS else max(stage, 4)
    return (
        stage > 3,
        job.fold >= FIRST_SEEDS,
        level,
        stage,
        half(job.dataset) != "choosing",
        job.fold,
        job.dataset,
        WORTH_FAMILIES.index(job.family),
        job.n_labeled,
    )


def worth_values(job: Job) -> set[tuple[str, str, str, int]]:
    """What a finished job has a value for: (side, score, pool, k)."""
    from .worth_methods import ranking_names

    return {(side, score, "labelled", judge_k(job)) for side, score in ranking_names(job.family)}


def judge_k(job: Job) -> int:
    """Neighbours of the fair judge; 0 where the values are not its scores."""
    from ..judging.knn_judge import judge_neighbors

    return 0 if job.family in (FOREIGN, *MEASURED) else judge_neighbors(job.n_labeled)


def _cost(family: str, n_labeled: int, n_train: int, n_features: int) -> float:
    """About the seconds of a job on one core, as measured on some twenty data sets."""
    if family == FOREIGN:
        return 2.0 + 0.02 * n_features
    rows = n_labeled if family in (LABEL_ONLY, FAMILY) else n_train
    return 0.3 + 2e-6 * rows * (n_features + 400)
