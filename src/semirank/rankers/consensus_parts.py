"""What a consensus is made of: several rankers on the same rows, each score as a share (Def. 1.10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ..data.table import Table
from ..data.target import Target
from ..results.shares import as_shares
from ..runtime.messages import did_you_mean
from ..runtime.progress import Progress
from ..teacher.completion import student_target
from ..trees.scores import target_score
from .forest import ForestRanker
from .relief import ReliefRanker
from .taught import as_seen_by, at_names, check_ranker, column_names, prepared

GENIE3 = "genie3_oob"  # the form of genie3 that takes part
FOREST_SCORES = (GENIE3, "rforest")
RANKERS = ("random_forest", "extra_trees", "relief")
N_TREES = 300
# On a completed target, which has many more rows.
N_STUDENT_TREES = 50
STUDENT_LEAF = 5
MAX_CANDIDATES = 128  # random tests per node of extra trees: more cost time on wide data, and gain nothing
N_VISITED = 2000  # rows that Relief visits
LABELED_WEIGHT = 1 / 3  # of the label-only part; the rest is said of all rows


class Entry(NamedTuple):
    """A ranker that takes part: as it is on labelled rows, and as a student on the completed target."""

    name: str
    labeled: Any
    student: Any


class Part(NamedTuple):
    """What several rankers say about the same rows.

    Attributes
    ----------
    shares, errors : dict of str to ndarray of shape (n_features,)
        Every score once, and its standard error where there is one.
    of : dict of str to str
        The ranker that a score comes from.
    per_column : ndarray of shape (n_features, n_columns) or None
        What `ranking` gives, for each target column alone, over the rankers that have such scores.
    divisor : ndarray of shape (n_features,)
        How many features share what the rankers say of each.
    """

    shares: dict[str, np.ndarray]
    errors: dict[str, np.ndarray]
    of: dict[str, str]
    per_column: np.ndarray | None
    divisor: np.ndarray

    def mean(self) -> np.ndarray:
        """The mean share of every feature, each as if it were alone: how much it counts in a space."""
        return np.mean(list(self.shares.values()), axis=0)

    def ranking(self) -> np.ndarray:
        """The mean shares divided among copies, as shares."""
        return as_shares(self.mean() / self.divisor)

    def ranking_error(self) -> np.ndarray:
        """The standard error of `ranking`, of the scores that have one.

        Scores of one ranker share their trees, so their errors are added; those of different rankers are
        independent, so their squares are.
        """
        if not self.errors:
            return np.full(len(self.mean()), np.nan)
        total = {self.of[score]: np.zeros(len(error)) for score, error in self.errors.items()}
        for score, error in self.errors.items():
            total[self.of[score]] += np.nan_to_num(error)
        error = np.sqrt(np.sum(np.square(list(total.values())), axis=0)) / len(self.shares)
        return error / self.divisor / np.sum(self.mean() / self.divisor)


def read_rankers(rankers: Any, n_features: int, owner: str) -> list[Entry]:
    """Names and rankers as given, each with a name of its own."""
    if isinstance(rankers, str) or not isinstance(rankers, Sequence):
        raise TypeError(
            f"rankers={rankers!r} is no list; give names out of {', '.join(RANKERS)}, or rankers."
        )
    if len(rankers) == 0:
        raise ValueError(f"rankers is empty; name at least one of {', '.join(RANKERS)}, or give a ranker.")
    out: list[Entry] = []
    for ranker in rankers:
        if isinstance(ranker, str):
            if ranker not in RANKERS:
                near = did_you_mean(ranker, RANKERS)
                raise ValueError(f"rankers holds {ranker!r}{near}; its names are {', '.join(RANKERS)}.")
            entry = _named(ranker, n_features)
        else:
            check_ranker(ranker, owner)
            entry = Entry(_name(ranker), ranker, ranker)
        same = sum(other.name.rsplit("_#", 1)[0] == entry.name for other in out)
        if same and isinstance(ranker, str):
            raise ValueError(f"rankers names {ranker!r} twice; name it once.")
        out.append(entry._replace(name=f"{entry.name}_#{same + 1}") if same else entry)
    return out


def _named(name: str, n_features: int) -> Entry:
    if name == "relief":
        relief = ReliefRanker(n_iterations=N_VISITED)
        return Entry(name, relief, relief)
    options: dict[str, Any] = {"ensemble": name, "importance": FOREST_SCORES}
    if name == "extra_trees":
        options["max_features"] = min(n_features, MAX_CANDIDATES)
    labeled = ForestRanker(n_estimators=N_TREES, **options)
    student = ForestRanker(n_estimators=N_STUDENT_TREES, min_samples_leaf=STUDENT_LEAF, **options)
    return Entry(name, labeled, student)


def _name(ranker: Any) -> str:
    if isinstance(ranker, ForestRanker):
        return str(ranker.ensemble)
    return type(ranker).__name__.removesuffix("Ranker").lower()


def score_names(ranker: Any) -> tuple[str, ...]:
    """The importances of a fitted ranker that were asked for."""
    if isinstance(ranker, ForestRanker):
        asked = ranker.importance
        return (asked,) if isinstance(asked, str) else tuple(dict.fromkeys(asked))
    return tuple(ranker.importances_)


def fit_part(
    entries: list[Entry],
    table: Table,
    target: Target,
    known: Target | None,
    divisor: np.ndarray,
    seed: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> Part:
    """Fit all rankers on these rows.

    Parameters
    ----------
    entries : list of Entry
    table, target : Table, Target
        Every row is labelled.
    known : Target, optional
        For students: the target before it was completed. None for labelled rows.
    divisor : ndarray of shape (n_features,)
        How many features share what the rankers say of each.
    seed : int
    n_jobs : int, optional
    progress : callable, optional
    """
    prefix = "labeled" if known is None else "taught"
    shares: dict[str, np.ndarray] = {}
    errors: dict[str, np.ndarray] = {}
    of: dict[str, str] = {}
    columns = []
    for number, entry in enumerate(entries):
        ranker = entry.labeled if known is None else entry.student
        place = [seed, number, 0 if known is None else 1]
        own_seed = int(np.random.default_rng(place).integers(np.iinfo(np.int32).max))
        fitted = prepared(ranker, own_seed, n_jobs, use_unlabeled=False)
        seen = target if known is None else as_seen_by(fitted, target, known)
        fitted.fit(table, seen, progress=called(progress, f"{prefix}: {entry.name}"))
        names = score_names(fitted)
        for name in names:
            score = f"{prefix}_{entry.name}" + ("" if len(names) == 1 and name == entry.name else f"_{name}")
            importances = fitted.importances_[name]
            total = np.maximum(importances, 0.0).sum()
            shares[score] = as_shares(importances)
            if name in fitted.importances_std_error_:
                errors[score] = fitted.importances_std_error_[name] / (total if total > 0 else np.inf)
            of[score] = entry.name
        if fitted.importances_per_target_ is not None:
            columns.append(as_shares(fitted.importances_per_target_))
    per_column = as_shares(np.mean(columns, axis=0) / divisor[:, None]) if columns else None
    # Columns that do not vary are left out of the completed target.
    if known is not None and per_column is not None:
        per_column = at_names(per_column, target.names, column_names(known))
    return Part(shares, errors, of, per_column, divisor)


def rank_classes(
    entries: list[Entry],
    table: Table,
    target: Target,
    divisor: np.ndarray,
    seed: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> Part:
    """The rankers on the columns of known classes, one for each class, for the scores per class."""
    lean = [
        entry._replace(
            student=clone(entry.labeled).set_params(importance=target_score(score_names(entry.labeled)))
            if isinstance(entry.labeled, ForestRanker)
            else entry.labeled
        )
        for entry in entries
    ]
    student = student_target(target, target.columns())
    return fit_part(lean, table, student, target, divisor, seed, n_jobs, progress)


def with_sensitivity(mean: np.ndarray, sensitivity: np.ndarray | None, weight: float) -> np.ndarray:
    """Mean shares of rankers, with so much of the sensitivity in their place, where there is one.

    Examples
    --------
    >>> with_sensitivity(np.array([0.5, 0.5]), np.array([1.0, 0.0]), 0.5)
    array([0.75, 0.25])
    """
    return mean if sensitivity is None else (1 - weight) * mean + weight * sensitivity


def combine(
    part: Part,
    alone: np.ndarray | None,
    taught: Part | None,
    sensitivity: np.ndarray | None,
    weight: float,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Shares and standard errors under their names: the consensus, what it is held against, and its parts.

    Parameters
    ----------
    part : Part
        From labelled rows.
    alone : ndarray of shape (n_features,), optional
        The sensitivity from labelled rows, as shares; like the other it has no standard error.
    taught : Part, optional
        From students. Without it the consensus is the label-only part.
    sensitivity : ndarray of shape (n_features,), optional
        The sensitivity from all rows.
    weight : float
        How much of the label-only part, and of what is said of all rows, comes from sensitivity.
    """
    error = part.ranking_error()
    shares = {"label_only": with_sensitivity(part.ranking(), alone, weight)}
    errors = {"label_only": error if alone is None else (1 - weight) * error}
    best, best_error = shares["label_only"], errors["label_only"]
    if taught is not None:
        shares["taught"], errors["taught"] = taught.ranking(), taught.ranking_error()
        best = whole(best, with_sensitivity(shares["taught"], sensitivity, weight))
        other_error = errors["taught"]
        if sensitivity is not None:
            shares["sensitivity"] = sensitivity
            other_error = (1 - weight) * other_error
        best_error = np.hypot(LABELED_WEIGHT * best_error, (1 - LABELED_WEIGHT) * other_error)
    shares["labeled"], errors["labeled"] = part.ranking(), error
    if alone is not None:
        shares["labeled_sensitivity"] = alone
    for some in (part, taught):
        if some is not None:
            shares |= some.shares
            errors |= some.errors
    return {"consensus": best, **shares}, {"consensus": best_error, **errors}


def whole(label_only: np.ndarray, all_rows: np.ndarray) -> np.ndarray:
    """What labelled rows say alone, and what is said of all rows, in one.

    Examples
    --------
    >>> whole(np.array([0.75, 0.25]), np.array([0.0, 1.0]))
    array([0.25, 0.75])
    """
    return LABELED_WEIGHT * label_only + (1 - LABELED_WEIGHT) * all_rows


def called(progress: Progress | None, what: str) -> Progress | None:
    """Progress of one ranker under its name; it is heard of at once."""
    if progress is None:
        return None
    heard = progress
    heard(0, 1, what)

    def report(done: int, total: int, _: str) -> None:
        heard(done, total, what)

    return report
