"""Slow, obvious counterparts of the teacher's members, weights and shares."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def points(table):
    """Standardised numbers, and 0/1 columns of nominal features whose variances add up to 1."""
    blocks, feature = [], []
    for j, n_values in enumerate(table.n_values):
        x = table.values[:, j]
        known = ~np.isnan(x)
        if n_values == 0:
            block = x[:, None].copy()
        else:
            seen = np.unique(x[known])
            block = (x[:, None] == (seen[1:] if len(seen) == 2 else seen)).astype(float)
        spread = np.sqrt(block[known].var(axis=0).sum()) if known.any() else 0.0
        if spread == 0.0:
            continue
        block = (block - block[known].mean(axis=0)) / spread
        block[~known] = 0.0
        blocks.append(block)
        feature += [j] * block.shape[1]
    return np.hstack([np.zeros((len(table), 0)), *blocks]), np.array(feature, dtype=int)


def ridge(gram, y, rows, penalty):
    """Answers for all rows of a ridge regression on some rows; its kernel is gram + 1."""
    kernel = gram + 1.0
    dual = np.linalg.solve(kernel[np.ix_(rows, rows)] + penalty * np.eye(len(rows)), y[rows])
    return kernel[:, rows] @ dual


def ridge_held_out(gram, learnt, penalty):
    """Every known cell predicted from the other known cells of its column; others from all of them."""
    out = np.empty(learnt.shape)
    for c in range(learnt.shape[1]):
        known = np.flatnonzero(~np.isnan(learnt[:, c]))
        out[:, c] = ridge(gram, learnt[:, c], known, penalty)
        for i in known:
            out[i, c] = ridge(gram, learnt[:, c], known[known != i], penalty)[i]
    return out


def graph(places, k):
    """(S, degrees, width) of the graph that joins every row with its k nearest."""
    n = len(places)
    squared = ((places[:, None] - places[None]) ** 2).mean(axis=2)
    np.fill_diagonal(squared, np.inf)
    near = np.argsort(squared, axis=1, kind="stable")[:, : min(k, n - 1)]
    last = squared[np.arange(n), near[:, -1]]
    width = np.median(last) or last.mean() or 1.0
    weight = np.zeros((n, n))
    for i in range(n):
        for j in near[i]:
            weight[i, j] = weight[j, i] = np.exp(-squared[i, j] / width) + 1e-12
    degree = weight.sum(axis=1)
    return weight / np.sqrt(np.outer(degree, degree)), degree, width


def spread(edges, start, share):
    """(1 - a) (I - a S)^-1 start."""
    return (1.0 - share) * np.linalg.solve(np.eye(len(edges)) - share * edges, start)


def spread_labels(edges, learnt, hidden, share):
    """Answers of all rows when the labels of the rows `hidden` are not spread."""
    out = np.empty((len(edges), learnt.shape[1]))
    for c in range(learnt.shape[1]):
        known = ~np.isnan(learnt[:, c])
        known[hidden] = False
        start = np.zeros((len(edges), 2))
        start[: len(learnt)][known] = np.column_stack([learnt[known, c], np.ones(known.sum())])
        total, mass = spread(edges, start, share).T
        out[:, c] = np.where(mass > 1e-7, total / np.where(mass > 0, mass, 1.0), 0.0)
    return out


def loss(learnt, answers):
    """Mean squared error of the known cells of every column, summed over columns."""
    return sum(
        np.mean((a[~np.isnan(t)] - t[~np.isnan(t)]) ** 2) for t, a in zip(learnt.T, np.asarray(answers).T)
    )


def stack_weights(learnt, held_out, pull):
    """By a generic solver."""
    m = len(held_out)
    equal = np.full(m, 1.0 / m)
    strength = pull * loss(learnt, sum(held_out) / m)

    def objective(weights):
        answers = sum(w * part for w, part in zip(weights, held_out))
        return loss(learnt, answers) + strength * np.sum((weights - equal) ** 2)

    found = minimize(
        objective,
        equal,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * m,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return found.x, objective
