"""Rankings of an evaluation on disk, so that an interrupted one goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Sequence
from contextlib import suppress
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

    Functions count by their name alone: give a changed function another name, or empty the folder. Without a
    folder nothing is kept.
    """

    def __init__(self, folder: str | PathLike[str] | None, table: Table, target: Target):
        self.folder = None if folder is None else Path(folder)
        self.told = False
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        parts = [table.values, table.n_values, target.values, target.weights]
        self.data = _digest(
            "sensitivity of labelled rows",
            __version__,
            target.task,
            *(np.ascontiguousarray(p).tobytes() for p in parts),
        )

    def both(
        self,
        method: Method,
        part: tuple[Table, Target],
        held: np.ndarray,
        sides: Sequence[bool],
        seed: int,
        notes: list[str],
    ) -> dict[bool, Rankings]:
        """What `method.both` says of the rows that are not held out, from the folder if it is there."""
        if self.folder is None:
            return method.both(*part, sides, seed, notes)
        what = method.name, _described(method.maker), method.main_only, method.scores
        path = self.folder / f"{_digest(self.data, *what, held.tobytes(), *sides, seed)}.json"
        with suppress(OSError, ValueError, AttributeError, KeyError, TypeError):  # not there, or damaged
            kept = json.loads(path.read_text(encoding="utf-8"))
            return {
                side: {score: np.array(values, dtype=float) for score, values in kept[str(side)].items()}
                for side in sides
            }
        found = method.both(*part, sides, seed, notes)
        text = json.dumps(
            {
                str(side): {score: values.tolist() for score, values in rankings.items()}
                for side, rankings in found.items()
            }
        )
        try:
            atomic_write(path, text)
        except OSError as error:  # without room for them the work goes on
            if not self.told:
                self.told = True
                warnings.warn(
                    f"Finished rankings cannot be kept in {self.folder}: {error.strerror}.",
                    UserWarning,
                    stacklevel=2,
                )
        return found


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
