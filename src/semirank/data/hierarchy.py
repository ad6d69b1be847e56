"""Label hierarchies, trees and DAGs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

import numpy as np

from ..runtime.memory import ensure_room
from ..runtime.messages import did_you_mean, short, short_name

ROOT = "root"  # CLUS's name for "has no parent" in edge lists
_MAX_PARTS = 1000  # each part of a path becomes a label that repeats the path up to it


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Labels with parents: a tree, a forest or a DAG (Def. 1.1).

    Usually made by :meth:`from_paths`, :meth:`from_edges` or :meth:`from_parents`.

    Parameters
    ----------
    labels : tuple of str
        Unique label names.
    parents : tuple of tuple of int
        Positions of the parents of every label; empty for a root.

    Examples
    --------
    >>> from semirank import Hierarchy
    >>> h = Hierarchy.from_paths(["a", "a/b", "c"])
    >>> h.labels, h.depth
    (('a', 'a/b', 'c'), 2)
    >>> h.weights(0.75).tolist()
    [1.0, 0.75, 1.0]
    >>> h.close([[0, 1, 0]]).tolist()
    [[1.0, 1.0, 0.0]]
    """

    labels: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.labels:
            raise ValueError("The hierarchy has no labels; give at least one.")
        _refuse_repeats(self.labels)
        if len(self.parents) != len(self.labels):
            raise ValueError(
                f"The hierarchy has {len(self.labels)} labels but parents for {len(self.parents)}; "
                "give one tuple of parent positions per label."
            )
        for label, above in zip(self.labels, self.parents):
            if any(not 0 <= p < len(self.labels) for p in above):
                raise ValueError(
                    f"Label {short(label)} has a parent position outside 0..{len(self.labels) - 1}."
                )
        _ = self.order  # finds cycles

    @classmethod
    def from_paths(cls, paths: Iterable[str], sep: str = "/") -> Hierarchy:
        """Make a tree from path strings such as ``"a/b/c"``; ancestors that are not listed are implied.

        Parameters
        ----------
        paths : iterable of str
        sep : str, default="/"

        Returns
        -------
        Hierarchy
            Its labels are the whole paths, in the given order, an implied ancestor before its descendant.

        Examples
        --------
        >>> Hierarchy.from_paths(["x/y/z"]).labels
        ('x', 'x/y', 'x/y/z')
        """
        paths = [str(p) for p in paths]
        _refuse_repeats(paths)
        listed = set(paths)
        place: dict[str, int] = {}
        above: dict[str, str | None] = {}
        size, checked = 0, 0
        for path in paths:
            parts = path.split(sep)
            if not all(parts):
                raise ValueError(
                    f"The label {short(path)} has an empty part; write paths as 'a{sep}b{sep}c'."
                )
            if len(parts) > _MAX_PARTS:
                raise ValueError(
                    f"The label {short(path)} has {len(parts)} parts, more than {_MAX_PARTS}; "
                    "give so deep a hierarchy as (parent, child) pairs."
                )
            chain = [path]  # this label, then the ancestors that nothing has named yet
            while True:
                parent = chain[-1].rpartition(sep)[0] or None
                above[chain[-1]] = parent
                if parent is None or parent in listed or parent in above:
                    break
                chain.append(parent)
            size += 4 * sum(map(len, chain))
            if size > checked:
                ensure_room(size, "The hierarchy's labels")
                checked = size + (64 << 20)
            for label in reversed(chain):
                place[label] = len(place)
        return cls(tuple(place), tuple(() if (p := above[x]) is None else (place[p],) for x in place))

    @classmethod
    def from_edges(cls, edges: Iterable[Sequence[object]]) -> Hierarchy:
        """Make a tree or DAG from (parent, child) pairs.

        Parameters
        ----------
        edges : iterable of pairs
            A parent ``None`` or ``"root"`` makes the child a root label. If no pair does so, the parents
            that are nobody's child are the root labels.

        Examples
        --------
        >>> h = Hierarchy.from_edges([(None, "a"), (None, "b"), ("a", "c"), ("b", "c")])
        >>> h.parents
        ((), (), (0, 1))
        """
        above: dict[str, list[str]] = {}
        rooted = False
        for edge in edges:
            if isinstance(edge, str) or len(edge) != 2:
                raise ValueError(f"The hierarchy's edge {short(edge)} is not a (parent, child) pair.")
            parent, child = edge
            if child is None or str(child) == ROOT:
                raise ValueError(f"{ROOT!r} stands for no parent and cannot be a child, as in {short(edge)}.")
            parents = above.setdefault(str(child), [])
            if parent is None or str(parent) == ROOT:
                rooted = True
            else:
                parents.append(str(parent))
        if not rooted:
            tops = dict.fromkeys(p for ps in above.values() for p in ps if p not in above)
            above = {**{p: [] for p in tops}, **above}
        return _from_names(above)

    @classmethod
    def from_parents(cls, parents: Mapping[object, object]) -> Hierarchy:
        """Make a tree or DAG from ``{label: parents}``; a root label has ``None`` or no parents.

        Examples
        --------
        >>> Hierarchy.from_parents({"a": None, "b": "a", "c": ["a", "b"]}).depth
        3
        """
        above: dict[str, list[str]] = {}
        for label, given in parents.items():
            named = [given] if given is None or isinstance(given, str) else list(given)  # type: ignore[call-overload]
            above[str(label)] = [str(p) for p in named if p is not None and (p != ROOT or ROOT in parents)]
        return _from_names(above)

    @classmethod
    def coerce(cls, obj: object) -> Hierarchy:
        """Make a hierarchy from what a user may pass as ``hierarchy=``.

        Parameters
        ----------
        obj : Hierarchy, iterable of path strings, {label: parents}, or iterable of (parent, child) pairs
        """
        if isinstance(obj, Hierarchy):
            return obj
        if isinstance(obj, Mapping):
            return cls.from_parents(obj)
        if isinstance(obj, Iterable) and not isinstance(obj, str | bytes):
            items = list(obj)
            if all(isinstance(x, str) for x in items):
                return cls.from_paths(items)
            if all(isinstance(x, Sequence) and not isinstance(x, str) for x in items):
                return cls.from_edges(items)
        raise TypeError(
            "hierarchy must be a Hierarchy, a list of paths such as 'a/b', a dict {label: parents} or a list "
            f"of (parent, child) pairs, got {type(obj).__name__}."
        )

    @cached_property
    def position(self) -> dict[str, int]:
        """Column of every label."""
        return {label: i for i, label in enumerate(self.labels)}

    @cached_property
    def order(self) -> np.ndarray:
        """Positions of the labels, parents before children."""
        try:
            order = list(TopologicalSorter(dict(enumerate(self.parents))).static_order())
        except CycleError as error:
            names = [short_name(self.labels[i]) for i in error.args[1]]
            shown = names if len(names) <= 6 else [*names[:2], "...", *names[-4:]]
            raise ValueError(
                f"The hierarchy has a cycle, {' -> '.join(shown)}; a label cannot be its own ancestor."
            ) from None
        return np.array(order, dtype=np.int64)

    @cached_property
    def levels(self) -> np.ndarray:
        """Level of every label: 1 for a root, else one more than its deepest parent."""
        levels = np.ones(len(self.labels), dtype=np.int64)
        for label in self.order:
            levels[label] = 1 + max((levels[p] for p in self.parents[label]), default=0)
        return levels

    @property
    def depth(self) -> int:
        """Number of levels: labels on the longest way from a root down."""
        return int(self.levels.max())

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"<Hierarchy: {len(self)} labels, {self.depth} levels>"

    def weights(self, decay: float = 0.75) -> np.ndarray:
        """alpha of every label: 1 for a root, else decay * mean(weights of its parents).

        Parameters
        ----------
        decay : float, default=0.75
            alpha0 of Def. 1.1, between 0 and 1.
        """
        if not 0 < decay < 1:
            raise ValueError(f"hierarchy_decay must lie between 0 and 1, got {decay!r}.")
        weights = [1.0] * len(self.labels)
        for label in self.order.tolist():
            if above := self.parents[label]:
                weights[label] = decay * sum(weights[p] for p in above) / len(above)
        return np.array(weights)

    def close(self, membership: np.ndarray) -> np.ndarray:
        """Bring in the ancestors: the 0/1 matrix in which a label implies all labels above it.

        Parameters
        ----------
        membership : array-like of shape (n_rows, n_labels)
            0/1 (or bool); rows of NaN stay as they are.

        Returns
        -------
        ndarray of shape (n_rows, n_labels), float64
        """
        ensure_room(16.0 * np.size(membership), "The rows' labels with their ancestors")
        closed = np.array(membership, dtype=np.float64, order="F")
        if closed.ndim != 2 or closed.shape[1] != len(self.labels):
            raise ValueError(
                f"A label matrix of {len(self.labels)} columns is needed (one per label of the hierarchy), "
                f"got shape {closed.shape}."
            )
        for label in self.order[::-1].tolist():
            for parent in self.parents[label]:
                np.maximum(closed[:, parent], closed[:, label], out=closed[:, parent])
        return np.ascontiguousarray(closed)


def _refuse_repeats(labels: Sequence[str]) -> None:
    label, count = Counter(labels).most_common(1)[0] if labels else ("", 0)
    if count > 1:
        raise ValueError(f"The hierarchy holds the label {short(label)} more than once; remove the repeats.")


def _from_names(above: dict[str, list[str]]) -> Hierarchy:
    place = {label: i for i, label in enumerate(above)}
    for label, names in above.items():
        for parent in names:
            if parent not in place:
                near = did_you_mean(parent, place)
                raise ValueError(
                    f"Label {short(label)} has the unknown parent {short(parent)}{near}; "
                    "add that parent to the hierarchy."
                )
    return Hierarchy(
        tuple(place), tuple(tuple(place[p] for p in dict.fromkeys(names)) for names in above.values())
    )
