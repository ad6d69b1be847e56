"""What several tables say in the same words: judges, definitions, names, and what figures rest on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .plan import FOREST_SCORES
from .results import Matrix, Results, levels_and_folds

JUDGE_NAMES = {  # side and pool -> how tables call it
    ("ssl", "labelled"): "SSL, fair",
    ("ssl", "all"): "SSL, paper's judge",
    ("sl", "labelled"): "SL",
}
DEFINITION_NAMES = {
    "fair": "(a) fair judge",
    "paper": "(b) paper's judge",
    "pool": "(c) pool effect alone",
    "all": "(d) both sides with pool 'all'",
}
DEFINITION_TEXT = (
    "(a) judges both rankings by labelled neighbours only and decides whether unlabelled rows help the "
    "ranking. (b) lets unlabelled rows hold neighbour slots on the semi-supervised side only, as the paper's "
    "program does. (c) uses no ranking at all, every feature counts 1: what the change of pool does alone."
)
AREAS = (
    "Areas are divided by the range of L; the paper's are over L = 50, 100, 200, 350, 500 for every "
    "data set, so other L make another scale."
)
RESTS_ON = ("L", "folds")  # the last columns of tables of differences


def join(values: Iterable[Any]) -> str:
    """A list with commas, for a cell or a sentence."""
    return ", ".join(map(str, values))


def basis(results: Results, names: Iterable[str]) -> str:
    """What a figure rests on: data sets, folds and L."""
    found = {name: levels_and_folds(results.cells(name)) for name in names}
    folds = " or ".join(map(str, sorted({n for _, n in found.values()}))) or "0"
    by_levels: dict[tuple[int, ...], list[str]] = {}
    for name, (levels, _) in found.items():
        by_levels.setdefault(levels, []).append(name)
    longest = max(by_levels, key=len, default=())
    text = f"{len(found)} data sets, {folds} folds, L = {join(longest)}"
    rest = [f"{join(levels)} ({join(some)})" for levels, some in by_levels.items() if levels != longest]
    return text + (f"; other L: {'; '.join(rest)}" if rest else "") + "."


def chosen_ensembles(results: Results, judges: Iterable[tuple[str, str]]) -> list[str]:
    """Which ensemble stands for each score, for some (side, pool): a sentence for each group."""
    judges = list(judges)
    order = " / ".join(JUDGE_NAMES[judge] for judge in judges)
    found = []
    for group in results.groups:
        parts = []
        for score in FOREST_SCORES:
            families = [results.ensembles.get((group, *judge, score), "none") for judge in judges]
            parts.append(f"{score} {' / '.join(families)}")
        found.append(f"Ensembles for {group} ({order}): {join(parts)}.")
    return found


def left_out(matrices: Iterable[Matrix]) -> list[str]:
    """The data sets that a comparison lacks, as a sentence or none."""
    names = dict.fromkeys(name for matrix in matrices for name in matrix.left_out)
    return [f"Left out where a compared method is missing: {join(names)}."] if names else []
