"""What an evaluation found, for people and for files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from ..runtime.atomic_write import atomic_write
from .data_frame import make_frame
from .files import suffix_of
from .ranking import Ranking, plain
from .text_table import printable, text_table
from .warning_words import warning_lines

FORMATS = (".json", ".html")
NO_RANKING = "no ranking"  # all features taken equally
VERDICTS = {1: "helped", 0: "no difference", -1: "hurt"}


class Interval(NamedTuple):
    """A value with its confidence interval."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> int:
        """1 or -1 where the interval lies above or below 0, else 0: no difference."""
        return int(self.low > 0) - int(self.high < 0)


class RankerScore(NamedTuple):
    """What the judge said of one ranking.

    Attributes
    ----------
    name : str
    semi_supervised, supervised : float or None
        The task's measure with and without the unlabelled rows.
    effect : Interval or None
        What the unlabelled rows brought, above 0 where they helped.
    behind : Interval
        How far the ranking is behind the best one, above 0 where it is worse; both sides averaged.
    """

    name: str
    semi_supervised: float | None
    supervised: float
    effect: Interval | None
    behind: Interval


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Evaluation:
    """The answers of :func:`semirank.evaluate`.

    Attributes
    ----------
    task, measure : str
    greater_is_better : bool
        Which way `measure` points.
    rankers : tuple of RankerScore
        Best first; last, under the name "no ranking", all features taken equally.
    effect : Interval or None
        What the unlabelled rows brought to the best ranker, above 0 where they helped; None where every
        row is labelled.
    cluster_hypothesis : float
        How well clusters of the features resemble the target, see :func:`semirank.cluster_hypothesis`.
    n_features : ndarray
        1, 2, 4, ... all: numbers of features.
    forward, reverse : ndarray
        The score from that many of the best features, and of the worst, all counting equally.
    n_keep : int
        The number of features worth keeping: the smallest that is within one standard error of the best.
    ranking : Ranking
        All rows ranked by the best ranker, with the unlabelled rows where they helped.
    n_rows, n_labeled, n_folds, n_repeats : int
    seed : int
    notes : list of str
    timings : dict of str to float
        Seconds per step.
    """

    task: str
    measure: str
    greater_is_better: bool
    rankers: tuple[RankerScore, ...]
    effect: Interval | None
    cluster_hypothesis: float
    n_features: np.ndarray
    forward: np.ndarray
    reverse: np.ndarray
    n_keep: int
    ranking: Ranking
    n_rows: int
    n_labeled: int
    n_folds: int
    n_repeats: int
    seed: int
    notes: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    version: str = __version__

    @property
    def best(self) -> str:
        """Name of the ranker that was judged best."""
        return self.rankers[0].name

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """What to know of the data before the answers are believed, as in the ranking."""
        return self.ranking.warnings

    @property
    def as_good(self) -> tuple[str, ...]:
        """The other rankers that could not be told apart from the best one."""
        return tuple(r.name for r in self.rankers[1:-1] if r.behind.verdict == 0)

    @property
    def verdict(self) -> str:
        """What the unlabelled rows did: "helped", "hurt", "no difference", or "none" if there are none."""
        return "none" if self.effect is None else VERDICTS[self.effect.verdict]

    def summary(self) -> str:
        """One plain sentence."""
        return f"{'; '.join(self._answers())}."

    def sentences(self) -> list[str]:
        """The four answers, and how they were found."""
        held = (
            f"Judged by nearest neighbours on hidden labels: {self.n_repeats} "
            f"{'repeat' if self.n_repeats == 1 else 'repeats'} of {self.n_folds} folds over the "
            f"{self.n_labeled} labelled rows, so rankings were made from about "
            f"{self.n_labeled - self.n_labeled // self.n_folds} labels."
        )
        return [*(f"{answer[0].upper()}{answer[1:]}." for answer in self._answers()), held]

    def _answers(self) -> tuple[str, str, str, str]:
        clusters = f"clusters of the features resemble the target to {self.cluster_hypothesis:.2f} of 1"
        return self._best_words(), self._effect_words(), clusters, self._keep_words()

    def _best_words(self) -> str:
        best, nothing = self.rankers[0], self.rankers[-1]
        way = "larger" if self.greater_is_better else "smaller"
        sides = [score for score in (best.semi_supervised, best.supervised) if score is not None]
        others = [printable(name) for name in self.as_good]
        over = ", with and without the unlabelled rows on average" if len(sides) > 1 else ""
        score = f"{self.measure} {np.mean(sides):.3f}{over}, {way} is better"
        words = f"{printable(best.name)} ranks best ({score}"
        words += f"; as good: {', '.join(others)})" if others else ")"
        against = {
            1: "which beats",
            0: "which is no better than",
            -1: "which is worse than",
        }[nothing.behind.verdict]
        return f"{words}, {against} taking all features equally ({nothing.supervised:.3f})"

    def _effect_words(self) -> str:
        if self.effect is None:
            return "every row is labelled, so there are no unlabelled rows to help"
        size = f"{self.effect.value:+.3f}, 95 % interval {self.effect.low:+.3f} to {self.effect.high:+.3f}"
        did = {1: "helped it", 0: "made no difference to it", -1: "hurt it"}[self.effect.verdict]
        return f"the {self.n_rows - self.n_labeled} unlabelled rows {did} ({size})"

    def _keep_words(self) -> str:
        n, d = self.n_keep, int(self.n_features[-1])
        if n == d:
            return f"all {d} features are worth keeping" if d > 1 else "there is one feature only"
        return f"the best {n} of {d} features are worth keeping" if n > 1 else f"one of {d} features will do"

    def to_columns(self) -> dict[str, list[Any]]:
        """A row for every ranker, best first: what `to_frame` shows.

        "ranker", "semi_supervised" and "supervised" (the measure), "difference" with its interval "low"
        to "high" (above 0: the unlabelled rows helped), "verdict", and "behind" (the distance to the
        best ranker, above 0: worse).
        """
        nothing = Interval(np.nan, np.nan, np.nan)
        effects = [r.effect or nothing for r in self.rankers]
        semi = [r.semi_supervised for r in self.rankers]
        return {
            "ranker": [r.name for r in self.rankers],
            "semi_supervised": [np.nan if score is None else score for score in semi],
            "supervised": [r.supervised for r in self.rankers],
            "difference": [e.value for e in effects],
            "low": [e.low for e in effects],
            "high": [e.high for e in effects],
            "verdict": ["" if r.effect is None else VERDICTS[r.effect.verdict] for r in self.rankers],
            "behind": [r.behind.value for r in self.rankers],
        }

    def to_frame(self, library: str = "pandas") -> Any:
        """The table of rankers as a data frame (columns as in `to_columns`).

        Parameters
        ----------
        library : {"pandas", "polars"}
        """
        return make_frame(self.to_columns(), library)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON and for the evaluation section of the report."""
        rows = zip(*self.to_columns().values())
        steps = self.n_features.tolist()
        curve = {
            "title": "How many features?",
            "x_label": "log2 of the number of features",
            "y_label": self.measure,
            "series": [
                {"name": name, "x": np.log2(self.n_features), "y": scores}
                for name, scores in (("best features first", self.forward), ("worst first", self.reverse))
            ],
        }
        return plain(
            {
                "summary": self.summary(),
                "sentences": self.sentences(),
                "warnings": self.warnings,
                "tables": [
                    {"title": "Rankers", "rows": [dict(zip(self.to_columns(), row)) for row in rows]},
                    {
                        "title": "Scores from some of the features",
                        "rows": [
                            {"features": n, "best_first": f, "worst_first": r}
                            for n, f, r in zip(steps, self.forward, self.reverse)
                        ],
                    },
                ],
                "curves": [curve] if len(steps) > 1 else [],
                "task": self.task,
                "measure": self.measure,
                "greater_is_better": self.greater_is_better,
                "best": self.best,
                "as_good": self.as_good,
                "verdict": self.verdict,
                "effect": None if self.effect is None else self.effect._asdict(),
                "cluster_hypothesis": self.cluster_hypothesis,
                "n_keep": self.n_keep,
                "keep": self.ranking.select(self.n_keep),
                **{k: getattr(self, k) for k in ("n_rows", "n_labeled", "n_folds", "n_repeats", "seed")},
                "notes": self.notes,
                "timings": self.timings,
                "version": self.version,
                "ranking": self.ranking.to_dict(),
            }
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write ``.json`` (everything) or ``.html`` (the report of `ranking` with the evaluation in it)."""
        if suffix_of(path, FORMATS) == ".html":
            from ..report.html import render

            text = render(self.ranking, evaluation=self.to_dict())
        else:
            text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)
        atomic_write(path, text)

    def plot(self) -> Any:
        """Draw scores, the effect of the unlabelled rows, and the curve over features; returns the figure."""
        from ..report.figures import evaluation

        return evaluation(self)

    def __repr__(self) -> str:
        first = [*warning_lines(self.warnings), self.summary()]
        return "\n".join([*first, "", self.table(), *(["", *self.notes] if self.notes else [])])

    def table(self) -> str:
        """The rankers as a text table."""
        columns = self.to_columns()
        spans = [
            "" if value != value else f"{value:+.3f} ({low:+.3f} to {high:+.3f})"
            for value, low, high in zip(columns["difference"], columns["low"], columns["high"])
        ]
        shown = {
            "ranker": [printable(name) for name in columns["ranker"]],
            "semi-supervised": ["" if v != v else f"{v:.3f}" for v in columns["semi_supervised"]],
            "supervised": [f"{v:.3f}" for v in columns["supervised"]],
            "unlabelled rows": spans,
            "verdict": columns["verdict"],
        }
        if self.effect is None:
            shown = {name: shown[name] for name in ("ranker", "supervised")}
        return text_table(list(shown), zip(*shown.values()))
