"""`evaluate`: which ranker suits the data, do the unlabelled rows help, how many features are enough?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from ..base.parameters import SHARED, at_least, check_parameters, seed_of
from ..data.align_rows import align_rows
from ..data.encode_features import encode_features
from ..data.encode_target import encode_target
from ..data.table import Table
from ..data.target import Target
from ..data.tasks import TASKS
from ..judging.data_warnings import data_warnings
from ..judging.knn_judge import judge_neighbors as usual_neighbors
from ..judging.knn_judge import knn_predict
from ..judging.measures import task_score
from ..judging.splits import fold_numbers
from ..results.evaluation import NO_RANKING, Evaluation, RankerScore
from ..runtime.progress import Progress
from .cluster_hypothesis import cluster_hypothesis
from .compared_methods import Method, as_methods
from .curves import addition_sizes, enough_features, feature_subsets
from .intervals import Estimate, estimate, row_groups
from .ranking_cache import RankingCache

Trials = dict[tuple[str, bool], list[np.ndarray]]  # (ranker, with unlabelled rows) -> importances by split
_CONSTRAINTS = SHARED | {
    "n_folds": [at_least(2)], "n_repeats": [at_least(1)], "judge_neighbors": [at_least(1), None],
}  # fmt: skip


def evaluate(
    X: Any,
    y: Any,
    *,
    methods: Any = None,
    n_repeats: int = 5,
    n_folds: int = 5,
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
) -> Evaluation:
    """Judge rankers on the labelled rows: which is best, do the unlabelled rows help, how many features do?

    The labelled rows are dealt into folds, several times over. Each fold's labels are hidden in turn; every
    method ranks the features from what is left, once with all other rows as unlabelled rows and once from
    the labelled rows alone, with the same seed. The rankings are judged by the predictions of nearest
    neighbours for the hidden rows, in the distance that the ranking weights; neighbours are labelled rows,
    the same for both sides. So a difference is due to the ranking alone. Intervals (95 %) come from a
    jackknife over the labelled rows.

    Parameters
    ----------
    X, y : features and target in any form that the rankers take
        Holes in y are the unlabelled rows.
    methods : str, ranker, sequence of them, or dict of name to ranker, function or str; optional
        "forest" (a random forest), "extra_trees" and "bagging", each with its three scores; "relief";
        "laplace"; "consensus"; or your own: a ranker with the parameters `use_unlabeled` and `random_state`,
        or a function (table, target, use_unlabeled, seed) that returns importances. Default: "forest" and
        "relief", and "laplace" for regression. To be quick, the built-in forests have 25 trees, and the
        fixed supervision level 0.5 where unlabelled rows take part: `semirank.rank` chooses that level,
        and falls back to 1 where unlabelled rows do not help. Relief has its untuned defaults.
    n_repeats : int, default=5
    n_folds : int, default=5
    judge_neighbors : int, optional
        Nearest labelled rows that the judge predicts from; by default the square root of their number, but
        at least 3 and at most 20.
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
    >>> found = sr.evaluate(X, y, methods={"correlation": correlation}, n_repeats=2)
    >>> found.best, found.verdict, found.n_keep
    ('correlation', 'no difference', 2)
    """
    began = time.perf_counter()
    given = {"n_folds": n_folds, "n_repeats": n_repeats, "judge_neighbors": judge_neighbors, "n_jobs": n_jobs}
    check_parameters(_CONSTRAINTS, given)
    seed = seed_of(random_state)
    notes: list[str] = []
    table = encode_features(X, categorical_features=categorical_features)
    target = encode_target(
        align_rows(X, y, notes), task=task, unlabeled=unlabeled, hierarchy=hierarchy,
        hierarchy_decay=hierarchy_decay, n_rows=len(table), notes=notes,
    )  # fmt: skip
    found = [warning._asdict() for warning in data_warnings(table, target)]
    ways = as_methods(methods, task=target.task, n_jobs=n_jobs)
    folds = _deal(target, n_folds, n_repeats, seed, notes)
    sides = (True, False) if (~target.labeled).any() else (False,)
    store = None if cache is None else RankingCache(cache, table, target)
    trials, made_by = _rank_all(table, target, ways, sides, folds, seed, store, notes, progress)
    timings = {}

    def step(name: str) -> None:
        nonlocal began
        timings[name] = time.perf_counter() - began
        began = time.perf_counter()
        if progress is not None:
            progress(len(timings), 5, "steps")

    step("rankings")
    each = [*trials.values(), [np.ones(table.shape[1])] * (n_folds * n_repeats)]
    judge = partial(_judge, table, target, folds, k=judge_neighbors, n_jobs=n_jobs)
    scores = judge([np.stack(split) for split in zip(*each)])
    rankers = _compare([*trials, (NO_RANKING, False)], scores, target.task)
    best = rankers[0]
    # Unlabelled rows must earn their place.
    use_unlabeled = best.effect is not None and best.effect.verdict > 0
    step("judge")
    forward, reverse = _addition_curves(judge, table.shape[1], trials[best.name, use_unlabeled])
    better = TASKS[target.task].greater_is_better
    sizes = addition_sizes(table.shape[1])
    step("features")
    clusters = cluster_hypothesis(table, target)
    step("clusters")
    way, score = made_by[best.name]
    ranking = replace(way.whole(score, table, target, use_unlabeled, seed), warnings=found)
    step("ranking")
    return Evaluation(
        task=target.task,
        measure=TASKS[target.task].measure,
        greater_is_better=better,
        rankers=tuple(rankers),
        effect=best.effect,
        cluster_hypothesis=clusters,
        n_features=sizes,
        forward=forward.whole,
        reverse=reverse.whole,
        n_keep=enough_features(sizes, forward, better),
        ranking=ranking,
        n_rows=len(table),
        n_labeled=int(target.labeled.sum()),
        n_folds=n_folds,
        n_repeats=n_repeats,
        seed=seed,
        notes=notes,
        timings=timings,
    )


def _deal(target: Target, n_folds: int, n_repeats: int, seed: int, notes: list[str]) -> np.ndarray:
    """Fold of every row in every repeat (n_repeats x n_rows), -1 where it is not tested."""
    n_labeled = int(target.labeled.sum())
    alone = np.zeros(len(target), dtype=bool)
    if target.task == "classification":
        codes = np.where(target.labeled, target.values[:, 0], target.n_classes).astype(int)
        once = np.bincount(codes, minlength=target.n_classes + 1) == 1
        once[target.n_classes :] = False
        alone = once[codes]
        if (~once[np.unique(codes[target.labeled])]).sum() < 2:
            raise ValueError(
                "Fewer than two classes have two labelled rows, one to learn from and one to test on; "
                "label more rows."
            )
        if alone.any():
            assert target.classes is not None
            named = ", ".join(map(repr, target.classes[np.flatnonzero(once)].tolist()[:3]))
            notes.append(f"classes with one labelled row are learnt from but never tested: {named}")
    if n_labeled - alone.sum() < 2 * n_folds:
        raise ValueError(
            f"{n_labeled - alone.sum()} labelled rows are too few for {n_folds} folds of at least two; "
            "label more rows or lower n_folds."
        )
    folds = np.stack(
        [
            fold_numbers(target.hide(alone), n_folds, np.random.default_rng([seed, repeat]))
            for repeat in range(n_repeats)
        ]
    )
    for numbers in folds:
        for fold in range(n_folds):
            try:
                encode_target(target.hide(numbers == fold))
            except ValueError as error:
                raise ValueError(
                    f"Hiding one fold of the {n_labeled} labelled rows leaves too little to rank by "
                    f"({str(error).rstrip('.')}); label more rows."
                ) from None
    return folds


def _held(folds: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Repeat and hidden rows of every split."""
    for repeat, numbers in enumerate(folds):
        for fold in range(int(numbers.max()) + 1):
            yield repeat, np.flatnonzero(numbers == fold)


def _rank_all(
    table: Table,
    target: Target,
    ways: list[Method],
    sides: tuple[bool, ...],
    folds: np.ndarray,
    seed: int,
    store: RankingCache | None,
    notes: list[str],
    progress: Progress | None,
) -> tuple[Trials, dict[str, tuple[Method, str]]]:
    """The importances of every method, on every split, with and without the unlabelled rows.

    Beside the trials, the method and the score behind every name.
    """
    trials: Trials = {}
    made_by: dict[str, tuple[Method, str]] = {}
    jobs = [
        (split, held, way, side)
        for split, (_, held) in enumerate(_held(folds))
        for way in ways
        for side in sides
    ]
    for done, (split, held, way, side) in enumerate(jobs, start=1):
        # The same seed for both sides and all methods: chance favours nobody.
        draw = (seed + split) % 2**31
        rankings = None if store is None else store.find(way, held, side, draw)
        if rankings is None:
            rankings = way.rankings(table, target.hide(held), side, draw, notes)
            if store is not None:
                store.keep(way, held, side, draw, rankings)
        for score, importances in rankings.items():
            name = way.full_name(score)
            made_by.setdefault(name, (way, score))
            trials.setdefault((name, side), []).append(importances)
        if progress is not None:
            progress(done, len(jobs), "rankings")
    n_splits = len(jobs) // (len(ways) * len(sides))
    for name, _ in list(trials):
        if name == NO_RANKING or any(len(trials.get((name, side), ())) != n_splits for side in sides):
            raise ValueError(
                f"{name!r} cannot be evaluated: a method must give the same names every time, each ranking "
                f"its own, and {NO_RANKING!r} is taken."
            )
    return trials, made_by


def _judge(
    table: Table,
    target: Target,
    folds: np.ndarray,
    importances: list[np.ndarray],
    k: int | None,
    n_jobs: int | None,
) -> Estimate:
    """Scores of several rankings, given for every split as an array (n_rankings, n_features).

    Each repeat predicts all labelled rows once and gives one score, which is steadier than a mean over
    folds of a few rows; the scores of the repeats are averaged.
    """
    rows = np.flatnonzero(folds[0] >= 0)
    place = np.zeros(len(table), dtype=int)
    place[rows] = np.arange(len(rows))
    width = target.n_classes or target.values.shape[1]
    prototypes = np.empty((len(folds), len(importances[0]), len(rows), width))
    for (repeat, held), weights in zip(_held(folds), importances):
        seen = target.hide(held)
        near = k or usual_neighbors(int(seen.labeled.sum()))
        found = knn_predict(weights, table, seen, table.take(held), k=near, n_jobs=n_jobs)
        prototypes[repeat][:, place[held]] = found[:, 0]
    truth = target.values[rows]

    def mean_score(kept: np.ndarray) -> np.ndarray:
        each = [[task_score(target.task, truth[kept], one[kept]) for one in r] for r in prototypes]
        return np.mean(each, axis=0)

    return estimate(mean_score, row_groups(len(rows), np.random.default_rng(0)))


def _addition_curves(
    judge: Callable[[list[np.ndarray]], Estimate], n_features: int, importances: list[np.ndarray]
) -> list[Estimate]:
    """Scores of the best 1, 2, 4, ... features of a ranking, given for every split, and of the worst."""
    subsets = [feature_subsets(one, n_features) for one in importances]
    return [judge([subset[which] for subset in subsets]) for which in (1, 2)]


def _compare(trials: list[tuple[str, bool]], scores: Estimate, task: str) -> list[RankerScore]:
    """Rankers, best first; the last of `trials`, no ranking at all, stays last.

    They are ordered by the mean of both sides. That says next to nothing about the difference of the
    sides, so picking the best ranker does not bias what is then said about the unlabelled rows.
    """
    sign = TASKS[task].sign
    sides: dict[str, dict[bool, Estimate]] = {}
    for column, (name, side) in enumerate(trials):
        one = Estimate(sign * scores.whole[column], sign * scores.without[:, column])
        sides.setdefault(name, {})[side] = one
    both = {
        name: Estimate(*(np.mean(parts, axis=0) for parts in zip(*by_side.values())))
        for name, by_side in sides.items()
    }
    *names, last = sides
    names.sort(key=lambda name: -both[name].whole)
    return [
        RankerScore(
            name,
            sign * float(sides[name][True].whole) if True in sides[name] else None,
            sign * float(sides[name][False].whole),
            sides[name][True].minus(sides[name][False]).interval() if True in sides[name] else None,
            both[names[0]].minus(both[name]).interval(),
        )
        for name in [*names, last]
    ]
