"""When do unlabelled rows help? What is known of a data set, beside what they were worth there (Def. 2.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .properties import CH, FEATURES, MISSING
from .statistics import rank_rows, spearman
from .table_format import StudyTable
from .worth_comparisons import counted
from .worth_results import WorthResults
from .worth_tables import known

Properties = Mapping[str, Mapping[str, float]]
LOSS, RATIO = "teacher's loss", "features per label"
WORDS = (CH, LOSS, MISSING, RATIO)
DRAWS = 9999  # permutations behind a p-value


class Known(NamedTuple):
    """A data set that counts at an L, by what one can know before ranking."""

    name: str
    worth: float
    numbers: dict[str, float]  # NaN where not known


def what_is_known(results: WorthResults, level: int, properties: Properties) -> list[Known]:
    """The data sets whose worth counts at an L."""
    found = []
    for name, one in counted(results, level).items():
        losses = list(results.losses.get((name, level), {}).values())
        about = properties.get(name, {})
        numbers = {
            CH: about.get(CH, np.nan),
            LOSS: float(np.mean(losses)) if losses else np.nan,
            MISSING: about.get(MISSING, np.nan),
            RATIO: about.get(FEATURES, np.nan) / level,
        }
        found.append(Known(name, one.factor, numbers))
    return found


def when_by_data_set(results: WorthResults, properties: Properties) -> StudyTable:
    """Every data set that counts, largest worth first."""
    rows: list[tuple[Any, ...]] = []
    for level in results.levels:
        for one in sorted(what_is_known(results, level, properties), key=lambda one: -one.worth):
            rows.append((level, one.name, results.groups[one.name], one.worth, *known(one.numbers.values())))
    text = (
        "What the consensus was worth, beside how well clusters resemble the target (the clustering "
        "hypothesis, CH), the teacher's out-of-fold loss (0 perfect, 1 as good as the mean), the share of "
        "missing feature values, and how many features there are for a label."
    )
    return StudyTable(
        "7_when_data_sets", "Data sets by worth", text, ("L", "data set", "group", "worth", *WORDS), rows
    )


def when(results: WorthResults, properties: Properties) -> StudyTable:
    """How each of these numbers goes together with the worth."""
    rows: list[tuple[Any, ...]] = []
    for level in results.levels:
        data_sets = what_is_known(results, level, properties)
        for what in WORDS:
            pairs = np.array([(one.numbers[what], one.worth) for one in data_sets]).reshape(-1, 2)
            pairs = pairs[~np.isnan(pairs).any(axis=1)]
            rho = spearman(*pairs.T) if len(pairs) >= 3 else None
            if rho is None:
                continue
            low, high = np.quantile(pairs[:, 0], [1 / 3, 2 / 3], method="nearest")
            parts = pairs[pairs[:, 0] <= low], pairs[pairs[:, 0] >= high if high > low else pairs[:, 0] > low]
            ends = [float(np.exp(np.log(part[:, 1]).mean())) for part in parts]
            beside = (float(low), ends[0], float(parts[1][:, 0].min()), ends[1])
            rows.append((level, what, len(pairs), rho, chance(*pairs.T), *beside))
    text = (
        "Rank correlation of what is known of a data set with what the consensus was worth on it, its "
        "p-value by permutation, and the geometric mean of the worth over about a third of the data sets "
        "where the number is lowest and highest (where most have the same number, those and the others)."
    )
    columns = (
        "L", "number", "data sets", "Spearman", "p", "low third: up to", "worth there", "high third: from",
        "worth there (high)",
    )  # fmt: skip
    notes = ["Four numbers at each L: a single p below 0.05 is not much."]
    return StudyTable(
        "7_when", "When do they help?", text, columns, rows, notes, signed=frozenset({"Spearman"})
    )


def chance(a: np.ndarray, b: np.ndarray) -> float:
    """How often a random order of `b` is correlated with `a` as strongly, in ranks.

    Examples
    --------
    >>> chance(np.arange(8.0), np.arange(8.0)) < 0.01
    True
    """
    first, second = rank_rows(np.array([a, b]))
    rng = np.random.default_rng(0)
    drawn = rng.permuted(np.tile(second, (DRAWS, 1)), axis=1)
    centred = first - first.mean()
    strength = abs(centred @ second)
    return float((1 + (np.abs(drawn @ centred) >= strength - 1e-9).sum()) / (DRAWS + 1))
