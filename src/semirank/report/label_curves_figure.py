"""The picture of scores over the number of labels, with matplotlib (imported where used)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..results.label_curves import JUDGE_WORDS, JUDGES, NO_RANKING, SIDES
from .figures import GREY, figure_class

if TYPE_CHECKING:
    from ..results.label_curves import LabelCurves

# Okabe-Ito, told apart in every common colour-vision deficiency; more rankers begin anew with other markers.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = "osD^v"


def draw(found: LabelCurves) -> Any:
    """A row for each judge, a column for each k; solid with unlabelled rows, dashed without."""
    from matplotlib.lines import Line2D

    figure = figure_class()(figsize=(4.6 * len(found.k), 6.6), layout="constrained")
    panels = figure.subplots(len(JUDGES), len(found.k), sharex=True, sharey=True, squeeze=False)
    lines: dict[str, Any] = {}
    for row, judge in zip(panels, JUDGES):
        for ax, k in zip(row, found.k):
            lines |= _draw_panel(ax, found, judge, k)
            ax.set_title(f"{k} neighbours, {JUDGE_WORDS[judge]}")
            ax.spines[["top", "right"]].set_visible(False)
            ax.grid(axis="y", color="0.9", linewidth=0.7)
        row[0].set_ylabel(f"{found.measure} ({'larger' if found.greater_is_better else 'smaller'} is better)")
    for ax in panels[-1]:
        ax.set_xlabel("labelled rows L")
        ax.set_xticks(found.n_labeled, [str(n) for n in found.n_labeled])
    keys = [*lines.values(), *(Line2D([], [], color="0.2", linestyle=dash) for dash in ("-", "--"))]
    names = [*(name.replace("$", r"\$") for name in lines), *SIDES]
    figure.legend(keys, names, loc="outside lower center", ncols=min(len(keys), 4), frameon=False)
    return figure


def _draw_panel(ax: Any, found: LabelCurves, judge: str, k: int) -> dict[str, Any]:
    """The curves of one panel; the solid line of each ranker is returned for the legend."""
    lines = {}
    for i, name in enumerate((*found.rankers, NO_RANKING)):
        colour = GREY if name == NO_RANKING else COLOURS[i % len(COLOURS)]
        marker = MARKERS[i // len(COLOURS) % len(MARKERS)]
        for side, pool, dash in zip(SIDES, JUDGES[judge], ("-", "--")):
            curve = found.find(name, "" if name == NO_RANKING else side, pool, k)
            (line,) = ax.plot(
                found.n_labeled, curve.scores, dash, color=colour, marker=marker, markersize=4,
                markerfacecolor=colour if dash == "-" else "white", linewidth=1.4,
            )  # fmt: skip
            if dash == "-":
                lines[name] = line
    return lines
