"""The figures printed in the paper, and which data sets stand in for others."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def paper_tables() -> dict[str, Any]:
    """The paper's tables under this package's names; do not change what it returns.

    Examples
    --------
    >>> paper_tables()["difference"]["classification"]["Digits"]["relief"]
    0.245
    """
    return json.loads((files(__package__) / "paper_tables.json").read_text(encoding="utf-8"))


@cache
def paper_names() -> dict[str, str]:
    """The paper's data sets, in its order, with their groups.

    Examples
    --------
    >>> len(paper_names()), paper_names()["Oes10"]
    (38, 'MTR')
    """
    return {name: group for group, some in paper_tables()["datasets"].items() for name in some}


def printed_differences(group: str, dataset: str) -> dict[str, float]:
    """The paper's differences of areas on a data set, by score; none for data sets that it does not have."""
    return paper_tables()["difference"].get(group, {}).get(dataset, {})


def printed_hypothesis(group: str, dataset: str) -> float | None:
    """The paper's CH of a data set; None for data sets that it does not have.

    Examples
    --------
    >>> printed_hypothesis("STR", "Mortgage")
    0.57
    """
    printed = paper_tables()["datasets"].get(group, {}).get(dataset)
    return None if printed is None else printed["ch"] + 0.0  # not -0.0


def known_stand_ins() -> dict[str, str]:
    """Data sets of the registry that stand in for one of the paper's, with the one they replace."""
    from ..datasets.registry import entries

    return {entry.name: entry.stand_in_for for entry in entries() if entry.stand_in_for is not None}
