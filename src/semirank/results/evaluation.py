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
from .interval import Interval
from .more_labels import MoreLabels
from .ranking import Ranking, plain
from .text_table import printable, text_table
from .warning_words import warning_lines

FORMATS = (".json", ".html")
FORMAT = "semirank evaluation 1"
NO_RANKING = "no ranking"  # all features taken equally
VERDICTS = {1: "helped", 0: "no difference", -1: "hurt"}
_IN_FILES = (
    "task", "measure", "greater_is_better", "judge", "unranked", "asked", "rankers", "better", "as_good",
    "worse", "guess", "verdict", "effect", "cluster_hypothesis", "n_keep", "keep", "more_labels", "n_rows",
    "n_labeled", "n_folds", "n_repeats", "seed", "notes", "warnings", "timings", "version", "ranking",
)  # fmt: skip


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
        How far it is behind the ranking that was asked about, above 0 where it is worse; by the score with
        unlabelled rows where there is one.
    """

    name: str
    semi_supervised: float | None
    supervised: float
    effect: Interval | None
    behind: Interval

    @property
    def score(self) -> float:
        """With the unlabelled rows where they took part."""
        return self.supervised if self.semi_supervised is None else self.semi_supervised


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Evaluation:
    """The answers of :func:`semirank.evaluate`.

    Attributes
    ----------
    task, measure : str
    greater_is_better : bool
        Which way `measure` points.
    judge : str
        Who predicted the labels that were held out.
    unranked : str
        What no ranking is to that judge.
    rankers : tuple of RankerScore
        First the ranking that was asked about, then those it was compared with, best first; last, under the
        name "no ranking", what features are worth without one.
    guess : float
        The score of a guess that knows nothing but the target.
    effect : Interval or None
        What the unlabelled rows brought to the ranking that was asked about, above 0 where they helped; None
        where there are none, or too few to tell.
    cluster_hypothesis : float
        How well clusters of the features resemble the target, see :func:`semirank.cluster_hypothesis`.
    n_features : ndarray
        1, 2, 4, ... all: numbers of features.
    forward, reverse : ndarray
        The score from that many of the best features, and of the worst, all counting equally.
    forward_errors : ndarray
        Standard errors of `forward`.
    n_keep : int or None
        The number of features worth keeping: the smallest that is within one standard error of the best. None
        where no number is better than a guess.
    ranking : Ranking
        All rows ranked, as `rank` does.
    more_labels : MoreLabels or None
        What two and four times as many labels would bring, if that was asked.
    n_rows, n_labeled, n_folds, n_repeats : int
    seed : int
    notes : list of str
    timings : dict of str to float
        Seconds per step.
    """

    task: str
    measure: str
    greater_is_better: bool
    judge: str
    unranked: str
    rankers: tuple[RankerScore, ...]
    guess: float
    effect: Interval | None
    cluster_hypothesis: float
    n_features: np.ndarray
    forward: np.ndarray
    forward_errors: np.ndarray
    reverse: np.ndarray
    n_keep: int | None
    ranking: Ranking
    n_rows: int
    n_labeled: int
    n_folds: int
    n_repeats: int
    seed: int
    more_labels: MoreLabels | None = None
    notes: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    version: str = __version__

    @property
    def asked(self) -> str:
        """Name of the ranking that was asked about."""
        return self.rankers[0].name

    @property
    def better(self) -> tuple[str, ...]:
        """The rankings that did better than the one asked about."""
        return self._others(-1)

    @property
    def as_good(self) -> tuple[str, ...]:
        """The rankings that could not be told apart from it."""
        return self._others(0)

    @property
    def worse(self) -> tuple[str, ...]:
        """The rankings that did worse."""
        return self._others(1)

    def _others(self, verdict: int) -> tuple[str, ...]:
        return tuple(r.name for r in self.rankers[1:-1] if r.behind.verdict == verdict)

    @property
    def verdict(self) -> str:
        """What the unlabelled rows did.

        "helped", "hurt", "no difference", "too few to tell", "not used" if the method was told to do without,
        or "none" if every row is labelled.
        """
        if self.effect is None:
            if self.n_labeled == self.n_rows:
                return "none"
            return "not used" if self.rankers[0].semi_supervised is None else "too few to tell"
        return VERDICTS[self.effect.verdict]

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """What to know of the data before the answers are believed, as in the ranking."""
        return self.ranking.warnings

    def select(self, n: int | None = None) -> list[str]:
        """Names of the features to keep, best first: the best `n`, by default `n_keep`.

        Refused where no number of features is better than a guess.
        """
        if n is None and self.n_keep is None:
            raise ValueError(f"{_capital(self._keep_words())}; select(n) takes the first n all the same.")
        return self.ranking.select(self.n_keep if n is None else n)

    def summary(self) -> str:
        """One plain sentence."""
        return f"{_capital('; '.join(self._answers()))}."

    def sentences(self) -> list[str]:
        """The answers, and how they were found."""
        return [*(f"{_capital(answer)}." for answer in self._answers()), self._how()]

    def _how(self) -> str:
        repeats = "once" if self.n_repeats == 1 else f"{self.n_repeats} times"
        return (
            f"Judged by {self.judge}, on rows that were taken away: {self.n_folds} folds of the "
            f"{self.n_labeled} labelled rows, dealt {repeats}, so rankings were made from about "
            f"{self.n_labeled - self.n_labeled // self.n_folds} labels."
        )

    def _answers(self) -> list[str]:
        clusters = f"clusters of the features resemble the target to {self.cluster_hypothesis:.2f} of 1"
        found = [self._score_words(), self._effect_words(), clusters, self._keep_words()]
        if self.n_keep is not None:
            found[-1] += f": {_listed(self.select())}"
        if self.more_labels is not None:
            found.append(self.more_labels.sentence(self.measure))
        return found

    def _score_words(self) -> str:
        asked, nothing = self.rankers[0], self.rankers[-1]
        way = "larger" if self.greater_is_better else "smaller"
        against = {1: "better than", 0: "no better than", -1: "worse than"}[nothing.behind.verdict]
        words = (
            f"{printable(asked.name)} has {self.measure} {asked.score:.3f} ({way} is better; a guess has "
            f"{self.guess:.3f}), {against} {self.unranked} ({nothing.supervised:.3f})"
        )
        others = [
            f"{name}: {', '.join(map(printable, names))}"
            for name, names in (("better", self.better), ("as good", self.as_good), ("worse", self.worse))
            if names
        ]
        return f"{words} ({'; '.join(others)})" if others else words

    def _effect_words(self) -> str:
        n = self.n_rows - self.n_labeled
        if n == 0:
            return "every row is labelled, so there are no unlabelled rows to help"
        rows = "unlabelled row" if n == 1 else "unlabelled rows"
        if self.verdict == "not used":
            return f"the {n} {rows} took no part"
        if self.effect is None:
            return f"the {n} {rows} {'is' if n == 1 else 'are'} too few to tell whether they help"
        did = {1: "helped it", 0: "made no difference to it", -1: "hurt it"}[self.effect.verdict]
        if self.effect == (0.0, 0.0, 0.0):
            return f"the {n} {rows} {did}: all predictions were the same"
        return f"the {n} {rows} {did} ({self.effect.words('+')})"

    def _keep_words(self) -> str:
        n, d = self.n_keep, int(self.n_features[-1])
        if n is None:
            return "no number of features is better than a guess: label more rows"
        if n == d:
            return f"all {d} features are worth keeping" if d > 1 else "there is one feature only"
        if n == 1:
            return f"one of {d} features will do"
        return f"the first {n} of {d} features do as well as any number"

    def to_columns(self) -> dict[str, list[Any]]:
        """A row for every ranking, in the order of `rankers`: what `to_frame` shows.

        "ranker", "semi_supervised" and "supervised" (the measure), "difference" with its interval "low"
        to "high" (above 0: the unlabelled rows helped), "verdict", and "behind" with "behind_low" to
        "behind_high" (the distance to the ranking that was asked about, above 0: worse).
        """
        nothing = Interval(np.nan, np.nan, np.nan)
        few = self.effect is None
        effects = [nothing if few or r.effect is None else r.effect for r in self.rankers]
        semi = [r.semi_supervised for r in self.rankers]
        return {
            "ranker": [r.name for r in self.rankers],
            "semi_supervised": [np.nan if score is None else score for score in semi],
            "supervised": [r.supervised for r in self.rankers],
            "difference": [e.value for e in effects],
            "low": [e.low for e in effects],
            "high": [e.high for e in effects],
            "verdict": ["" if e.value != e.value else VERDICTS[e.verdict] for e in effects],
            "behind": [r.behind.value for r in self.rankers],
            "behind_low": [r.behind.low for r in self.rankers],
            "behind_high": [r.behind.high for r in self.rankers],
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
        more = self.more_labels
        tables = [
            {"title": "Rankings compared", "rows": self._shown_rows()},
            {"title": "Scores from some of the features", "rows": self._feature_rows()},
        ]
        if more is not None:
            tables.append({"title": "What more labels would bring", "rows": more.rows()})
        found = {
            "format": FORMAT,
            "summary": self.summary(),
            "sentences": self.sentences(),
            "tables": tables,
            "curves": self._curves(),
        }
        made = {
            "keep": [] if self.n_keep is None else self.select(),
            "more_labels": None if more is None else more.to_dict(),
            "ranking": self.ranking.to_dict(),
        }
        return plain(found | {k: made[k] if k in made else getattr(self, k) for k in _IN_FILES})

    def _shown_rows(self) -> list[dict[str, Any]]:
        """The rankings as the report shows them, and a guess."""
        columns = {k: v for k, v in self.to_columns().items() if not k.startswith("behind")}
        columns["compared"] = self._compared()
        rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
        guess = dict.fromkeys(columns, np.nan) | {"ranker": "a guess", "supervised": self.guess}
        return [*rows, guess | {"verdict": "", "compared": ""}]

    def _compared(self) -> list[str]:
        words = {1: "worse", 0: "as good", -1: "better"}
        return ["", *(words[r.behind.verdict] for r in self.rankers[1:])]

    def _feature_rows(self) -> list[dict[str, Any]]:
        each = zip(self.n_features.tolist(), self.forward, self.forward_errors, self.reverse)
        return [
            {"features": n, "best_first": f, "standard_error": e, "worst_first": r} for n, f, e, r in each
        ]

    def _curves(self) -> list[dict[str, Any]]:
        out = []
        if len(self.n_features) > 1:
            x = np.log2(self.n_features)
            band = {"low": self.forward - self.forward_errors, "high": self.forward + self.forward_errors}
            out.append(
                {
                    "title": "How many features?",
                    "x_label": "log2 of the number of features",
                    "y_label": self.measure,
                    "series": [
                        {"name": "best features first", "x": x, "y": self.forward, **band},
                        {"name": "worst first", "x": x, "y": self.reverse},
                        {"name": "a guess", "x": x, "y": np.full(len(x), self.guess)},
                    ],
                }
            )
        if self.more_labels is not None:
            out.append(self._label_curve(self.more_labels))
        return out

    def _label_curve(self, more: MoreLabels) -> dict[str, Any]:
        value, low, high = (np.array(part) for part in zip(*more.scores))
        return {
            "title": "What would more labels bring?",
            "x_label": "log2 of the number of labels",
            "y_label": self.measure,
            "series": [
                {
                    "name": "measured",
                    "x": np.log2([m.n_labeled for m in more.measured]),
                    "y": [m.score for m in more.measured],
                },
                {"name": "extrapolated", "x": np.log2(more.n_labeled), "y": value, "low": low, "high": high},
            ],
        }

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
        parts = [*warning_lines(self.warnings), self.summary(), "", self.table()]
        if self.more_labels is not None:
            parts += ["", self.more_labels.table(self.measure)]
        return "\n".join([*parts, *(["", *self.notes] if self.notes else [])])

    def table(self) -> str:
        """The rankings as a text table."""
        columns = self.to_columns()
        spans = [
            "" if value != value else f"{value:+.3f} ({low:+.3f} to {high:+.3f})"
            for value, low, high in zip(columns["difference"], columns["low"], columns["high"])
        ]
        shown = {
            "ranking": [*map(printable, columns["ranker"]), "a guess"],
            "semi-supervised": [*("" if v != v else f"{v:.3f}" for v in columns["semi_supervised"]), ""],
            "supervised": [*(f"{v:.3f}" for v in columns["supervised"]), f"{self.guess:.3f}"],
            "unlabelled rows": [*spans, ""],
            "verdict": [*columns["verdict"], ""],
            "compared": [*self._compared(), ""],
        }
        dropped = () if self.effect is not None else ("unlabelled rows", "verdict")
        if self.rankers[0].semi_supervised is None:
            dropped = (*dropped, "semi-supervised")
        kept = [name for name in shown if name not in dropped]
        return text_table(kept, zip(*(shown[name] for name in kept)))


def _capital(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]}"


def _listed(names: list[str], limit: int = 12) -> str:
    shown = ", ".join(map(printable, names[:limit]))
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown
