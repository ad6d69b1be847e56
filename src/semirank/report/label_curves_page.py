"""Scores over the number of labels as one HTML file that opens offline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..data.tasks import TASKS
from ..results.evaluation import NO_RANKING
from ..results.label_curves import JUDGE_WORDS, JUDGES, SIDES
from .html import head, notes_list, page, section
from .svg_charts import Curve, line_chart, table, text

if TYPE_CHECKING:
    from ..results.label_curves import LabelCurves

HINTS = {
    "fair": "Neighbours are labelled training rows for both sides: a difference is due to the ranking alone.",
    "paper": "For the semi-supervised side all training rows hold places among the "
    "neighbours, and unlabelled ones give no vote, so a difference is due to ranking and pool together.",
}


def render(found: LabelCurves) -> str:
    """The text of a self-contained page.

    Examples
    --------
    >>> import numpy as np
    >>> import semirank as sr
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> methods = {"first": lambda table, target, use_unlabeled, seed: np.array([1.0, 0.0, 0.0])}
    >>> found = sr.label_curves(X, X[:, 0], methods=methods, n_labeled=(10, 20), n_folds=3, k=5)
    >>> render(found).splitlines()[0]
    '<!doctype html>'
    """
    rows = [dict(zip(found.to_columns(), row)) for row in zip(*found.to_columns().values())]
    hint = "Areas of the semi-supervised curves against the supervised ones; above 0 they are better."
    sections = [
        section("What the unlabelled rows brought", hint, table(found.differences())),
        *(section(f"The {JUDGE_WORDS[judge]}", HINTS[judge], _charts(found, judge)) for judge in JUDGES),
        section("All curves", "Means over folds, weighted by the sizes of the test parts.", table(rows)),
        _reproduce(found),
    ]
    numbers = [
        (TASKS[found.task].words.capitalize(), "task", ""),
        (f"{found.n_rows} x {found.n_features}", "rows and features", ""),
        (str(found.n_folds), "folds" if found.n_folds > 1 else "test part", ""),
        (", ".join(map(str, found.n_labeled)), "labels", ""),
    ]
    title = head("Scores over the number of labels", found.version)
    return page(title, "Evaluation of rankings", found, numbers, sections)


def _charts(found: LabelCurves, judge: str) -> str:
    """A chart for each k and side, on separate axes: more lines than a ranker each would hide one another."""
    parts = []
    for k in found.k:
        for side, pool in zip(SIDES, JUDGES[judge]):
            named = {name: found.find(name, side, pool, k) for name in found.rankers}
            named[NO_RANKING] = found.find(NO_RANKING, "", pool, k)
            x = [float(n) for n in found.n_labeled]
            curves = [Curve(name, x, curve.scores.tolist()) for name, curve in named.items()]
            chart = line_chart(curves, "labelled rows", found.measure)
            parts.append(f"<div><h3>{k} neighbours, {text(side)}</h3>{chart}</div>")
    return f'<div class="pair">{"".join(parts)}</div>'


def _reproduce(found: LabelCurves) -> str:
    body = f"<h3>Notes</h3>{notes_list(found.notes)}" if found.notes else ""
    for title, code in found.origin.items():
        body += f"<h3>{text(title.capitalize())}</h3><div class='code'><pre>{text(code)}</pre></div>"
    return section("Reproduce", f"Made with semirank {found.version}, seed {found.seed}.", body)
