"""Counter-based random numbers for kernels (splitmix64): a draw depends on its seed and its number alone.

Every node of a tree has a seed made from the tree's seed and the path to the node. What is drawn there does
not depend on the order in which nodes are visited, on the thread, or on which shortcut evaluated a test.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.jit import inlined, inner

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MUL1 = np.uint64(0xBF58476D1CE4E5B9)
_MUL2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11), np.uint64(32)
_UNIT = 1.0 / 9007199254740992.0


@inner
def draw(seed, number):
    """The `number`-th 64-bit draw of a stream."""
    z = seed + (np.uint64(number) + np.uint64(1)) * _STEP
    z = (z ^ (z >> _S30)) * _MUL1
    z = (z ^ (z >> _S27)) * _MUL2
    return z ^ (z >> _S31)


@inner
def unit(seed, number):
    """A draw as a number in [0, 1)."""
    return np.float64(draw(seed, number) >> _S11) * _UNIT


@inner
def below(seed, number, limit):
    """A draw as an integer in [0, limit)."""
    return np.int64(((draw(seed, number) >> _S32) * np.uint64(limit)) >> _S32)


@inner
def feature_seed(node_seed, feature):
    """The stream for the random test of one feature in a node (extra trees)."""
    return draw(node_seed ^ _MUL1, feature)


@inner
def child_seed(node_seed, side):
    """The stream of a child; side 0 is left, 1 is right."""
    return draw(node_seed ^ _MUL2, side)


class Drawn(NamedTuple):
    """The order in which a node draws features, and where they are known to be constant."""

    order: np.ndarray  # int64 (D,), a permutation of the features
    swap: np.ndarray  # int64 (D,), what step j of the shuffle swapped with j
    constant_from: np.ndarray  # int64 (D,): the feature is constant in rows constant_from..constant_to - 1
    constant_to: np.ndarray  # int64 (D,)


@inlined
def draw_candidate(j, n_features, seed, drawn):
    """Step j of a partial Fisher-Yates shuffle; `restore_order` undoes it, so only the seed decides."""
    swap = j + below(seed, j, n_features - j)
    feature = drawn.order[swap]
    drawn.order[swap] = drawn.order[j]
    drawn.order[j] = feature
    drawn.swap[j] = swap
    return feature


@inner
def restore_order(n_drawn, drawn):
    """Undo the first n_drawn steps of the shuffle, the last one first."""
    for back in range(n_drawn):
        j = n_drawn - 1 - back
        swap = drawn.swap[j]
        other = drawn.order[swap]
        drawn.order[swap] = drawn.order[j]
        drawn.order[j] = other
