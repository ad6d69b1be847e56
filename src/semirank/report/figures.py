"""Pictures of rankings and evaluations with matplotlib (imported where used; an optional dependency)."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.ranking import Ranking
from ..runtime.atomic_write import atomic_write
from ..runtime.optional import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..results.evaluation import Evaluation

# Of the Okabe-Ito palette: told apart in every common colour-vision deficiency.
BLUE, VERMILION, GREY = "#0072b2", "#d55e00", "0.45"


def bars(ranking: Ranking, n: int = 20, ax: Axes | None = None) -> Axes:
    """Horizontal bars of the best `n` features with their standard errors."""
    best = ranking.order[: len(ranking.top(n))]
    ax = ax or _axes(7.0, 1.2 + 0.27 * len(best))
    scores = ranking.scores[best]
    errors = None if ranking.standard_errors is None else np.nan_to_num(ranking.standard_errors[best])
    ax.barh(
        np.arange(len(best)),
        scores,
        xerr=errors,
        color=np.where(scores >= 0, BLUE, VERMILION),
        error_kw={"ecolor": "0.35", "elinewidth": 1.0, "capsize": 2.0},
    )
    _label_rows(ax, [ranking.names[i] for i in best])
    ax.set_xlabel(ranking.importance + ("" if errors is None else " (± standard error)"))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def targets(ranking: Ranking, n: int = 20, ax: Axes | None = None) -> Axes:
    """Heat-map of the best `n` features (rows) by target variables or classes (columns)."""
    scores, names, one = ranking.per_target, ranking.target_names, "target"
    if ranking.per_class is not None:
        scores, names, one = ranking.per_class, ranking.class_names, "class"
    if scores is None:
        raise ValueError("this ranking has no scores per target.")
    best = ranking.order[: len(ranking.top(n))]
    n_targets = len(names)
    ax = ax or _axes(min(3.0 + 0.35 * n_targets, 16.0), 1.6 + 0.27 * len(best))
    image = ax.imshow(scores[best], aspect="auto", cmap="cividis")
    ax.figure.colorbar(image, ax=ax, label=f"score per {one}")
    _label_rows(ax, [ranking.names[i] for i in best])
    # More names than fit would be unreadable, so only every step-th one is shown.
    step = max(1, -(-n_targets // 40))
    shown = range(0, n_targets, step)
    ax.set_xticks(list(shown), [literal(names[j]) for j in shown], rotation=90)
    return ax


def evaluation(found: Evaluation) -> Any:
    """The rankings, the effect of the unlabelled rows, some of the features alone; more labels if asked."""
    height = max(3.2, 1.4 + 0.35 * len(found.rankers))
    panels = [_scores, _effects, _addition, *([_more_labels] if found.more_labels is not None else [])]
    figure = figure_class()(figsize=(4.2 * len(panels), height), layout="constrained")
    axes = figure.subplots(1, len(panels))
    for ax, draw in zip(axes, panels):
        draw(ax, found)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def save_figure(figure: Any, path: str | PathLike[str]) -> None:
    """Write a figure in the format of the extension, whole or not at all."""
    picture = io.BytesIO()
    figure.savefig(picture, format=Path(path).suffix[1:].lower(), dpi=150)
    atomic_write(path, picture.getvalue())


def figure_class() -> Any:
    """matplotlib's Figure, which needs no display."""
    return _matplotlib("figure").Figure


def literal(name: str) -> str:
    """A name in which a dollar sign does not start a formula."""
    return name.replace("$", r"\$")


def curve_panels(
    rows: Mapping[str, str],
    columns: Mapping[int, str],
    levels: Sequence[int],
    y_label: str,
    draw: Callable[[Any, str, int], dict[str, Any]],
) -> tuple[Any, dict[str, Any]]:
    """Curves over the number of labels: a row of panels for each judge, a column for each k.

    Parameters
    ----------
    rows : mapping of str to str
        Judges, and what they are called.
    columns : mapping of int to str
        Numbers of neighbours, and what they are called.
    levels : sequence of int
        Numbers of labels.
    y_label : str
    draw : callable
        Draws into (axes, judge, k) and returns the lines for the legend, by name.

    Returns
    -------
    figure, dict of str to line
    """
    figure = figure_class()(figsize=(4.6 * len(columns), 6.6), layout="constrained")
    panels = figure.subplots(len(rows), len(columns), sharex=True, sharey=True, squeeze=False)
    lines: dict[str, Any] = {}
    for row, (judge, words) in zip(panels, rows.items()):
        for ax, (k, near) in zip(row, columns.items()):
            lines |= draw(ax, judge, k)
            ax.set_title(f"{near}, {words}")
            ax.spines[["top", "right"]].set_visible(False)
            ax.grid(axis="y", color="0.9", linewidth=0.7)
        row[0].set_ylabel(y_label)
    for ax in panels[-1]:
        ax.set_xlabel("labelled rows L")
        ax.set_xticks(levels, [str(level) for level in levels])
    return figure, lines


def curve_legend(lines: Mapping[str, Any], *sides: str) -> tuple[list[Any], list[str]]:
    """Keys and words of a legend: the lines, then what solid and dashed lines are."""
    from matplotlib.lines import Line2D

    dashes = [Line2D([], [], color="0.2", linestyle=dash) for dash in ("-", "--")]
    return [*lines.values(), *dashes], [*map(literal, lines), *sides]


def _axes(width: float, height: float) -> Any:
    return _matplotlib("pyplot").subplots(figsize=(width, height), layout="constrained")[1]


def _matplotlib(module: str) -> Any:
    return optional(f"matplotlib.{module}", "plotting needs matplotlib: pip install 'semirank[plot]'.")


def _label_rows(ax: Axes, names: Sequence[str]) -> None:
    """Names from top to bottom."""
    ax.set_yticks(np.arange(len(names)), [literal(name) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)


def _scores(ax: Any, found: Evaluation) -> None:
    rows = np.arange(len(found.rankers))
    semi = [np.nan if r.semi_supervised is None else r.semi_supervised for r in found.rankers]
    supervised = [r.supervised for r in found.rankers]
    ax.hlines(rows, semi, supervised, color="0.8", zorder=1)
    ax.plot(supervised, rows, "o", color=VERMILION, label="supervised")
    if not np.isnan(semi).all():
        ax.plot(semi, rows, "D", color=BLUE, label="semi-supervised")
    ax.axvline(supervised[-1], color=GREY, linestyle=":", linewidth=1)
    _label_rows(ax, [r.name for r in found.rankers])
    ax.set_xlabel(f"{found.measure} ({'larger' if found.greater_is_better else 'smaller'} is better)")
    ax.locator_params(axis="x", nbins=5)
    ax.set_title("How good is the ranking?", loc="left")
    ax.legend(frameon=False, fontsize="small")


def _effects(ax: Any, found: Evaluation) -> None:
    ax.set_title("Do the unlabelled rows help?", loc="left")
    ax.set_ylim(len(found.rankers) - 0.5, -0.5)
    ax.set_yticks([])
    if found.effect is None:
        words = {"none": "every row is labelled", "not used": "they took no part"}
        said = words.get(found.verdict, "too few unlabelled rows to tell")
        ax.text(0.5, 0.5, said, ha="center", va="center", transform=ax.transAxes)
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
    band = found.forward - found.forward_errors, found.forward + found.forward_errors
    ax.fill_between(found.n_features, *band, color=BLUE, alpha=0.15, linewidth=0)
    ax.plot(found.n_features, found.reverse, "s--", color=VERMILION, label="worst first")
    ax.axhline(found.guess, color=GREY, linestyle="--", linewidth=1, label="a guess")
    if found.n_keep is not None:
        ax.axvline(found.n_keep, color=GREY, linestyle=":", linewidth=1)
        ax.annotate(
            f"keep {found.n_keep}", (found.n_keep, 0.0), xycoords=("data", "axes fraction"), color=GREY,
            xytext=(4, 4), textcoords="offset points", fontsize="small",
        )  # fmt: skip
    _name_curves(ax, found.n_features, "features, all counting equally; band: standard error", found.measure)
    ax.set_title("How many features?", loc="left")


def _more_labels(ax: Any, found: Evaluation) -> None:
    more = found.more_labels
    assert more is not None
    measured = [(m.n_labeled, m.score) for m in more.measured]
    ax.plot(*zip(*measured), "o-", color=BLUE, label="measured")
    value, low, high = (np.array(part) for part in zip(*more.scores))
    ax.errorbar(
        more.n_labeled, value, yerr=[value - low, high - value], fmt="D", color=VERMILION, capsize=3,
        label="extrapolated, 95 %",
    )  # fmt: skip
    ticks = [*(round(m.n_labeled) for m in more.measured), *more.n_labeled]
    _name_curves(ax, ticks, "labels", found.measure)
    ax.set_title("What would more labels bring?", loc="left")


def _name_curves(ax: Any, ticks: Any, x_label: str, y_label: str) -> None:
    """Words for curves over numbers that double."""
    ax.set_xscale("log", base=2)
    ax.set_xticks(ticks, [str(n) for n in ticks], fontsize="small")
    ax.minorticks_off()
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.legend(frameon=False, fontsize="small")
