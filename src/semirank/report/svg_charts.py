"""Small charts as SVG and HTML; all text that comes from data is escaped here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from ..results.text_table import visible

WIDTH, HEIGHT = 520, 270
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 14, 46
COLOURS = 6  # classes s0 ... s5 of the style sheet


class Curve(NamedTuple):
    """One line of a chart; `low` and `high` draw a band around it, `dots` its points."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    dots: bool = True


def text(value: object) -> str:
    """Escaped for HTML, as content or inside a quoted attribute."""
    return escape(visible(str(value)), quote=True)


def number(value: Any) -> str:
    """A value as people read it, "" where there is none, escaped."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.4g}" if isinstance(value, float | np.floating) else text(value)


def line_chart(
    curves: Sequence[Curve], x_label: str, y_label: str, chosen: tuple[float, float] | None = None
) -> str:
    """Lines over a common x; the point `chosen` gets a ring."""
    x0, x1, px = _scale([curve.x for curve in curves], LEFT, WIDTH - RIGHT)
    bounds = [v for c in curves for v in (c.y, c.low, c.high) if v is not None]
    y0, y1, py = _scale(bounds, HEIGHT - BOTTOM, TOP, room=0.06)
    parts = [f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{text(y_label)}">']
    for tick in ticks(y0, y1):
        at = f"{py(tick):.1f}"
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at}" y2="{at}"/>')
        parts.append(f'<text x="{LEFT - 9}" y="{at}" dy=".35em" text-anchor="end">{tick:.4g}</text>')
    for tick in ticks(x0, x1):
        parts.append(
            f'<text x="{px(tick):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{tick:.4g}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{text(x_label)}</text>'
        f'<text transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
        f'text-anchor="middle">{text(y_label)}</text>'
    )
    for place, curve in enumerate(curves):
        parts.append(f'<g class="s{place % COLOURS}">')
        if curve.low is not None and curve.high is not None:
            edge = [*zip(curve.x, curve.low), *reversed([*zip(curve.x, curve.high)])]
            parts.append(f'<polygon class="band" points="{_points(edge, px, py)}"/>')
        parts.append(f'<polyline class="curve" points="{_points(zip(curve.x, curve.y), px, py)}"/>')
        for x, y in zip(curve.x, curve.y) if curve.dots else ():
            lines = [curve.name, f"{x_label}: {x:.4g}", f"{y_label}: {y:.4g}"]
            tip = text("\n".join(line for line in lines if line))
            parts.append(f'<circle class="dot" cx="{px(x):.1f}" cy="{py(y):.1f}" r="4.5" data-tip="{tip}"/>')
        parts.append("</g>")
    if chosen is not None:
        parts.append(f'<circle class="chosen" cx="{px(chosen[0]):.1f}" cy="{py(chosen[1]):.1f}" r="9"/>')
    parts.append("</svg>")
    if len(curves) > 1:
        parts.append(_legend([curve.name for curve in curves]))
    return "".join(parts)


def heat_map(rows: Sequence[str], columns: Sequence[str], values: np.ndarray) -> str:
    """Coloured cells, rows by columns; stronger = larger, the second colour = below 0, hatched = unknown."""
    largest = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    head = "".join(f'<th scope="col" data-tip="{text(c)}"><span>{text(c)}</span></th>' for c in columns)
    body = []
    for name, row in zip(rows, values.tolist()):
        cells = []
        for column, value in zip(columns, row):
            tip = text(f"{name}\n{column}: {number(value) or 'not known'}")
            if math.isnan(value):
                cells.append(f'<td class="hole" data-tip="{tip}"></td>')
            else:
                sign = ' class="neg"' if value < 0 else ""
                shade = 0.06 + 0.94 * abs(value) / largest
                cells.append(f'<td{sign} style="--v:{shade:.3f}" data-tip="{tip}"></td>')
        body.append(f'<tr><th scope="row" title="{text(name)}">{text(name)}</th>{"".join(cells)}</tr>')
    return f'<div class="scroll" tabindex="0">{framed("heat", f"<th></th>{head}", body)}</div>'


def number_grid(
    rows: Sequence[Any],
    columns: Sequence[Any],
    values: Sequence[Sequence[float | None]],
    corner: str,
    shades: tuple[float, float],
    chosen: tuple[Any, Any] | None = None,
) -> str:
    """Numbers in shaded cells (`shades`: lightest and strongest value); the chosen one is outlined."""
    low, high = shades
    head = "".join(f'<th scope="col">{number(c)}</th>' for c in columns)
    body = []
    for row, line in zip(rows, values):
        cells = []
        for column, value in zip(columns, line):
            if value is None:
                cells.append('<td class="hole"></td>')
                continue
            mark = ' class="chosen"' if chosen == (row, column) else ""
            shade = 0.05 + 0.5 * ((value - low) / (high - low) if high != low else 1.0)
            cells.append(f'<td{mark} style="--v:{shade:.3f}">{number(value)}</td>')
        body.append(f'<tr><th scope="row">{number(row)}</th>{"".join(cells)}</tr>')
    return framed("grid", f"<th>{text(corner)}</th>{head}", body)


def table(rows: Sequence[dict[str, Any]]) -> str:
    """A plain table of dictionaries, columns in order of first appearance."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    is_text = {c: any(isinstance(row.get(c), str) for row in rows) for c in columns}
    css = {c: ' class="text"' if is_text[c] else "" for c in columns}
    head = "".join(f'<th scope="col"{css[c]}>{text(c)}</th>' for c in columns)
    body = (f"<tr>{''.join(f'<td{css[c]}>{number(row.get(c))}</td>' for c in columns)}</tr>" for row in rows)
    return f'<div class="scroll">{framed("plain", head, body)}</div>'


def framed(css: str, head: str, body: Iterable[str]) -> str:
    """A table of finished rows."""
    return f'<table class="{css}"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'


def ticks(low: float, high: float) -> list[float]:
    """About five round numbers inside [low, high].

    Examples
    --------
    >>> ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    if not high > low:
        return [low]
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _scale(
    values: Sequence[Sequence[float]], start: float, end: float, room: float = 0.0
) -> tuple[float, float, Callable[[float], float]]:
    """The range of an axis, `room` (a share) wider than the values, and the way from value to pixel."""
    flat = np.concatenate([np.asarray(v, dtype=float) for v in values])
    low, high = float(flat.min()), float(flat.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    low, high = low - room * (high - low), high + room * (high - low)
    return low, high, lambda value: start + (value - low) / (high - low) * (end - start)


def _points(pairs: Any, px: Callable[[float], float], py: Callable[[float], float]) -> str:
    return " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in pairs)


def _legend(names: Sequence[str]) -> str:
    items = "".join(
        f'<li><svg viewBox="0 0 30 10" aria-hidden="true">'
        f'<line class="key s{i % COLOURS}" x1="0" x2="30" y1="5" y2="5"/></svg>{text(name)}</li>'
        for i, name in enumerate(names)
    )
    return f'<ul class="legend">{items}</ul>'
