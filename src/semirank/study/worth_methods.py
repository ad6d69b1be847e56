"""The methods of the preset `worth`: what ranks a cell, from how many labels (Def. 2.6)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..data.tasks import NUMBERS, TASKS
from ..rankers.methods import METHODS
from .rankings import Rankings
from .worth_peers import rank_filters, rank_lightgbm, rank_permutation, rank_relieff

Rank = Callable[[Table, Target, int], Rankings]

FOREIGN, FAMILY = "reference_foreign", "reference_family"
REFERENCES = (FOREIGN, FAMILY)
LABEL_ONLY = "label_only"
SUPERVISION = 0.5  # w of the semi-supervised forests
FEWER = 4  # the control with fewer unlabelled rows keeps one in so many
FOREST_SCORES = ("genie3_oob", "rforest", "genie3")
TREE_SCORES = (*FOREST_SCORES, "symbolic")
_SCORES = (
    "random_forest_genie3_oob",
    "random_forest_rforest",
    "extra_trees_genie3_oob",
    "extra_trees_rforest",
    "relief",
)
STUDENTS = tuple(f"taught_{name}" for name in _SCORES)
_LABELED = tuple(f"labeled_{name}" for name in _SCORES)


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
    stage : int
        When its jobs are done: a run that may not come to its end begins with what matters most.
    levels : tuple of int
        The only L at which it is run; empty for all.
    tasks : tuple of str
        The only tasks for which it is run; empty for all.
    control : bool
        A control of the consensus, which takes no part in comparisons of methods.
    """

    name: str
    version: int
    shown: Mapping[tuple[str, str], str]
    rank: Rank
    stage: int = 5
    levels: tuple[int, ...] = ()
    tasks: tuple[str, ...] = ()
    control: bool = False

    def fits(self, task: str) -> bool:
        """Whether it is run for a task."""
        return not self.tasks or task in self.tasks


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
    """The consensus, its parts, its rankers and students in equal parts, and every student."""
    found, seconds = _consensus(table, target, seed)
    found["both"] = np.mean([found[name] for name in (*STUDENTS, *_LABELED)], axis=0)
    return {("ssl", name): (found[name], seconds) for _, name in _CONSENSUS}


def rank_label_only(table: Table, target: Target, seed: int) -> Rankings:
    """The consensus of labelled rows alone and its parts; its rankers are those of the other, by the seed."""
    found, seconds = _consensus(table, target, seed, use_unlabeled=False)
    return {("sl", name): (found[name], seconds) for _, name in _LABEL_ONLY}


def rank_reference(table: Table, target: Target, seed: int) -> Rankings:
    """The family reference; its rankers are written out, so that it stays when the consensus changes."""
    from ..rankers.consensus import ConsensusRanker
    from ..rankers.forest import ForestRanker

    forest: dict[str, Any] = {"n_estimators": 100, "importance": ("genie3_oob", "rforest")}
    n_tested = min(table.shape[1], 128)
    ranker = ConsensusRanker(
        rankers=(
            ForestRanker(ensemble="random_forest", **forest),
            ForestRanker(ensemble="extra_trees", max_features=n_tested, **forest),
            "relief",
        ),
        use_unlabeled=False,
        sensitivity=0.0,
        redundancy=0.0,
        random_state=seed,
        n_jobs=1,
    )
    found, seconds = _fitted(ranker, table, target)
    return {("sl", "consensus"): (found["consensus"], seconds)}


def _rank_trees(table: Table, target: Target, seed: int, ensemble: str, scores: tuple[str, ...]) -> Rankings:
    """An ensemble on labelled rows, and halfway between target and features on all rows."""
    from ..rankers.forest import ForestRanker

    out: Rankings = {}
    for side, unlabeled in (("sl", False), ("ssl", True)):
        ranker = ForestRanker(
            ensemble=ensemble,
            importance=scores,
            supervision=SUPERVISION if unlabeled else 1.0,
            use_unlabeled=unlabeled,
            random_state=seed,
            n_jobs=1,
        )
        found, seconds = _fitted(ranker, table, target)
        out |= {(side, score): (found[score], seconds) for score in scores}
    return out


def rank_forest(table: Table, target: Target, seed: int) -> Rankings:
    """Random forests by three scores."""
    return _rank_trees(table, target, seed, "random_forest", FOREST_SCORES)


def rank_forest_symbolic(table: Table, target: Target, seed: int) -> Rankings:
    """Random forests by the fourth score, which came later: finished jobs of the others stay as they are."""
    return _rank_trees(table, target, seed, "random_forest", ("symbolic",))


def rank_extra_trees(table: Table, target: Target, seed: int) -> Rankings:
    """Extra trees by all scores."""
    return _rank_trees(table, target, seed, "extra_trees", TREE_SCORES)


def rank_judge(table: Table, target: Target, seed: int) -> Rankings:
    """Random forests as `ForestRanker()` has them: w chosen by judging rankings on the labelled rows."""
    from ..rankers.forest import ForestRanker

    found, seconds = _fitted(ForestRanker(random_state=seed, n_jobs=1), table, target)
    return {("ssl", "genie3"): (found["genie3"], seconds)}


def rank_laplace(table: Table, target: Target, seed: int) -> Rankings:
    """The Laplacian score, by its supervised factor and whole."""
    from ..rankers.laplace import LaplaceRanker

    out: Rankings = {}
    for side, unlabeled in (("sl", False), ("ssl", True)):
        found, seconds = _fitted(LaplaceRanker(use_unlabeled=unlabeled, n_jobs=1), table, target)
        out[side, "laplace"] = found["laplace"], seconds
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
    """True labels for the label-only part, shuffled ones for all that is said of all rows."""
    from ..evaluation.controls import shuffled_labels
    from ..rankers.consensus import ConsensusRanker
    from ..rankers.consensus_parts import whole, with_sensitivity

    known, first = _consensus(table, target, seed, use_unlabeled=False)
    taught, second = _consensus(table, shuffled_labels(target, seed), seed)
    weight = ConsensusRanker().sensitivity
    all_rows = with_sensitivity(taught["taught"], taught["sensitivity"], weight)
    return {("ssl", "consensus"): (whole(known["label_only"], all_rows), first + second)}


def rank_fewer(table: Table, target: Target, seed: int) -> Rankings:
    """The consensus with a quarter of the unlabelled rows."""
    from ..evaluation.controls import fewer_unlabeled

    n_unlabeled = int((~target.labeled).sum()) // FEWER
    found, seconds = _consensus(*fewer_unlabeled(table, target, n_unlabeled, seed), seed)
    return {("ssl", "consensus"): (found["consensus"], seconds)}


_LABEL_ONLY = {
    ("sl", "consensus"): "consensus, labelled rows",
    ("sl", "labeled"): "consensus, labelled rows, without sensitivity",
    ("sl", "labeled_sensitivity"): "consensus, labelled rows, sensitivity",
}
_CONSENSUS = {
    ("ssl", "consensus"): "consensus",
    ("ssl", "both"): "half rankers on labelled rows, half students",
    ("ssl", "taught"): "consensus, taught part",
    ("ssl", "sensitivity"): "consensus, sensitivity",
    **{("ssl", name): name.replace("_", " ", 1) for name in STUDENTS},
}


def _both_sides(words: str, scores: tuple[str, ...]) -> dict[tuple[str, str], str]:
    """What tables call an ensemble's scores without and with unlabelled rows."""
    return {
        **{("sl", score): f"{words} {score}, labelled rows" for score in scores},
        **{("ssl", score): f"{words} {score}, w = {SUPERVISION}" for score in scores},
    }


def _peer(name: str, rank: Rank, shown: Mapping[str, str], tasks: tuple[str, ...] = ()) -> Family:
    return Family(
        name, 1, {("sl", score): words for score, words in shown.items()}, rank, stage=2, tasks=tasks
    )


def _control(name: str, words: str, rank: Rank) -> Family:
    return Family(name, 6, {_ONE: f"control: {words}"}, rank, stage=3, levels=(50, 100), control=True)


_ONE = ("ssl", "consensus")
_RELIEF = {("sl", "relief"): "Relief, labelled rows", ("ssl", "relief"): "Relief, semi-supervised"}
_LAPLACE = {("sl", "laplace"): "Laplace, labelled rows", ("ssl", "laplace"): "Laplace, semi-supervised"}
_JUDGE = {("ssl", "genie3"): "random forest genie3, w by judge"}
_FILTERS = {"mutual_information": "mutual information", "f_test": "F test"}
_WITH_CLASSES = tuple(task.name for task in TASKS.values() if task.kind != NUMBERS)
# A new method is a row here. The order is that of the tables and, among equals, of a run.
FAMILIES = {
    family.name: family
    for family in (
        Family("consensus", 6, _CONSENSUS, rank_consensus, stage=0),
        Family(LABEL_ONLY, 4, _LABEL_ONLY, rank_label_only, stage=0),
        Family("forest", 1, _both_sides("random forest", FOREST_SCORES), rank_forest, stage=1),
        Family("forest_symbolic", 1, _both_sides("random forest", ("symbolic",)), rank_forest_symbolic),
        Family("extra_trees", 1, _both_sides("extra trees", TREE_SCORES), rank_extra_trees),
        Family("judge", 1, _JUDGE, rank_judge, levels=(100,)),
        Family("relief", 1, _RELIEF, rank_relief, stage=1),
        Family("taught_relief", 1, {("ssl", "relief"): "Relief, taught"}, rank_taught_relief),
        Family("laplace", 1, _LAPLACE, rank_laplace, tasks=(METHODS["laplace"].task,)),
        _peer("peer_lightgbm", rank_lightgbm, {"gain": "LightGBM gain"}),
        _peer("peer_permutation", rank_permutation, {"permutation": "scikit-learn permutation importance"}),
        _peer("peer_filters", rank_filters, _FILTERS),
        _peer("peer_relieff", rank_relieff, {"relieff": "fast-select ReliefF"}, _WITH_CLASSES),
        _control("control_invented", "invented rows", rank_invented),
        _control("control_shuffled", "shuffled labels", rank_shuffled),
        _control("control_fewer", "fewer unlabelled rows", rank_fewer),
    )
}
# What is measured besides rankings, in a module of its own; the second only if it is named.
TEACHER, SUBSETS = "teacher", "subset_value"
MEASURED = {TEACHER: 1, SUBSETS: 6}  # with the stage
WORTH_FAMILIES = (*REFERENCES, *FAMILIES, *MEASURED)
USUAL = tuple(name for name in WORTH_FAMILIES if name != SUBSETS)
# Rankings whose first features are handed to models: (family, side, score); at these L.
IN_SUBSETS = (
    ("consensus", "ssl", "consensus"),
    (LABEL_ONLY, "sl", "consensus"),
    ("forest", "sl", "genie3_oob"),
)
SUBSET_LEVELS = (50, 100)


def ranking_names(family: str) -> tuple[tuple[str, str], ...]:
    """(side, score) of every ranking of a family, none for a name that is no family.

    The scores of the foreign reference are its models, that of the teacher its out-of-fold loss.

    Examples
    --------
    >>> ranking_names("relief")
    (('sl', 'relief'), ('ssl', 'relief'))
    """
    from ..evaluation.ranking_judges import SUBSET_MODELS
    from ..evaluation.references import MODELS

    if family == FOREIGN:
        return tuple(("sl", model) for model in MODELS)
    if family == FAMILY:
        return (("sl", "consensus"),)
    if family == TEACHER:
        return (("ssl", "stack"),)
    if family == SUBSETS:
        return tuple((side, f"{of} {model}") for of, side, _ in IN_SUBSETS for model in SUBSET_MODELS)
    return tuple(FAMILIES[family].shown) if family in FAMILIES else ()
