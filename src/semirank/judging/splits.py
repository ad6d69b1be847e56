"""Which rows train, which keep their label, which test: the paper's semi-supervised splits (Def. 2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.encode_target import encode_target
from ..data.table import Table
from ..data.target import Target
from ..runtime.messages import plural

PAPER_LABELS = (50, 100, 200, 350, 500)
TUNING_FOLDS = 4  # of the labelled rows, where rankers choose their settings


@dataclass(frozen=True, eq=False)
class Fold:
    """One test part and its training part, at several numbers of labels.

    Attributes
    ----------
    test : ndarray of int
        Rows to test on, all of them labelled.
    train : ndarray of int
        All other rows.
    labeled : dict of int to ndarray of int
        For every number of labels L the rows of `train` that keep their label; a smaller L keeps a
        part of what a larger one keeps.
    """

    test: np.ndarray
    train: np.ndarray
    labeled: dict[int, np.ndarray]

    def parts(self, table: Table, target: Target, n_labeled: int) -> tuple[Table, Target, Table, Target]:
        """Training rows with `n_labeled` labels, the others hidden, and the test rows with all labels."""
        hidden = np.setdiff1d(self.train, self.labeled[n_labeled])
        train_target = target.hide(hidden).take(self.train)
        return table.take(self.train), train_target, table.take(self.test), target.take(self.test)


def semi_supervised_folds(
    y: Any,
    n_folds: int = 10,
    n_labeled: Sequence[int] = PAPER_LABELS,
    *,
    test: Any = None,
    unlabeled: object = None,
    random_state: Any = None,
    notes: list[str] | None = None,
) -> list[Fold]:
    """Semi-supervised cross-validation: test parts keep their labels, training parts about L of them.

    The labelled rows are dealt into folds at random. For L labels, fold i (from 0) keeps
    floor(L / (n_folds - 1)) of its labels, and one more if i is below the remainder of that division; a
    training set is the union of all folds but one and so holds L labels, or L - 1. Rows of y without a
    label train in every fold and test in none.

    Parameters
    ----------
    y : target in any form that the rankers take, or Target
    n_folds : int, default=10
    n_labeled : sequence of int, default=(50, 100, 200, 350, 500)
        Numbers of labels L. A fold that cannot give its share keeps all of its labels; `notes` say so.
    test : array of bool or of row numbers, optional
        A predefined test part: one fold is returned, its training part keeps exactly L labels.
    unlabeled : scalar, optional
        A further value of y that means unknown.
    random_state : int, numpy Generator or None
    notes : list of str, optional
        Collects sentences for the user.

    Returns
    -------
    list of Fold

    Examples
    --------
    >>> import numpy as np
    >>> from semirank import semi_supervised_folds
    >>> y = np.repeat(["a", "b"], 60)
    >>> folds = semi_supervised_folds(y, n_folds=5, n_labeled=(20, 40, 500), random_state=0)
    >>> [(len(f.test), len(f.train), {n: len(rows) for n, rows in f.labeled.items()}) for f in folds[:2]]
    [(24, 96, {20: 20, 40: 40, 500: 96}), (24, 96, {20: 20, 40: 40, 500: 96})]
    """
    known = (y if isinstance(y, Target) else encode_target(y, unlabeled=unlabeled)).labeled
    wanted = _counts(n_labeled)
    rng = np.random.default_rng(random_state)
    rows = np.arange(len(known))
    if test is not None:
        is_test = _test_part(test, known)
        order = rng.permutation(rows[known & ~is_test])
        folds = [Fold(rows[is_test & known], rows[~is_test], {n: np.sort(order[:n]) for n in wanted})]
        return _note_too_many(folds, notes)
    if isinstance(n_folds, bool) or not isinstance(n_folds, int | np.integer) or n_folds < 2:
        raise ValueError(f"n_folds must be a whole number of at least 2, got {n_folds!r}.")
    if known.sum() < n_folds:
        raise ValueError(
            f"{plural(int(known.sum()), 'labelled row')} {'is' if known.sum() == 1 else 'are'} too few for "
            f"{n_folds} folds; label more rows or lower n_folds."
        )
    tests = np.array_split(rng.permutation(rows[known]), n_folds)
    kept = {n: [t[: _share(n, i, n_folds)] for i, t in enumerate(tests)] for n in wanted}
    folds = [
        Fold(
            np.sort(part),
            np.setdiff1d(rows, part),
            {n: np.sort(np.concatenate([*kept[n][:i], *kept[n][i + 1 :]])) for n in wanted},
        )
        for i, part in enumerate(tests)
    ]
    return _note_too_many(folds, notes)


def fold_numbers(target: Target, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """Fold of every labelled row, -1 for the others; classes are spread evenly over the folds."""
    fold = np.full(len(target), -1)
    rows = rng.permutation(np.flatnonzero(target.labeled))
    if target.task == "classification":
        rows = rows[np.argsort(target.values[rows, 0], kind="stable")]
    fold[rows] = np.arange(len(rows)) % n_folds
    return fold


def too_few_for_tuning(target: Target, n_folds: int = TUNING_FOLDS) -> str:
    """Why there can be no cross-validation over the labelled rows, "" if there can."""
    n_labeled = int(target.labeled.sum())
    enough = n_labeled >= 2 * n_folds
    return "" if enough else f"only {plural(n_labeled, 'labelled row')}, too few for {n_folds} folds"


def _share(n: int, fold: int, n_folds: int) -> int:
    """Labels that one fold keeps: floor(L / (x - 1)) + r_i."""
    whole, rest = divmod(n, n_folds - 1)
    return whole + (fold < rest)


def _counts(n_labeled: Sequence[int]) -> list[int]:
    counts = np.atleast_1d(np.asarray(n_labeled))
    if counts.ndim != 1 or counts.size == 0 or counts.dtype.kind not in "iu" or counts.min() < 1:
        raise ValueError(f"n_labeled must be whole numbers of at least 1, got {n_labeled!r}.")
    return sorted(set(counts.tolist()))


def _test_part(test: Any, known: np.ndarray) -> np.ndarray:
    chosen = np.asarray(test)
    if chosen.dtype == bool and chosen.shape == known.shape:
        is_test = chosen
    elif chosen.dtype.kind in "iu" and chosen.ndim == 1:
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < len(known)):
            raise ValueError(f"test names rows outside 0 ... {len(known) - 1}.")
        is_test = np.isin(np.arange(len(known)), chosen)
    else:
        raise ValueError(f"test must be row numbers or one bool for each of the {len(known)} rows.")
    for name, verb, part in (("test", "tested", is_test), ("training", "learnt", ~is_test)):
        if not (part & known).any():
            raise ValueError(f"No row of the {name} part is labelled, so nothing can be {verb}.")
    return is_test


def _note_too_many(folds: list[Fold], notes: list[str] | None) -> list[Fold]:
    """Say which numbers of labels are more than a training part has."""
    least = {n: min(len(fold.labeled[n]) for fold in folds) for n in folds[0].labeled}
    many = [n for n, kept in least.items() if kept < n - (len(folds) > 1)]
    if many and notes is not None:
        most = max(len(fold.labeled[many[-1]]) for fold in folds)
        numbers = ", ".join(map(str, many))
        notes.append(f"the training parts have at most {most} labels, so L = {numbers} keeps all they have")
    return folds
