"""How far two rankings of the same features agree: Kendall's tau-b, overlap at k, fuzzy Jaccard (FUJI)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class Agreement:
    """Agreement of two rankings; 1 everywhere means the same order.

    Attributes
    ----------
    kendall : float
        Kendall's tau-b of the scores, in [-1, 1].
    overlap : ndarray of shape (n_features,)
        Position k - 1 holds the share of features that the two top-k sets have in common.
    fuji : ndarray of shape (n_features,)
        Position i - 1 holds the fuzzy Jaccard index of the two top-i sets.
    """

    kendall: float
    overlap: np.ndarray
    fuji: np.ndarray

    @property
    def overlap_area(self) -> float:
        """Mean of the overlap curve."""
        return float(self.overlap.mean())

    @property
    def fuji_area(self) -> float:
        """Mean of the FUJI curve."""
        return float(self.fuji.mean())

    def to_dict(self) -> dict[str, object]:
        """Plain numbers and lists, ready for JSON."""
        return {
            "kendall": self.kendall,
            "overlap_area": self.overlap_area,
            "fuji_area": self.fuji_area,
            "overlap": self.overlap.tolist(),
            "fuji": self.fuji.tolist(),
        }

    def __repr__(self) -> str:
        shown = [k for k in (1, 5, 10, 20, 50, 100) if k <= len(self.overlap)]
        overlaps = ", ".join(f"top {k}: {self.overlap[k - 1]:.2f}" for k in shown)
        return (
            f"Agreement(kendall={self.kendall:.3f}, fuji_area={self.fuji_area:.3f}, "
            f"overlap_area={self.overlap_area:.3f}; overlap {overlaps})"
        )


def agreement(a: np.ndarray, b: np.ndarray) -> Agreement:
    """All measures for the scores `a` and `b` of the same features (larger is better).

    Examples
    --------
    >>> agreement([0.9, 0.5, 0.1], [0.8, 0.2, 0.4])
    Agreement(kendall=0.333, fuji_area=0.856, overlap_area=0.833; overlap top 1: 1.00)
    """
    return Agreement(kendall_tau(a, b), overlap_curve(a, b), fuji_curve(a, b))


def kendall_tau(a: np.ndarray, b: np.ndarray) -> float:
    """Kendall's tau-b; 0 where one side has no order at all (every score equal).

    Examples
    --------
    >>> kendall_tau([1, 2, 3, 4], [1, 2, 4, 3])
    0.6666666666666666
    """
    a, b = _pair(a, b)
    rank_a = np.unique(a, return_inverse=True)[1]
    rank_b = np.unique(b, return_inverse=True)[1]
    n = len(a)
    pairs = n * (n - 1) // 2
    tied_a, tied_b = _tied_pairs(rank_a), _tied_pairs(rank_b)
    tied_both = _tied_pairs(rank_a * (int(rank_b.max()) + 1) + rank_b)
    if tied_a == pairs or tied_b == pairs:
        return 0.0
    # Sorted by a, and within ties of a by b, an inversion of b is exactly a discordant pair.
    discordant = _inversions(rank_b[np.lexsort((rank_b, rank_a))])
    concordant = pairs - tied_a - tied_b + tied_both - discordant
    # Python's whole numbers: the product is exact, so equal orders give exactly 1.
    return (concordant - discordant) / math.sqrt((pairs - tied_a) * (pairs - tied_b))


def overlap_curve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Share of features common to the two top-k sets, for k = 1 ... n (ties by column order).

    Examples
    --------
    >>> overlap_curve([3, 2, 1], [2, 3, 1])
    array([0., 1., 1.])
    """
    a, b = _pair(a, b)
    # A feature joins the common part when the slower of the two rankings reaches it.
    joins = np.maximum(_positions(a), _positions(b))
    steps = np.arange(1, len(a) + 1)
    return np.cumsum(np.bincount(joins, minlength=len(a))) / steps


def fuji_curve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Fuzzy Jaccard index of the two top-i sets, for i = 1 ... n.

    Every feature of the union U of the two top-i sets gives the smaller of its two memberships
    min(1, score / i-th largest score); the sum is divided by |U|. Negative scores count as 0, and a
    feature that reaches the i-th largest score has membership 1 even where that score is 0.

    Examples
    --------
    >>> fuji_curve([4, 2, 1], [4, 1, 2])
    array([1.        , 0.66666667, 1.        ])
    """
    a, b = _pair(a, b)
    position_a, position_b = _positions(a), _positions(b)
    order_a, order_b = np.argsort(position_a).tolist(), np.argsort(position_b).tolist()
    a_exact, b_exact = _exact(np.maximum(a, 0.0)), _exact(np.maximum(b, 0.0))
    # A member of both sets counts 1, so only what one side alone holds needs its fuzzy membership: the
    # sum of its other score, kept up to date from one i to the next.
    only_a = only_b = 0  # sums of b over A \ B and of a over B \ A
    alone = 0  # |A \ B| = |B \ A|
    curve = np.empty(len(a))
    for i, (new_a, new_b) in enumerate(zip(order_a, order_b)):
        if position_b[new_a] > i:
            only_a += b_exact[new_a]
            alone += 1
        elif position_b[new_a] < i:
            only_b -= a_exact[new_a]
        if position_a[new_b] > i:
            only_b += a_exact[new_b]
        elif position_a[new_b] < i:
            only_a -= b_exact[new_b]
            alone -= 1
        partial = _ratio(only_a, b_exact[new_b], alone) + _ratio(only_b, a_exact[new_a], alone)
        curve[i] = (i + 1 - alone + partial) / (i + 1 + alone)
    return curve


def rank_numbers(scores: np.ndarray) -> np.ndarray:
    """1 for the largest score; ties share the smallest rank.

    Examples
    --------
    >>> rank_numbers(np.array([0.5, 0.9, 0.5, 0.1]))
    array([2, 1, 2, 4])
    """
    ascending = np.sort(-scores)
    return np.searchsorted(ascending, -scores, side="left") + 1


def _ratio(total: int, threshold: int, count: int) -> float:
    """Sum of memberships; where the threshold is 0 everything reaches it."""
    return total / threshold if threshold else float(count)


def _exact(values: np.ndarray) -> list[int]:
    """The values as whole numbers of one tiny unit: sums that grow and shrink then stay exact."""
    ratios = [value.as_integer_ratio() for value in values.tolist()]
    unit = max(below for _, below in ratios)  # every one is a power of 2
    return [above * (unit // below) for above, below in ratios]


def _pair(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(a, dtype=float), np.asarray(b, dtype=float)


def _positions(scores: np.ndarray) -> np.ndarray:
    """0 for the best feature, ties by column order."""
    positions = np.empty(len(scores), dtype=np.int64)
    positions[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    return positions


def _tied_pairs(codes: np.ndarray) -> int:
    counts = np.unique(codes, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def _inversions(codes: np.ndarray) -> int:
    """Pairs i < j with codes[i] > codes[j], bit by bit: two codes first differ in exactly one bit."""
    total = 0
    for bit in range(int(codes.max()).bit_length()):
        prefix = codes >> (bit + 1)
        by_prefix = np.argsort(prefix, kind="stable")
        is_one = ((codes >> bit) & 1)[by_prefix]
        prefix = prefix[by_prefix]
        ones_before = np.cumsum(is_one) - is_one
        starts = np.flatnonzero(np.r_[True, prefix[1:] != prefix[:-1]])
        group = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(prefix)]))
        total += int(((ones_before - ones_before[starts][group]) * (1 - is_one)).sum())
    return total
