"""The methods of the preset `worth`: what ranks a cell, from how many labels (Def. 2.6)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..data.table import Table
from ..data.target import Target

# (side, score) -> importances and seconds of the processor
Rankings = dict[tuple[str, str], tuple[np.ndarray, float]]
Rank = Callable[[Table, Target, int], Rankings]

FOREIGN, FAMILY = "reference_foreign", "reference_family"
REFERENCES = (FOREIGN, FAMILY)
LABEL_ONLY = "label_only"
MAIN = ("consensus", LABEL_ONLY)
SUPERVISION = 0.5  # w of the semi-supervised forests
FEWER = 4  # the control with fewer unlabelled rows keeps one in so many
FOREST_SCORES = ("genie3_oob", "rforest", "genie3")
STUDENTS = tuple(
    f"taught_{name}"
    for name in (
        "random_forest_genie3_oob",
        "random_forest_rforest",
        "extra_trees_genie3_oob",
        "extra_trees_rforest",
        "relief",
    )
)


class Family(NamedTuple):
    """One row of `FAMILIES`.

    Attributes
    ----------
    name : str
    version : int
        Part of the keys: raise it when a change of the library changes these rankings.
    shown : dict of (side, score) to str
        What tables call each ranking.
    rank : callable
        (training rows, target with holes, seed) -> rankings.
    control : bool
        Run only if it is named.
    """

    name: str
    version: int
    shown: Mapping[tuple[str, str], str]
    rank: Rank
    control: bool = False


def _fitted(ranker: Any, table: Table, target: Target) -> tuple[dict[str, np.ndarray], float]:
    began = time.thread_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about single fits
        ranker.fit(table, target)
    return ranker.importances_, time.thread_time() - began


def _consensus(table: Table, target: Target, seed: int, use_unlabeled: bool = True) -> Any:
    from ..rankers.consensus import ConsensusRanker

    return _fitted(ConsensusRanker(use_unlabeled=use_unlabeled, random_state=seed, n_jobs=1), table, target)


def rank_consensus(table: Table, target: Target, seed: int) -> Rankings:
    """The consensus, its taught half, and every student."""
    found, seconds = _consensus(table, target, seed)
    return {("ssl", name): (found[name], seconds) for name in ("consensus", "taught", *STUDENTS)}


def rank_label_only(table: Table, target: Target, seed: int) -> Rankings:
    """The consensus of labelled rows alone; with the seed of the other it is the first half of that one."""
    found, seconds = _consensus(table, target, seed, use_unlabeled=False)
    return {("sl", "consensus"): (found["consensus"], seconds)}


def rank_reference(table: Table, target: Target, seed: int) -> Rankings:
    """The family reference; its rankers are named, so that it stays when the consensus changes."""
    from ..rankers.consensus import ConsensusRanker

    ranker = ConsensusRanker(
        rankers=("random_forest", "extra_trees", "relief"),
        use_unlabeled=False,
        random_state=seed,
        n_jobs=1,
    )
    found, seconds = _fitted(ranker, table, target)
    return {("sl", "consensus"): (found["consensus"], seconds)}


def rank_forest(table: Table, target: Target, seed: int) -> Rankings:
    """Random forests on labelled rows, and halfway between target and features on all rows."""
    from ..rankers.forest import ForestRanker

    out: Rankings = {}
    for side, unlabeled in (("sl", False), ("ssl", True)):
        ranker = ForestRanker(
            importance=FOREST_SCORES,
            supervision=SUPERVISION if unlabeled else 1.0,
            use_unlabeled=unlabeled,
            random_state=seed,
            n_jobs=1,
        )
        found, seconds = _fitted(ranker, table, target)
        out |= {(side, score): (found[score], seconds) for score in FOREST_SCORES}
    return out


def rank_relief(table: Table, target: Target, seed: int) -> Rankings:
    """Relief on labelled rows, and the paper's on all rows, both without tuning."""
    from ..rankers.relief import ReliefRanker

    out: Rankings = {}
    for side, unlabeled in (("sl", False), ("ssl", True)):
        found, seconds = _fitted(
            ReliefRanker(use_unlabeled=unlabeled, random_state=seed, n_jobs=1), table, target
        )
        out[side, "relief"] = found["relief"], seconds
    return out


def rank_taught_relief(table: Table, target: Target, seed: int) -> Rankings:
    """Relief on a completed target."""
    from ..rankers.relief import ReliefRanker
    from ..rankers.taught import TaughtRanker

    found, seconds = _fitted(TaughtRanker(ReliefRanker(), random_state=seed, n_jobs=1), table, target)
    return {("ssl", "relief"): (found["relief"], seconds)}


def rank_invented(table: Table, target: Target, seed: int) -> Rankings:
    """The consensus with invented rows in place of the unlabelled ones."""
    from ..evaluation.controls import invented_rows

    found, seconds = _consensus(*invented_rows(table, target, seed), seed)
    return {("ssl", "consensus"): (found["consensus"], seconds)}


def rank_shuffled(table: Table, target: Target, seed: int) -> Rankings:
    """True labels in the half from labelled rows, a teacher of shuffled ones in the other."""
    from ..evaluation.controls import shuffled_labels

    known, first = _consensus(table, target, seed, use_unlabeled=False)
    taught, second = _consensus(table, shuffled_labels(target, seed), seed)
    return {("ssl", "consensus"): ((known["consensus"] + taught["taught"]) / 2, first + second)}


def rank_fewer(table: Table, target: Target, seed: int) -> Rankings:
    """The consensus with a quarter of the unlabelled rows."""
    from ..evaluation.controls import fewer_unlabeled

    n_unlabeled = int((~target.labeled).sum()) // FEWER
    found, seconds = _consensus(*fewer_unlabeled(table, target, n_unlabeled, seed), seed)
    return {("ssl", "consensus"): (found["consensus"], seconds)}


_CONSENSUS = {
    ("ssl", "consensus"): "consensus",
    ("ssl", "taught"): "consensus, taught half",
    **{("ssl", name): name.replace("_", " ", 1) for name in STUDENTS},
}
_FOREST = {
    **{("sl", score): f"random forest {score}, labelled rows" for score in FOREST_SCORES},
    **{("ssl", score): f"random forest {score}, w = {SUPERVISION}" for score in FOREST_SCORES},
}
_RELIEF = {("sl", "relief"): "Relief, labelled rows", ("ssl", "relief"): "Relief, semi-supervised"}
_ONE = ("ssl", "consensus")
# A new method is a row here. The order is that of the tables and, among equals, of a run.
FAMILIES = {
    family.name: family
    for family in (
        Family("consensus", 1, _CONSENSUS, rank_consensus),
        Family(LABEL_ONLY, 1, {("sl", "consensus"): "consensus, labelled rows"}, rank_label_only),
        Family("forest", 1, _FOREST, rank_forest),
        Family("relief", 1, _RELIEF, rank_relief),
        Family("taught_relief", 1, {("ssl", "relief"): "Relief, taught"}, rank_taught_relief),
        Family("control_invented", 1, {_ONE: "control: invented rows"}, rank_invented, control=True),
        Family("control_shuffled", 1, {_ONE: "control: shuffled labels"}, rank_shuffled, control=True),
        Family("control_fewer", 1, {_ONE: "control: fewer unlabelled rows"}, rank_fewer, control=True),
    )
}
JOB_FAMILIES = (*REFERENCES, *FAMILIES)
USUAL = tuple(name for name in JOB_FAMILIES if name in REFERENCES or not FAMILIES[name].control)


def ranking_names(family: str) -> tuple[tuple[str, str], ...]:
    """(side, score) of every ranking of a family, none for a name that is no family.

    The scores of the foreign reference are its models.

    Examples
    --------
    >>> ranking_names("relief")
    (('sl', 'relief'), ('ssl', 'relief'))
    """
    from ..evaluation.references import MODELS

    if family == FOREIGN:
        return tuple(("sl", model) for model in MODELS)
    if family == FAMILY:
        return (("sl", "consensus"),)
    return tuple(FAMILIES[family].shown) if family in FAMILIES else ()
