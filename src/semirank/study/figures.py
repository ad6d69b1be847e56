"""The figures of the study, with matplotlib (imported where used; an optional dependency)."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, wraps
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data.tasks import HEADINGS
from ..report.figures import curve_legend, curve_panels, figure_class, literal
from ..results.evaluation import NO_RANKING
from ..results.label_curves import JUDGE_WORDS
from ..results.label_curves import SIDES as LABEL_SIDES
from ..runtime.atomic_write import atomic_write_all
from ..runtime.messages import plural
from .plan import SCORES
from .records import Record
from .results import DEFINITIONS, Results, collect, level_means, levels_and_folds
from .statistics import ALPHA, Comparison, compare, spearman
from .tables_differences import equal_signs, paper_pairs
from .tables_words import DEFINITION_NAMES

# Okabe and Ito's colours, with a marker each: told apart in every common colour-vision deficiency.
STYLES = {
    "genie3": ("#0072b2", "o"),
    "rforest": ("#d55e00", "s"),
    "symbolic": ("#009e73", "^"),
    "relief": ("#cc79a7", "D"),
    "laplace": ("#b8860b", "v"),
    "equal": ("0.45", "x"),
}
NAMES = {"equal": NO_RANKING}
GROUP_STYLES = dict(zip(HEADINGS, STYLES.values()))
SIZES: dict[Any, Any] = {"font.size": 9, "axes.titlesize": 10, "svg.hashsalt": "semirank"}
LEGEND: dict[str, Any] = {"loc": "outside lower center", "frameon": False}
DPI = 100


class Picture(NamedTuple):
    """A figure with the stem of its file name and what it shows."""

    name: str
    title: str
    figure: Any


def write_figures(
    records: Iterable[Record], out: Path | str, *, stand_ins: Mapping[str, str] | None = None
) -> list[Path]:
    """Write every figure as PNG and SVG.

    Parameters
    ----------
    records : iterable of Record
        Finished ones of one run; it may be incomplete.
    out : path
        Folder, made if it is not there.
    stand_ins : mapping, optional
        Data set -> the one it stands in for; by default what the registry says.

    Returns
    -------
    list of Path
        The files.
    """
    return save_pictures(pictures(collect(records, stand_ins)), out)


def save_pictures(found: Iterable[Picture], out: Path | str) -> list[Path]:
    """Write figures as PNG and SVG into a folder, made if it is not there; returns the files."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    cases = product(found, ("png", "svg"))
    files = {folder / f"{picture.name}.{form}": drawn(picture, form) for picture, form in cases}
    atomic_write_all(files)
    return list(files)


def styled(draw: Callable[..., Any]) -> Callable[..., Any]:
    """The study's own text sizes, whatever the user has set."""

    @wraps(draw)
    def styled(*arguments: Any) -> Any:
        figure_class()  # a clear error where matplotlib is missing
        from matplotlib import rc_context

        with rc_context(SIZES):
            return draw(*arguments)

    return styled


def drawn(picture: Picture, form: str) -> bytes:
    """A figure as "png" or "svg", without the date: the same records give the same file."""
    from matplotlib import rc_context

    stream = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    with rc_context(SIZES):
        picture.figure.savefig(stream, format=form, dpi=DPI, metadata=metadata)
    return stream.getvalue()


def pictures(results: Results) -> Iterator[Picture]:
    """Comparison with the paper, critical differences, then the curves of every data set."""
    if not results.about:
        return
    yield Picture("differences", "Our differences against the paper's", scatter(results))
    for label, names in results.selections():
        yield from _critical(results, label, names)
    stems: Counter[str] = Counter()
    for name in results.about:
        stem = file_name(name)
        stems[stem] += 1
        stem += f"-{stems[stem]}" if stems[stem] > 1 else ""  # names that differ only in punctuation
        title = f"Curves over L: {results.shown_name(name)}"
        yield Picture(f"curves_{stem}", title, curves(results, name))


def file_name(name: str) -> str:
    """A data set's name as part of a file name.

    Examples
    --------
    >>> file_name("P-gp substrates (MONSTROUS)")
    'p-gp-substrates-monstrous'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unnamed"


@styled
def curves(results: Results, name: str) -> Any:
    """Scores over L: a row for each judge, a column for each k; solid SSL, dashed SL."""
    about = results.about[name]
    levels, n_folds = levels_and_folds(results.cells(name))
    way = "larger" if about.greater_is_better else "smaller"
    figure, lines = curve_panels(
        JUDGE_WORDS,
        {k: f"{k}NN" for k in results.ks},
        levels,
        f"{about.measure} ({way} is better)",
        partial(_draw_curves, results, name),
    )
    heading = f"{results.shown_name(name)} ({about.group}, {plural(n_folds, 'fold')})"
    figure.suptitle(literal(heading), fontsize=11)
    shown = {NAMES.get(score, score): line for score, line in lines.items()}
    keys, names = curve_legend(shown, *LABEL_SIDES)
    figure.legend(keys, names, ncols=len(keys), handlelength=2.0, columnspacing=1.1, **LEGEND)
    return _settled(figure)


def _draw_curves(results: Results, name: str, ax: Any, definition: str, k: int) -> dict[str, Any]:
    """The curves of one panel; the solid line of each score is returned for the legend."""
    lines = {}
    for score in (*SCORES, "equal"):
        for (side, pool), dash in zip(DEFINITIONS[definition], ("-", "--")):
            # Without a ranking there is one side, and only the pool differs.
            side = "ssl" if score == "equal" else side
            curve = results.values.get(results.key(name, side, score, pool, k))
            if curve is None:
                continue
            colour, marker = STYLES[score]
            (line,) = ax.plot(
                levels_and_folds(curve)[0], level_means(curve, curve), dash, color=colour, marker=marker,
                markersize=4, markerfacecolor=colour if dash == "-" else "white", linewidth=1.4,
                zorder=1.5 if score == "equal" else 2,
            )  # fmt: skip
            if dash == "-":
                lines[score] = line
    return lines


def _settled(figure: Any) -> Any:
    """Lay the figure out once; every file written from it then skips the slow part."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


@styled
def scatter(results: Results) -> Any:
    """Our differences against the printed ones, for the three definitions."""
    definitions = ("fair", "paper", "pool")
    figure = figure_class()(figsize=(12.6, 5.6), layout="constrained")
    panels = figure.subplots(1, len(definitions), sharex=True, sharey=True)
    handles: dict[str, Any] = {}
    bound = 0.1
    for ax, definition in zip(panels, definitions):
        found = results.differences(definition, results.ks[-1])
        for group in results.groups:
            pairs = paper_pairs(found, group)
            if pairs:
                _, ours, printed = zip(*pairs)
                bound = max(bound, *map(abs, ours), *map(abs, printed))
                colour, marker = GROUP_STYLES.get(group, ("0.45", "x"))
                look = {"color": colour, "markersize": 5.5, "alpha": 0.75, "markeredgewidth": 0}
                handles.setdefault(group, ax.plot(printed, ours, marker, **look)[0])
        pairs = paper_pairs(found, None)
        title = DEFINITION_NAMES[definition]
        if pairs:
            ours, printed = np.array([p[1:] for p in pairs]).T
            same, rho = equal_signs(ours, printed), spearman(ours, printed)
            title += f"\n{len(pairs)} pairs, {100 * same:.0f} % equal signs"
            title += "" if rho is None else f", Spearman {rho:.2f}"
        ax.set_title(title)
        ax.set_xlabel("SSL minus SL, printed in the paper")
    panels[0].set_ylabel(f"SSL minus SL, ours ({results.ks[-1]}NN)")
    end = 1.3 * bound
    ticks = [t for t in (-2, -1, -0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3, 1, 2) if abs(t) <= end]
    # Linear where nearly all values are; the few large ones are drawn together by the logarithm.
    scale = {"value": "symlog", "linthresh": 0.3, "linscale": 2.0}
    for ax in panels:
        ax.set_xscale(**scale)
        ax.set_yscale(**scale)
        ax.set(xlim=(-end, end), ylim=(-end, end))
        ax.set_xticks(ticks, [f"{t:g}" for t in ticks], rotation=60)
        ax.set_yticks(ticks, [f"{t:g}" for t in ticks])
        ax.minorticks_off()
        ax.axhline(0, color="0.7", linewidth=0.8, zorder=0)
        ax.axvline(0, color="0.7", linewidth=0.8, zorder=0)
        ax.plot([-end, end], [-end, end], ":", color="0.4", linewidth=1, zorder=0)
    if handles:
        figure.legend(handles.values(), handles, ncols=len(handles), **LEGEND)
    return _settled(figure)


def _critical(results: Results, label: str, names: Sequence[str]) -> Iterator[Picture]:
    """Two diagrams of one set of data sets: the semi-supervised methods, and both sides with no ranking."""
    k, scores = results.ks[-1], results.compared_everywhere(names)
    plain = [("ssl", score, "labelled") for score in scores]
    both = [(side, score, "labelled") for side in ("ssl", "sl") for score in scores]
    both.append(("ssl", "equal", "labelled"))
    names_of_both = [*(f"{score} {side.upper()}" for side, score, _ in both[:-1]), NAMES["equal"]]
    kinds = (
        ("methods", "semi-supervised rankings", plain, list(scores)),
        ("sides", "semi-supervised and supervised rankings", both, names_of_both),
    )
    for kind, what, columns, shown in kinds:
        if len(columns) > 1 and len((matrix := results.quality_matrix(names, columns)).names) > 1:
            found = compare(shown, matrix.values)
            title = f"{label}: {what}, {k}NN, fair judge"
            yield Picture(f"ranks_{kind}_{file_name(label)}", title, critical_difference(found, title))


@styled
def critical_difference(found: Comparison, title: str) -> Any:
    """Average ranks on a line, best at the left; bars join methods that are not told apart."""
    n = len(found.names)
    left = (n + 1) // 2
    low, high = 1, max(2, int(np.ceil(found.ranks.max())))
    step, bar = 0.3, 0.16
    top = 0.35 + bar * len(found.alike)
    depth = top + step * left + 0.1
    line, room = 4.66, max(1.97, 0.55 + 0.075 * max(map(len, found.names)))  # inches: ranks, names at a side
    figure = figure_class()(figsize=(line + 2 * room, 1.0 + 0.95 * (depth + 0.5)))
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0 - 0.55 / figure.get_figheight()))
    span = high - low
    side = room / line * span
    ax.set_xlim(low - side, high + side)
    ax.set_ylim(depth, -0.5)
    ax.axis("off")
    ax.plot([low, high], [0, 0], color="black", linewidth=1.2)
    for tick in range(low, high + 1):
        ax.plot([tick, tick], [-0.09, 0], color="black", linewidth=1.2)
        ax.text(tick, -0.14, str(tick), ha="center", va="bottom")
    for place, (name, rank) in enumerate(zip(found.names, found.ranks)):
        near = place < left
        y = top + step * (place if near else n - 1 - place)
        x = low - 0.03 * span if near else high + 0.03 * span
        ax.plot([rank, rank, x], [0, y, y], color="0.35", linewidth=0.9)
        text = f"{name}  {rank:.2f}" if near else f"{rank:.2f}  {name}"
        gap = 0.012 * span
        ax.text(x - gap if near else x + gap, y, text, ha="right" if near else "left", va="center")
    for place, (first, last) in enumerate(found.alike):
        y = 0.2 + bar * place
        ends = [found.ranks[first] - 0.008 * span, found.ranks[last] + 0.008 * span]
        ax.plot(ends, [y, y], color="#0072b2", linewidth=3.2, solid_capstyle="butt")
    hint = (
        f"average ranks over {found.n} data sets, 1 is best; Friedman p = {found.friedman:.2g}; "
        f"bars: no pair differs (Wilcoxon, Holm, {ALPHA:g})"
    )
    centred = {"ha": "center", "va": "top"}
    height = figure.get_figheight()
    figure.text(0.5, 1 - 0.1 / height, literal(title), fontsize=11, **centred)
    figure.text(0.5, 1 - 0.33 / height, hint, fontsize=8.5, color="0.35", **centred)
    return figure
