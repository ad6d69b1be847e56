"""A predictive clustering tree as text, for people to read."""

from __future__ import annotations

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..data.tasks import NUMBERS, TASKS
from ..runtime.messages import plural
from .ensemble import Forest, raw_prototypes
from .grow import Tree

_SHOWN = 5  # columns of a prototype, values of a nominal test


def tree_text(forest: Forest, number: int, features: Table, target: Target, missing_share: np.ndarray) -> str:
    """The tree of that number; `features` and `target` name columns, values and classes.

    missing_share : of every feature in training; where it is 0, tests say nothing of missing values.
    """
    member = forest.members[number]
    tree = member.tree
    n_labeled = np.zeros(len(tree.feature))
    n_labeled[member.leaf >= 0] = member.labeled
    for node in reversed(range(len(tree.feature))):  # children come after their parents
        if tree.feature[node] >= 0:
            n_labeled[node] = n_labeled[tree.left[node]] + n_labeled[tree.right[node]]
    means = raw_prototypes(forest, member.means)

    def counts(node: int) -> str:
        text = f"{plural(round(tree.weight[node]), 'row')}, {n_labeled[node]:.0f} labelled"
        return text if tree.feature[node] >= 0 else f"{text} → {_prototype(means[member.leaf[node]], target)}"

    lines = [counts(0)]
    todo = _children(tree, 0, "")
    while todo:  # a loop, because a tree can be deeper than Python lets calls nest
        node, parent, before, is_last = todo.pop()
        test = _test(tree, parent, node == tree.left[parent], features, missing_share)
        lines.append(f"{before}{'└─' if is_last else '├─'} {test}: {counts(node)}")
        todo += _children(tree, node, before + ("   " if is_last else "│  "))
    return "\n".join(lines)


def _children(tree: Tree, node: int, before: str) -> list[tuple[int, int, str, bool]]:
    """Right, then left: the last of the list comes next."""
    if tree.feature[node] < 0:
        return []
    return [(int(tree.right[node]), node, before, True), (int(tree.left[node]), node, before, False)]


def _test(tree: Tree, node: int, left: bool, features: Table, missing_share: np.ndarray) -> str:
    """What the rows on one side of a node have in common."""
    feature = tree.feature[node]
    start = tree.subset_start[node]
    categories = features.categories[feature]
    if start < 0:
        text = f"{features.names[feature]} {'<=' if left else '>'} {tree.threshold[node]:.6g}"
    else:
        assert categories is not None
        inside = tree.subset[start : start + len(categories)] == left
        values = [str(value) for value, here in zip(categories, inside) if here]
        text = f"{features.names[feature]} in {{{_some(values)}}}"
    gone = missing_share[feature] > 0 and (tree.missing_left[node] == 1) == left
    return f"{text} or missing" if gone else text


def _prototype(means: np.ndarray, target: Target) -> str:
    """Class shares, numbers or label shares, the largest shares first."""
    if TASKS[target.task].kind == NUMBERS:
        return _some([f"{name} = {mean:.6g}" for name, mean in zip(target.names, means)])
    names = target.names if target.classes is None else target.classes
    order = [c for c in np.argsort(-means, kind="stable") if means[c] > 0]
    return _some([f"{names[c]} {100 * means[c]:.3g} %" for c in order]) or "no label"


def _some(words: list[str]) -> str:
    more = len(words) - _SHOWN
    return ", ".join(words[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
