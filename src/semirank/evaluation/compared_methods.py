"""What can be evaluated: anything that turns a table and a target into importances."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..rankers.methods import COMPARED, METHODS
from ..results.ranking import Ranking
from ..runtime.messages import did_you_mean

Rankings = dict[str, np.ndarray]  # by score; a method with one ranking calls it ""


class Method(NamedTuple):
    """A way to rank, under a name.

    Attributes
    ----------
    name : str
    maker : estimator or callable
        A ranker with the parameters `use_unlabeled` and `random_state`, or a function (table, target,
        use_unlabeled, seed) that returns importances, one array or several by name.
    final : dict
        Parameters of the ranker for the ranking of the whole data.
    """

    name: str
    maker: Any
    final: dict[str, Any]

    def rankings(
        self,
        table: Table,
        target: Target,
        use_unlabeled: bool,
        seed: int,
        notes: list[str] | None = None,
    ) -> Rankings:
        """The importances of every score; a method with one ranking calls it ""."""
        if _is_ranker(self.maker):
            ranker = self._fit({}, table, target, use_unlabeled, seed, notes)
            row = METHODS.get(getattr(ranker, "_method", ""))
            found = ranker.importances_
            if row is not None:
                found = {score: found[score] for score in row.scores if score in found}
        else:
            found = self.maker(table, target, use_unlabeled, seed)
        if not isinstance(found, Mapping):
            found = {"": found}
        elif len(found) == 1:
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

    def whole(self, score: str, table: Table, target: Target, use_unlabeled: bool, seed: int) -> Ranking:
        """The ranking of all rows by a score, as the one result of every ranker."""
        if not _is_ranker(self.maker):
            scores = self.rankings(table, target, use_unlabeled, seed)[score]
            return Ranking(
                names=table.names, scores=scores, method=self.name, importance=self.full_name(score),
                task=target.task, target_names=target.names, n_rows=len(table),
                n_labeled=int(target.labeled.sum()), seed=seed,
            )  # fmt: skip
        params = dict(self.final)
        asked = self.maker.get_params(deep=False).get("importance")
        if score and not isinstance(asked, str | None):
            params["importance"] = (score, *(other for other in asked if other != score))
        ranking = self._fit(params, table, target, use_unlabeled, seed, None).to_ranking()
        if score in ("", ranking.importance):
            return ranking
        return replace(
            ranking,
            importance=score,
            scores=ranking.all_scores[score],
            standard_errors=ranking.all_standard_errors.get(score),
        )

    def _fit(
        self,
        params: dict[str, Any],
        table: Table,
        target: Target,
        use_unlabeled: bool,
        seed: int,
        notes: list[str] | None,
    ) -> Any:
        from sklearn.base import clone

        ranker = clone(self.maker).set_params(use_unlabeled=use_unlabeled, random_state=seed, **params)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            ranker.fit(table, target)
        # Said once for all splits, not once for each.
        for text in dict.fromkeys(str(warning.message) for warning in caught):
            if notes is not None and text not in notes:
                notes.append(text)
        return ranker


def as_methods(
    methods: Any = None, *, task: str = "classification", n_jobs: int | None = None
) -> list[Method]:
    """The methods that a user named.

    Parameters
    ----------
    methods : str, ranker, sequence of them, or dict of name to ranker, function or str; optional
        Names are those that the table of methods has for an evaluation. By default one variant of every
        method that is not made for another task, without the consensus, which takes longer.
    task : str
    n_jobs : int, optional
        For the built-in rankers.

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
    if isinstance(methods, str) or _is_ranker(methods) or callable(methods):
        methods = [methods]
    pairs: Iterable[tuple[str, Any]]
    if isinstance(methods, Mapping):
        pairs = [(str(name), maker) for name, maker in methods.items()]
    else:
        pairs = [(_name_of(maker), maker) for maker in methods]
    found = [_method(name, maker, n_jobs) for name, maker in pairs]
    if not found:
        raise ValueError("No method was named; leave methods out for the usual ones.")
    names = [method.name for method in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"Two methods are called {twice!r}; pass a dict with a name for each.")
    return found


def _method(name: str, maker: Any, n_jobs: int | None) -> Method:
    if isinstance(maker, str):
        if maker not in COMPARED:
            near = did_you_mean(maker, COMPARED)
            raise ValueError(f"There is no method {maker!r}{near}; there are {', '.join(COMPARED)}.")
        row = COMPARED[maker]
        return Method(name, row.load()(**row.compared[maker], n_jobs=n_jobs), row.final)
    if _is_ranker(maker):
        missing = {"use_unlabeled", "random_state"} - set(maker.get_params(deep=False))
        if missing:
            raise TypeError(
                f"{type(maker).__name__} has no parameter {sorted(missing)[-1]!r}; wrap it in a function "
                "(table, target, use_unlabeled, seed) that returns importances."
            )
        return Method(name, maker, {})
    if callable(maker):
        return Method(name, maker, {})
    raise TypeError(
        f"{name!r} is neither the name of a method, nor a ranker, nor a function "
        "(table, target, use_unlabeled, seed)."
    )


def _is_ranker(maker: Any) -> bool:
    return hasattr(maker, "fit") and hasattr(maker, "get_params") and not isinstance(maker, type)


def _name_of(maker: Any) -> str:
    if isinstance(maker, str):
        return maker
    fallback: Callable[..., Any] | type = maker if hasattr(maker, "__name__") else type(maker)
    return str(fallback.__name__)
