"""semirank: which features matter, when only some rows are labelled."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Name -> the room it lives in. Nothing heavy is imported until a name is used (Def. 3.2).
_HOME = {
    "ConsensusRanker": "rankers.consensus",
    "Dataset": "data.dataset",
    "Evaluation": "results.evaluation",
    "ForestRanker": "rankers.forest",
    "Hierarchy": "data.hierarchy",
    "LabelCurves": "results.label_curves",
    "LaplaceRanker": "rankers.laplace",
    "Ranking": "results.ranking",
    "ReliefRanker": "rankers.relief",
    "Table": "data.table",
    "Target": "data.target",
    "TaughtRanker": "rankers.taught",
    "Teacher": "teacher.teacher",
    "cluster_hypothesis": "evaluation.cluster_hypothesis",
    "evaluate": "evaluation.evaluate",
    "keep_labels": "data.keep_labels",
    "knn_score": "evaluation.knn_score",
    "label_curves": "evaluation.label_curves",
    "load": "data.dataset",
    "rank": "api",
    "semi_supervised_folds": "judging.splits",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from .api import rank
    from .data.dataset import Dataset, load
    from .data.hierarchy import Hierarchy
    from .data.keep_labels import keep_labels
    from .data.table import Table
    from .data.target import Target
    from .evaluation.cluster_hypothesis import cluster_hypothesis
    from .evaluation.evaluate import evaluate
    from .evaluation.knn_score import knn_score
    from .evaluation.label_curves import label_curves
    from .judging.splits import semi_supervised_folds
    from .rankers.consensus import ConsensusRanker
    from .rankers.forest import ForestRanker
    from .rankers.laplace import LaplaceRanker
    from .rankers.relief import ReliefRanker
    from .rankers.taught import TaughtRanker
    from .results.evaluation import Evaluation
    from .results.label_curves import LabelCurves
    from .results.ranking import Ranking
    from .teacher.teacher import Teacher


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
