"""The methods: a new one is a row of `METHODS` and a module of its own. Light to import."""

from __future__ import annotations

from importlib import import_module
from itertools import product
from typing import Any, NamedTuple

from ..trees.scores import IMPORTANCES

ENSEMBLES = ("random_forest", "extra_trees", "bagging")
# The supervision levels w that the paper's rule compares, and how much better than w = 1 a level must be, as
# a share of the score at w = 1, for the rule "judge" to take it (Def. 1.5).
SUPERVISION_LEVELS = tuple(i / 10 for i in range(11))
JUDGE_MARGIN = 0.02
# Relief's settings without tuning, and those that tuning compares: the paper's grid. The setting without
# tuning comes first, so that it wins ties.
RELIEF_NEIGHBORS = (15, 20, 30)
RELIEF_INFLUENCE = (0.0, 1.0)
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
RELIEF_INFLUENCES = (
    RELIEF_INFLUENCE,
    *((w0, w1) for w0, w1 in product(_QUARTERS, repeat=2) if w0 <= w1 and (w0, w1) != RELIEF_INFLUENCE),
)


class Method(NamedTuple):
    """One row of the table.

    Attributes
    ----------
    name : str
        What `rank` and the command line call it.
    words : str
        What the command line says about it.
    ranker : str
        The module of this room and the class in it.
    scores : tuple of str
        The importances that rank, the main one first; parts of a consensus are not among them.
    kernels : tuple of str
        The modules whose compiled functions it needs.
    compared : dict of str to dict
        The names under which it takes part in a comparison, each with what tells it from the others.
    quick : dict
        Further parameters where it is judged at many numbers of labels.
    presets : dict of str to dict
        The presets that know it, each with the parameters of its ranker.
    label_only : str
        The one of its importances that `use_unlabeled=False` would give: then one fit answers for both.
    task : str
        The one task that it was made for, so the one where it takes part unasked; "" for all.
    by_name_only : bool
        It is judged at many numbers of labels only if it is named: it takes longer than all others together.
    """

    name: str
    words: str
    ranker: str
    scores: tuple[str, ...]
    kernels: tuple[str, ...]
    compared: dict[str, dict[str, Any]]
    presets: dict[str, dict[str, Any]] = {}  # noqa: RUF012
    quick: dict[str, Any] = {}  # noqa: RUF012
    label_only: str = ""
    task: str = ""
    by_name_only: bool = False

    def load(self) -> Any:
        """The class of the ranker, imported now."""
        module, name = self.ranker.split(".")
        return getattr(import_module(f"{__package__}.{module}"), name)


# Small forests: the judge's own noise hides what more trees would add. Halfway between target and features,
# because a rule such as "judge" would mostly fall back to w = 1, which leaves nothing to compare, and would
# cost twenty forests where this costs one.
_QUICK_FOREST = {"importance": IMPORTANCES, "supervision": 0.5, "n_estimators": 25}
_FORESTS = {
    "forest" if ensemble == "random_forest" else ensemble: {"ensemble": ensemble} for ensemble in ENSEMBLES
}
# What the paper leaves open stays at our default, and so do the ensemble and the importance, of which it
# compares all.
_PAPER_FOLDS = {"n_folds": 4}  # of the labelled rows, for w and for Relief's setting
_PAPER_FOREST = {
    "n_estimators": 100,
    "supervision": "cv",
    "supervision_grid": SUPERVISION_LEVELS,
    "normalize_weights": False,
    "min_labeled": 0,
    **_PAPER_FOLDS,
}
_PAPER_RELIEF = {"n_neighbors": RELIEF_NEIGHBORS, "influence": RELIEF_INFLUENCES, **_PAPER_FOLDS}
_TREES = (
    "trees.grow",
    "trees.predict",
    "trees.node_scores",
    "trees.out_of_bag_gain",
    "trees.permutation_scores",
)
_PAIRS = ("neighbors.kernels", "neighbors.target_kernels")
_ROWS = (
    Method(
        "consensus",
        "several rankers on labelled rows, and on a target that a teacher completed",
        "consensus.ConsensusRanker",
        ("consensus",),
        (*_TREES, *_PAIRS),
        {"consensus": {}},
        quick={"max_rows": 2000},
        label_only="label_only",
        by_name_only=True,
    ),
    Method(
        "forest",
        "semi-supervised trees",
        "forest.ForestRanker",
        IMPORTANCES,
        _TREES,
        _FORESTS,
        presets={"paper": _PAPER_FOREST},
        quick=_QUICK_FOREST,
    ),
    Method(
        "relief",
        "semi-supervised Relief",
        "relief.ReliefRanker",
        ("relief",),
        _PAIRS,
        {"relief": {}},
        presets={"paper": _PAPER_RELIEF},
    ),
    Method(
        "laplace",
        "the Laplacian score",
        "laplace.LaplaceRanker",
        ("laplace",),
        _PAIRS,
        {"laplace": {}},
        presets={"paper": {}},
        task="regression",
    ),
)
METHODS = {method.name: method for method in _ROWS}
DEFAULT = "consensus"  # what "auto" stands for
COMPARED = {name: method for method in _ROWS for name in method.compared}
# What `evaluate` holds a ranking against unless told otherwise, chosen beforehand: rankings of labelled rows.
USUAL_COMPARISON: dict[str, tuple[str, dict[str, Any]]] = {
    "forest": ("forest", {"importance": ("genie3_oob", "rforest"), "supervision": 1.0}),
    "relief": ("relief", {}),
}
