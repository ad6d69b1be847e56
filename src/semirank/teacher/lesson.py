"""What the members of a teacher learn from, and what they give back (Def. 1.10)."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ..data.scaling import unscale
from ..data.table import Table
from ..data.target import Target
from ..data.tasks import CLASSES, TASKS
from ..trees.columns import Prototype, build_prototype


class TargetScale(NamedTuple):
    """From prototype columns to the columns that are learnt, and back.

    Learnt are the columns that vary, centred and scaled so that their variances add up to 1: classes share
    one scale, numbers and labels have their own and count by alpha. So a squared error summed over columns
    is relative to knowing nothing.
    """

    varies: np.ndarray  # (P,) bool
    mean: np.ndarray  # (P,) in the unit of the prototype
    factor: np.ndarray  # (P,) 0 where constant
    offset: np.ndarray  # (P,) raw = offset + scale * prototype
    scale: np.ndarray  # (P,)

    def raw(self, learnt: np.ndarray) -> np.ndarray:
        """All prototype columns in the unit of the target; constant ones answer with their constant."""
        values = np.broadcast_to(self.mean, (len(learnt), len(self.mean))).copy()
        values[:, self.varies] += learnt / self.factor[self.varies]
        return unscale(values, self.offset, self.scale)


def scale_target(target: Target) -> tuple[TargetScale, np.ndarray]:
    """The scale of a target's labelled rows, and the learnt columns of all rows, NaN where unknown.

    Examples
    --------
    >>> values = np.array([[1.0, 7.0], [3.0, 7.0], [np.nan, 7.0]])
    >>> target = Target("multi_target", values, ("a", "b"), np.ones(2))
    >>> scale, learnt = scale_target(target)
    >>> learnt.ravel().tolist(), scale.raw(learnt)[:2].tolist()
    ([-1.0, 1.0, nan], [[1.0, 7.0], [3.0, 7.0]])
    """
    prototype: Prototype = build_prototype(target)
    varies = prototype.unit > 0
    share = target.weights[prototype.variable] * varies
    if TASKS[target.task].kind != CLASSES:
        share = share / share.sum()
    factor = np.sqrt(prototype.unit * share)
    learnt = (prototype.values - prototype.mean) * factor
    learnt[prototype.known == 0] = np.nan
    scale = TargetScale(varies, prototype.mean, factor, prototype.offset, prototype.scale)
    return scale, np.ascontiguousarray(learnt[:, varies])


class Lesson(NamedTuple):
    """Labelled rows, in the order of `content_order`, and the rows of the graph, of which they come first."""

    table: Table  # labelled rows
    target: Target  # of these rows, as the user gave it
    learnt: np.ndarray  # (L, C) their columns of `TargetScale`, NaN where unknown
    points: np.ndarray  # (L, Z) their place in the space
    crowd: np.ndarray  # (G, Z) places of all rows of the graph
    seed: int
    n_jobs: int | None


class Rows(NamedTuple):
    """Rows to answer for; `place` are their places in the graph, None for rows that are not in it."""

    values: np.ndarray
    points: np.ndarray
    place: np.ndarray | None


class Model(Protocol):
    """A fitted member."""

    def predict(self, rows: Rows) -> np.ndarray:
        """The learnt columns of these rows."""


class Answer(NamedTuple):
    """What a member gives back: answers for labelled rows that did not see their label, and the model."""

    held_out: np.ndarray  # (L, C)
    model: Model


def known_patterns(known: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(rows, columns) of every set of columns that are known in the same rows.

    Examples
    --------
    >>> known_patterns(np.array([[True, True, False], [True, True, True]]))
    [(array([0, 1]), array([0, 1])), (array([1]), array([2]))]
    """
    columns: dict[bytes, list[int]] = {}
    for j in range(known.shape[1]):
        columns.setdefault(np.packbits(known[:, j]).tobytes(), []).append(j)
    return [(np.flatnonzero(known[:, group[0]]), np.array(group)) for group in columns.values()]


def relative_loss(learnt: np.ndarray, answers: np.ndarray) -> float:
    """Mean squared error over the variance: 1 is as good as the mean, 0 is perfect.

    Examples
    --------
    >>> relative_loss(np.array([[-1.0], [1.0], [np.nan]]), np.array([[-0.5], [0.5], [9.0]]))
    0.25
    """
    known = ~np.isnan(learnt)
    squared = np.where(known, answers - learnt, 0.0) ** 2
    return float(np.sum(squared.sum(axis=0) / known.sum(axis=0)))
