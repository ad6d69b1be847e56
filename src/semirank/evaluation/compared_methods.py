"""What can be evaluated: anything that turns a table and a target into importances."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..rankers.make_ranker import make_ranker
from ..rankers.methods import COMPARED, METHODS, USUAL_COMPARISON
from ..results.ranking import Ranking
from ..runtime.messages import did_you_mean

Rankings = dict[str, np.ndarray]  # by score; a method with one ranking calls it ""
_READ_ALREADY = {"task": "auto", "hierarchy": None, "categorical_features": "from_dtype", "unlabeled": None}


class Method(NamedTuple):
    """A way to rank, under a name.

    Attributes
    ----------
    name : str
    maker : estimator or callable
        A ranker with the parameters `use_unlabeled` and `random_state`, or a function (table, target,
        use_unlabeled, seed) that returns importances, one array or several by name.
    main_only : bool
        Of several importances, only the one that ranks is judged.
    scores : tuple of str
        Otherwise those that are judged; empty for all that could rank.
    labels_only : bool
        It is judged without the unlabelled rows alone.
    """

    name: str
    maker: Any
    main_only: bool = False
    scores: tuple[str, ...] = ()
    labels_only: bool = False

    def both(
        self,
        table: Table,
        target: Target,
        sides: Sequence[bool],
        seed: int,
        notes: list[str] | None = None,
    ) -> dict[bool, Rankings]:
        """Importances with (True) and without (False) the unlabelled rows, in one fit if that is enough."""
        if not is_ranker(self.maker):
            return {side: self._checked(self.maker(table, target, side, seed), table) for side in sides}
        row = METHODS.get(getattr(self.maker, "_method", ""))
        seeded = {"use_unlabeled": True, "random_state": seed}
        if row is not None and row.label_only and len(sides) == 2:
            fitted = self._fit(table, target, seeded, notes)
            found = {True: fitted.feature_importances_, False: fitted.importances_[row.label_only]}
        else:
            fits = {side: self._fit(table, target, seeded | {"use_unlabeled": side}, notes) for side in sides}
            found = {side: self._importances(fitted) for side, fitted in fits.items()}
        return {side: self._checked(found[side], table) for side in sides}

    def _importances(self, fitted: Any) -> Any:
        if self.main_only:
            return fitted.feature_importances_
        row = METHODS.get(getattr(fitted, "_method", ""))
        wanted = self.scores or (tuple(fitted.importances_) if row is None else row.scores)
        return {score: fitted.importances_[score] for score in wanted if score in fitted.importances_}

    def _checked(self, found: Any, table: Table) -> Rankings:
        if not isinstance(found, Mapping):
            found = {"": found}
        elif self.main_only or (len(found) == 1 and not self.scores):
            found = {"": next(iter(found.values()))}
        arrays = {str(score): np.asarray(values, dtype=float) for score, values in found.items()}
        for score, values in arrays.items():
            if values.shape != (table.shape[1],) or not np.isfinite(values).all():
                raise ValueError(
                    f"{self.full_name(score)!r} must give {table.shape[1]} finite importances, one per "
                    f"feature, got shape {values.shape}."
                )
        return arrays

    def full_name(self, score: str) -> str:
        """What a ranking by this score is called among those of all methods."""
        return f"{self.name} {score}" if score else self.name

    def parameter(self, name: str) -> Any:
        """The value of a parameter, None for functions and where there is none of this name."""
        return self.maker.get_params(deep=False).get(name) if is_ranker(self.maker) else None

    def with_parameters(self, params: dict[str, Any]) -> Method:
        """The same method with other values of parameters."""
        from sklearn.base import clone

        return self._replace(maker=clone(self.maker).set_params(**params))

    def whole(self, X: Any, y: Any, seed: int, notes: list[str] | None = None) -> Ranking:
        """The ranking of all rows; a function takes them as Table and Target."""
        if is_ranker(self.maker):
            ranking: Ranking = self._fit(X, y, {"random_state": seed}, notes).to_ranking()
            return ranking
        side = bool((~y.labeled).any())
        scores = self.both(X, y, (side,), seed)[side][""]
        return Ranking(
            names=X.names, scores=scores, method=self.name, importance=self.name, task=y.task,
            target_names=y.names, n_rows=len(X), n_labeled=int(y.labeled.sum()), seed=seed,
        )  # fmt: skip

    def _fit(self, X: Any, y: Any, params: dict[str, Any], notes: list[str] | None) -> Any:
        """The ranker, fitted; what it warns of is said once for all splits, not once for each."""
        if isinstance(X, Table) and isinstance(y, Target):  # encoded: how to read them is settled
            known = self.maker.get_params(deep=False)
            params = params | {name: value for name, value in _READ_ALREADY.items() if name in known}
        ranker = self.with_parameters(params).maker
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            ranker.fit(X, y)
        for text in dict.fromkeys(str(warning.message) for warning in caught):
            if notes is not None and text not in notes:
                notes.append(text)
        return ranker


def asked_method(method: Any, importance: Any, preset: str | None, params: dict[str, Any]) -> Method:
    """The method that is asked about, in the words of `rank`; or a ranker or a function of the user's.

    Examples
    --------
    >>> asked_method("forest", "rforest", None, {}).name
    'forest rforest'
    """
    if isinstance(method, str):
        ranker = make_ranker(method, importance, preset, params)
        row = METHODS[ranker._method]
        name = row.name if len(row.scores) == 1 else f"{row.name} {ranker.importance[0]}"
        return Method(name, ranker, main_only=True)
    given = [*params, *(["importance"] if importance is not None else []), *(["preset"] if preset else [])]
    if given:
        raise TypeError(f"{given[0]}= goes with the name of a method; set it in {_name_of(method)} itself.")
    return _method(_name_of(method), method, None, quick=False)._replace(main_only=True)


def usual_comparison(asked: str, n_jobs: int | None) -> list[Method]:
    """What a ranking is held against unless told otherwise: rankings of the labelled rows alone.

    The one that is asked about is left out.

    Examples
    --------
    >>> [(method.name, method.scores) for method in usual_comparison("forest rforest", None)]
    [('forest', ('genie3_oob',)), ('relief', ())]
    """
    found = []
    for name, (method, params) in USUAL_COMPARISON.items():
        other = Method(name, METHODS[method].load()(**params, n_jobs=n_jobs), labels_only=True)
        scores = params.get("importance", ())
        left = tuple(score for score in scores if other.full_name(score) != asked)
        if left or (not scores and name != asked):
            found.append(other._replace(scores=left))
    return found


def as_methods(
    methods: Any = None, *, task: str = "classification", n_jobs: int | None = None, quick: bool = True
) -> list[Method]:
    """The methods that a user named.

    Parameters
    ----------
    methods : str, ranker, sequence of them, or dict of name to ranker, function or str; optional
        Names are those that the table of methods has for a comparison. By default one variant of every
        method that is not made for another task, without the consensus, which takes longer.
    task : str
    n_jobs : int, optional
        For the built-in rankers.
    quick : bool
        The built-in rankers have the quick settings of the table of methods, else those of `rank`.

    Returns
    -------
    list of Method

    Examples
    --------
    >>> [method.name for method in as_methods(["forest", "relief"])]
    ['forest', 'relief']
    """
    if methods is None:
        usual = [method for method in METHODS.values() if not method.by_name_only]
        methods = [method.name for method in usual if method.task in ("", task)]
    if isinstance(methods, str) or is_ranker(methods) or callable(methods):
        methods = [methods]
    named = methods.items() if isinstance(methods, Mapping) else ((_name_of(one), one) for one in methods)
    return unlike([_method(str(name), maker, n_jobs, quick) for name, maker in named])


def unlike(methods: list[Method]) -> list[Method]:
    """The methods as they are; refused if two share a name."""
    names = [method.name for method in methods]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"Two methods are called {twice!r}; pass a dict with a name for each.")
    return methods


def _method(name: str, maker: Any, n_jobs: int | None, quick: bool) -> Method:
    if isinstance(maker, str):
        if maker not in COMPARED:
            near = did_you_mean(maker, COMPARED)
            raise ValueError(f"There is no method {maker!r}{near}; there are {', '.join(COMPARED)}.")
        row = COMPARED[maker]
        params = row.compared[maker] | (row.quick if quick else {}) | {"n_jobs": n_jobs}
        return Method(name, make_ranker(row.name, params.pop("importance", None), None, params))
    if is_ranker(maker):
        missing = {"use_unlabeled", "random_state"} - set(maker.get_params(deep=False))
        if missing:
            raise TypeError(
                f"{type(maker).__name__} has no parameter {sorted(missing)[-1]!r}; wrap it in a function "
                "(table, target, use_unlabeled, seed) that returns importances."
            )
    elif not callable(maker):
        raise TypeError(
            f"{name!r} is neither the name of a method, nor a ranker, nor a function "
            "(table, target, use_unlabeled, seed)."
        )
    return Method(name, maker)


def is_ranker(maker: Any) -> bool:
    """Whether it is an estimator, and not its class."""
    return hasattr(maker, "fit") and hasattr(maker, "get_params") and not isinstance(maker, type)


def _name_of(maker: Any) -> str:
    if isinstance(maker, str):
        return maker
    return str(getattr(maker, "__name__", type(maker).__name__))
