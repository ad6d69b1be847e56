"""Models outside the family of our rankers, and what permuting a feature on held-out rows costs them.

Three kinds: boosted trees, a neural network, kernel ridge. They are kept apart from what the rankers use, on
purpose: what judges a ranking must not change with it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from .foreign_columns import squared_distances

REPEATS = 5  # permutations of every feature
N_NETWORKS = 3
HIDDEN = 64
WEIGHT_DECAYS = (1.0, 10.0, 30.0, 100.0)
MOST_ROUNDS, PATIENCE = 200, 15  # passes over the rows, in all and without a better score
KERNEL_WIDTHS = (0.25, 1.0, 4.0)
RIDGES = np.logspace(-4, 2, 13)


def one_thread() -> AbstractContextManager[object]:
    """Keep the models to one thread: they are small, and judging many cells has a process for each."""
    import sklearn.ensemble  # noqa: F401  its thread pool can be limited only once it is loaded
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)


class Bound(NamedTuple):
    """What a model answers for some rows, and for them once more with a few columns taken from others.

    `swapped` is a function of (columns, rows, donors), the last two being places among the rows.
    """

    base: np.ndarray
    swapped: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def explained(predicted: np.ndarray, truth: np.ndarray) -> float:
    """R2 over all columns together: 1 - squared error / squared distance to the means.

    Examples
    --------
    >>> explained(np.array([[1.0], [2.0]]), np.array([[1.0], [3.0]]))
    0.5
    """
    spread = ((truth - truth.mean(axis=0)) ** 2).sum()
    return float(1.0 - ((predicted - truth) ** 2).sum() / spread) if spread > 0 else float("nan")


def permutation_importance(
    model: Bound, points: np.ndarray, truth: np.ndarray, columns: list[np.ndarray], seed: int
) -> np.ndarray:
    """Mean rise of the squared error, over the spread of the truth, when a feature's columns are permuted.

    All features share the permutations, so that their order does not matter. Only rows whose columns change
    are asked again.
    """
    n_rows = len(points)
    rng = np.random.default_rng(seed)
    donors = np.concatenate([rng.permutation(n_rows) for _ in range(REPEATS)])
    rows = np.tile(np.arange(n_rows), REPEATS)
    error = ((model.base - truth) ** 2).sum(axis=1)
    rises = np.zeros(len(columns))
    for j, block in enumerate(columns):
        part = points[:, block]
        changed = np.flatnonzero((part[rows] != part[donors]).any(axis=1))
        if len(changed) == 0:
            continue
        at = rows[changed]
        answer = model.swapped(block, at, donors[changed])
        rises[j] = (((answer - truth[at]) ** 2).sum(axis=1) - error[at]).sum()
    return rises / REPEATS / ((truth - truth.mean(axis=0)) ** 2).sum()


@dataclass(frozen=True, eq=False)
class Boosting:
    """Boosted trees, one chain for each target column, as flat arrays of nodes, by scikit-learn's names.

    A leaf leads to itself, so walking on from it does no harm.
    """

    nodes: dict[str, np.ndarray]
    root: np.ndarray  # of every tree
    output: np.ndarray  # target column of every tree
    start: np.ndarray  # answer of every target column before the first tree

    @classmethod
    def fit(cls, points: np.ndarray, truth: np.ndarray) -> Boosting:
        from sklearn.ensemble import HistGradientBoostingRegressor

        parts: list[np.ndarray] = []
        root, output, start, size = [], [], [], 0
        for column in range(truth.shape[1]):
            model = HistGradientBoostingRegressor(
                max_iter=80, max_leaf_nodes=15, min_samples_leaf=10, early_stopping=False, random_state=0
            ).fit(points, truth[:, column])
            start.append(float(np.ravel(model._baseline_prediction)[0]))
            for (tree,) in model._predictors:
                nodes = tree.nodes.copy()
                leaf = nodes["is_leaf"].astype(bool)
                own = np.arange(len(nodes))
                for side in ("left", "right"):
                    nodes[side] = np.where(leaf, own, nodes[side]) + size
                nodes["feature_idx"][leaf] = 0
                parts.append(nodes)
                root.append(size)
                output.append(column)
                size += len(nodes)
        whole = np.concatenate(parts)
        # Each lies together in memory and indexes as it is: trees are walked twice as fast.
        arrays = {name: whole[name].astype(np.int64) for name in ("feature_idx", "left", "right", "depth")}
        arrays |= {name: whole[name].copy() for name in ("num_threshold", "value", "is_leaf")}
        return cls(arrays, np.array(root), np.array(output), np.array(start))

    def leaves(
        self, points: np.ndarray, trees: np.ndarray, rows: np.ndarray, donors: np.ndarray, swap: np.ndarray
    ) -> np.ndarray:
        """Leaf values, trees x rows; columns of the mask `swap` are read from the donors."""
        node = np.repeat(self.root[trees][:, None], len(rows), axis=1)
        for _ in range(self.nodes["depth"].max()):
            feature = self.nodes["feature_idx"][node]
            at = np.where(swap[feature], donors, rows)
            goes_left = points[at, feature] <= self.nodes["num_threshold"][node]
            node = np.where(goes_left, self.nodes["left"][node], self.nodes["right"][node])
        return self.nodes["value"][node]

    def bind(self, points: np.ndarray) -> Bound:
        """With the leaves of the rows; only trees that use a feature are walked again."""
        every = np.arange(len(points))
        none = np.zeros(points.shape[1], bool)
        leaves = self.leaves(points, np.arange(len(self.root)), every, every, none)
        base = self.start + _sum_by(leaves, self.output, len(self.start))
        inner = self.nodes["is_leaf"] == 0
        tree_of_node = np.repeat(np.arange(len(self.root)), np.diff(np.append(self.root, len(inner))))
        uses = np.zeros((points.shape[1], len(self.root)), bool)
        uses[self.nodes["feature_idx"][inner], tree_of_node[inner]] = True

        def swapped(columns: np.ndarray, rows: np.ndarray, donors: np.ndarray) -> np.ndarray:
            answer = base[rows]
            trees = np.flatnonzero(uses[columns].any(axis=0))
            if len(trees) == 0:
                return answer
            swap = np.zeros(points.shape[1], bool)
            swap[columns] = True
            change = self.leaves(points, trees, rows, donors, swap) - leaves[np.ix_(trees, rows)]
            return answer + _sum_by(change, self.output[trees], answer.shape[1])

        return Bound(base, swapped)


def _sum_by(leaves: np.ndarray, output: np.ndarray, n_outputs: int) -> np.ndarray:
    """Sums over the trees of each output, rows x outputs."""
    return leaves.T @ (output[:, None] == np.arange(n_outputs)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Network:
    """The mean of several networks with one hidden layer, which is one network with all their units."""

    weights: np.ndarray
    bias: np.ndarray
    out_weights: np.ndarray
    out_bias: np.ndarray

    @classmethod
    def fit(cls, points: np.ndarray, truth: np.ndarray) -> Network:
        """Weight decay by the mean score on rows held out for stopping, another seventh for each network."""
        unit = np.sqrt(truth.var(axis=0).mean())
        inputs, scaled = points.astype(np.float32), (truth / unit).astype(np.float32)
        part = np.random.default_rng(0).permutation(len(points)) % 7
        trained = [
            [_train_network(inputs, scaled, part == i, decay, seed=i) for i in range(N_NETWORKS)]
            for decay in WEIGHT_DECAYS
        ]
        best = max(trained, key=lambda several: np.mean([score for score, _ in several]))
        nets = [net for _, net in best]
        return cls(
            np.hstack([net.weights for net in nets]),
            np.concatenate([net.bias for net in nets]),
            np.vstack([net.out_weights for net in nets]) * (unit / N_NETWORKS),
            np.mean([net.out_bias for net in nets], axis=0) * unit,
        )

    def bind(self, points: np.ndarray) -> Bound:
        """With the inputs of the hidden units for the rows, and what a swapped column adds to them."""
        inputs = points @ self.weights + self.bias

        def answer(units: np.ndarray) -> np.ndarray:
            return np.maximum(units, 0.0) @ self.out_weights + self.out_bias

        def swapped(columns: np.ndarray, rows: np.ndarray, donors: np.ndarray) -> np.ndarray:
            step = points[donors[:, None], columns] - points[rows[:, None], columns]
            return answer(inputs[rows] + step @ self.weights[columns])

        return Bound(answer(inputs), swapped)


def _train_network(
    points: np.ndarray, truth: np.ndarray, held_out: np.ndarray, decay: float, seed: int
) -> tuple[float, Network]:
    """One network as it was when it explained the held-out rows best, and how much it explained.

    scikit-learn's own stopping takes the mean of the columns' R2, which one rare label without a held-out
    positive makes meaningless.
    """
    from sklearn.neural_network import MLPRegressor

    model = MLPRegressor(
        hidden_layer_sizes=(HIDDEN,), alpha=decay, learning_rate_init=0.005, random_state=seed
    )
    inputs, answers = points[~held_out], truth[~held_out]
    answers = answers[:, 0] if answers.shape[1] == 1 else answers
    best, kept, since = -np.inf, None, 0
    for _ in range(MOST_ROUNDS):
        model.partial_fit(inputs, answers)
        arrays = [array for layer in zip(model.coefs_, model.intercepts_) for array in layer]
        score = explained(Network(*arrays).bind(points[held_out]).base, truth[held_out])
        since += 1
        if kept is None or score > best:
            best, since, kept = score, 0, Network(*(array.astype(np.float64) for array in arrays))
        if since == PATIENCE:
            break
    assert kept is not None
    return best, kept


@dataclass(frozen=True, eq=False)
class KernelRidge:
    """Ridge regression with the kernel exp(-rate d^2) + 1, rate and ridge by leave-one-out error."""

    points: np.ndarray
    rate: float
    dual: np.ndarray
    center: np.ndarray

    @classmethod
    def fit(cls, points: np.ndarray, truth: np.ndarray) -> KernelRidge:
        distance = squared_distances(points, points)
        positive = distance[distance > 0]
        unit = float(np.median(positive)) if len(positive) else 1.0
        center = truth.mean(axis=0)
        least, chosen = np.inf, (0.0, np.zeros_like(truth))
        for width in KERNEL_WIDTHS:
            values, vectors = eigh(np.exp(-width / unit * distance) + 1.0, check_finite=False)
            turned, squares = vectors.T @ (truth - center), vectors**2
            for ridge in RIDGES:
                inverse = 1.0 / (np.maximum(values, 0.0) + ridge)
                dual = vectors @ (turned * inverse[:, None])
                error = ((dual / (squares @ inverse)[:, None]) ** 2).mean()
                if error < least:
                    least, chosen = error, (width / unit, dual)
        return cls(points, *chosen, center)

    def bind(self, points: np.ndarray) -> Bound:
        """With the distances of the rows, which a swapped column changes by a product of two."""
        exponent = -self.rate * squared_distances(points, self.points)
        base = (np.exp(exponent) + 1.0) @ self.dual + self.center

        def swapped(columns: np.ndarray, rows: np.ndarray, donors: np.ndarray) -> np.ndarray:
            """|z - t|^2 - |x - t|^2 = |z|^2 - |x|^2 - 2 (z - x) t, for the columns that are swapped."""
            to, answer = 2.0 * self.rate * self.points[:, columns].T, np.empty((len(rows), base.shape[1]))
            constant = self.dual.sum(axis=0) + self.center
            for begin in range(0, len(rows), len(points)):  # pieces that stay in the cache
                part = slice(begin, begin + len(points))
                new, old = points[donors[part, None], columns], points[rows[part, None], columns]
                kernel = (new - old) @ to
                kernel += exponent[rows[part]]
                kernel -= self.rate * ((new**2).sum(axis=1) - (old**2).sum(axis=1))[:, None]
                np.exp(np.minimum(kernel, 0.0, out=kernel), out=kernel)
                answer[part] = kernel @ self.dual + constant
            return answer

        return Bound(base, swapped)
