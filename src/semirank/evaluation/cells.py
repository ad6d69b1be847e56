"""Data on which rankings are judged: some rows of a data set, a third held out, some labelled (Def. 2.6)."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.hierarchy import Hierarchy
from ..data.table import Table
from ..data.target import Target
from ..data.tasks import TASKS

MAX_ROWS = 1500
MAX_LABELS = 40
HELD_OUT = 3  # one row in three
FACTORS = (0.5, 1, 2, 4)  # numbers of labels on the curve that a ranking is held against, in units of L
FEWEST = 25  # labelled rows among which two kinds of target are sure to occur


@dataclass(frozen=True, eq=False)
class Cell:
    """Training rows, held-out rows, and the order in which training rows get their labels.

    Attributes
    ----------
    name : str
        Of the data set.
    seed : int
    train, test : Table
    train_target, test_target : Target
        With all labels.
    order : ndarray of int
        All training rows; the first L of them are the labelled ones, so fewer labels are a part of more.
    """

    name: str
    seed: int
    train: Table
    train_target: Target
    test: Table
    test_target: Target
    order: np.ndarray

    def labeled(self, n_labeled: int) -> Target:
        """The training target with `n_labeled` labelled rows, all others unlabelled."""
        if not 1 <= n_labeled <= len(self.order):
            raise ValueError(
                f"{n_labeled} labels were asked for, but there are {len(self.order)} training rows."
            )
        return self.train_target.hide(self.order[n_labeled:])

    @cached_property
    def digest(self) -> str:
        """Tells this cell from any other: of the values, targets and order of labels."""
        found = hashlib.sha256(repr((self.train.names, self.train_target.names)).encode())
        for array in (self.train.values, self.train_target.values, self.test.values, self.test_target.values):
            found.update((array + 0.0).tobytes())
        found.update(self.order.astype(np.int64).tobytes())
        return found.hexdigest()


def draw_cell(
    name: str,
    table: Table,
    target: Target,
    seed: int = 0,
    *,
    max_rows: int = MAX_ROWS,
    max_labels: int = MAX_LABELS,
) -> Cell:
    """Draw a cell from a data set; the same for the same name and seed.

    Only rows whose target is wholly known are drawn. Features that are constant over the data set are left
    out. Of label sets with more than `max_labels` labels those of the largest variance are kept, in a
    hierarchy together with their ancestors. A third of the rows is held out. The order of labels is random,
    except that the first 25 training rows hold at least two rows of each of the two most frequent classes
    (of the presence of the label with the largest variance; of numbers below and above the mean of the
    first target), so that there is something to rank for.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = Table(rng.random((90, 4)), np.zeros(4, int), tuple("abcd"), (None,) * 4)
    >>> target = Target("regression", table.values[:, :1], ("y",), np.ones(1))
    >>> cell = draw_cell("random", table, target)
    >>> len(cell.train), len(cell.test), int(cell.labeled(20).labeled.sum())
    (60, 30, 20)
    """
    target = most_variable_labels(target, max_labels)
    known = _known_rows(target)
    if len(known) < 2 * HELD_OUT:
        raise ValueError(
            f"{name} has {len(known)} rows with a wholly known target, too few to hold some out."
        )
    low, high = np.fmin.reduce(table.values[known]), np.fmax.reduce(table.values[known])
    use = np.flatnonzero(high > low)
    if len(use) == 0:
        raise ValueError(f"All features of {name} are constant, so there is nothing to rank.")
    table = Table(
        np.ascontiguousarray(table.values[:, use]),
        table.n_values[use],
        tuple(table.names[j] for j in use),
        tuple(table.categories[j] for j in use),
    )
    rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
    rows = rng.permutation(known)[:max_rows]
    test, train = rows[: len(rows) // HELD_OUT], rows[len(rows) // HELD_OUT :]
    train_target = target.take(train)
    order = two_kinds_first(rng.permutation(len(train)), target_kinds(train_target), FEWEST)
    return Cell(name, seed, table.take(train), train_target, table.take(test), target.take(test), order)


def n_training_rows(target: Target, *, max_rows: int = MAX_ROWS, max_labels: int = MAX_LABELS) -> int:
    """How many training rows a cell has that is drawn from a data set with this target.

    Examples
    --------
    >>> n_training_rows(Target("regression", np.arange(90.0)[:, None], ("y",), np.ones(1)))
    60
    """
    n_rows = min(len(_known_rows(most_variable_labels(target, max_labels))), max_rows)
    return n_rows - n_rows // HELD_OUT


def _known_rows(target: Target) -> np.ndarray:
    return np.flatnonzero(~np.isnan(target.values).any(axis=1))


def label_counts(n_train: int, n_labeled: int) -> tuple[int, ...]:
    """Numbers of labels on the curve around L: L/2, L, 2L, 4L, the last ones cut at the training rows.

    Empty where fewer than half of the training rows would be unlabelled: then there is no cell.

    Examples
    --------
    >>> label_counts(1000, 50), label_counts(120, 50), label_counts(90, 50)
    ((25, 50, 100, 200), (25, 50, 100, 120), ())
    """
    if 2 * n_labeled > n_train:
        return ()
    return tuple(sorted({min(int(factor * n_labeled), n_train) for factor in FACTORS}))


def half(name: str) -> str:
    """The half of a data set by a hash of its name: "choosing" or "reporting".

    Settings are chosen on the data sets of the first half and reported on those of the second.

    Examples
    --------
    >>> half("Digits"), half("Scene")
    ('choosing', 'reporting')
    """
    return ("choosing", "reporting")[hashlib.sha256(name.encode()).digest()[0] % 2]


def most_variable_labels(target: Target, max_labels: int) -> Target:
    """At most `max_labels` labels of a label set, by falling variance, with all their ancestors."""
    if not TASKS[target.task].is_label_set or target.values.shape[1] <= max_labels:
        return target
    known = target.values[target.labeled]
    variance = np.nanvar(known, axis=0)
    kept: set[int] = set()
    for label in np.argsort(-variance, kind="stable").tolist():
        chain = kept | _with_ancestors(target.hierarchy, label)
        if len(chain) <= max_labels and variance[label] > 0:
            kept = chain
    columns = sorted(kept)
    return Target(
        target.task,
        np.ascontiguousarray(target.values[:, columns]),
        tuple(target.names[j] for j in columns),
        target.weights[columns],
        None,
        None if target.hierarchy is None else _part(target.hierarchy, columns),
    )


def target_kinds(target: Target) -> np.ndarray:
    """The class of every row; of label sets the most variable label; of numbers whether above the mean."""
    if target.task == "classification":
        return target.values[:, 0]
    if TASKS[target.task].is_label_set:
        return target.values[:, int(np.argmax(target.values.var(axis=0)))]
    return (target.values[:, 0] > target.values[:, 0].mean()).astype(np.float64)


def two_kinds_first(order: np.ndarray, kinds: np.ndarray, within: int, each: int = 2) -> np.ndarray:
    """The order with `each` rows of the two most frequent kinds among the first `within`.

    Where that is so already nothing changes; otherwise as few rows as can be come forward.

    Examples
    --------
    >>> two_kinds_first(np.arange(6), np.array([0, 0, 0, 0, 1, 1]), within=4)
    array([0, 1, 4, 5, 2, 3])
    """
    found, counts = np.unique(kinds, return_counts=True)
    common = found[np.argsort(-counts, kind="stable")[:2]]
    needed = np.concatenate([order[kinds[order] == kind][:each] for kind in common])
    others = order[~np.isin(order, needed)][: max(within - len(needed), 0)]
    first = np.isin(order, np.concatenate([needed, others]))
    return np.concatenate([order[first], order[~first]])


def _with_ancestors(hierarchy: Hierarchy | None, label: int) -> set[int]:
    found, waiting = {label}, [label]
    while waiting and hierarchy is not None:
        for parent in hierarchy.parents[waiting.pop()]:
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return found


def _part(hierarchy: Hierarchy, labels: Sequence[int]) -> Hierarchy:
    """The hierarchy of some labels that come with all their ancestors."""
    place = {label: i for i, label in enumerate(labels)}
    return Hierarchy(
        tuple(hierarchy.labels[label] for label in labels),
        tuple(tuple(place[parent] for parent in hierarchy.parents[label]) for label in labels),
    )
