"""Numbers of any size as places in their range: the first step of every distance and variance.

A range may be wider than the largest float (-1e308 to 1e308) or as narrow as a few of the smallest ones.
Squares of such numbers overflow or vanish, and small differences between large numbers are lost to rounding.
Tables and targets keep the user's own numbers; what a method computes with goes through these functions.
"""

from __future__ import annotations

import numpy as np

_HUGE = 1e300  # beyond it the difference of two numbers may overflow; halving such numbers is exact


def ranges(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest known value of every column; 0 and 0 where none is known.

    Examples
    --------
    >>> low, high = ranges(np.array([[1.0, np.nan], [5.0, np.nan]]))
    >>> low.tolist(), high.tolist()
    ([1.0, 0.0], [5.0, 0.0])
    """
    known = ~np.isnan(values)
    low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
    high = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
    some = low <= high
    return np.where(some, low, 0.0), np.where(some, high, 0.0)


def in_range(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(values - low) / (high - low) of every column; values - low where the range is 0.

    Inside the range that is between 0 and 1; far outside it may be infinite.

    Examples
    --------
    >>> in_range(np.array([[-1.5e308], [0.0], [1.5e308]]), np.array([-1.5e308]), np.array([1.5e308])).ravel()
    array([0. , 0.5, 1. ])
    """
    half, width = spans(low, high)
    with np.errstate(over="ignore"):
        return (values * half - low * half) / np.where(width > 0, width, 1.0)


def spans(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every range a factor, 1 or 1/2, and the width times that factor, which does not overflow.

    Examples
    --------
    >>> half, width = spans(np.array([1.0, -1.5e308]), np.array([4.0, 1.5e308]))
    >>> half.tolist(), width.tolist()
    ([1.0, 0.5], [3.0, 1.5e+308])
    """
    half = np.where(np.maximum(-low, high) > _HUGE, 0.5, 1.0)
    return half, high * half - low * half


def in_widest_range(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """values - low of every column, all in the unit of the widest range.

    Examples
    --------
    >>> values = np.array([[1e307, 0.0], [5e307, 2e307]])
    >>> in_widest_range(values, *ranges(values))
    array([[0. , 0. ],
           [1. , 0.5]])
    """
    half = 0.5 if np.maximum(-low, high).max(initial=0.0) > _HUGE else 1.0
    widest = (high * half - low * half).max(initial=0.0)
    return (values * half - low * half) / (widest if widest > 0 else 1.0)


def units(values: np.ndarray) -> np.ndarray:
    """A power of two for every column: in that unit, sums of its numbers neither overflow nor vanish.

    1 for all usual columns. Numbers in that unit keep their order; only next to numbers above 1e289 can two
    of the very smallest become equal.

    Examples
    --------
    >>> units(np.array([[3.0, 1e305, 3e-320]])).tolist() == [1.0, 2.0**60, 2.0**-1061]
    True
    """
    largest = np.fmax.reduce(np.abs(values), axis=0, initial=0.0)  # NaN is ignored
    small = (largest > 0.0) & (largest < 2.0**-900)
    tiny = np.ldexp(1.0, np.where(small, np.frexp(largest)[1], 0))
    return np.where(largest > 2.0**960, 2.0**60, np.where(small, tiny, 1.0))


def from_unit(values: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """values * unit, rounded down: a threshold between two numbers stays below the larger one.

    Examples
    --------
    >>> from_unit(np.array([1.75]), np.array([5e-324])).tolist()
    [5e-324]
    """
    raw = values * unit
    return np.nextafter(raw, -np.inf, out=raw, where=raw / unit > values)


def unscale(values: np.ndarray, offset: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """offset + scale * values of every column; what rounding would push past the largest float stays there.

    Examples
    --------
    >>> unscale(np.array([[3.0, -1.0]]), np.array([10.0, 1.7e308]), np.array([2.0, 1.7e308])).tolist()
    [[16.0, 0.0]]
    """
    # Of quarters, neither the product nor the sum can overflow.
    part = np.where(np.maximum(np.abs(offset), scale) > _HUGE, 0.25, 1.0)
    largest = np.finfo(float).max * part
    return np.clip(offset * part + scale * part * values, -largest, largest) / part
