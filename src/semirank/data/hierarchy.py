"""Label hierarchies, trees and DAGs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Labels with parents (DESIGN 1.1).

    Attributes
    ----------
    labels : tuple of str
    parents : tuple of tuple of int
        Positions of the parents of every label; empty for a root.
    """

    labels: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    def weights(self, decay: float = 0.75) -> np.ndarray:
        """alpha of every label: 1 for a root, else decay * mean(weights of its parents)."""
        raise NotImplementedError

    def close(self, membership: np.ndarray) -> np.ndarray:
        """0/1 matrix (rows x labels, NaN rows stay NaN) closed upwards: a label brings its ancestors."""
        raise NotImplementedError
