"""Members: linear and kernel ridge regression, with closed-form leave-one-out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from ..runtime.parallel import each
from .lesson import Answer, Lesson, Rows, known_patterns

WIDTHS = (0.25, 1.0, 4.0)  # g in exp(-g d^2 / median d^2)
PENALTIES = tuple(np.logspace(-4, 2, 13).tolist())
MAX_ROWS = 1500  # labelled rows that a kernel is made of: a linear system of this size
_TRIED = 500  # of them on which kernel and penalty are chosen, which takes an eigenvector problem each
_COMPARED = 1000  # rows whose distances give the median
_PATTERNS = 8  # sets of rows on which kernel and penalty are chosen, where targets are known cell by cell
_CELLS = 1 << 22  # of a kernel held at a time


class LinearModel(NamedTuple):
    """Answers are points @ slope + intercept."""

    slope: np.ndarray
    intercept: np.ndarray

    def predict(self, rows: Rows) -> np.ndarray:
        """The learnt columns of these rows."""
        return rows.points @ self.slope + self.intercept


class KernelModel(NamedTuple):
    """Answers are (exp(-width d^2) + 1) @ dual, d being the distances to the centres."""

    centres: np.ndarray
    width: float
    dual: np.ndarray

    def predict(self, rows: Rows) -> np.ndarray:
        """The learnt columns of these rows."""
        out = np.empty((len(rows.points), self.dual.shape[1]))
        step = max(1, _CELLS // len(self.centres))
        for first in range(0, len(out), step):
            part = slice(first, first + step)
            out[part] = rbf(rows.points[part], self.centres, self.width) @ self.dual
        return out + self.dual.sum(axis=0)


def fit_linear(lesson: Lesson) -> Answer:
    """Ridge regression on the points; its kernel is their inner product over the number of features."""
    used = slice(MAX_ROWS)
    points, learnt = lesson.points[used], lesson.learnt[used]
    n_features = max(1, lesson.table.shape[1])
    gram = points @ points.T / n_features
    _, penalty = choose([gram], learnt, lesson.n_jobs)
    held_out, dual = solve(gram, learnt, penalty)
    model = LinearModel(points.T @ dual / n_features, dual.sum(axis=0))
    return _answer(held_out, model, lesson)


def fit_kernel(lesson: Lesson) -> Answer:
    """Ridge regression with a Gaussian kernel, of which the width is chosen too."""
    used = slice(MAX_ROWS)
    points, learnt = lesson.points[used], lesson.learnt[used]
    unit = median_distance(lesson.crowd)
    distance = squared_distances(points, points)
    grams = [np.exp(-width / unit * distance) for width in WIDTHS]
    which, penalty = choose(grams, learnt, lesson.n_jobs)
    held_out, dual = solve(grams[which], learnt, penalty)
    return _answer(held_out, KernelModel(points, WIDTHS[which] / unit, dual), lesson)


def _answer(held_out: np.ndarray, model: LinearModel | KernelModel, lesson: Lesson) -> Answer:
    """Labelled rows that the kernel is not made of are held out as they are."""
    points = lesson.points[len(held_out) :]
    if len(points) == 0:
        return Answer(held_out, model)
    more = model.predict(Rows(lesson.table.values[len(held_out) :], points, None))
    return Answer(np.concatenate([held_out, more]), model)


def squared_distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances of all rows of `a` to all rows of `b`."""
    product = a @ b.T
    product *= -2.0
    product += np.einsum("ij,ij->i", a, a)[:, None]
    product += np.einsum("ij,ij->i", b, b)
    return np.maximum(product, 0.0, out=product)


def rbf(a: np.ndarray, b: np.ndarray, width: float) -> np.ndarray:
    """exp(-width d^2) of all rows of `a` and all rows of `b`."""
    distance = squared_distances(a, b)
    distance *= -width
    return np.exp(distance, out=distance)


def median_distance(points: np.ndarray) -> float:
    """Median squared distance of different points, 1 where all are the same."""
    some = points[:_COMPARED]
    distance = squared_distances(some, some)[np.triu_indices(len(some), 1)]
    apart = distance[distance > 1e-9]
    return float(np.median(apart)) if len(apart) else 1.0


def choose(grams: list[np.ndarray], learnt: np.ndarray, n_jobs: int | None) -> tuple[int, float]:
    """The kernel and the penalty with the least leave-one-out error (of the first rows, if many)."""
    patterns = [(rows[:_TRIED], columns) for rows, columns in known_patterns(~np.isnan(learnt))]
    if len(patterns) > _PATTERNS:
        patterns = [patterns[i] for i in np.linspace(0, len(patterns) - 1, _PATTERNS).astype(int)]

    def errors(gram: np.ndarray) -> np.ndarray:
        total = np.zeros(len(PENALTIES))
        for rows, columns in patterns:
            y = learnt[np.ix_(rows, columns)]
            values, vectors = eigh(gram[np.ix_(rows, rows)] + 1.0, check_finite=False)
            values = np.maximum(values, 0.0)
            turned, squares = vectors.T @ y, vectors**2
            for i, penalty in enumerate(PENALTIES):
                inverse = 1.0 / (values + penalty)
                residual = vectors @ (turned * inverse[:, None]) / (squares @ inverse)[:, None]
                total[i] += np.sum(residual**2) / len(rows)
        return total

    table = np.array(list(each(errors, grams, n_jobs)))
    which, i = np.unravel_index(np.argmin(table), table.shape)
    return int(which), PENALTIES[i]


def solve(gram: np.ndarray, learnt: np.ndarray, penalty: float) -> tuple[np.ndarray, np.ndarray]:
    """Leave-one-out answers, also of rows where a column is unknown (held out as they are), and the dual.

    With C = (K + 1 + penalty I)^-1 and dual a = C y, the answer for a row left out is y_i - a_i / C_ii.
    The added 1 is an intercept under the same penalty.
    """
    held_out, dual = np.empty(learnt.shape), np.zeros(learnt.shape)
    for rows, columns in known_patterns(~np.isnan(learnt)):
        y = learnt[np.ix_(rows, columns)]
        system = gram[np.ix_(rows, rows)] + 1.0
        system[np.diag_indices(len(rows))] += penalty
        inverse = cho_solve(cho_factor(system, check_finite=False), np.eye(len(rows)), check_finite=False)
        part = inverse @ y
        dual[np.ix_(rows, columns)] = part
        held_out[:, columns] = (gram[:, rows] + 1.0) @ part
        held_out[np.ix_(rows, columns)] = y - part / inverse.diagonal()[:, None]
    return held_out, dual
