"""The parameters that rankers and evaluations share: what they may be, how they are documented, the seed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    RealNotInt,
    StrOptions,
    make_constraint,
)

from ..runtime.messages import plural

Constraints = Mapping[str, list[Any]]


class Numbers(Interval):
    """scikit-learn's interval with our own description; it refuses True, False and the value `but`."""

    def __init__(
        self, words: str, kind: Any, low: float | None, high: float | None, closed: str, but: Any = None
    ):
        super().__init__(kind, low, high, closed=closed)
        self.words = words
        self.but = but

    def is_satisfied_by(self, val: Any) -> bool:
        return not isinstance(val, bool) and super().is_satisfied_by(val) and val != self.but

    def __str__(self) -> str:
        return self.words


class Names(StrOptions):
    """scikit-learn's set of allowed strings, in the order in which a message lists them."""

    def __init__(self, *names: str):
        super().__init__(set(names))
        self.names = names

    def __str__(self) -> str:
        return repr(self.names[0]) if len(self.names) == 1 else f"one of {', '.join(self.names)}"


def at_least(low: int) -> Numbers:
    """Whole numbers from `low` on."""
    return Numbers(f"a whole number of at least {low}", Integral, low, None, "left")


COUNT = Numbers("a count (1, 2, ...)", Integral, 1, None, "left")
SHARE = Numbers("a share in (0, 1]", RealNotInt, 0, 1, "right")
UNIT_INTERVAL = Numbers("a number in [0, 1]", Real, 0, 1, "both")
NOT_NEGATIVE = Numbers("a number of at least 0", Real, 0, None, "left")
POSITIVE = Numbers("a number above 0", Real, 0, None, "neither")

_LARGEST_WEIGHT = 1e9

# The parameters of y and of columns (`task`, `unlabeled`, ...) are checked where the data are read.
SHARED: dict[str, list[Any]] = {
    "use_unlabeled": ["boolean"],
    "n_features_to_select": [COUNT, SHARE, None],
    "n_jobs": [None, Numbers("a whole number other than 0", Integral, None, None, "neither", but=0)],
    "random_state": [
        Numbers("a whole number from 0 to 4294967295", Integral, 0, 2**32 - 1, "both"),
        np.random.RandomState,
        None,
    ],
}


def check_parameters(constraints: Constraints, values: Mapping[str, Any]) -> None:
    """Raise an error of one sentence (a ValueError and TypeError) for the first value that is not allowed.

    Parameters
    ----------
    constraints : mapping of str to list
        As scikit-learn's `_parameter_constraints`: a value must fulfil one of them.
    values : mapping of str to object
        Others than those with constraints may be among them.

    Examples
    --------
    >>> check_parameters(SHARED, {"n_jobs": 2, "use_unlabeled": True})
    >>> check_parameters(SHARED, {"n_jobs": 0})
    Traceback (most recent call last):
    ...
    sklearn.utils._param_validation.InvalidParameterError: n_jobs=0 is neither None nor a whole number ...
    """
    for name, allowed in constraints.items():
        if name in values and not any(make_constraint(one).is_satisfied_by(values[name]) for one in allowed):
            raise InvalidParameterError(f"{name}={values[name]!r} {_complaint(values[name], allowed)}.")


def _complaint(value: Any, allowed: list[Any]) -> str:
    if allowed == ["boolean"]:
        return "is neither True nor False"
    words = [f"a {one.__name__}" if isinstance(one, type) else str(one) for one in allowed]
    named = [one for one in allowed if isinstance(one, Names) and len(one.names) > 1]
    if named and (isinstance(value, str) or len(allowed) == 1):
        others = [word for word, one in zip(words, allowed) if one not in named]
        return f"is not one of {', '.join([*named[0].names, *others])}"
    if len(words) == 1:
        return f"must be {words[0]}"
    return f"is neither {', '.join(words[:-1])} nor {words[-1]}"


def weights_of(given: Any, name: str, count: int, what: str) -> np.ndarray | None:
    """The weights that a parameter holds, one per feature or target variable; None where none are given.

    Examples
    --------
    >>> weights_of([1, 2.5], "target_weights", 2, "target variable")
    array([1. , 2.5])
    >>> weights_of([1, -2], "target_weights", 2, "target variable")
    Traceback (most recent call last):
    ...
    ValueError: target_weights must hold numbers from 0 to 1e+09, not all 0; position 1 (from 0) is -2.0.
    """
    if given is None:
        return None
    try:
        weights = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of {count} numbers, one for each {what}.") from None
    if weights.ndim == 0:
        raise ValueError(f"{name} is a single number; give an array of {count}, one for each {what}.")
    if weights.shape != (count,):
        got = plural(len(weights), "number") if weights.ndim == 1 else f"the shape {weights.shape}"
        raise ValueError(f"{name} has {got}, not {count}: give one weight for each {what}.")
    # Up to a bound, so that squares of weighted sums stay far from the largest float.
    bad = np.flatnonzero(~((weights >= 0) & (weights <= _LARGEST_WEIGHT)))
    if len(bad) or not weights.any():
        at = f"position {bad[0]} (from 0) is {weights[bad[0]]}" if len(bad) else "all are 0"
        raise ValueError(f"{name} must hold numbers from 0 to {_LARGEST_WEIGHT:g}, not all 0; {at}.")
    return weights


def seed_of(random_state: Any) -> int:
    """The whole number behind a `random_state`: given back as `random_state`, it repeats the run."""
    check_parameters(SHARED, {"random_state": random_state})
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def with_shared_parts(doc: str, shared: str) -> str:
    """A docstring in numpydoc with the parameters and attributes of `shared` that it does not describe.

    Examples
    --------
    >>> own = "A ranker.\\n\\nParameters\\n----------\\nw : float\\n    The level.\\n"
    >>> base = "All.\\n\\nParameters\\n----------\\nw : int\\nseed : int\\n    Of the draws.\\n"
    >>> print(with_shared_parts(own, base))
    A ranker.
    <BLANKLINE>
    Parameters
    ----------
    w : float
        The level.
    seed : int
        Of the draws.
    """
    doc, shared = inspect.cleandoc(doc), inspect.cleandoc(shared)
    for title in ("Parameters", "Attributes"):
        section = re.compile(rf"^{title}\n-+\n(.*?)(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
        own, common = section.search(doc), section.search(shared)
        if own is None or common is None:
            continue
        known = set(re.findall(r"^\w+", own[1], re.MULTILINE))
        entries = re.findall(r"^\w.*(?:\n .*)*", common[1], re.MULTILINE)
        more = [entry for entry in entries if entry.split(" ")[0] not in known]
        doc = "\n".join([doc[: own.end()], *more]) + doc[own.end() :]
    return doc
