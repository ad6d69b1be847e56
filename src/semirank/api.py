"""`rank`: one call from a table and a target to a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .data.columns import is_anndata
from .data.given_data import given_data
from .judging.data_warnings import data_warnings
from .rankers.make_ranker import make_ranker
from .results.files import to_anndata
from .results.ranking import Ranking
from .runtime.progress import Progress


def rank(
    X: Any,
    y: Any = None,
    *,
    target: str | Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    method: str = "auto",
    importance: str | Sequence[str] | None = None,
    preset: str | None = None,
    task: str = "auto",
    hierarchy: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    write_to_var: str | None = None,
    **params: Any,
) -> Ranking:
    """Rank the features of X for the target y, of which only a part need be known.

    Parameters
    ----------
    X : array, frame, sparse matrix, Table or AnnData of shape (n_rows, n_features)
        Of an AnnData object, the features are ``X.X`` under the names ``X.var_names``.
    y : array, Series, frame, or sequence of label sets
        Holes (NaN, None) are unlabelled rows or, in two dimensions, unknown cells.
    target : str or sequence of str, optional
        In place of y: the column of the frame X, or of ``X.obs``, to rank for, or several (numbers, or zeros
        and ones).
    feature_names : sequence of str, optional
        Names of the columns of an array X.
    method : {"auto", "consensus", "forest", "relief", "laplace"}, default="auto"
        "auto" is the consensus: it gains from unlabelled rows where the others do not. The others are the
        paper's methods.
    importance : str or sequence of str, optional
        With ``method="forest"``: the main score, or several with the main one first; by default genie3. The
        others are computed as well.
    preset : {"paper"}, optional
        "paper" ranks as the paper's experiments did: w by cross-validation, fully grown trees, the impurity
        as printed, Relief tuned. Without a method it means the forest; further parameters win over it.
    task, hierarchy, random_state, n_jobs
        As in :class:`semirank.ForestRanker`.
    progress : callable, optional
        Called as ``progress(done, total, what)`` while it works.
    write_to_var : str, optional
        AnnData only: also write the result to ``X.var``, in columns whose names begin with this word, such
        as "semirank": "semirank_rank", "semirank_genie3", "semirank_genie3_se" and so on.
    **params
        More parameters of the ranker (:class:`semirank.ConsensusRanker` and so on), for example
        ``teacher=Teacher(...)``, or ``ensemble="extra_trees"`` with ``method="forest"``.

    Returns
    -------
    Ranking

    Examples
    --------
    >>> import numpy as np, semirank as sr
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> y = np.where(X[:, 1] > 0, "high", "low").astype(object)
    >>> y[50:] = None
    >>> sr.rank(X, y, random_state=0).select(1)
    ['x1']
    >>> sr.rank(X, y, method="forest", supervision=1.0, random_state=0).select(1)
    ['x1']
    """
    if write_to_var is not None:
        _check_write_to_var(X, write_to_var)
    params |= {"task": task, "hierarchy": hierarchy, "random_state": random_state, "n_jobs": n_jobs}
    data = X
    X, y = given_data(X, y, target, feature_names, params)
    ranker = make_ranker(method, importance, preset, params)
    table, encoded, step = ranker._read(X, y, progress)
    found = data_warnings(table, encoded)
    step("checks")
    ranking = ranker._score_features(table, encoded, step, progress).to_ranking()
    ranking = replace(ranking, warnings=[warning._asdict() for warning in found])
    if write_to_var is not None:
        to_anndata(ranking, data, write_to_var)
    return ranking


def _check_write_to_var(X: Any, write_to_var: Any) -> None:
    if not is_anndata(X):
        raise TypeError(f"write_to_var= is for AnnData objects, and X is of type {type(X).__name__}.")
    if not (isinstance(write_to_var, str) and write_to_var):
        raise TypeError(
            f"write_to_var={write_to_var!r} must be the word that the new columns of .var begin with, "
            'for example "semirank".'
        )
