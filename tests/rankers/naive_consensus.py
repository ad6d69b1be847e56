"""Slow, obvious counterparts of shares, the consensus and sensitivity."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from semirank.teacher.lesson import Rows
from semirank.teacher.space import fit_space


def shares(importances):
    """Cut at 0, divided by the sum; all the same if nothing is left."""
    positive = [max(float(value), 0.0) for value in importances]
    total = sum(positive)
    return np.array([value / total if total > 0 else 1.0 / len(positive) for value in positive])


def mean_of_shares(rankers, scores, table, target):
    """The mean over all named scores of rankers fitted with these rows."""
    found = []
    for ranker, names in zip(rankers, scores):
        fitted = clone(ranker).fit(table, target)
        found += [shares(fitted.importances_[name]) for name in names]
    return sum(found) / len(found)


def mean_of_columns(rankers, table, target, wanted):
    """The mean over rankers of their scores for every target column, as shares; 0 for names without one."""
    total = np.zeros((table.shape[1], len(wanted)))
    for ranker in rankers:
        scores = clone(ranker).fit(table, target).importances_per_target_
        for j, name in enumerate(target.names):
            total[:, wanted.index(name)] += shares(scores[:, j])
    return total / len(rankers)


def copies(table):
    """For every pair of features: squared products of their columns, relative to those within each."""
    space = fit_space(table)
    points = space.points(table.values)

    def alike(i, j):
        columns = [np.flatnonzero(space.feature == feature) for feature in (i, j)]
        return sum(np.dot(points[:, a], points[:, b]) ** 2 for a in columns[0] for b in columns[1])

    out = np.ones(table.shape[1])
    varied = np.unique(space.feature)
    for i in varied:
        squares = [alike(i, j) / np.sqrt(alike(i, i) * alike(j, j)) for j in varied]
        out[i] = sum(square**4 for square in squares)
    return out


def among_copies(importances, n_copies):
    """Divided by the number of copies, as shares."""
    return shares([value / n for value, n in zip(importances, n_copies)])


def sensitivity(asked, permutations):
    """Every feature in turn comes from other rows, several times, and the model answers again."""
    answer = asked.model.predict(Rows(asked.points, asked.points, None))
    out = np.zeros(asked.n_features)
    for feature in range(asked.n_features):
        for source in permutations[feature]:
            points = asked.points.copy()
            for column in np.flatnonzero(asked.feature == feature):
                for row in range(len(points)):
                    points[row, column] = asked.points[source[row], column]
            change = asked.model.predict(Rows(points, points, None)) - answer
            out[feature] += np.mean(np.sum(change**2, axis=1)) / len(permutations[feature])
    return out
