"""What the study consists of: presets, the jobs of a data set, and the key of each job (Def. 2.5)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from ..rankers.methods import ENSEMBLES, METHODS
from ..rankers.presets import preset_parameters
from .job import Job, Preset, Study, digest_of, known_name, stable_number

if TYPE_CHECKING:
    from ..datasets.registry import StudyData
    from ..judging.splits import Fold

# Part of every key: raise it when a change of the library changes all results, and all jobs are due again.
# A change that affects only some results belongs in the module `changes`.
RESULT_VERSION = 1

# The paper's methods and scores; those that were added to semirank later are no part of its experiment.
# Forests are told apart by their ensembles; their scores are in the order of the paper's tables.
PAPER_FAMILIES = (*ENSEMBLES, "relief", "laplace")
FOREST_SCORES = ("genie3", "rforest", "symbolic")
SCORES = (*FOREST_SCORES, "relief", "laplace")
# "equal" is no ranking at all, every weight 1: what the judge's pool does on its own (Def. 2.2).
JOB_FAMILIES = (*PAPER_FAMILIES, "equal")
SIDES = {"ssl": True, "sl": False}  # side -> use_unlabeled

# The forests of the preset `paper` are those of `semirank.rank(..., preset="paper")`.
_FOREST = preset_parameters("paper", "forest")
PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            name="paper",
            n_folds=10,
            n_labeled=(50, 100, 200, 350, 500),
            n_trees=_FOREST["n_estimators"],
            rule=_FOREST["supervision"],
            levels=_FOREST["supervision_grid"],
            tuning_trees=_FOREST["n_estimators"],
            min_labeled=_FOREST["min_labeled"],
            normalize_weights=_FOREST["normalize_weights"],
        ),
        Preset(
            name="quick",
            n_folds=3,
            n_labeled=(50, 200, 500),
            n_trees=50,
            rule="oob",
            levels=(0.0, 0.25, 0.5, 0.75, 1.0),
            tuning_trees=25,
            min_labeled=4,
        ),
    )
}
# Its numbers are in a module of its own: it judges rankings in another way (Def. 2.6).
WORTH_NAME = "worth"
PRESET_NAMES = (*PRESETS, WORTH_NAME)


def find_preset(name: str) -> Preset:
    """The preset of that name."""
    if known_name(name, PRESET_NAMES, "preset") == WORTH_NAME:
        from .worth_plan import WORTH

        return WORTH
    return PRESETS[name]


def find_families(names: Iterable[str], preset: str = "quick") -> tuple[str, ...]:
    """The families of these names, in the usual order; all of them where none is named."""
    if preset == WORTH_NAME:
        from .worth_plan import worth_families

        return worth_families(names)
    wanted = {known_name(name, JOB_FAMILIES, "method") for name in names}
    return tuple(family for family in JOB_FAMILIES if family in wanted or not wanted)


def left_out_families(preset: str) -> list[str]:
    """Which families cannot be run here though they belong to a preset, in words."""
    if preset != WORTH_NAME:
        return []
    from .worth_plan import absent_peers

    return absent_peers()


def folds_of(data: StudyData, study: Study) -> list[Fold]:
    """The splits of a data set: one for a predefined test part, else semi-supervised cross-validation."""
    from ..judging.splits import semi_supervised_folds

    n_rows = len(data.dataset.X)
    return semi_supervised_folds(
        data.dataset.target,
        study.preset.n_folds,
        study.preset.n_labeled,
        test=None if data.n_train is None else list(range(data.n_train, n_rows)),
        random_state=stable_number(study.seed, data.entry.name, "folds"),
    )


def fits(family: str, task: str) -> bool:
    """Whether a family is run for a task. Laplace is for regression only, as in the paper.

    Examples
    --------
    >>> fits("laplace", "regression"), fits("laplace", "multi_target"), fits("equal", "multi_target")
    (True, False, True)
    """
    return family not in METHODS or METHODS[family].task in ("", task)


def jobs_of(data: StudyData, study: Study, families: Sequence[str] = JOB_FAMILIES) -> list[Job]:
    """The jobs of one data set."""
    if study.preset.name == WORTH_NAME:
        from .worth_plan import worth_jobs

        return worth_jobs(data, study, families)
    name, task, group, sha256 = data.entry.name, data.dataset.target.task, data.entry.group, data.sha256
    folds = folds_of(data, study)
    found = []
    for family in families:
        if fits(family, task):
            cost = job_cost(data, len(folds), family, study.preset)
            for number, fold in enumerate(folds):
                for n_labeled, changes in _changes(data, number, fold, family, study).items():
                    key = job_key(name, sha256, number, n_labeled, family, study, changes)
                    found.append(Job(name, number, n_labeled, family, task, group, sha256, key, cost))
    return found


def job_order(job: Job, study: Study) -> tuple[Any, ...]:
    """The place of a job in a run.

    An unfinished run covers many data sets; the jobs of one data set and family stay together.
    """
    if study.preset.name == WORTH_NAME:
        from .worth_plan import worth_order

        return worth_order(job, study)
    return job.cost, job.place


def _changes(
    data: StudyData, number: int, fold: Fold, family: str, study: Study
) -> dict[int, tuple[str, ...]]:
    """For every number of labels, the changes of definitions that the job's results show."""
    from .changes import changes_for_forests, changes_for_relief

    found: tuple[str, ...] = ()
    if family == "relief":
        seeds = {n: stable_number(study.seed, data.entry.name, number, n, family) for n in fold.labeled}
        return changes_for_relief(data.dataset.X, data.dataset.target, fold, seeds)
    if family in ENSEMBLES:
        found = changes_for_forests(data.dataset.target.task, study.preset.normalize_weights)
    return dict.fromkeys(fold.labeled, found)


def judged_values(family: str, preset: Preset) -> set[tuple[str, str, str, int]]:
    """What a finished job has a value for: (side, score, pool, k).

    Examples
    --------
    >>> sorted(judged_values("equal", PRESETS["quick"]))[0], len(judged_values("bagging", PRESETS["quick"]))
    (('ssl', 'equal', 'all', 20), 24)
    """
    from ..judging.knn_judge import POOLS

    sides = ("ssl",) if family == "equal" else tuple(SIDES)
    scores = FOREST_SCORES if family in ENSEMBLES else (family,)
    return set(product(sides, scores, POOLS, preset.judge_k))


def job_key(
    name: str,
    sha256: str,
    fold: int,
    n_labeled: int,
    family: str,
    study: Study,
    changes: Sequence[str] = (),
) -> str:
    """A digest of everything that the results of a job depend on."""
    numbers = study.preset.numbers()
    del numbers["name"]
    about = [RESULT_VERSION, name, sha256, fold, n_labeled, family, study.seed, numbers]
    return digest_of([*about, *changes], 16).hex()


def job_cost(data: StudyData, n_folds: int, family: str, preset: Preset) -> float:
    """About the seconds of a job on one core; what counts is the order of magnitude.

    Forests: trees x levels of a tree x rows x (candidate features and columns of the impurity), the columns
    of numbers being almost free; the others: pairs of rows x features.
    """
    target, n_values = data.dataset.target, data.dataset.X.n_values
    n, d = data.dataset.X.shape
    if n_folds > 1:
        n -= n // n_folds
    if family not in ENSEMBLES:
        start, pair = _PAIRS[family]
        return start + pair * n * n * (d + 50)
    candidates = math.sqrt(d) if family == "random_forest" else d
    # Of the target (classes, numbers, labels) and of nominal features with more than two values.
    n_columns = (target.n_classes or target.values.shape[1]) + int(n_values[n_values > 2].sum())
    step = 1e-6 + 1.5e-8 * n_columns + _CANDIDATE[family] * candidates
    repeats = 4 if preset.rule == "cv" else 1
    trees = preset.n_trees + len(preset.levels) * repeats * preset.tuning_trees
    return step * trees * n * math.log2(n)


# Measured on CHEMBL2973, Gasch1, Emotions and Digits (forests), and on some forty data sets (the others).
_CANDIDATE = {"random_forest": 5e-8, "extra_trees": 2e-8, "bagging": 4e-8}
_PAIRS = {"relief": (0.3, 2e-9), "laplace": (0.03, 2e-9), "equal": (0.02, 3e-10)}
