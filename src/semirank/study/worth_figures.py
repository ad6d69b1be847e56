"""The figures of the preset `worth`, with matplotlib (imported where used; an optional dependency)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..evaluation.cells import label_counts
from ..evaluation.worth import LEAST, MOST, labels_needed
from ..report.figures import figure_class, literal
from .figures import GROUP_STYLES, LEGEND, Picture, critical_difference, save_pictures, styled
from .properties import CH
from .statistics import spearman
from .worth_comparisons import counted, rank_methods
from .worth_methods import FAMILIES
from .worth_results import BASE, CONSENSUS, WorthResults
from .worth_when import RATIO, WORDS, Properties, what_is_known

# What one would use instead of a consensus, and what the paper proposes.
SINGLE = ("forest", "forest_symbolic", "extra_trees", "relief", "laplace")
ALONE = tuple(
    words
    for family in FAMILIES.values()
    for (side, _), words in family.shown.items()
    if family.name.startswith("peer_") or (family.name in SINGLE and side == "sl")
)
PAPER = tuple(words for name in SINGLE for (side, _), words in FAMILIES[name].shown.items() if side == "ssl")
COUNTS = (25, 50, 100, 200, 400, 800)  # numbers of labels of the curves over several data sets
FEWEST = 3  # data sets that a mean is taken over
TICKS = (0.5, 0.75, 1, 1.5, 2, 3, 4)  # of axes that show worth
LOOKS = (("#0072b2", "o", "-"), ("#0072b2", "o", "--"), ("#d55e00", "s", "--"), ("#009e73", "^", "-"))


def write_worth_figures(results: WorthResults, out: Path | str, properties: Properties) -> list[Path]:
    """Write every figure; returns the files."""
    return save_pictures(worth_pictures(results, properties), out)


def worth_pictures(results: WorthResults, properties: Properties) -> Iterator[Picture]:
    """Worth by data set, curves over L, ranks of all methods, when it helps."""
    levels = [level for level in results.levels if len(counted(results, level)) >= FEWEST]
    if levels:
        yield Picture("worth", "What unlabelled rows are worth", forest_plot(results, levels[:2]))
    if (found := mean_curves(results)) is not None:
        yield Picture("curves", "Captured importance over the number of labels", draw_curves(found))
    names = [n for n in results.names() if not np.isnan(results.mean(n, CONSENSUS, min(results.levels)))]
    if names:
        yield Picture("curves_data_sets", "Captured importance, data set by data set", panels(results, names))
    for level in results.levels:
        if (ranked := rank_methods(results, level)) is not None:
            title = f"All methods by captured importance, L = {level}"
            yield Picture(f"ranks_{level}", title, critical_difference(ranked.comparison, title))
    if levels:
        yield Picture("when", "When do unlabelled rows help?", scatter(results, levels[0], properties))


@styled
def forest_plot(results: WorthResults, levels: Sequence[int]) -> Any:
    """A line for each data set: its worth and 90 % interval, best first."""
    most = max(len(counted(results, level)) for level in levels)
    figure = figure_class()(figsize=(5.4 * len(levels), 1.6 + 0.17 * most), layout="constrained")
    axes = figure.subplots(1, len(levels), squeeze=False)[0]
    handles: dict[str, Any] = {}
    for ax, level in zip(axes, levels):
        found = sorted(counted(results, level).items(), key=lambda item: -item[1].factor)
        for y, (name, one) in enumerate(found):
            colour, marker = GROUP_STYLES[results.groups[name]]
            ax.plot([one.low, one.high], [y, y], color=colour, linewidth=1.6)
            (point,) = ax.plot(one.factor, y, marker, color=colour, markersize=5.5)
            handles.setdefault(results.groups[name], point)
        mean = results.summary(CONSENSUS, level, results.names()).factor
        ax.axvline(1.0, color="0.3", linewidth=1)
        ax.axvline(mean, color="0.3", linewidth=1, linestyle=":")
        ax.set_yticks(range(len(found)), [name for name, _ in found], fontsize=7)
        _log_axis(ax, "x", TICKS)
        ax.set(xlim=(0.95 * LEAST, 1.05 * MOST), ylim=(len(found) - 0.4, -0.6))
        ax.set(title=f"L = {level}: geometric mean {mean:.2f} (dotted)", xlabel="worth (90 % interval)")
    figure.legend(handles.values(), handles, ncols=len(handles), **LEGEND)
    return figure


class Curves(NamedTuple):
    """Mean captured importance over data sets that have every point.

    Attributes
    ----------
    names : tuple of str
        The data sets.
    base : dict of int to float
        The label-only consensus, by number of labels.
    lines : dict of str to {L: float}
        The consensus, the best single method, the paper's best.
    """

    names: tuple[str, ...]
    base: dict[int, float]
    lines: dict[str, dict[int, float]]


def mean_curves(results: WorthResults) -> Curves | None:
    """For as many L as at least three data sets have; None where not even the smallest can be drawn."""
    for n_levels in range(len(results.levels), 0, -1):
        levels = results.levels[:n_levels]
        counts = [n for n in COUNTS if n <= 4 * max(levels)]
        rivals = [_best(results, some, levels) for some in (ALONE, PAPER)]
        methods = [CONSENSUS, *(rival for rival in rivals if rival is not None)]
        wanted = [(BASE, n) for n in counts] + [(method, level) for method in methods for level in levels]
        table = {name: results.means(name, wanted) for name in results.names()}
        whole = {name: row for name, row in table.items() if not np.isnan(row).any()}
        if len(whole) >= FEWEST:
            mean = np.mean(list(whole.values()), axis=0).tolist()
            parts = np.reshape(mean[len(counts) :], (len(methods), len(levels))).tolist()
            lines = {method: dict(zip(levels, part)) for method, part in zip(methods, parts)}
            return Curves(tuple(whole), dict(zip(counts, mean)), lines)
    return None


def _best(results: WorthResults, methods: Iterable[str], levels: Sequence[int]) -> str | None:
    """The method with the largest mean over data sets and L, of those that have nearly all data sets."""
    ranked = [rank_methods(results, level) for level in levels]
    means = {
        method: np.mean([one.means[method] for one in ranked if one is not None])
        for method in methods
        if all(one is not None and method in one.means for one in ranked)
    }
    return max(means, key=lambda method: means[method], default=None)


@styled
def draw_curves(found: Curves) -> Any:
    """Curves over L; arrows show how many labels the rows without labels stand for."""
    figure = figure_class()(figsize=(7.2, 5.0), layout="constrained")
    ax = figure.subplots()
    names = [CONSENSUS, BASE, *(method for method in found.lines if method != CONSENSUS)]
    for name, (colour, marker, dash) in zip(names, LOOKS):
        points = found.base if name == BASE else found.lines[name]
        look = {"color": colour, "marker": marker, "markersize": 5, "linewidth": 1.6}
        ax.plot(list(points), list(points.values()), dash, label=name, **look)
        if name == BASE:
            ax.lines[-1].set_markerfacecolor("white")
    for level, value in found.lines[CONSENSUS].items():
        to = _arrow(ax, found.base, level, value)
        look = {"textcoords": "offset points", "ha": "center", "va": "bottom", "fontsize": 7.5}
        ax.annotate(f"{to / level:.2f} x {level} labels", (np.sqrt(to * level), value), (0, 3), **look)
    _log_axis(ax, "x", list(found.base))
    ax.grid(axis="y", color="0.9", linewidth=0.7)
    ax.set(xlabel="labelled rows", ylabel="captured importance (foreign reference)")
    ax.set_title(f"Mean over {len(found.names)} data sets")
    ax.legend(frameon=False, loc="lower right")
    return figure


def _arrow(ax: Any, base: Mapping[int, float], level: int, value: float) -> float:
    """From a point to where the curve of labelled rows alone has the same value, which is returned."""
    to = float(labels_needed(value, np.array(list(base.values())), tuple(base)))
    style = {"arrowstyle": "->", "color": "0.25", "shrinkA": 3, "shrinkB": 0, "linewidth": 1.2}
    ax.annotate("", (to, value), (level, value), arrowprops=style)
    return to


def _log_axis(ax: Any, axis: str, ticks: Sequence[float], **look: Any) -> None:
    """The axis "x" or "y" in logarithms, with these ticks and no other."""
    ax.set(**{f"{axis}scale": "log"})
    getattr(ax, f"set_{axis}ticks")(ticks, [f"{tick:g}" for tick in ticks], **look)
    ax.minorticks_off()
    ax.spines[["top", "right"]].set_visible(False)


@styled
def panels(results: WorthResults, names: Sequence[str]) -> Any:
    """The consensus with and without unlabelled rows on every data set."""
    n_columns = 6
    n_rows = -(-len(names) // n_columns)
    figure = figure_class()(figsize=(12.0, 1.75 * n_rows + 0.5), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    handles: list[Any] = []
    for ax in axes[len(names) :]:
        ax.axis("off")
    for ax, name in zip(axes, names):
        levels = [level for level in results.levels if label_counts(results.n_train[name], level)]
        counts = sorted({n for level in levels for n in label_counts(results.n_train[name], level)})
        base = {n: v for n in counts if not np.isnan(v := results.mean(name, BASE, n))}
        ours = {n: v for n in levels if not np.isnan(v := results.mean(name, CONSENSUS, n))}
        look = {"color": LOOKS[0][0], "marker": "o", "markersize": 3, "linewidth": 1.2}
        (alone,) = ax.plot(list(base), list(base.values()), "--", markerfacecolor="white", **look)
        (both,) = ax.plot(list(ours), list(ours.values()), "-", **look)
        handles = handles or [both, alone]
        for level, value in ours.items():
            if set(around := label_counts(results.n_train[name], level)) <= set(base):
                _arrow(ax, {n: base[n] for n in around}, level, value)
        ax.set_title(literal(name), fontsize=7.5)
        _log_axis(ax, "x", [n for n in (25, 100, 400) if n <= max(counts)], fontsize=7)
        ax.tick_params(axis="y", labelsize=7)
    figure.legend(handles, [CONSENSUS, BASE], ncols=2, **LEGEND)
    return figure


@styled
def scatter(results: WorthResults, level: int, properties: Properties) -> Any:
    """Worth against what is known of a data set before ranking."""
    found = what_is_known(results, level, properties)
    figure = figure_class()(figsize=(12.6, 3.9), layout="constrained")
    axes = figure.subplots(1, len(WORDS), sharey=True)
    handles: dict[str, Any] = {}
    for ax, what in zip(axes, WORDS):
        for one in found:
            colour, marker = GROUP_STYLES[results.groups[one.name]]
            look = {"color": colour, "markersize": 5.5, "alpha": 0.8, "markeredgewidth": 0}
            (point,) = ax.plot(one.numbers[what], one.worth, marker, **look)
            handles.setdefault(results.groups[one.name], point)
        pairs = np.array([(one.numbers[what], one.worth) for one in found])
        pairs = pairs[~np.isnan(pairs).any(axis=1)]
        rho = spearman(*pairs.T) if len(pairs) else None
        ax.set_title(f"{len(pairs)} data sets" + ("" if rho is None else f", Spearman {rho:+.2f}"))
        ax.axhline(1.0, color="0.6", linewidth=0.8, zorder=0)
        ax.set_xlabel("clustering hypothesis" if what == CH else what)
        if len(pairs) and what == RATIO and pairs[:, 0].min() > 0:
            ax.set_xscale("log")
        _log_axis(ax, "y", TICKS)
    axes[0].set_ylabel(f"worth of the consensus, L = {level}")
    figure.legend(handles.values(), handles, ncols=len(handles), **LEGEND)
    return figure
