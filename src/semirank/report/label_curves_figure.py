"""The picture of scores over the number of labels, with matplotlib (imported where used)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..results.evaluation import NO_RANKING
from ..results.label_curves import JUDGE_WORDS, JUDGES, SIDES
from .figures import GREY, curve_legend, curve_panels

if TYPE_CHECKING:
    from ..results.label_curves import LabelCurves

# Okabe-Ito, told apart in every common colour-vision deficiency; more rankers begin anew with other markers.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = "osD^v"


def draw(found: LabelCurves) -> Any:
    """A row for each judge, a column for each k; solid with unlabelled rows, dashed without."""
    way = "larger" if found.greater_is_better else "smaller"
    figure, lines = curve_panels(
        JUDGE_WORDS,
        {k: f"{k} neighbours" for k in found.k},
        found.n_labeled,
        f"{found.measure} ({way} is better)",
        partial(_draw_panel, found),
    )
    keys, names = curve_legend(lines, *SIDES)
    figure.legend(keys, names, loc="outside lower center", ncols=min(len(keys), 4), frameon=False)
    return figure


def _draw_panel(found: LabelCurves, ax: Any, judge: str, k: int) -> dict[str, Any]:
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
