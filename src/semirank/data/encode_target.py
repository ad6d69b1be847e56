"""Targets of any of the five kinds as a Target."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..runtime.memory import ensure_room
from ..runtime.messages import did_you_mean, short
from .columns import as_nominal, as_numbers, recode, unique_names
from .given_target import GivenTarget, read_target
from .hierarchy import Hierarchy
from .summary import ONE_CLASS, describe_target, target_questions
from .target import Target
from .tasks import TASKS

MAX_CLASSES = 20  # more different whole numbers than this are quantities, not classes (Def. 3.1)


def encode_target(
    y: Any,
    *,
    task: str = "auto",
    unlabeled: object = None,
    hierarchy: Any = None,
    hierarchy_decay: float = 0.75,
    n_rows: int | None = None,
    notes: list[str] | None = None,
) -> Target:
    """Encode a target of any of the five kinds (Def. 1.1, 3.1).

    Parameters
    ----------
    y : array-like, Series, DataFrame, sequence of label sets, or Target
        NaN, None, pandas.NA and words such as "NA" are unknown: single cells of a 2-D target, or whole rows.
        Label sets are sets, lists or tuples of labels; an empty one is a labelled row without any label. A
        hierarchical target can also be strings such as "a/b@c", or zeros and ones with a column per label.
    task : "auto" or a name of `semirank.data.tasks`, default="auto"
    unlabeled : scalar, optional
        A further value that means unknown, such as -1.
    hierarchy : anything :meth:`Hierarchy.coerce` takes, optional
        Makes the task hierarchical.
    hierarchy_decay : float, default=0.75
    n_rows : int, optional
        Number of rows of X, checked.
    notes : list of str, optional
        Collects sentences for the user: what was inferred, what plays no part.

    Returns
    -------
    Target

    Examples
    --------
    >>> from semirank.data.encode_target import encode_target
    >>> notes = []
    >>> target = encode_target(["yes", None, "no", "yes"], notes=notes)
    >>> target.values.ravel().tolist(), target.classes.tolist()
    ([1.0, nan, 0.0, 1.0], ['no', 'yes'])
    >>> notes
    ['classification, 2 classes, 3 of 4 rows labelled', 'the target is y: no 1, yes 2']
    """
    notes = [] if notes is None else notes
    if isinstance(y, Target):
        _check_length(len(y), n_rows)
        idle = _check_informative(y)
        notes += [*describe_target(y), *idle]
        return y
    tree = None if hierarchy is None else Hierarchy.coerce(hierarchy)
    task = check_task(task, tree)
    hidden: list[str] = []
    given = read_target(y, unlabeled, hidden)
    _check_length(given.n_rows, n_rows)
    target = encode_given(given, task, tree, hierarchy_decay)
    idle = _check_informative(target)
    from_numbers = task == "auto" and any(column.kind == "number" for column in given.columns)
    notes += [*describe_target(target, inferred_from_numbers=from_numbers), *idle, *hidden]
    notes += target_questions(target)
    return target


def encode_target_like(
    y: Any, target: Target, *, unlabeled: object = None, n_rows: int | None = None
) -> Target:
    """Encode the target of new rows, for scoring, as the variables of a fitted target.

    Classes that the fitted target does not know get codes after the known ones.

    Examples
    --------
    >>> from semirank.data.encode_target import encode_target, encode_target_like
    >>> target = encode_target(["a", "b", None])
    >>> new = encode_target_like(["b", "c"], target)
    >>> new.values.ravel().tolist(), new.classes.tolist()
    ([1.0, 2.0], ['a', 'b', 'c'])
    """
    if isinstance(y, Target):
        new = y
    else:
        given = read_target(y, unlabeled)
        if target.task == "multi_label" and given.label_sets is not None:
            new = _from_label_sets(given.label_sets, target.names)
        else:
            new = encode_given(given, target.task, target.hierarchy)
    _check_length(len(new), n_rows)
    if new.values.shape[1] != len(target.names):
        raise ValueError(f"y has {new.values.shape[1]} targets, but {len(target.names)} were fitted.")
    values, classes = new.values, target.classes
    if classes is not None:
        assert new.classes is not None
        place = {value: i for i, value in enumerate(classes.tolist())}
        for value in new.classes.tolist():
            place.setdefault(value, len(place))
        values = recode(values, [place[value] for value in new.classes.tolist()])
        if len(place) > len(classes):
            classes = np.array(list(place), dtype=np.result_type(classes, new.classes))
    return replace(target, values=values, classes=classes)


def check_task(task: str, tree: Hierarchy | None) -> str:
    """The task, "hierarchical" where there is a hierarchy; refuses what does not fit."""
    if task not in ("auto", *TASKS):
        near = did_you_mean(task, TASKS)
        raise ValueError(f"task must be 'auto' or one of {', '.join(map(repr, TASKS))}, got {task!r}{near}.")
    if task == "hierarchical" and tree is None:
        raise ValueError("The hierarchical task needs hierarchy= (paths, edges or a Hierarchy).")
    if tree is not None and task not in ("auto", "hierarchical"):
        raise ValueError(f"A hierarchy was given, which fits the hierarchical task only, not {task!r}.")
    return "hierarchical" if tree is not None else task


def _check_length(length: int, n_rows: int | None) -> None:
    if n_rows is not None and length != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{n_rows}, {length}] in X and y."
        )


def _infer(given: GivenTarget) -> str:
    """The task by the rules of Def. 3.1."""
    if given.label_sets is not None:
        return "multi_label"
    if len(given.columns) == 1:
        column = given.columns[0]
        if column.kind != "number":
            return "classification"
        known = column.values[~np.isnan(column.values)]
        fractional = (known != np.floor(known)).any()
        return "regression" if fractional or len(np.unique(known)) > MAX_CLASSES else "classification"
    binary = all(set(np.unique(v[~np.isnan(v)])) <= {0.0, 1.0} for v in _matrix(given, "auto").T)
    return "multi_label" if binary else "multi_target"


def encode_given(given: GivenTarget, task: str, tree: Hierarchy | None, decay: float = 0.75) -> Target:
    """Encode what was read; "auto" infers the task."""
    if given.columns:
        values = np.array([column.values for column in given.columns])
        if np.isinf(values).any():
            raise ValueError("y contains infinity; replace it, or make it NaN if it is unknown.")
        known = not np.isnan(values).all()
    else:
        known = any(s is not None for s in given.label_sets or ())
    if not known:
        raise ValueError("No row of y is labelled; at least two labelled rows are needed.")
    if task == "auto":
        task = _infer(given)
    if task == "hierarchical":
        assert tree is not None
        membership = tree.close(_membership(given, tree))
        return Target(task, membership, tree.labels, tree.weights(decay), None, tree)
    if task == "multi_label" and given.label_sets is not None:
        return _from_label_sets(given.label_sets)
    if given.label_sets is not None:
        raise ValueError(
            f"y holds sets of labels, which fit task='multi_label' or a hierarchy, not {task!r}."
        )
    if task in ("multi_label", "multi_target"):
        return _several(given, task)
    if len(given.columns) > 1:
        raise ValueError(
            f"task={task!r} needs one target, but y has {len(given.columns)} columns; choose one of them, or "
            "task='multi_target' or 'multi_label'."
        )
    if given.wide:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; use y.ravel() or a single column.",
            DataConversionWarning,
            stacklevel=3,
        )
    if task == "regression":
        return Target(task, _matrix(given, task), given.names, np.ones(1))
    return _classes(given)


def _classes(given: GivenTarget) -> Target:
    (name,), (column,) = given.names, given.columns
    if column.kind == "number":
        known = column.values[~np.isnan(column.values)]
        if (known != np.floor(known)).any():
            raise ValueError(
                "Unknown label type: continuous numbers such as "
                f"{known[known != np.floor(known)][0]:g} are no classes; use task='regression'."
            )
    codes, categories = as_nominal(column, name)
    labeled = ~np.isnan(codes)
    present, new = np.unique(codes[labeled].astype(np.int64), return_inverse=True)
    classes = np.empty(len(present), dtype=object)
    classes[:] = [categories[i] for i in present]
    values = np.full((len(codes), 1), np.nan)
    values[labeled, 0] = new
    return Target("classification", values, given.names, np.ones(1), classes.astype(column.dtype))


def _several(given: GivenTarget, task: str) -> Target:
    values = _matrix(given, task)
    if not given.wide:
        other = "regression" if task == "multi_target" else "classification"
        raise ValueError(
            f"task={task!r} needs y with a column per target; use task={other!r} for one target."
        )
    if task == "multi_label":
        odd = ~np.isnan(values) & (values != 0) & (values != 1)
        if odd.any():
            row, column = np.argwhere(odd)[0]
            raise ValueError(
                f"task='multi_label' needs zeros, ones and holes, but {short(given.names[column])} holds "
                f"{values[row, column]:g} in row {row}; pass sets of labels or use task='multi_target'."
            )
    return Target(task, values, given.names, np.ones(values.shape[1]))


def _matrix(given: GivenTarget, task: str) -> np.ndarray:
    who = "A target of several columns" if task == "auto" else f"task={task!r}"
    numbers = [
        as_numbers(column, f"{who} needs numbers, but {short(name)}")
        for name, column in zip(given.names, given.columns)
    ]
    return np.ascontiguousarray(np.array(numbers).T)


def _from_label_sets(sets: list[frozenset[object] | None], names: Sequence[str] | None = None) -> Target:
    present = set().union(*(s for s in sets if s is not None))
    if names is None:
        try:
            names = [str(label) for label in sorted(present)]  # type: ignore[type-var]
        except TypeError:
            names = sorted(str(label) for label in present)
        names = unique_names(names, len(present))
    place = {label: j for j, label in enumerate(names)}
    unseen = sorted(str(label) for label in present if str(label) not in place)
    if unseen:
        raise ValueError(
            f"The label {short(unseen[0])} was not seen in fit; pass y as zeros and ones per label."
        )
    return Target("multi_label", _ones(sets, place), tuple(names), np.ones(len(names)))


def _ones(sets: Sequence[Iterable[object] | None], place: dict[str, int]) -> np.ndarray:
    ensure_room(16.0 * len(sets) * len(place), f"A matrix of {len(sets)} rows and {len(place)} labels")
    values = np.zeros((len(sets), len(place)))
    for i, labels in enumerate(sets):
        if labels is None:
            values[i] = np.nan
        else:
            values[i, [place[str(label)] for label in labels]] = 1.0
    return values


def _membership(given: GivenTarget, tree: Hierarchy) -> np.ndarray:
    """Zeros and ones per label of the hierarchy, as given (not yet closed upwards)."""
    if len(given.columns) == 1 and given.names != tree.labels:
        codes, categories = as_nominal(given.columns[0], given.names[0])
        known = [None if str(c) == "?" else frozenset(str(c).split("@")) for c in categories]
        _check_labels(known, tree)
        rows = np.where(np.isnan(codes), -1, codes).astype(np.int64)
        return _ones([*known, None], tree.position)[rows]
    if given.label_sets is not None:
        _check_labels(given.label_sets, tree)
        return _ones(given.label_sets, tree.position)
    if not given.wide:
        raise ValueError(
            "A hierarchical target is strings such as 'a/b@c', sets of labels, or zeros and ones."
        )
    values = _several(given, "multi_label").values
    if given.named:
        _check_labels([given.names], tree)
        place = {name: j for j, name in enumerate(given.names)}
        if len(place) < len(tree):
            absent = next(label for label in tree.labels if label not in place)
            raise ValueError(f"y has no column for the label {short(absent)} of the hierarchy; add it.")
        values = values[:, [place[label] for label in tree.labels]]
    elif values.shape[1] != len(tree):
        raise ValueError(f"y has {values.shape[1]} columns, but the hierarchy has {len(tree)} labels.")
    hole = np.isnan(values)
    partly = hole.any(axis=1) & ~hole.all(axis=1)
    if partly.any():
        raise ValueError(
            f"Row {int(np.flatnonzero(partly)[0])} of y knows some labels only; in a hierarchical target "
            "a row is wholly known or wholly unknown."
        )
    return values


def _check_labels(sets: Sequence[Iterable[object] | None], tree: Hierarchy) -> None:
    unknown = dict.fromkeys(str(x) for s in sets if s for x in s if str(x) not in tree.position)
    if unknown:
        some = ", ".join(f"{short(x)}{did_you_mean(x, tree.labels)}" for x in list(unknown)[:3])
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise ValueError(f"Not in the hierarchy: {some}{more}; add them to it or correct y.")


def _check_informative(target: Target) -> list[str]:
    """Refuse a target that nothing can be learnt from; name the variables that play no part (Def. 1.2)."""
    labeled = int(target.labeled.sum())
    if labeled == 0:
        raise ValueError("No row of y is labelled; at least two labelled rows are needed.")
    low, high = np.fmin.reduce(target.values, axis=0), np.fmax.reduce(target.values, axis=0)
    never, constant = np.isnan(low), low == high
    if target.classes is not None and constant.all():
        only = short(target.classes.tolist()[int(low[0])])
        raise ValueError(
            f"y has only one class, {only}, in its labelled rows (n_samples={labeled}), {ONE_CLASS}."
        )
    if (never | constant).all():
        what = "y is" if target.task == "regression" else "All targets are"
        raise ValueError(
            f"{what} constant among the labelled rows (n_samples={labeled}), so no feature can matter; "
            "label rows with other values."
        )
    noun = TASKS[target.task].noun
    notes = []
    for idle, what in ((never, "never known"), (constant, "constant among the labelled rows")):
        if count := int(idle.sum()):
            verb, play = ("is", "plays") if count == 1 else ("are", "play")
            notes.append(f"{count} of {len(idle)} {noun}s {verb} {what} and {play} no part")
    return notes
