"""Member: labels spread over a graph that joins near rows, labelled or not (Zhou et al. 2004; Def. 1.10).

F = (1 - a) (I - a S)^-1 B, where B holds the labels, S = D^-1/2 W D^-1/2 and W the weights of the edges. A
column of ones, spread alike, is the mass that the answers are divided by: they are weighted means of labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, qr, svd
from scipy.sparse import csr_matrix, diags_array

from ..neighbors.search import nearest_points
from ..runtime.parallel import each
from .lesson import Answer, Lesson, Rows, known_patterns

N_NEIGHBORS = 10
SPREAD = 0.95  # a: how much comes from the neighbours
N_FOLDS = 10
MAX_COLUMNS = 60  # with more columns neighbours are sought along the leading directions only
N_DIRECTIONS = 40
_STEPS = 60  # leave a share of 2 * 0.72^60, about 5e-9 (see `spread`)
_UNREACHED = 1e-7  # mass below which a row knows of no label
_FAINT = 1e-12  # weight of the longest edges, so that no row is alone
_EXACT = 1000  # rows or columns up to which directions come from a whole eigenvector problem
_PASSES = 6  # of subspace iteration beyond that
_AT_A_TIME = 64  # columns that are spread together


class Graph(NamedTuple):
    """Rows and their edges."""

    directions: (
        np.ndarray | None
    )  # (Z, 40) leading directions of the points, or None for the points themselves
    places: np.ndarray  # (G, columns)
    width: float  # mean squared difference at which an edge weighs 1/e
    degree: np.ndarray  # (G,)
    edges: csr_matrix  # S


class GraphModel(NamedTuple):
    """Answers of the graph's rows; others take those of their nearest rows, as an unlabelled row does."""

    directions: np.ndarray | None
    places: np.ndarray
    width: float
    degree: np.ndarray
    total: np.ndarray  # (G, C) spread labels
    mass: np.ndarray  # (G, C) spread ones
    limits: np.ndarray  # (2, C) smallest and largest label

    def predict(self, rows: Rows) -> np.ndarray:
        """The learnt columns of these rows."""
        if rows.place is not None:
            return _ratio(self.total[rows.place], self.mass[rows.place], self.limits)
        points = rows.points if self.directions is None else rows.points @ self.directions
        near = nearest_points(self.places, _at_least_one(points), N_NEIGHBORS, n_jobs=1)
        # Only ratios count, so the nearest row may weigh 1 however far it is.
        weight = np.exp(-(near.distances - near.distances[:, :1]) / self.width)
        weight /= np.sqrt(self.degree[near.rows])
        weight /= weight.sum(axis=1, keepdims=True)
        n, size = len(points), len(self.places)
        start = np.arange(0, near.rows.size + 1, max(1, near.rows.shape[1]))
        join = csr_matrix((weight.ravel(), near.rows.ravel(), start), shape=(n, size))
        return _ratio(join @ self.total, join @ self.mass, self.limits)


def fit_graph(lesson: Lesson) -> Answer:
    """Spread the labels; held out are single rows or, where that is less work, ten folds of them."""
    graph = build_graph(lesson.crowd, lesson.n_jobs)
    learnt = lesson.learnt
    known = ~np.isnan(learnt)
    labels = np.where(known, learnt, 0.0)
    limits = np.array([np.nanmin(learnt, axis=0), np.nanmax(learnt, axis=0)])
    patterns = known_patterns(known)
    which = np.empty(learnt.shape[1], np.int64)  # the mass of a column is that of its pattern
    for i, (_, columns) in enumerate(patterns):
        which[columns] = i
    ones = np.array([known[:, columns[0]] for _, columns in patterns]).T.astype(float)
    if len(learnt) <= (N_FOLDS + 1) * (labels.shape[1] + ones.shape[1]):
        total, mass, held_out = _one_by_one(graph, labels, ones, which, limits, lesson.n_jobs)
    else:
        fold = np.random.default_rng([lesson.seed, 1]).permutation(len(learnt)) % N_FOLDS
        total, mass, held_out = _by_folds(graph, labels, ones, which, limits, fold, lesson.n_jobs)
    model = GraphModel(*graph[:4], total, mass[:, which], limits)
    return Answer(held_out, model)


def _one_by_one(
    graph: Graph,
    labels: np.ndarray,
    ones: np.ndarray,
    which: np.ndarray,
    limits: np.ndarray,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spread a unit from every labelled row; without its own unit, a row's answer is held out exactly."""
    n = len(labels)
    influence = spread(graph.edges, np.eye(len(graph.places), n), n_jobs)
    others = influence[:n] - np.diag(influence[:n].diagonal())
    held_out = _ratio(others @ labels, (others @ ones)[:, which], limits)
    return influence @ labels, influence @ ones, held_out


def _by_folds(
    graph: Graph,
    labels: np.ndarray,
    ones: np.ndarray,
    which: np.ndarray,
    limits: np.ndarray,
    fold: np.ndarray,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spread all labels, and for every fold those of the others."""
    n, width = len(labels), labels.shape[1]
    both = np.hstack([labels, ones])
    start = np.zeros((len(graph.places), N_FOLDS + 1, both.shape[1]))
    for f in range(N_FOLDS + 1):  # no row is in the last one
        seen = np.flatnonzero(fold != f)
        start[seen, f] = both[seen]
    found = spread(graph.edges, start.reshape(len(start), -1), n_jobs).reshape(start.shape)
    own = found[np.arange(n), fold]
    held_out = _ratio(own[:, :width], own[:, width:][:, which], limits)
    return found[:, -1, :width], found[:, -1, width:], held_out


def _ratio(total: np.ndarray, mass: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Weighted means of labels, between the smallest and the largest; 0, the mean, where none arrives."""
    reached = mass > _UNREACHED
    means = np.divide(total, mass, out=np.zeros(total.shape), where=reached)
    return np.clip(means, *limits)


def spread(edges: csr_matrix, start: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """(1 - a) (I - a S)^-1 start, by Chebyshev's iteration.

    The eigenvalues of I - a S lie between 1 - a and 1 + a, so every step takes the error down by the same
    factor, (sqrt(39) - 1) / (sqrt(39) + 1) = 0.72 for a = 0.95; plain repetition would take it down by 0.95.

    Examples
    --------
    >>> edges = csr_matrix(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> spread(edges, np.array([[1.0], [0.0]])).round(6).ravel().tolist()
    [0.512821, 0.487179]
    """
    blocks = [slice(i, i + _AT_A_TIME) for i in range(0, start.shape[1], _AT_A_TIME)]

    def work(block: slice) -> np.ndarray:
        wanted = (1.0 - SPREAD) * start[:, block]
        found = wanted.copy()  # the centre of the eigenvalues is 1
        change = wanted.copy()
        ratio = 1.0 / SPREAD
        rho = SPREAD
        residual = SPREAD * (edges @ found)
        for _ in range(_STEPS):
            after = 1.0 / (2.0 * ratio - rho)
            change *= after * rho
            change += 2.0 * after / SPREAD * residual
            found += change
            rho = after
            residual = wanted - found
            residual += SPREAD * (edges @ found)
        return found

    return np.hstack([start[:, :0], *each(work, blocks, n_jobs)])


def build_graph(points: np.ndarray, n_jobs: int | None = None) -> Graph:
    """Join every row with its nearest rows; an edge holds if it is one of either row's."""
    directions = leading_directions(points) if points.shape[1] > MAX_COLUMNS else None
    places = _at_least_one(points if directions is None else points @ directions)
    n = len(places)
    near = nearest_points(places, places, N_NEIGHBORS, own=np.arange(n), n_jobs=n_jobs)
    last = near.distances[:, -1]
    width = float(np.median(last)) or float(last.mean()) or 1.0
    weight = np.exp(-near.distances / width) + _FAINT
    k = near.rows.shape[1]
    one_way = csr_matrix((weight.ravel(), near.rows.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    both = one_way.maximum(one_way.T).tocsr()
    both.sort_indices()
    degree = np.asarray(both.sum(axis=1)).ravel()
    root = diags_array(1.0 / np.sqrt(degree))
    return Graph(directions, places, width, degree, csr_matrix(root @ both @ root))


def leading_directions(points: np.ndarray) -> np.ndarray:
    """The 40 directions in which the points spread most, as columns.

    Exact by the smaller Gram matrix where that is small, else by subspace iteration, which starts from the
    features, so that the order of the rows does not matter.
    """
    n, width = points.shape
    count = min(N_DIRECTIONS, n, width)
    if width <= min(n, _EXACT):
        return eigh(points.T @ points, subset_by_index=(width - count, width - 1))[1]
    if n <= _EXACT:
        _, vectors = eigh(points @ points.T, subset_by_index=(n - count, n - 1))
        return qr(points.T @ vectors, mode="economic")[0]
    base = np.random.default_rng(0).normal(size=(width, count + 10))
    for _ in range(_PASSES):
        base = qr(points.T @ (points @ base), mode="economic")[0]
    return base @ svd(points @ base, full_matrices=False)[2][:count].T


def _at_least_one(points: np.ndarray) -> np.ndarray:
    """The points, with a column of zeros where all features are constant."""
    return points if points.shape[1] else np.zeros((len(points), 1))
