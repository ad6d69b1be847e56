"""Scores of rankers over the number of labels, for people and for files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from ..runtime.atomic_write import atomic_write
from .csv_cells import csv_text
from .data_frame import make_frame
from .evaluation import NO_RANKING
from .files import suffix_of
from .ranking import plain
from .text_table import printable, text_table
from .warning_words import warning_lines

FORMATS = (".json", ".csv", ".html")
SIDES = {"semi-supervised": True, "supervised": False}  # side -> whether unlabelled rows take part
# What is subtracted from what: the judge's pool for the semi-supervised and for the supervised side. With the
# same pool a difference is due to the ranking alone; the paper lets the pool differ as well (Def. 2.2).
JUDGES = {"fair": ("labelled", "labelled"), "paper": ("all", "labelled")}
JUDGE_WORDS = {"fair": "fair judge", "paper": "paper's judge"}


class LabelCurve(NamedTuple):
    """One curve over the number of labels.

    Attributes
    ----------
    ranker : str
        "no ranking" is all features taken equally.
    side : str
        "semi-supervised", "supervised", or "" where nothing is ranked.
    pool : str
        Where the judge seeks neighbours: among the "labelled" training rows, or among "all".
    k : int
        Number of neighbours.
    scores : ndarray
        The measure for every number of labels.
    area : float
        Under the curve, on the scale of the scores.
    """

    ranker: str
    side: str
    pool: str
    k: int
    scores: np.ndarray
    area: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelCurves:
    """What :func:`semirank.label_curves` found.

    Attributes
    ----------
    task, measure : str
    greater_is_better : bool
        Which way `measure` points.
    n_labeled : tuple of int
        The numbers of labels L.
    labels_used : tuple of float
        How many labels the training parts had at each L, on average.
    curves : tuple of LabelCurve
    n_rows, n_features, n_folds : int
    seed : int
    warnings : list of dict
        What to know of the data first, as in a :class:`semirank.Ranking`.
    notes : list of str
    origin : dict of str to str
        The command and the Python lines that repeat it, where known.
    """

    task: str
    measure: str
    greater_is_better: bool
    n_labeled: tuple[int, ...]
    labels_used: tuple[float, ...]
    curves: tuple[LabelCurve, ...]
    n_rows: int
    n_features: int
    n_folds: int
    seed: int
    warnings: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    origin: dict[str, str] = field(default_factory=dict)
    version: str = __version__

    @property
    def k(self) -> tuple[int, ...]:
        """The numbers of neighbours; the last is the one for comparisons, as in the paper."""
        return tuple(sorted({curve.k for curve in self.curves}))

    @property
    def rankers(self) -> tuple[str, ...]:
        """Names of the rankers, without "no ranking"."""
        return tuple(dict.fromkeys(curve.ranker for curve in self.curves if curve.side))

    def find(self, ranker: str, side: str, pool: str, k: int) -> LabelCurve:
        """One of the curves."""
        for curve in self.curves:
            if curve[:4] == (ranker, side, pool, k):
                return curve
        raise KeyError(f"There is no curve of {ranker!r}, {side}, pool {pool}, k = {k}.")

    def difference(self, ranker: str, judge: str = "fair", k: int | None = None) -> float:
        """What the unlabelled rows brought: the difference of the areas, above 0 where they helped.

        Parameters
        ----------
        ranker : str
        judge : {"fair", "paper"}, default="fair"
            "fair" seeks neighbours among labelled rows for both sides; "paper" among all training rows for
            the semi-supervised side.
        k : int, optional
            Number of neighbours; by default the largest.
        """
        k = self.k[-1] if k is None else k
        semi, supervised = (self.find(ranker, side, pool, k).area for side, pool in zip(SIDES, JUDGES[judge]))
        return semi - supervised if self.greater_is_better else supervised - semi

    def summary(self) -> str:
        """One plain sentence."""
        k = self.k[-1]
        sign = 1 if self.greater_is_better else -1
        semi = max(
            (self.find(name, "semi-supervised", "labelled", k) for name in self.rankers),
            key=lambda curve: sign * curve.area,
        )
        other = self.find(semi.ranker, "supervised", "labelled", k)
        nothing = self.find(NO_RANKING, "", "labelled", k)
        levels = str(self.n_labeled[0])
        if len(self.n_labeled) > 1:
            levels += f" to {self.n_labeled[-1]}"
        way = "larger" if self.greater_is_better else "smaller"
        return (
            f"With {levels} labels and the unlabelled rows, {printable(semi.ranker)} ranks best: area "
            f"{semi.area:.3f} of {self.measure} ({way} is better; "
            f"{k} neighbours among labelled rows), without the unlabelled rows {other.area:.3f}, with all "
            f"features taken equally {nothing.area:.3f}."
        )

    def sentences(self) -> list[str]:
        """What the unlabelled rows brought to every ranker, and how that was found."""
        k = self.k[-1]
        brought = ", ".join(f"{printable(name)} {self.difference(name):+.3f}" for name in self.rankers)
        rest = f", those of {' and '.join(map(str, self.k[:-1]))} in the files" if len(self.k) > 1 else ""
        parts = f"{self.n_folds} folds" if self.n_folds > 1 else "a predefined test part"
        return [
            self.summary(),
            f"What the unlabelled rows brought to the area, by the fair judge: {brought}. Judged on {parts} "
            f"by {k} nearest neighbours{rest}.",
        ]

    def to_columns(self, k: int | None = None) -> dict[str, list[Any]]:
        """A row for every curve: ranker, side, pool, k, the score at every L, and the area.

        Parameters
        ----------
        k : int, optional
            Only the curves of this number of neighbours.
        """
        shown = [curve for curve in self.curves if k in (None, curve.k)]
        columns: dict[str, list[Any]] = {
            name: [getattr(curve, name) for curve in shown] for name in ("ranker", "side", "pool", "k")
        }
        for i, n in enumerate(self.n_labeled):
            columns[f"L={n}"] = [float(curve.scores[i]) for curve in shown]
        return columns | {"area": [curve.area for curve in shown]}

    def to_frame(self, library: str = "pandas") -> Any:
        """The curves as a data frame (columns as in `to_columns`).

        Parameters
        ----------
        library : {"pandas", "polars"}
        """
        return make_frame(self.to_columns(), library)

    def differences(self) -> list[dict[str, Any]]:
        """A row for every ranker and k: the differences of areas by both judges."""
        return [
            {"ranker": name, "k": k} | {judge: self.difference(name, judge, k) for judge in JUDGES}
            for name in self.rankers
            for k in self.k
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        kept = (
            "task", "measure", "greater_is_better", "n_labeled", "labels_used", "n_rows", "n_features",
            "n_folds", "seed", "warnings", "notes", "origin", "version",
        )  # fmt: skip
        return plain(
            {"summary": self.summary()}
            | {name: getattr(self, name) for name in kept}
            | {"curves": self.curves, "differences": self.differences()}
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write ``.json`` (everything), ``.csv`` (the curves) or ``.html`` (a page with all of it)."""
        suffix = suffix_of(path, FORMATS)
        if suffix == ".html":
            from ..report.label_curves_page import render

            text = render(self)
        elif suffix == ".csv":
            columns = self.to_columns()
            text = csv_text(columns, zip(*columns.values()))
        else:
            text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)
        atomic_write(path, text)

    def plot(self) -> Any:
        """Draw the curves, a panel for each judge and k; returns the figure."""
        from ..report.label_curves_figure import draw

        return draw(self)

    def table(self, k: int | None = None) -> str:
        """The curves of one k as a text table, by default of the largest."""
        shown = self.to_columns(self.k[-1] if k is None else k)
        del shown["k"]
        cells = {
            name: [printable(value) if isinstance(value, str) else f"{value:.3f}" for value in column]
            for name, column in shown.items()
        }
        return text_table(list(cells), list(zip(*cells.values())))

    def __repr__(self) -> str:
        first = [*warning_lines(self.warnings), self.summary()]
        return "\n".join([*first, "", self.table(), *(["", *self.notes] if self.notes else [])])
