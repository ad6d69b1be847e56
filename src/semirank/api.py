"""`rank`: one call from a table and a target to a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .data.align_rows import split_target
from .data.columns import frame_kind, is_anndata, native_frame
from .data.encode_features import encode_features
from .data.read_anndata import read_anndata
from .data.table import Table
from .rankers.methods import DEFAULT, METHODS
from .rankers.presets import PRESET_METHOD, preset_parameters
from .results.files import to_anndata
from .results.ranking import Ranking
from .runtime.messages import did_you_mean
from .runtime.progress import Progress
from .trees.scores import OUT_OF_BAG_SCORES


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
        "auto" is the forest.
    importance : str or sequence of str, optional
        Forests only: the main score, or several with the main one first; by default genie3. The others are
        computed as well.
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
        More parameters of the ranker, for example ``ensemble="extra_trees"``.

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
    >>> sr.rank(X, y, random_state=0, n_estimators=20, supervision=1.0).select(1)
    ['x1']
    """
    if method != "auto" and method not in METHODS:
        raise ValueError(f"method={method!r} is not one of auto, {', '.join(METHODS)}.")
    row = METHODS[(DEFAULT if preset is None else PRESET_METHOD) if method == "auto" else method]
    if preset is not None:
        params = preset_parameters(preset, row.name) | params
    params |= {"task": task, "hierarchy": hierarchy, "random_state": random_state, "n_jobs": n_jobs}
    data = X
    if is_anndata(data):
        if write_to_var is not None and not (isinstance(write_to_var, str) and write_to_var):
            raise TypeError(
                f"write_to_var={write_to_var!r} must be the word that the new columns of .var begin with, "
                'for example "semirank".'
            )
        X, y = read_anndata(data, y, target, params.pop("categorical_features", "from_dtype"))
    elif write_to_var is not None:
        raise TypeError(f"write_to_var= is for AnnData objects, and X is of type {type(X).__name__}.")
    elif target is not None:
        X, y = _target_of_frame(X, y, target)
    if feature_names is not None:
        X = _with_names(X, feature_names, params.pop("categorical_features", "from_dtype"))
    if len(row.scores) > 1:
        # All scores that the forest can give, those that were named first.
        named = (importance,) if isinstance(importance, str) else tuple(importance or ())
        bootstrap = params.get("bootstrap", True)
        others = [
            name for name in row.scores if name not in named and (bootstrap or name not in OUT_OF_BAG_SCORES)
        ]
        params["importance"] = (*named, *others)
    elif importance not in (None, *row.scores):
        raise ValueError(f"importance={importance!r} is for forests; method={method!r} has one score.")
    ranker = _make(row.load(), params)
    ranking = ranker.fit(X, y, progress=progress).to_ranking()
    if write_to_var is not None:
        to_anndata(ranking, data, write_to_var)
    return ranking


def _target_of_frame(X: Any, y: Any, target: str | Sequence[str]) -> tuple[Any, Any]:
    X = native_frame(X)
    if frame_kind(X) is None:
        raise TypeError(f"target= is for frames and AnnData objects, and X is of type {type(X).__name__}.")
    if y is not None:
        raise TypeError("Either name the column of X to rank for as target=, or pass y, not both.")
    return split_target(X, target if isinstance(target, str) else list(target))


def _with_names(X: Any, names: Sequence[str], categorical_features: Any) -> Table:
    if isinstance(X, Table) or frame_kind(native_frame(X)) is not None:
        raise TypeError("feature_names= is for arrays; X has names of its own.")
    return encode_features(X, categorical_features=categorical_features, names=list(names))


def _make(ranker: Any, params: dict[str, Any]) -> Any:
    known = ranker._get_param_names()
    for name in params:
        if name not in known:
            near = did_you_mean(name, known)
            raise TypeError(f"{ranker.__name__} has no parameter {name!r}{near}; it has {', '.join(known)}.")
    return ranker(**params)
