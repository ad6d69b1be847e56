"""Slow, obvious twins for hierarchies, straight from Def. 1.1."""

from __future__ import annotations


def ancestors(label: int, parents: list[tuple[int, ...]]) -> set[int]:
    """All labels above a label."""
    above: set[int] = set()
    for parent in parents[label]:
        above |= {parent} | ancestors(parent, parents)
    return above


def closed(labels: set[int], parents: list[tuple[int, ...]]) -> set[int]:
    """The labels and everything above them."""
    return labels.union(*(ancestors(label, parents) for label in labels))


def weight(label: int, parents: list[tuple[int, ...]], decay: float) -> float:
    """1 for a root, else decay times the mean weight of the parents."""
    if not parents[label]:
        return 1.0
    return decay * sum(weight(p, parents, decay) for p in parents[label]) / len(parents[label])


def level(label: int, parents: list[tuple[int, ...]]) -> int:
    """1 for a root, else one more than the deepest parent."""
    return 1 + max((level(p, parents) for p in parents[label]), default=0)
