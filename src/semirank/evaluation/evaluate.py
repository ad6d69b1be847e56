"""`evaluate`: how good is a ranking, do the unlabelled rows help it, how many features are enough?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from ..base.parameters import SHARED, at_least, check_parameters, seed_of
from ..data.align_rows import align_rows
from ..data.encode_features import encode_features
from ..data.encode_target import encode_target
from ..data.given_data import given_data
from ..data.tasks import TASKS
from ..judging.data_warnings import data_warnings
from ..results.evaluation import NO_RANKING, Evaluation, RankerScore
from ..runtime.progress import Progress, stopwatch
from .cluster_hypothesis import cluster_hypothesis
from .compared_methods import Method, as_methods, asked_method, unlike, usual_comparison
from .curves import addition_sizes, enough_features
from .intervals import Estimate
from .judges import Court, make_judge
from .more_labels import PARTS_PER_SPLIT, extrapolate
from .trials import deal, rank_all

_CONSTRAINTS = SHARED | {
    "n_folds": [at_least(2), None], "n_repeats": [at_least(1), None], "judge_neighbors": [at_least(1), None],
    "quick": ["boolean"], "more_labels": ["boolean"],
}  # fmt: skip
FOLDS, REPEATS = 5, 5
# Fewer repeats on larger tables: one of 2000 x 2000 cells takes about two minutes on two cores.
FEWER_REPEATS = ((1_000_000, 1), (200_000, 3))  # above so many cells, so many
QUICK_FOLDS, QUICK_ROWS = 3, 1000
# Fewer unlabelled rows than these are too few to tell what they do.
MIN_UNLABELED, MIN_UNLABELED_SHARE = 20, 0.1


def evaluate(
    X: Any,
    y: Any = None,
    *,
    target: str | Sequence[str] | None = None,
    method: Any = "auto",
    importance: str | Sequence[str] | None = None,
    preset: str | None = None,
    methods: Any = None,
    judge: Any = "knn",
    quick: bool = False,
    more_labels: bool = False,
    n_repeats: int | None = None,
    n_folds: int | None = None,
    judge_neighbors: int | None = None,
    task: str = "auto",
    hierarchy: Any = None,
    hierarchy_decay: float = 0.75,
    categorical_features: Any = "from_dtype",
    unlabeled: object = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    cache: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    **params: Any,
) -> Evaluation:
    """Judge a ranking on the labelled rows: is it any good, do the unlabelled rows help, how many features?

    The labelled rows are dealt into folds, several times over. Each fold is taken away in turn, rows and
    labels; the method ranks the features from what is left, once with the unlabelled rows and once without
    them, with the same seed: the difference is what your own unlabelled rows do. The rankings are judged by
    predictions for the fold; who predicts sees labelled rows alone, the same for both sides, so a difference
    is due to the ranking. Intervals (95 %) come from a jackknife over the labelled rows.

    Parameters
    ----------
    X, y, target : as in :func:`semirank.rank`
        Holes in y are the unlabelled rows.
    method, importance, preset, **params
        What to rank by, as in :func:`semirank.rank`; the ranking of the result is the one that `rank` gives.
        Or a ranker with the parameters `use_unlabeled` and `random_state`, or a function (table, target,
        use_unlabeled, seed) that returns importances.
    methods : str, ranker, sequence of them, or dict of name to ranker, function or str; optional
        What to compare it with, with and without the unlabelled rows: "consensus"; "forest" (a random
        forest), "extra_trees" and "bagging", with all their scores; "relief"; "laplace"; or your own as
        above. By default the scores genie3_oob and rforest of a random forest, and Relief, from labelled rows
        alone. No ranking at all always takes part.
    judge : "knn" or scikit-learn estimator, default="knn"
        Nearest neighbours judge a ranking in the distance that it weights. A classifier (for numbers: a
        regressor) judges it by the first 1, 2, 4, ... and all features, the mean of these scores; no ranking
        is then a random order.
    quick : bool, default=False
        Three folds once, and rankers that take samples of rows see at most 1000; the notes say so.
    more_labels : bool, default=False
        Also rank from halves and quarters of the labels, and say what two and four times as many would bring.
    n_repeats, n_folds : int, optional
        By default five times five folds, fewer times on large tables; the notes say so.
    judge_neighbors : int, optional
        Nearest labelled rows that "knn" predicts from; by default the square root of their number, but at
        least 3 and at most 20.
    task, hierarchy, hierarchy_decay, categorical_features, unlabeled
        As in the rankers.
    random_state : int, RandomState or None, default=0
    n_jobs : int, optional
        For the built-in rankers and the judge. Results do not depend on it.
    cache : path, optional
        A folder that keeps finished rankings: an interrupted evaluation, asked for again, goes on from
        there. Functions are known by their names only.
    progress : callable, optional
        Called as ``progress(done, total, what)`` while it works.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import numpy as np, semirank as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 8))
    >>> y = X[:, 0] + X[:, 1]
    >>> y[60:] = np.nan
    >>> def correlation(table, target, use_unlabeled, seed):
    ...     known = target.labeled
    ...     return np.abs(np.corrcoef(table.values[known].T, target.values[known].T)[-1, :-1])
    >>> found = sr.evaluate(X, y, method=correlation, methods=[], n_repeats=2)
    >>> found.verdict, found.select()
    ('no difference', ['x1', 'x0'])
    """
    given = {
        "n_folds": n_folds, "n_repeats": n_repeats, "judge_neighbors": judge_neighbors, "n_jobs": n_jobs,
        "quick": quick, "more_labels": more_labels,
    }  # fmt: skip
    check_parameters(_CONSTRAINTS, given)
    timings: dict[str, float] = {}
    clock = stopwatch(timings)
    seed = seed_of(random_state)
    reading = {"categorical_features": categorical_features}
    X, y = given_data(X, y, target, None, reading)
    reading |= {
        "task": task, "hierarchy": hierarchy, "hierarchy_decay": hierarchy_decay, "unlabeled": unlabeled,
    }  # fmt: skip
    own = params | reading | {"n_jobs": n_jobs} if isinstance(method, str) else params
    asked = asked_method(method, importance, preset, own)
    notes: list[str] = []
    table = encode_features(X, categorical_features=reading.pop("categorical_features", "from_dtype"))
    encoded = encode_target(align_rows(X, y, notes), n_rows=len(table), notes=notes, **reading)
    court_judge = make_judge(judge, encoded.task, judge_neighbors, seed, n_jobs)
    if methods is None:
        others = usual_comparison(asked.name, n_jobs)
    else:
        others = as_methods(methods, n_jobs=n_jobs, quick=False)
    n_folds, n_repeats, tried = _protocol(table.shape, n_folds, n_repeats, quick, asked, notes)
    folds = deal(encoded, n_folds, n_repeats, seed, notes)
    tried = tried._replace(labels_only=asked.parameter("use_unlabeled") is False)
    n_steps = folds.shape[0] * n_folds + (PARTS_PER_SPLIT * n_folds if more_labels else 0) + 1
    trials = rank_all(table, encoded, unlike([tried, *others]), folds, seed, cache, notes, progress, n_steps)
    clock("rankings")
    court = Court(court_judge, table, encoded, folds)
    found = court.compare(list(trials.values()), seed, progress)
    uses = (asked.name, True) in trials
    sign = TASKS[encoded.task].sign
    scores = {key: one.times(sign) for key, one in zip([*trials, (NO_RANKING, False)], found)}
    rankers = _compare(scores, sign)
    clock("judge")
    forward, reverse = court.curves(trials[asked.name, uses])
    guess = court.guess()
    clock("features")
    curve = None
    if more_labels:
        curve = extrapolate(court, tried, trials[asked.name, uses], uses, seed, notes, progress, n_steps)
        clock("more labels")
    clusters = cluster_hypothesis(table, encoded)
    clock("clusters")
    data = (X, y) if isinstance(method, str) else (table, encoded)
    warned = [warning._asdict() for warning in data_warnings(table, encoded)]
    ranking = replace(asked.whole(data[0], data[1], seed, notes), warnings=warned)
    clock("ranking")
    if progress is not None:
        progress(n_steps, n_steps, "evaluation")
    n_unlabeled = int((~encoded.labeled).sum())
    enough = n_unlabeled >= max(MIN_UNLABELED, MIN_UNLABELED_SHARE * encoded.labeled.sum())
    return Evaluation(
        task=encoded.task,
        measure=TASKS[encoded.task].measure,
        greater_is_better=TASKS[encoded.task].greater_is_better,
        judge=court_judge.words,
        unranked=court_judge.unranked_words,
        rankers=tuple(rankers),
        guess=float(guess.whole),
        effect=rankers[0].effect if enough else None,
        cluster_hypothesis=clusters,
        n_features=addition_sizes(table.shape[1]),
        forward=forward.whole,
        forward_errors=forward.error(),
        reverse=reverse,
        n_keep=enough_features(addition_sizes(table.shape[1]), forward.times(sign), guess.times(sign)),
        ranking=ranking,
        more_labels=curve,
        n_rows=len(table),
        n_labeled=int(encoded.labeled.sum()),
        n_folds=n_folds,
        n_repeats=n_repeats,
        seed=seed,
        notes=notes,
        timings=timings,
    )


def _protocol(
    shape: tuple[int, int],
    n_folds: int | None,
    n_repeats: int | None,
    quick: bool,
    asked: Method,
    notes: list[str],
) -> tuple[int, int, Method]:
    """Folds, repeats, and the method as it is judged: what the user said, else by the size of the table."""
    cells = shape[0] * shape[1]
    repeats = 1 if quick else next((n for most, n in FEWER_REPEATS if cells > most), REPEATS)
    if n_repeats is None and repeats < REPEATS and not quick:
        times = "once instead of" if repeats == 1 else f"{repeats} instead of"
        notes.append(f"the folds were dealt {times} {REPEATS} times, since the table has {cells:,} values")
    folds = n_folds or (QUICK_FOLDS if quick else FOLDS)
    if quick:
        notes.append(
            f"quick: {folds} folds dealt {'once' if (n_repeats or repeats) == 1 else f'{n_repeats} times'}, "
            f"where five folds are dealt up to five times otherwise"
        )
        own = asked.parameter("max_rows")
        if own is not None and min(own, shape[0]) > QUICK_ROWS:
            notes.append(f"quick: {asked.name} saw at most {QUICK_ROWS} rows where it was judged")
            asked = asked.with_parameters({"max_rows": QUICK_ROWS})
    return folds, n_repeats or repeats, asked


def _compare(scores: dict[tuple[str, bool], Estimate], sign: float) -> list[RankerScore]:
    """The ranking that is asked about, which comes first, the others best first, and last no ranking.

    Those that were judged with the unlabelled rows are compared by that score.
    """
    best = {name: scores[name, (name, True) in scores] for name, _ in scores}
    first, *others, last = best
    others.sort(key=lambda name: -float(best[name].whole))
    out = []
    for name in (first, *others, last):
        semi, supervised = scores.get((name, True)), scores[name, False]
        out.append(
            RankerScore(
                name,
                None if semi is None else sign * float(semi.whole),
                sign * float(supervised.whole),
                None if semi is None else semi.minus(supervised).interval(),
                best[first].minus(best[name]).interval(),
            )
        )
    return out
