"""The rankings of finished jobs: as a store keeps them, and as a file for other programs."""

from __future__ import annotations

import io
import zlib
from os import PathLike
from typing import NamedTuple

import numpy as np

from ..runtime.atomic_write import atomic_write
from .store import Store

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
        >>> row = JobRanking("ssl", "genie3", np.array([0.25, 0.1])).packed()
        >>> unpacked(*row).importances.tolist()
        [0.25, 0.1]
        """
        return self.side, self.score, zlib.compress(self.importances.astype(_NUMBER).tobytes())


def unpacked(side: str, score: str, content: bytes) -> JobRanking:
    """A ranking from a row of a store."""
    return JobRanking(side, score, np.frombuffer(zlib.decompress(content), _NUMBER))


def export_rankings(store: str | PathLike[str], out: str | PathLike[str]) -> int:
    """Write the rankings of all finished jobs that have them to an .npz file; returns their number.

    Jobs that were imported, or done before rankings were kept, have none.

    Parameters
    ----------
    store : path
    out : path
        Ends in .npz. The arrays ``dataset``, ``fold``, ``n_labeled``, ``family``, ``side`` and ``score`` have
        one element for each ranking; the importances of ranking i, in the order of the data set's features,
        are ``importances[start[i]:start[i + 1]]``. ``preset`` and ``seed`` say which study it is.
    """
    if not str(out).lower().endswith(".npz"):
        raise ValueError(f"{out} must end in .npz: rankings are written as arrays of NumPy.")
    with Store(store, read_only=True) as opened:
        preset, seed = opened.preset_and_seed()
        rows = opened.rankings()
    if not rows:
        raise ValueError(
            f"{store} holds no rankings: its jobs were imported, or done before rankings were kept."
        )
    places = [place for place, _ in rows]
    found = [unpacked(*row) for _, row in rows]
    dataset, fold, n_labeled, family = map(np.array, zip(*places))
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        preset=np.array(preset),
        seed=np.array(seed),
        dataset=dataset,
        fold=fold,
        n_labeled=n_labeled,
        family=family,
        side=np.array([ranking.side for ranking in found]),
        score=np.array([ranking.score for ranking in found]),
        start=np.cumsum([0, *(len(ranking.importances) for ranking in found)]),
        importances=np.concatenate([ranking.importances for ranking in found]),
    )
    atomic_write(out, stream.getvalue())
    return len(found)
