"""Accidents of frames, arrays and label sets (see tools.accidents)."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from semirank.data.missing_words import MISSING
from tools.spoilt_tables import CLASSES, Accident, Sheet, from_frame


def _frame(sheet: Sheet) -> tuple[Any, Any]:
    """A pandas frame of the features, and the target."""
    import pandas as pd

    frame = pd.DataFrame(
        {
            name: pd.to_numeric(pd.Series(cells)) if name in ("size", "weight", "change", "count") else
            pd.to_datetime(pd.Series(cells)) if name == "day" else pd.Series(pd.Categorical(cells))
            for name, cells in sheet.columns.items()
            if name != "fruit"
        }
    )  # fmt: skip
    fruit = [cell or None for cell in sheet.columns["fruit"]]
    if not any(cell in CLASSES for cell in fruit):
        return frame, pd.Series([np.nan if cell is None else float(cell) for cell in fruit], name="fruit")
    return frame, pd.Series(fruit, name="fruit", dtype=object)


def frames(sheet: Sheet, rng: random.Random) -> Accident:
    """The same table in another kind of frame."""
    X, y = _frame(sheet)

    class Own(type(X)):  # type: ignore[misc]
        @property
        def _constructor(self) -> Any:
            return Own

    ways: list[Callable[[], Any]] = [lambda: Own(X)]
    if importlib.util.find_spec("pyarrow"):
        import pyarrow

        ways.append(lambda: pyarrow.Table.from_pandas(X, preserve_index=False))
    if importlib.util.find_spec("polars"):
        import polars

        ways += [lambda: polars.from_pandas(X), lambda: polars.from_pandas(X).lazy()]
    way = rng.choice(ways)
    return Accident("", from_frame(lambda: (X, y)), from_frame(lambda: (way(), y.to_numpy())))


def orders(sheet: Sheet, rng: random.Random) -> Accident:
    """Rows of X and y in different orders, or with different labels."""
    X, y = _frame(sheet)
    X.index = [f"row {i}" for i in range(len(X))]
    y.index = X.index
    other = y.sample(frac=1.0, random_state=rng.randrange(1000))
    if rng.random() < 0.5:
        return Accident("", from_frame(lambda: (X, y)), from_frame(lambda: (X, other)), named=("index",))
    other = other.rename(index={"row 3": "row x"})
    dirty = from_frame(lambda: (X, other))
    return Accident("", from_frame(lambda: (X, y)), dirty, same=False, named=("index", "different"))


def words_in_frames(sheet: Sheet, rng: random.Random) -> Accident:
    """Numbers or days that are text in a frame."""
    X, y = _frame(sheet)
    column = rng.choice(("size", "weight", "change", "day"))
    cells = list(sheet.columns[column])
    if rng.random() < 0.5:
        cells[rng.randrange(len(cells))] = rng.choice(("<35", "-", "n/a"))
    elif column in ("size", "change") and rng.random() < 0.5:
        cells = [cell.replace(".", ",") for cell in cells]
    other = X.assign(**{column: cells})
    dirty = from_frame(lambda: (other, y))
    return Accident("", from_frame(lambda: (X, y)), dirty, same=False, named=(column, "text"))


def words_in_arrays(sheet: Sheet, rng: random.Random) -> Accident:
    """Words for unlabelled rows in arrays and in label sets."""
    X, _ = _frame(sheet)
    word = rng.choice(sorted(MISSING - {""}))
    labels = [cell and rng.choice(CLASSES[:3]) for cell in sheet.columns["fruit"]]
    if rng.random() < 0.5:
        clean: Any = np.array([cell or None for cell in labels], dtype=object)
        dirty: Any = np.array([cell or word for cell in labels], dtype=rng.choice((object, str)))
    else:
        clean = [{cell, "fresh"} if cell else None for cell in labels]
        dirty = [{cell, "fresh"} if cell else {word} for cell in labels]
    return Accident(
        "", from_frame(lambda: (X, clean)), from_frame(lambda: (X, dirty)), named=(word, "unlabelled")
    )
