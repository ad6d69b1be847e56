"""Splits of the labelled rows, and what every method ranks from each of them."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import NamedTuple

import numpy as np

from ..data.encode_target import encode_target
from ..data.table import Table
from ..data.target import Target
from ..judging.splits import fold_numbers
from ..results.evaluation import NO_RANKING
from ..runtime.progress import Progress
from .compared_methods import Method
from .ranking_cache import RankingCache

Trials = dict[tuple[str, bool], list[np.ndarray]]  # (ranking, with unlabelled rows) -> importances by split


class Split(NamedTuple):
    """Rows to test on, and the rows that are left: those to test on are absent from what rankers see."""

    held: np.ndarray
    rest: np.ndarray


def deal(target: Target, n_folds: int, n_repeats: int, seed: int, notes: list[str]) -> np.ndarray:
    """Fold of every row in every repeat (n_repeats x n_rows), -1 where it is not tested."""
    n_labeled = int(target.labeled.sum())
    alone = np.zeros(len(target), dtype=bool)
    if target.task == "classification":
        codes = target.values[target.labeled, 0].astype(int)
        counts = np.bincount(codes, minlength=target.n_classes)
        alone[target.labeled] = counts[codes] == 1
        if (counts >= 2).sum() < 2:
            raise ValueError(
                "Fewer than two classes have two labelled rows, one to learn from and one to test on; "
                "label more rows."
            )
        if alone.any():
            assert target.classes is not None
            named = ", ".join(map(repr, target.classes[counts == 1].tolist()[:3]))
            notes.append(f"classes with one labelled row are learnt from but never tested: {named}")
    if n_labeled - alone.sum() < 2 * n_folds:
        raise ValueError(
            f"{n_labeled - alone.sum()} labelled rows are too few for {n_folds} folds of at least two; "
            "label more rows or lower n_folds."
        )
    folds = np.stack(
        [
            fold_numbers(target.hide(alone), n_folds, np.random.default_rng([seed, repeat]))
            for repeat in range(n_repeats)
        ]
    )
    for numbers in folds:
        for fold in range(n_folds):
            try:
                encode_target(target.hide(numbers == fold))
            except ValueError as error:
                raise ValueError(
                    f"Hiding one fold of the {n_labeled} labelled rows leaves too little to rank by "
                    f"({str(error).rstrip('.')}); label more rows."
                ) from None
    return folds


def splits(folds: np.ndarray) -> Iterator[Split]:
    """Every fold of every repeat."""
    for numbers in folds:
        for fold in range(int(numbers.max()) + 1):
            yield Split(np.flatnonzero(numbers == fold), np.flatnonzero(numbers != fold))


def rank_all(
    table: Table,
    target: Target,
    methods: list[Method],
    folds: np.ndarray,
    seed: int,
    cache: str | PathLike[str] | None,
    notes: list[str],
    progress: Progress | None,
    n_steps: int,
) -> Trials:
    """The importances of every method, on every split, with and without the unlabelled rows.

    `n_steps` is what progress counts up to: the splits, and what comes after them.
    """
    trials: Trials = {}
    store = RankingCache(cache, table, target)
    every = list(splits(folds))
    if progress is not None:
        progress(0, n_steps, "evaluation")
    for number, split in enumerate(every):
        part = table.take(split.rest), target.take(split.rest)
        unlabeled = bool((~part[1].labeled).any())
        for method in methods:
            sides = (True, False) if unlabeled and not method.labels_only else (False,)
            # The same seed for both sides and all methods: chance favours nobody.
            draw = (seed + number) % 2**31
            found = store.both(method, part, split.held, sides, draw, notes)
            for side, rankings in found.items():
                for score, importances in rankings.items():
                    trials.setdefault((method.full_name(score), side), []).append(importances)
        if progress is not None:
            progress(number + 1, n_steps, "evaluation")
    for (name, _), found_by_split in trials.items():
        if name == NO_RANKING or len(found_by_split) != len(every):
            raise ValueError(
                f"{name!r} cannot be evaluated: a method must give the same names every time, each ranking "
                f"its own, and {NO_RANKING!r} is taken."
            )
    return trials
