"""What would more labels bring? Rankings from halves and quarters of the labels, extrapolated (Def. 2.8)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..data.encode_target import encode_target
from ..data.table import Table
from ..data.target import Target
from ..data.tasks import NUMBERS, TASKS
from ..judging.measures import task_score
from ..judging.splits import fold_numbers
from ..results.interval import Interval
from ..results.more_labels import MeasuredLabels, MoreLabels
from ..runtime.progress import Progress
from .compared_methods import Method
from .intervals import Estimate, estimate
from .judges import Court
from .trials import Split, splits

TIMES = (1, 2, 4)
# A score is taken to approach its limit as n^-c. Nobody knows c: the interval covers these, with c = 0 for a
# score that grows by as much with every doubling. On data sets whose labels are known, with 60 of them, the
# usual one has the smallest bias, and intervals of 1.4 times the usual width hold the truth as often as they
# should. How often they do with other numbers of labels is in docs/testing.md.
EXPONENTS = (0.0, 0.25, 0.5, 1.0)
USUAL_EXPONENT = 0.25
WIDER = 1.4
# Odds of the correlation of two rankings grow as n^c, with c = 1 by the formula of Spearman and Brown. On
# those data sets they grow faster; the spread is that of their logarithm.
STABILITY_EXPONENTS = (0.75, 1.25, 1.75)
STABILITY_SPREAD = 2.3
MIN_LABELED = 6
PARTS_PER_SPLIT = 4  # rankings beside those from all labels of the split


class Part(NamedTuple):
    """Rankings of the rows of one split from a share of its labels, and the labels that each had."""

    labeled: list[np.ndarray]  # row numbers of the table
    importances: list[np.ndarray]


def extrapolate(
    court: Court,
    method: Method,
    importances: list[np.ndarray],
    use_unlabeled: bool,
    seed: int,
    notes: list[str],
    progress: Progress | None,
    n_steps: int,
) -> MoreLabels | None:
    """Scores and stability with the labels, twice and four times as many; None if they are too few to halve.

    Parameters
    ----------
    court : Court
        The folds of its first repeat are used.
    method : Method
        With one ranking.
    importances : list of ndarray
        Its rankings from all labels of every split.
    use_unlabeled : bool
    seed : int
    notes : list of str
    progress : callable, optional
    n_steps : int
        What progress counts up to; the rankings here come before the last step.
    """
    first = list(splits(court.folds[:1]))
    drawn = [
        _draw(court.target, split.rest, np.random.default_rng([seed, 2, number]))
        for number, split in enumerate(first)
    ]
    n_parts = min(map(len, drawn))
    if n_parts == 0:
        notes.append(
            "there are too few labels to rank from halves of them, so nothing is said about more labels"
        )
        return None
    parts: list[list[Part]] = []
    for number, (split, halves) in enumerate(zip(first, drawn)):
        all_labeled = split.rest[court.target.labeled[split.rest]]
        parts.append([Part([all_labeled], [importances[number]])])
        for groups in halves[:n_parts]:
            ranked = []
            for group in groups:
                table, target = _with_labels(court, split, group)
                side = use_unlabeled and bool((~target.labeled).any())
                found = method.both(table, target, (side,), (seed + number) % 2**31, notes)
                ranked.append(found[side][""])
            parts[-1].append(Part(groups, ranked))
        if progress is not None:
            progress(n_steps - 1 - PARTS_PER_SPLIT * (len(first) - number - 1), n_steps, "evaluation")
    scores = _scores(court, first, parts)
    sizes = np.array(
        [np.mean([len(rows) for p in parts for rows in p[j].labeled]) for j in range(n_parts + 1)]
    )
    # Of the importances from two disjoint sets of labels, for every split, by share.
    correlations = [
        np.array([correlation(*part.importances) for part in by_share])
        for by_share in zip(*(split[1:] for split in parts))
    ]
    return _assemble(court.target, sizes, scores, correlations)


def _draw(target: Target, rest: np.ndarray, rng: np.random.Generator) -> list[list[np.ndarray]]:
    """Two halves of the labels, and a quarter out of each; without what is too little to rank by."""
    known = target.take(rest)
    quarter = fold_numbers(known, 4, rng)
    halves = [np.isin(quarter, (0, 1)), np.isin(quarter, (2, 3))]
    out = []
    for masks in (halves, [quarter == 0, quarter == 2]):
        try:
            for mask in masks:
                encode_target(known.take(mask))
        except ValueError:
            break
        if min(mask.sum() for mask in masks) < MIN_LABELED:
            break
        out.append([rest[mask] for mask in masks])
    return out


def _with_labels(court: Court, split: Split, labeled: np.ndarray) -> tuple[Table, Target]:
    """These labelled rows, and the unlabelled ones of the split."""
    rows = np.sort(np.concatenate([labeled, split.rest[~court.target.labeled[split.rest]]]))
    return court.table.take(rows), court.target.take(rows)


def _scores(court: Court, first: list[Split], parts: list[list[Part]]) -> Estimate:
    """The score at every number of labels: who predicts has no more labels than the ranking had."""
    n_views = len(court.judge.views(parts[0][0].importances[0]))
    shape = n_views, len(court.rows), court.width
    prototypes = [np.empty((len(part.labeled), *shape)) for part in parts[0]]
    for split, by_share in zip(first, parts):
        test, place = court.table.take(split.held), np.searchsorted(court.rows, split.held)
        for j, part in enumerate(by_share):
            for i, (labeled, importances) in enumerate(zip(part.labeled, part.importances)):
                train = _with_labels(court, split, labeled)
                prototypes[j][i][:, place] = court.judge.predict(court.judge.views(importances), *train, test)
    task = court.target.task

    def mean_scores(kept: np.ndarray) -> np.ndarray:
        truth = court.truth[kept]
        return np.array(
            [
                np.mean([task_score(task, truth, one[kept]) for views in each for one in views])
                for each in prototypes
            ]
        )

    return estimate(mean_scores, court.groups)


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Pearson's correlation of two importances, 0 where one of them says nothing.

    Examples
    --------
    >>> correlation(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0])) > 0.9
    True
    """
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else 0.0


def _assemble(
    target: Target, sizes: np.ndarray, scores: Estimate, correlations: list[np.ndarray]
) -> MoreLabels:
    n_labeled = int(target.labeled.sum())
    wanted = n_labeled * np.array(TIMES, dtype=float)
    sign = TASKS[target.task].sign
    highest = np.inf if TASKS[target.task].kind == NUMBERS else 1.0
    at = [extrapolated_score(sizes, scores, n) for n in wanted]
    gain = extrapolated_score(sizes, scores.times(sign), wanted[1], wanted[0])
    stability = [extrapolated_stability(sizes[1:], correlations, n) for n in wanted]
    measured = [
        MeasuredLabels(float(n), float(score), None if j == 0 else float(correlations[j - 1].mean()))
        for j, (n, score) in enumerate(zip(sizes, scores.whole))
    ]
    return MoreLabels(
        n_labeled=tuple(int(n) for n in wanted),
        scores=tuple(Interval(*(float(np.clip(v, 0.0, highest)) for v in one)) for one in at),
        stability=tuple(stability),
        gain=gain,
        measured=tuple(measured[::-1]),
    )


def weights_at(sizes: np.ndarray, n: float, exponent: float) -> np.ndarray:
    """How much each measured score counts in the score at n: least squares of a - b n^-c, or a + b log n.

    Examples
    --------
    >>> weights_at(np.array([100.0, 50.0]), 200.0, 0.0)
    array([ 2., -1.])
    """

    def terms(x: np.ndarray) -> np.ndarray:
        return np.log(x) if exponent == 0 else -(x**-exponent)

    design = np.column_stack([np.ones(len(sizes)), terms(sizes)])
    here = np.array([1.0, float(terms(np.array([float(n)]))[0])])
    return here @ np.linalg.pinv(design)


def extrapolated_score(sizes: np.ndarray, scores: Estimate, n: float, minus: float | None = None) -> Interval:
    """The score at n labels, or its difference to that at `minus`, by the usual exponent.

    The interval reaches as far as that of any of the exponents.
    """
    found = {}
    for exponent in EXPONENTS:
        weights = weights_at(sizes, n, exponent)
        if minus is not None:
            weights = weights - weights_at(sizes, minus, exponent)
        found[exponent] = Estimate(scores.whole @ weights, scores.without @ weights).interval()
    low = min(one.value + WIDER * (one.low - one.value) for one in found.values())
    high = max(one.value + WIDER * (one.high - one.value) for one in found.values())
    return Interval(found[USUAL_EXPONENT].value, low, high)


def extrapolated_stability(sizes: np.ndarray, correlations: list[np.ndarray], n: float) -> Interval:
    """The correlation of two rankings from n labels each, from those of the largest measured number.

    Its log odds are those measured plus c log(n / size); the interval covers several c and the spread that
    the measured ones have.
    """
    measured = float(np.clip(correlations[0].mean(), 0.01, 0.995))
    odds = np.log(measured / (1 - measured))
    slow, usual, fast = (odds + c * np.log(n / sizes[0]) for c in STABILITY_EXPONENTS)
    each = (usual, slow - STABILITY_SPREAD, fast + STABILITY_SPREAD)
    return Interval(*(float(1 / (1 + np.exp(-value))) for value in each))
