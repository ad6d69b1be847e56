"""What more labels would bring, as an evaluation extrapolates it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from .interval import Interval
from .ranking import plain
from .text_table import text_table


class MeasuredLabels(NamedTuple):
    """What was measured from so many labels; the stability needs two rankings without a label in common."""

    n_labeled: float
    score: float
    stability: float | None


@dataclass(frozen=True, kw_only=True)
class MoreLabels:
    """Scores and stability of a ranking with more labels than there are.

    Attributes
    ----------
    n_labeled : tuple of int
        As many labels as now, twice and four times as many.
    scores : tuple of Interval
        The task's measure with so many labels, for the ranking and for the one who predicts.
    stability : tuple of Interval
        The correlation between the importances of two rankings from so many labels each, none in common: 1
        where the choice of the rows that were labelled does not matter.
    gain : Interval
        What twice the labels would bring, above 0 where scores become better.
    measured : tuple of MeasuredLabels
        What this was extrapolated from.
    """

    n_labeled: tuple[int, ...]
    scores: tuple[Interval, ...]
    stability: tuple[Interval, ...]
    gain: Interval
    measured: tuple[MeasuredLabels, ...]

    @property
    def pays(self) -> bool:
        """Whether twice the labels would surely bring a better score."""
        return self.gain.verdict > 0

    def sentence(self, measure: str) -> str:
        """The answer, without a full stop."""
        now, twice, _ = self.scores
        likely = {
            1: "labelling more rows pays",
            0: "whether more labels pay cannot be told",
            -1: "more labels would not help",
        }[self.gain.verdict]
        return (
            f"{likely}: with {self.n_labeled[1]} labels instead of {self.n_labeled[0]}, {measure} would be "
            f"{twice.value:.3f} ({twice.low:.3f} to {twice.high:.3f}) after {now.value:.3f}, and two "
            f"rankings from as many labels would correlate to {self.stability[1].value:.2f} after "
            f"{self.stability[0].value:.2f}"
        )

    def rows(self) -> list[dict[str, Any]]:
        """A row for every number of labels, measured ones first."""
        names = ("labels", "found", "score", "low", "high", "stability", "stability_low", "stability_high")
        unknown = (None, None)
        rows: list[tuple[Any, ...]] = [
            (round(m.n_labeled), "measured", m.score, *unknown, m.stability, *unknown) for m in self.measured
        ]
        each = zip(self.n_labeled, self.scores, self.stability)
        rows += [(n, "extrapolated", *score, *stability) for n, score, stability in each]
        return [dict(zip(names, row)) for row in rows]

    def table(self, measure: str) -> str:
        """The numbers of labels as a text table."""

        def cell(value: float | None, low: float | None, high: float | None) -> str:
            if value is None:
                return ""
            return f"{value:.3f}" if low is None or high is None else f"{value:.3f} ({low:.3f} to {high:.3f})"

        rows = [
            [
                str(row["labels"]),
                row["found"],
                cell(row["score"], row["low"], row["high"]),
                cell(row["stability"], row["stability_low"], row["stability_high"]),
            ]
            for row in self.rows()
        ]
        return text_table(["labels", "", measure, "stability"], rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        kept = ("n_labeled", "scores", "stability", "gain", "pays", "measured")
        return {name: plain(getattr(self, name)) for name in kept}
