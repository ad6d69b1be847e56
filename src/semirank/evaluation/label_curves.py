"""`label_curves`: the paper's evaluation on any table, scores over the number of labels (Def. 2.1 to 2.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from os import PathLike
from typing import Any

import numpy as np

from ..base.parameters import SHARED, check_parameters, seed_of
from ..data.align_rows import align_rows
from ..data.encode_features import encode_features
from ..data.encode_target import encode_target
from ..data.table import Table
from ..data.target import Target
from ..data.tasks import TASKS
from ..judging.data_warnings import data_warnings
from ..judging.knn_judge import POOLS, judge_rankings
from ..judging.splits import PAPER_LABELS, Fold, semi_supervised_folds
from ..rankers.presets import preset_parameters
from ..results.evaluation import NO_RANKING
from ..results.label_curves import SIDES, LabelCurve, LabelCurves
from ..runtime.messages import did_you_mean
from ..runtime.progress import Progress
from .compared_methods import Method, as_methods
from .curves import area
from .ranking_cache import RankingCache

Rankings = dict[tuple[str, str], np.ndarray]  # (ranker, side) -> importances
Curve = tuple[str, str, str, int]  # ranker, side, pool, k


def label_curves(
    X: Any,
    y: Any,
    *,
    methods: Any = None,
    n_labeled: Sequence[int] = PAPER_LABELS,
    n_folds: int = 10,
    k: int | Sequence[int] = (20, 40),
    test: Any = None,
    preset: str | None = None,
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
) -> LabelCurves:
    """Judge rankers at several numbers of labels, as the paper does: what the unlabelled rows bring at each.

    The labelled rows are dealt into folds. Each fold tests in turn; of the others, only L rows keep their
    label, and those of a smaller L are among those of a larger one. Every method ranks twice with the same
    seed, with the unlabelled rows and without them. Nearest neighbours in the distance that a ranking weights
    then predict the test rows; they are sought among the labelled training rows and, as in the paper, among
    all training rows. Scores are means over folds, weighted by the sizes of the test parts, and an area is
    that under a curve over L.

    Parameters
    ----------
    X, y : features and target in any form that the rankers take
        Rows of y without a label train in every fold and test in none.
    methods : str, ranker, sequence of them, or dict of name to ranker, function or str; optional
        As in :func:`semirank.evaluate`, with the same quick settings unless `preset` or `params` say
        otherwise.
    n_labeled : sequence of int, default=(50, 100, 200, 350, 500)
        The numbers of labels L. Where L is more than the data have, every row keeps its label.
    n_folds : int, default=10
    k : int or sequence of int, default=(20, 40)
        Numbers of neighbours.
    test : array of bool or of row numbers, optional
        A predefined test part in place of folds.
    preset : {"paper"}, optional
        Forests and Relief with the settings of the paper's experiments, as in :func:`semirank.rank`.
    task, hierarchy, hierarchy_decay, categorical_features, unlabeled
        As in the rankers.
    random_state : int, numpy RandomState or None, default=0
    n_jobs : int, optional
        For the built-in rankers and the judge. Results do not depend on it.
    cache : path, optional
        A folder that keeps finished rankings: an interrupted evaluation, asked for again, goes on from
        there. Functions are known by their names only.
    progress : callable, optional
        Called as ``progress(done, total, what)`` while it works.
    **params
        Parameters of the rankers, given to those that have them; they win over the preset.

    Returns
    -------
    LabelCurves

    Examples
    --------
    >>> import numpy as np, semirank as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((150, 5))
    >>> y = X[:, 0] + X[:, 1]
    >>> def correlation(table, target, use_unlabeled, seed):
    ...     known = target.labeled
    ...     return np.abs(np.corrcoef(table.values[known].T, target.values[known].T)[-1, :-1])
    >>> methods = {"correlation": correlation}
    >>> found = sr.label_curves(X, y, methods=methods, n_labeled=(20, 80), n_folds=3, k=5)
    >>> curve = found.find("correlation", "supervised", "labelled", 5)
    >>> found.measure, bool(curve.scores[1] < curve.scores[0])  # smaller is better
    ('RRMSE', True)
    """
    check_parameters(SHARED, {"n_jobs": n_jobs})
    seed = seed_of(random_state)
    notes: list[str] = []
    table = encode_features(X, categorical_features=categorical_features)
    target = encode_target(
        align_rows(X, y, notes), task=task, unlabeled=unlabeled, hierarchy=hierarchy,
        hierarchy_decay=hierarchy_decay, n_rows=len(table), notes=notes,
    )  # fmt: skip
    ways = as_methods(methods, task=target.task, n_jobs=n_jobs)
    ways = _with_parameters(ways if preset is None else _with_preset(ways, preset), params)
    folds = semi_supervised_folds(target, n_folds, n_labeled, test=test, random_state=seed, notes=notes)
    _check_parts(table, target, folds)
    levels = list(folds[0].labeled)
    neighbors = tuple(dict.fromkeys(np.atleast_1d(k).tolist()))
    scores: dict[Curve, np.ndarray] = defaultdict(lambda: np.full((len(folds), len(levels)), np.nan))
    cells = list(product(range(len(folds)), range(len(levels))))
    for done, (fold, level) in enumerate(cells, start=1):
        parts = folds[fold].parts(table, target, levels[level])
        rankings = _rank(*parts[:2], ways, _draw(seed, fold, levels[level]), cache, notes)
        for curve, score in _judge(rankings, parts, neighbors, n_jobs):
            scores[curve][fold, level] = score
        if progress is not None:
            progress(done, len(cells), "training parts")
    sizes = [len(fold.test) for fold in folds]
    means = {curve: np.average(values, axis=0, weights=sizes) for curve, values in scores.items()}
    if incomplete := next((curve[0] for curve, mean in means.items() if np.isnan(mean).any()), None):
        raise ValueError(f"{incomplete!r} cannot be judged: a method must give the same names every time.")
    names = [name for name, side, *_ in means if side]
    order = sorted(means, key=lambda c: (POOLS.index(c[2]), not c[1], names.index(c[0]) if c[1] else 0, c[3]))
    return LabelCurves(
        task=target.task,
        measure=TASKS[target.task].measure,
        greater_is_better=TASKS[target.task].greater_is_better,
        n_labeled=tuple(levels),
        labels_used=tuple(float(np.mean([len(fold.labeled[n]) for fold in folds])) for n in levels),
        curves=tuple(LabelCurve(*curve, means[curve], area(levels, means[curve])) for curve in order),
        n_rows=len(table),
        n_features=table.shape[1],
        n_folds=len(folds),
        seed=seed,
        warnings=[warning._asdict() for warning in data_warnings(table, target)],
        notes=notes,
    )


def _with_preset(ways: list[Method], preset: str) -> list[Method]:
    """The methods with the settings of a preset; functions and rankers from elsewhere stay as they are."""
    return [
        way.with_parameters(preset_parameters(preset, way.maker._method))
        if hasattr(way.maker, "_method")
        else way
        for way in ways
    ]


def _with_parameters(ways: list[Method], params: dict[str, Any]) -> list[Method]:
    """The methods with these parameters, each with those it has."""
    known = [way.maker.get_params(deep=False) if hasattr(way.maker, "get_params") else {} for way in ways]
    for name in params:
        if not any(name in own for own in known):
            near = did_you_mean(name, sorted({key for own in known for key in own}))
            raise TypeError(f"None of the methods has a parameter {name!r}{near}.")
    changed = [{name: value for name, value in params.items() if name in own} for own in known]
    return [way.with_parameters(own) if own else way for way, own in zip(ways, changed)]


def _check_parts(table: Table, target: Target, folds: list[Fold]) -> None:
    """Say before the work that some training part would have too few labels to rank by."""
    for i, fold in enumerate(folds):
        for n in fold.labeled:
            try:
                encode_target(fold.parts(table, target, n)[1])
            except ValueError as error:
                raise ValueError(
                    f"L = {n} leaves too little to rank by in fold {i + 1} ({str(error).rstrip('.')}); ask "
                    "for more labels or fewer folds."
                ) from None


def _draw(seed: int, fold: int, n_labeled: int) -> int:
    """A seed for each training part, the same for both sides and all methods: chance favours nobody."""
    return int(np.random.SeedSequence([seed, fold, n_labeled]).generate_state(1)[0] >> 1)


def _rank(
    train: Table,
    train_target: Target,
    ways: list[Method],
    seed: int,
    cache: str | PathLike[str] | None,
    notes: list[str],
) -> Rankings:
    """The importances by every method and side from one training part, and equal ones."""
    store = RankingCache(cache, train, train_target)
    nothing_held = np.empty(0, dtype=int)
    rankings: Rankings = {(NO_RANKING, ""): np.ones(train.shape[1])}
    both = tuple(SIDES.values())
    for way in ways:
        found = store.both(way, (train, train_target), nothing_held, both, seed, notes)
        for side, use_unlabeled in SIDES.items():
            named = found[use_unlabeled].items()
            rankings |= {(way.full_name(score), side): values for score, values in named}
    return rankings


def _judge(
    rankings: Rankings, parts: tuple[Table, Target, Table, Target], k: tuple[int, ...], n_jobs: int | None
) -> Iterator[tuple[Curve, float]]:
    """The scores of rankings from one training part on its test part."""
    weights = np.stack([*rankings.values()])
    for pool in POOLS:
        judged = judge_rankings(weights, *parts, k, pool, n_jobs)
        for (name, side), values in zip(rankings, judged.tolist()):
            yield from (((name, side, pool, neighbors), value) for neighbors, value in zip(k, values))
