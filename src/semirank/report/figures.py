"""Pictures of a ranking with matplotlib (imported where used; an optional dependency)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.ranking import Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Blue and vermilion of the Okabe-Ito palette: told apart in every common colour-vision deficiency.
BLUE, VERMILION = "#0072b2", "#d55e00"


def bars(ranking: Ranking, n: int = 20, ax: Axes | None = None) -> Axes:
    """Horizontal bars of the best `n` features with their standard errors."""
    best = ranking.order[: len(ranking.top(n))]
    ax = ax or _axes(7.0, 1.2 + 0.27 * len(best))
    scores = ranking.scores[best]
    errors = None
    if ranking.standard_errors is not None:
        errors = np.nan_to_num(ranking.standard_errors[best])
    ax.barh(
        np.arange(len(best)),
        scores,
        xerr=errors,
        color=np.where(scores >= 0, BLUE, VERMILION),
        error_kw={"ecolor": "0.35", "elinewidth": 1.0, "capsize": 2.0},
    )
    _label_features(ax, ranking, best)
    ax.set_xlabel(ranking.importance + ("" if errors is None else " (± standard error)"))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def targets(ranking: Ranking, n: int = 20, ax: Axes | None = None) -> Axes:
    """Heat-map of the best `n` features (rows) by target variables (columns)."""
    if ranking.per_target is None:
        raise ValueError("this ranking has no scores per target.")
    best = ranking.order[: len(ranking.top(n))]
    n_targets = len(ranking.target_names)
    ax = ax or _axes(min(3.0 + 0.35 * n_targets, 16.0), 1.6 + 0.27 * len(best))
    image = ax.imshow(ranking.per_target[best], aspect="auto", cmap="cividis")
    ax.figure.colorbar(image, ax=ax, label="score per target")
    _label_features(ax, ranking, best)
    # More names than fit would be an unreadable smear; every step-th one keeps the axis honest.
    step = max(1, -(-n_targets // 40))
    shown = range(0, n_targets, step)
    ax.set_xticks(list(shown), [_literal(ranking.target_names[j]) for j in shown], rotation=90)
    return ax


def _axes(width: float, height: float) -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'semirank[plot]'.") from error
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def _label_features(ax: Axes, ranking: Ranking, rows: np.ndarray) -> None:
    ax.set_yticks(np.arange(len(rows)), [_literal(ranking.names[i]) for i in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)


def _literal(name: str) -> str:
    """A dollar sign in a name is not the start of a formula."""
    return name.replace("$", r"\$")
