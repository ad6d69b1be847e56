"""What the study consists of: presets, the jobs of a data set, and the key of each job (Def. 2.5)."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..rankers.methods import ENSEMBLES, METHODS
from ..rankers.presets import preset_parameters

if TYPE_CHECKING:
    from ..datasets.registry import StudyData
    from ..judging.splits import Fold

# Part of every key: raise it when a change of the library changes all results, and all jobs are due again.
# What changes some of them belongs into the module `changes`.
RESULT_VERSION = 1

# The paper's methods and scores; those that were added to semirank later are no part of its experiment.
# Forests are told apart by their ensembles; their scores are in the order of the paper's tables.
FAMILIES = (*ENSEMBLES, "relief", "laplace")
FOREST_SCORES = ("genie3", "rforest", "symbolic")
SCORES = (*FOREST_SCORES, "relief", "laplace")
# "equal" is no ranking at all, every weight 1: what the judge's pool does on its own (Def. 2.2).
JOB_FAMILIES = (*FAMILIES, "equal")
SIDES = {"ssl": True, "sl": False}  # side -> use_unlabeled


# The rankers' settings in the preset `paper` are those of `semirank.rank(..., preset="paper")`.
_FOREST, _RELIEF = (preset_parameters("paper", method) for method in ("forest", "relief"))


@dataclass(frozen=True)
class Preset:
    """All numbers of a study.

    Attributes
    ----------
    name : str
    n_folds : int
        Where the data have no predefined test part.
    n_labeled : tuple of int
        The numbers of labels L; where one exceeds the data, everything is labelled (Def. 2.1).
    n_trees : int
        Of the forests that rank.
    rule : {"cv", "oob"}
        How w is chosen (Def. 1.5), among `levels`, by forests of `tuning_trees`.
    levels : tuple of float
    tuning_trees : int
    min_labeled : int
        Labelled rows that a node needs to be split; 0 grows trees fully.
    relief_neighbors : tuple of int
        k of Relief, chosen together with (w0, w1) out of `relief_influences`.
    relief_influences : tuple of (float, float)
    judge_k : tuple of int
        k of the judge.
    normalize_weights : bool
        Whether the weights in the impurity are divided by their sum; False is the paper's (Def. 1.2).

    Examples
    --------
    >>> PRESETS["quick"].n_labeled
    (50, 200, 500)
    """

    name: str
    n_folds: int
    n_labeled: tuple[int, ...]
    n_trees: int
    rule: str
    levels: tuple[float, ...]
    tuning_trees: int
    min_labeled: int
    relief_neighbors: tuple[int, ...] = _RELIEF["n_neighbors"]
    relief_influences: tuple[tuple[float, float], ...] = _RELIEF["influence"]
    judge_k: tuple[int, ...] = (20, 40)
    normalize_weights: bool = True

    def numbers(self) -> dict[str, Any]:
        """The numbers that tell stores and keys apart; `changes` sees to the form of the weights."""
        return {name: value for name, value in asdict(self).items() if name != "normalize_weights"}


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
WORTH = "worth"
PRESET_NAMES = (*PRESETS, WORTH)


class Study(NamedTuple):
    """What all jobs of a run share."""

    preset: Preset
    seed: int
    # Where the data are; None leaves the search to the registry.
    folder: Path | None


class Job(NamedTuple):
    """One data set, fold, number of labels and family of methods; independent of all others.

    Examples
    --------
    >>> job = Job("Digits", 2, 50, "relief", "classification", "classification", "sha256", "key", 1.0)
    >>> job.place, job.describe()
    (('Digits', 2, 50, 'relief'), 'Digits, fold 2, 50 labels, relief')
    """

    dataset: str
    fold: int
    n_labeled: int
    family: str
    task: str
    group: str
    sha256: str
    key: str
    # Estimated seconds.
    cost: float
    # What the store knows of it: "missing", "claimed", "done" or "failed", its seconds, and why it failed.
    state: str = "missing"
    job_seconds: float | None = None
    error: str | None = None

    @property
    def place(self) -> tuple[str, int, int, str]:
        """What the job is about, whatever the data and the numbers of the preset."""
        return self[:4]

    def describe(self) -> str:
        """The job in words."""
        return f"{self.dataset}, fold {self.fold}, {self.n_labeled} labels, {self.family}"


def stable_number(*parts: object) -> int:
    """A seed out of names and numbers, the same in every process and on every machine.

    Examples
    --------
    >>> stable_number(0, "Digits", 1), stable_number(0, "Digits", 2)
    (2003512734, 4204984054)
    """
    return int.from_bytes(digest_of(parts, 4), "big")


def find_preset(name: str) -> Preset:
    """The preset of that name."""
    if known_name(name, PRESET_NAMES, "preset") == WORTH:
        from .worth_plan import WORTH as preset

        return preset
    return PRESETS[name]


def find_families(names: Iterable[str], preset: str = "quick") -> tuple[str, ...]:
    """The families of these names, in the usual order; all of them where none is named."""
    if preset == WORTH:
        from .worth_plan import worth_families

        return worth_families(names)
    wanted = {known_name(name, JOB_FAMILIES, "method") for name in names}
    return tuple(family for family in JOB_FAMILIES if family in wanted or not wanted)


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
    if study.preset.name == WORTH:
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
    if study.preset.name == WORTH:
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


def known_name(name: str, known: Iterable[str], what: str) -> str:
    """A name that is one of those known; another is an error that names what there is."""
    from ..runtime.messages import did_you_mean

    known = tuple(known)
    if name not in known:
        near = did_you_mean(name, known)
        raise ValueError(f"There is no {what} {name!r}{near}; there are {', '.join(known)}.")
    return name


def digest_of(parts: object, size: int) -> bytes:
    """A digest of plain values, the same in every process and on every machine."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=size).digest()
