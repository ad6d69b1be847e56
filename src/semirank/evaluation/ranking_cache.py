"""Rankings of an evaluation on disk, so that an interrupted one goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..data.table import Table
from ..data.target import Target
from ..runtime.atomic_write import atomic_write
from .compared_methods import Method, Rankings


class RankingCache:
    """A folder with one small file per ranking, named by a digest of all that the ranking depends on.

    Functions count by their name alone: give a changed function another name, or empty the folder.
    """

    def __init__(self, folder: str | PathLike[str], table: Table, target: Target):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.told = False
        parts = [table.values, table.n_values, target.values, target.weights]
        self.data = _digest(
            "held rows absent", __version__, target.task, *(np.ascontiguousarray(p).tobytes() for p in parts)
        )

    def find(
        self, method: Method, held: np.ndarray, sides: Sequence[bool], seed: int
    ) -> dict[bool, Rankings] | None:
        """What was kept, or None: not there, or damaged."""
        try:
            text = self._path(method, held, sides, seed).read_text(encoding="utf-8")
            found = json.loads(text)
            return {
                side: {score: np.array(values, dtype=float) for score, values in found[str(side)].items()}
                for side in sides
            }
        except (OSError, ValueError, AttributeError, KeyError, TypeError):
            return None

    def keep(
        self,
        method: Method,
        held: np.ndarray,
        sides: Sequence[bool],
        seed: int,
        found: dict[bool, Rankings],
    ) -> None:
        """Write the rankings of the rows that are not held out; without room for them the work goes on."""
        text = json.dumps(
            {
                str(side): {score: values.tolist() for score, values in rankings.items()}
                for side, rankings in found.items()
            }
        )
        try:
            atomic_write(self._path(method, held, sides, seed), text)
        except OSError as error:
            if not self.told:
                self.told = True
                warnings.warn(
                    f"Finished rankings cannot be kept in {self.folder}: {error.strerror}.",
                    UserWarning,
                    stacklevel=2,
                )

    def _path(self, method: Method, held: np.ndarray, sides: Sequence[bool], seed: int) -> Path:
        what = method.name, _described(method.maker), method.main_only, method.scores
        key = _digest(self.data, *what, held.tobytes(), *sides, seed)
        return self.folder / f"{key}.json"


def _described(maker: Any) -> str:
    if hasattr(maker, "get_params"):
        # The number of threads changes nothing, and the seed has a place of its own in the key.
        params = maker.get_params(deep=False)
        kept = {name: params[name] for name in sorted(params) if name not in ("n_jobs", "random_state")}
        return f"{type(maker).__module__}.{type(maker).__qualname__} {kept!r}"
    named = maker if hasattr(maker, "__qualname__") else type(maker)
    return f"{named.__module__}.{named.__qualname__}"


def _digest(*parts: Any) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        raw = part if isinstance(part, bytes) else str(part).encode()
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest.hexdigest()
