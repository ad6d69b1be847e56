"""The rankings of finished jobs as a store keeps them."""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np

# What the methods of the preset `worth` give: (side, score) -> importances and seconds of the processor.
Rankings = dict[tuple[str, str], tuple[np.ndarray, float]]

_NUMBER = np.dtype("<f8")  # whatever the machine: a store is read on others


class JobRanking(NamedTuple):
    """One ranking of a job: the importances of the features, in the order of the data set."""

    side: str
    score: str
    importances: np.ndarray

    def packed(self) -> tuple[str, str, bytes]:
        """As a row for a store; no digit is lost.

        Examples
        --------
        >>> side, score, content = JobRanking("ssl", "genie3", np.array([0.25, 0.1])).packed()
        >>> unpacked(content).tolist()
        [0.25, 0.1]
        """
        return self.side, self.score, zlib.compress(self.importances.astype(_NUMBER).tobytes())


def unpacked(content: bytes) -> np.ndarray:
    """The importances of a ranking from a row of a store."""
    return np.frombuffer(zlib.decompress(content), _NUMBER)
