"""semirank: which features matter, when only some rows are labelled."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Name -> the room it lives in. Nothing heavy is imported until a name is used (DESIGN 2.2).
_HOME = {
    "Dataset": "data.files",
    "Evaluation": "evaluation.result",
    "ForestRanker": "forest.ranker",
    "Hierarchy": "data.hierarchy",
    "LaplaceRanker": "laplace",
    "Ranking": "ranking",
    "ReliefRanker": "relief",
    "Table": "data.table",
    "cluster_hypothesis": "evaluation.cluster_hypothesis",
    "evaluate": "evaluation.diagnosis",
    "knn_score": "evaluation.scoring",
    "load": "data.files",
    "rank": "api",
    "semi_supervised_folds": "evaluation.splits",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from .api import rank
    from .data.files import Dataset, load
    from .data.hierarchy import Hierarchy
    from .data.table import Table
    from .evaluation.cluster_hypothesis import cluster_hypothesis
    from .evaluation.diagnosis import evaluate
    from .evaluation.result import Evaluation
    from .evaluation.scoring import knn_score
    from .evaluation.splits import semi_supervised_folds
    from .forest.ranker import ForestRanker
    from .laplace import LaplaceRanker
    from .ranking import Ranking
    from .relief import ReliefRanker


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
