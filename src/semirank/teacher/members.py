"""The members of a teacher by name, and asking all of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..runtime.parallel import one_blas_thread
from ..runtime.progress import Progress
from .estimators import Unusable, WrongShape, fit_estimator, in_short
from .forests import fit_extra_trees, fit_random_forest
from .graph import fit_graph
from .lesson import Answer, Lesson, Model, Rows, TargetScale
from .ridge import fit_kernel, fit_linear

MEMBERS: dict[str, Callable[[Lesson], Answer]] = {
    "random_forest": fit_random_forest,
    "extra_trees": fit_extra_trees,
    "linear": fit_linear,
    "kernel": fit_kernel,
    "graph": fit_graph,
}
_BY_POINTS = ("linear", "kernel", "graph")  # members that see rows as points in the space
# What sentences call them.
WORDS = {
    "random_forest": "the random forest",
    "extra_trees": "extra trees",
    "linear": "linear regression",
    "kernel": "kernel regression",
    "graph": "spreading between near rows",
}


class Member(NamedTuple):
    """A name and either nothing else or the estimator that it stands for."""

    name: str
    estimator: Any


def read_members(members: Any) -> list[Member]:
    """Names and estimators as given, each with a name of its own."""
    if isinstance(members, str) or not isinstance(members, Sequence):
        raise TypeError(
            f"members={members!r} is no list; give names out of {', '.join(MEMBERS)}, or estimators."
        )
    if len(members) == 0:
        raise ValueError(
            f"members is empty; name at least one of {', '.join(MEMBERS)}, or give an estimator."
        )
    out: list[Member] = []
    for member in members:
        if isinstance(member, str):
            if member not in MEMBERS:
                raise ValueError(
                    f"members holds {member!r}, which is not one of {', '.join(MEMBERS)}, nor an estimator."
                )
            if any(other.name == member for other in out):
                raise ValueError(f"members names {member!r} twice; name it once.")
            out.append(Member(member, None))
        elif isinstance(member, type) or not (_has(member, "fit") and _has(member, "predict")):
            raise TypeError(
                f"members holds {member!r}, which is neither one of {', '.join(MEMBERS)} nor an estimator "
                "with fit and predict."
            )
        else:
            name = type(member).__name__
            same = sum(
                other.estimator is not None and type(other.estimator).__name__ == name for other in out
            )
            out.append(Member(f"{name} {same + 1}" if same else name, member))
    return out


def _has(member: Any, method: str) -> bool:
    """Whether there is such a method, perhaps not before fit (`StackingClassifier.predict`)."""
    return hasattr(member, method) or hasattr(type(member), method)


def ask_members(
    members: list[Member], lesson: Lesson, scale: TargetScale, progress: Progress | None, notes: list[str]
) -> dict[str, Answer]:
    """Answers of all members that have one; a member that fails is left out, and that is said."""
    answers: dict[str, Answer] = {}
    last = ""
    for done, (name, estimator) in enumerate(members):
        if progress is not None:
            progress(done, len(members), f"teacher: {name}")
        try:
            with one_blas_thread():
                if estimator is None:
                    answer = MEMBERS[name](lesson)
                else:
                    answer = fit_estimator(estimator, name, lesson, scale)
        except (MemoryError, WrongShape):
            raise
        except Unusable as failure:
            last = leave_out(failure, notes)
        except Exception as error:
            if estimator is None:
                raise
            last = leave_out(Unusable(name, f"failed: {in_short(error)}"), notes)
        else:
            if np.isfinite(answer.held_out).all():
                answers[name] = answer
            else:
                last = leave_out(Unusable(name, "gave NaN or infinity"), notes)
    if progress is not None:
        progress(len(members), len(members), "teacher")
    if not answers:
        raise ValueError(f"No member is left: {last}.")
    return answers


def leave_out(failure: Unusable, notes: list[str]) -> str:
    """Say that a member is left out, and why, as a note and as a warning."""
    what, colon, why = failure.reason.partition(": ")
    said = f"the member {failure.name} {what} and was left out{colon}{why}"
    notes.append(said)
    warnings.warn(f"{said[0].upper()}{said[1:]}.", UserWarning, stacklevel=5)
    return said


class WeightedModel(NamedTuple):
    """A model of points whose columns count by weights."""

    model: Model
    weights: np.ndarray

    def predict(self, rows: Rows) -> np.ndarray:
        """The learnt columns of these rows."""
        return self.model.predict(rows._replace(points=rows.points * self.weights))


def in_weighted_space(answers: dict[str, Answer], lesson: Lesson, weights: np.ndarray) -> dict[str, Answer]:
    """The answers with models of points fitted again where columns count by these weights.

    What was held out stays as it was in the plain space: weights that were learnt from the same labels would
    flatter it.

    Parameters
    ----------
    answers : dict of str to Answer
    lesson : Lesson
        That of the answers.
    weights : ndarray of shape (n_columns,)
    """
    weighted = lesson._replace(points=lesson.points * weights, crowd=lesson.crowd * weights)
    found = dict(answers)
    for name in set(_BY_POINTS).intersection(answers):
        model = WeightedModel(MEMBERS[name](weighted).model, weights)
        found[name] = answers[name]._replace(model=model)
    return found
