"""From the words about a method to its ranker: `rank` and `evaluate` mean the same by the same words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..runtime.messages import did_you_mean
from ..trees.scores import OUT_OF_BAG_SCORES
from .methods import DEFAULT, METHODS
from .presets import PRESET_METHOD, preset_parameters


def make_ranker(
    method: str = "auto",
    importance: str | Sequence[str] | None = None,
    preset: str | None = None,
    params: dict[str, Any] | None = None,
) -> Any:
    """The ranker of a method, not yet fitted.

    Parameters
    ----------
    method : str
        A name out of the table of methods, or "auto".
    importance : str or sequence of str, optional
        With "forest": the main score, or several with the main one first; the others are computed as well.
    preset : str, optional
        Settings under one name; `params` win over them.
    params : dict, optional
        Parameters of the ranker.

    Examples
    --------
    >>> make_ranker("relief", params={"n_neighbors": 10}).n_neighbors
    10
    >>> make_ranker("forest", "rforest").importance
    ('rforest', 'genie3', 'symbolic', 'genie3_oob')
    """
    if method != "auto" and method not in METHODS:
        near = did_you_mean(str(method), METHODS)
        raise ValueError(f"method={method!r} is not one of auto, {', '.join(METHODS)}{near}.")
    row = METHODS[(DEFAULT if preset is None else PRESET_METHOD) if method == "auto" else method]
    params = dict(params or {})
    if preset is not None:
        params = preset_parameters(preset, row.name) | params
    if len(row.scores) > 1:
        # All scores that the forest can give, those that were named first.
        named = (importance,) if isinstance(importance, str) else tuple(importance or ())
        bootstrap = params.get("bootstrap", True)
        others = [
            name for name in row.scores if name not in named and (bootstrap or name not in OUT_OF_BAG_SCORES)
        ]
        params["importance"] = (*named, *others)
    elif importance not in (None, *row.scores):
        raise ValueError(
            f"importance={importance!r} is for method='forest'; the {row.name} method has one score."
        )
    ranker = row.load()
    known = ranker._get_param_names()
    for name in params:
        if name not in known:
            raise TypeError(_unknown(name, ranker, known, method))
    return ranker(**params)


def _unknown(name: str, ranker: Any, known: list[str], method: str) -> str:
    """What to say about a parameter that the ranker does not have."""
    of = [row.name for row in METHODS.values() if name in row.load()._get_param_names()]
    if method == "auto" and of:
        return (
            f"{name}= is a parameter of method={of[0]!r}, and method='auto' is {DEFAULT!r}; add "
            f"method={of[0]!r}, or leave {name} out."
        )
    near = did_you_mean(name, known)
    return f"{ranker.__name__} has no parameter {name!r}{near}; it has {', '.join(known)}."
