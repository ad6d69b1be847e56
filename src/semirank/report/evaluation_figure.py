"""The picture of an evaluation, with matplotlib (imported where used; an optional dependency)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..results.evaluation import Evaluation

# Of the Okabe-Ito palette: told apart in every common colour-vision deficiency.
BLUE, VERMILION, GREY = "#0072b2", "#d55e00", "0.45"


def draw(found: Evaluation) -> Any:
    """Three panels: the rankers, the effect of the unlabelled rows, and some of the features alone."""
    height = max(3.2, 1.4 + 0.35 * len(found.rankers))
    figure = figure_class()(figsize=(12.5, height), layout="constrained")
    axes = figure.subplots(1, 3)
    _scores(axes[0], found)
    _effects(axes[1], found)
    _addition(axes[2], found)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def figure_class() -> Any:
    """matplotlib's Figure, which needs no display."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'semirank[plot]'.") from error
    return Figure


def _scores(ax: Any, found: Evaluation) -> None:
    rows = np.arange(len(found.rankers))
    semi = [np.nan if r.semi_supervised is None else r.semi_supervised for r in found.rankers]
    supervised = [r.supervised for r in found.rankers]
    ax.hlines(rows, semi, supervised, color="0.8", zorder=1)
    ax.plot(supervised, rows, "o", color=VERMILION, label="supervised")
    if found.effect is not None:
        ax.plot(semi, rows, "D", color=BLUE, label="semi-supervised")
    ax.axvline(supervised[-1], color=GREY, linestyle=":", linewidth=1)
    names = [r.name.replace("$", r"\$") for r in found.rankers]
    ax.set_yticks(rows, names)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlabel(f"{found.measure} ({'larger' if found.greater_is_better else 'smaller'} is better)")
    ax.locator_params(axis="x", nbins=5)
    ax.set_title("Which ranker?", loc="left")
    ax.legend(frameon=False, fontsize="small")


def _effects(ax: Any, found: Evaluation) -> None:
    ax.set_title("Do the unlabelled rows help?", loc="left")
    ax.set_ylim(len(found.rankers) - 0.5, -0.5)
    ax.set_yticks([])
    if found.effect is None:
        ax.text(0.5, 0.5, "every row is labelled", ha="center", va="center", transform=ax.transAxes)
        ax.set_xticks([])
        return
    colours = {1: BLUE, 0: GREY, -1: VERMILION}
    for row, ranker in enumerate(found.rankers):
        if ranker.effect is None:
            continue
        value, low, high = ranker.effect
        colour = colours[ranker.effect.verdict]
        ax.errorbar(value, row, xerr=[[value - low], [high - value]], fmt="o", color=colour, capsize=3)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.locator_params(axis="x", nbins=5)
    ax.set_xlabel("hurt  $\\leftarrow$  difference, 95 % interval  $\\rightarrow$  helped")


def _addition(ax: Any, found: Evaluation) -> None:
    ax.plot(found.n_features, found.forward, "o-", color=BLUE, label="best features first")
    ax.plot(found.n_features, found.reverse, "s--", color=VERMILION, label="worst first")
    ax.axvline(found.n_keep, color=GREY, linestyle=":", linewidth=1)
    ax.annotate(
        f"keep {found.n_keep}", (found.n_keep, 0.0), xycoords=("data", "axes fraction"), color=GREY,
        xytext=(4, 4), textcoords="offset points", fontsize="small",
    )  # fmt: skip
    ax.set_xscale("log", base=2)
    ax.set_xticks(found.n_features, [str(n) for n in found.n_features])
    ax.minorticks_off()
    ax.set_xlabel("features, all counting equally")
    ax.set_ylabel(found.measure)
    ax.set_title("How many features?", loc="left")
    ax.legend(frameon=False, fontsize="small")
