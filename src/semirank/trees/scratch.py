"""Work arrays of one tree, so that nodes allocate nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .binary_tests import CHUNK, Pending
from .candidates import Candidates
from .columns import Space, Tests
from .nominal_tests import MANY_VALUES, Ordering
from .numeric_tests import MANY_SUMS, ValueSums
from .random import Drawn
from .small_nodes import SMALL, SideBySide
from .sparse_binary import Bits, NodeOnes, make_ones


class Sums(NamedTuple):
    """Payload sums, each of one width."""

    totals: np.ndarray  # over the node
    mean: np.ndarray  # of the node's columns
    left: np.ndarray  # over the left side of a test
    miss: np.ndarray  # over the rows that miss the tested feature


class Scratch(NamedTuple):
    """All work arrays; the first ones have a number per row of the node."""

    payload: np.ndarray  # flat, n_rows * width
    weight: np.ndarray
    knows_groups: np.ndarray  # uint8, whether a row knows any column with holes
    code: np.ndarray  # int32, codes of the candidate feature
    keys: np.ndarray  # int64 (2, n_rows), of `sort_by_code`
    sums: Sums
    drawn: Drawn
    candidates: Candidates
    values: ValueSums
    ordering: Ordering | None  # None where no tree orders nominal values
    pending: Pending
    side_by_side: SideBySide
    ones: NodeOnes | None  # None where features are not sparse


def make_scratch(tests: Tests, space: Space, random_test: bool, bits: Bits | None) -> Scratch:
    """Work arrays for trees on these data, one after the other."""
    d, n = tests.codes.shape
    width = payload_width(space)
    nominal = tests.nominal == 1
    n_codes = int(tests.n_codes.max(initial=256)) + 1
    n_nominal = int(tests.n_codes[nominal].max(initial=1))
    n_ordered = min(n, n_nominal)
    n_values = max(2, n_ordered, min(n, MANY_SUMS, int(tests.n_codes[~nominal].max(initial=0))))
    # Sparse features have two values, however many are declared.
    orders = n_nominal > 2 and not random_test and bits is None
    return Scratch(
        payload=np.empty(n * width),
        weight=np.empty(n),
        knows_groups=np.zeros(n, np.uint8),
        code=np.empty(n, np.int32),
        keys=np.empty((2, n), np.int64),
        sums=Sums(*np.zeros((4, width))),
        drawn=Drawn(np.arange(d), *np.zeros((3, d), np.int64)),
        candidates=Candidates(
            h=np.empty(d),
            cut=np.empty(d, np.int64),
            missing_left=np.empty(d, np.uint8),
            rough=np.empty(d, np.uint8),
            subset=np.empty((d, n_nominal), np.uint8),
        ),
        values=ValueSums(
            tally=np.empty(n_codes, np.int64),
            slot=np.empty(n_codes, np.int64),
            order=np.empty(max(n, n_codes), np.int64),
            sums=np.empty((n_values, width)),
            weight=np.empty(n_values),
        ),
        ordering=Ordering(
            np.empty((n_ordered, width)),
            np.empty(n_ordered),
            *np.empty((2, width)),
            *np.empty((2, MANY_VALUES, MANY_VALUES)),
        )
        if orders
        else None,
        pending=Pending(
            marks=np.empty(CHUNK * n, np.float32),
            sums=np.empty(CHUNK * width, np.float32),
            candidate=np.empty(CHUNK, np.int64),
            weight=np.empty(CHUNK),
            payload=np.empty(n * width, np.float32),
        ),
        side_by_side=SideBySide(
            marks=np.empty((SMALL, d)),
            h=np.empty(d),
            cut=np.empty(d),
            per_feature=np.empty((6, d)),
            per_row=np.empty((2, SMALL + 4)),
            members=np.empty(SMALL, np.int64),
        ),
        ones=make_ones(bits),
    )


def payload_width(space: Space) -> int:
    """Numbers in a payload with all columns."""
    return space.full.shape[1] + space.group.shape[1] + 2 * space.group_known.shape[1]


def bytes_per_tree(tests: Tests, space: Space) -> float:
    """What a tree takes while it grows, for the most part the arrays of `make_scratch` (measured)."""
    d, m = tests.codes.shape
    n_values = int(tests.n_codes[tests.nominal == 1].max(initial=1))
    return 16.0 * (m + min(m, n_values)) * payload_width(space) + d * n_values
