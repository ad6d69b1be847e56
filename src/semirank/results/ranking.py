"""`Ranking`, the one result of every ranker (Def. 3.4)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from html import escape
from os import PathLike
from typing import Any

import numpy as np

from .. import __version__
from ..data.summary import list_counts
from ..data.tasks import TASKS
from ..runtime.messages import plural
from . import files
from .agreement import Agreement, agreement, rank_numbers
from .data_frame import make_frame
from .text_table import aligned, bar, clipped, four_digits, printable, text_table, visible
from .warning_words import feature_words, is_warning, warning_lines

CHOICE_NAMES = {"supervision": "w", "n_neighbors": "k"}  # tuned parameters as the definitions call them


class Top(list[tuple[str, float]]):
    """The best features as a list of (name, score) that prints as a table."""

    def __init__(self, pairs: Iterable[tuple[str, float]], text: str, html: str) -> None:
        super().__init__(pairs)
        self._text = text
        self._html = html

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return self._html


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Ranking:
    """Features with their importances, and everything needed to read and repeat the result.

    Attributes
    ----------
    names : tuple of str
        Feature names in column order; all arrays below follow that order.
    scores : ndarray of shape (n_features,)
        The main importance, larger is better.
    standard_errors : ndarray of shape (n_features,) or None
        Uncertainty of `scores`; NaN where it is not defined.
    method : str
        "consensus", "forest", "relief", "laplace", or "taught relief" and the like.
    importance : str
        Name of the main importance.
    all_scores, all_standard_errors : dict of str to ndarray
        Every importance the method computed, the main one included.
    per_target : ndarray of shape (n_features, n_targets) or None
        One importance per target variable; columns are named by `target_names`.
    target_names : tuple of str
    per_class : ndarray of shape (n_features, n_classes) or None
        For classes: one importance per class; columns are named by `class_names`.
    class_names : tuple of str
    target_counts : dict of str to int
        How many labelled rows have each class or label.
    columns : list of dict
        What was understood of every column of the file: its name, role, kind, values, missing and odd.
    positions : tuple of int or None
        Which column of the file each feature is, from 0, where that is not simply its place in `names`.
    task : str
        One of the five tasks, "" when unknown (a ranking read from csv or fimp).
    n_rows, n_labeled : int or None
    settings : dict
        Parameters of the ranker, as plain values.
    choice : dict
        What was tuned, for example ``{"supervision": 0.75}`` or
        ``{"n_neighbors": 15, "w0": 0.0, "w1": 1.0}``.
    choice_path : list of dict
        The table behind `choice`, one row per setting that was tried.
    missing_share : ndarray of shape (n_features,) or None
        Share of rows in which the feature is missing.
    timings : dict of str to float
        Seconds per step.
    seed : int or None
    version : str
        Version of semirank that made the ranking.
    warnings : list of dict
        What to know of the data before the ranking is believed: the "kind" of each, a sentence ("text"), the
        "features" and the "rows" (from 0) that it is about; see :func:`semirank.rank`.
    notes : list of str
        What was decided or repaired on the way, one sentence each.
    origin : dict
        "command" and "python": how exactly this ranking was made, where that is known.
    teacher : dict
        What a teacher found, where there was one: its "members", their "weights", their "losses" and "scores"
        for labels that were held out, also those of all together ("stack").

    Examples
    --------
    >>> from semirank import Ranking
    >>> ranking = Ranking(names=("age", "weight", "height"), scores=[0.2, 0.7, 0.2],
    ...                   method="relief", importance="relief")
    >>> ranking.ranks
    array([2, 1, 2])
    >>> ranking.top(2)
    rank  feature  relief
       1  weight      0.7  ████████████████████
       2  age         0.2  █████▊
    >>> ranking.select(share=0.3)
    ['weight']
    """

    names: tuple[str, ...]
    scores: np.ndarray
    method: str
    importance: str
    standard_errors: np.ndarray | None = None
    all_scores: dict[str, np.ndarray] = field(default_factory=dict)
    all_standard_errors: dict[str, np.ndarray] = field(default_factory=dict)
    per_target: np.ndarray | None = None
    target_names: tuple[str, ...] = ()
    per_class: np.ndarray | None = None
    class_names: tuple[str, ...] = ()
    target_counts: dict[str, int] = field(default_factory=dict)
    columns: list[dict[str, Any]] = field(default_factory=list)
    positions: tuple[int, ...] | None = None
    task: str = ""
    n_rows: int | None = None
    n_labeled: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    choice: dict[str, Any] = field(default_factory=dict)
    choice_path: list[dict[str, Any]] = field(default_factory=list)
    missing_share: np.ndarray | None = None
    timings: dict[str, float] = field(default_factory=dict)
    seed: int | None = None
    version: str = __version__
    warnings: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    origin: dict[str, str] = field(default_factory=dict)
    teacher: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        set_ = object.__setattr__  # frozen for users, but the checks below set fields
        for entry in ("names", "target_names", "class_names"):
            set_(self, entry, tuple(str(name) for name in getattr(self, entry)))
        size = len(self.names)
        if size == 0:
            raise ValueError("a ranking needs at least one feature.")
        if len(set(self.names)) < size:
            twice = [name for name, count in Counter(self.names).items() if count > 1]
            raise ValueError(f"feature names must be unique; more than once: {_listed(twice)}.")
        shapes: dict[str, tuple[int, ...]] = {
            "scores": (size,),
            "standard_errors": (size,),
            "per_target": (size, len(self.target_names)),
            "per_class": (size, len(self.class_names)),
            "missing_share": (size,),
        }
        for entry, shape in shapes.items():
            if entry == "scores" or getattr(self, entry) is not None:
                holes = entry not in ("scores", "missing_share")
                set_(self, entry, _array(getattr(self, entry), shape, entry, holes))
        all_scores = {self.importance: self.scores}
        all_scores |= {k: _array(v, (size,), f"all_scores[{k!r}]") for k, v in self.all_scores.items()}
        if not np.array_equal(all_scores[self.importance], self.scores):
            raise ValueError(f"all_scores[{self.importance!r}] differs from scores.")
        set_(self, "all_scores", all_scores)
        all_errors = {
            k: _array(v, (size,), f"all_standard_errors[{k!r}]", holes=True)
            for k, v in self.all_standard_errors.items()
        }
        if self.standard_errors is not None:
            all_errors = {self.importance: self.standard_errors} | all_errors
        if unknown := [name for name in all_errors if name not in all_scores]:
            raise ValueError(f"standard errors without scores: {_listed(unknown)}.")
        set_(self, "all_standard_errors", all_errors)
        plain_fields = ("settings", "choice", "choice_path", "timings", "notes", "origin", "teacher")
        for name in (*plain_fields, "target_counts", "columns", "warnings"):
            set_(self, name, plain(getattr(self, name)))
        if not isinstance(self.teacher, dict):
            raise ValueError("teacher must be a dictionary.")
        if not isinstance(self.columns, list) or not all(isinstance(part, dict) for part in self.columns):
            raise ValueError("columns must be a list of dictionaries.")
        if not isinstance(self.warnings, list) or not all(map(is_warning, self.warnings)):
            raise ValueError('warnings must be a list of dictionaries with a "kind" and a "text".')
        if self.positions is not None:
            set_(self, "positions", tuple(int(place) for place in self.positions))
            if len(set(self.positions)) < size or len(self.positions) != size or min(self.positions) < 0:
                raise ValueError(f"positions must be {size} different numbers from 0.")
        for name in ("n_rows", "n_labeled", "seed"):
            value = getattr(self, name)
            set_(self, name, None if value is None else int(value))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def order(self) -> np.ndarray:
        """Column positions, best feature first; ties by column order."""
        return np.argsort(-self.scores, kind="stable")

    @property
    def ranks(self) -> np.ndarray:
        """Rank of every feature, 1 = best; ties share the smallest rank."""
        return rank_numbers(self.scores)

    def top(self, n: int = 20) -> Top:
        """The best `n` features as a list of (name, score) that prints as a table."""
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise ValueError(f"n must be a whole number of at least 1, got {n!r}.")
        best = self.order[:n]
        pairs = [(self.names[i], float(self.scores[i])) for i in best]
        return Top(pairs, self._text_table(best), self._html_table(best))

    def select(
        self, n: int | None = None, *, share: float | None = None, threshold: float | None = None
    ) -> list[str]:
        """Names of the features to keep, best first; with no argument those with a score above 0.

        The shares of a consensus are hardly ever 0, so there no argument keeps those above the mean share.

        Parameters
        ----------
        n : int, optional
            Keep the best `n`.
        share : float, optional
            Keep this share of the features, at least one.
        threshold : float, optional
            Keep the features with a score above this one.
        """
        if sum(value is not None for value in (n, share, threshold)) > 1:
            raise ValueError("give only one of n, share and threshold.")
        if share is not None:
            if not 0 < share <= 1:
                raise ValueError(f"share must be above 0 and at most 1, got {share!r}.")
            n = max(1, round(share * len(self)))
        if n is not None:
            return [name for name, _ in self.top(n)]
        if threshold is None and self.method == "consensus":
            kept = above_mean(self.scores)
        else:
            kept = self.scores > (0.0 if threshold is None else float(threshold))
        return [self.names[i] for i in self.order if kept[i]]

    def to_columns(self) -> dict[str, list[Any]]:
        """The result as named columns, best feature first: what `to_frame` and csv show.

        "rank", "feature", "column" (position in the data, from 0), then every importance under its
        name and its standard error under name + "_se", the main importance first; then "target:NAME"
        per target variable, "class:NAME" per class and "missing_share"; and "warning", where there are any.
        """
        order = self.order
        columns: dict[str, list[Any]] = {
            "rank": self.ranks[order].tolist(),
            "feature": [self.names[i] for i in order],
            "column": order.tolist(),
        }
        for name, scores in self.all_scores.items():
            columns[name] = scores[order].tolist()
            if name in self.all_standard_errors:
                columns[f"{name}_se"] = self.all_standard_errors[name][order].tolist()
        if self.per_target is not None:
            for j, target in enumerate(self.target_names):
                columns[f"target:{target}"] = self.per_target[order, j].tolist()
        if self.per_class is not None:
            for j, name in enumerate(self.class_names):
                columns[f"class:{name}"] = self.per_class[order, j].tolist()
        if self.missing_share is not None:
            columns["missing_share"] = self.missing_share[order].tolist()
        if said := feature_words(self.warnings):
            columns["warning"] = [said.get(self.names[i], "") for i in order]
        return columns

    def to_frame(self, library: str = "pandas") -> Any:
        """The result as a data frame, best feature first (columns as in `to_columns`).

        Parameters
        ----------
        library : {"pandas", "polars"}

        Examples
        --------
        >>> ranking = Ranking(names=("a", "b"), scores=[0.1, 0.4], method="relief", importance="relief")
        >>> ranking.to_frame()
           rank feature  column  relief
        0     1       b       1     0.4
        1     2       a       0     0.1
        """
        return make_frame(self.to_columns(), library)

    def compare(self, other: Ranking) -> Agreement:
        """Agreement of the main importances of two rankings of the same features, matched by name.

        Examples
        --------
        >>> one = Ranking(names=("a", "b"), scores=[0.1, 0.4], method="relief", importance="relief")
        >>> two = Ranking(names=("b", "a"), scores=[9.0, 3.0], method="forest", importance="genie3")
        >>> one.compare(two).kendall
        1.0
        """
        if not isinstance(other, Ranking):
            raise TypeError(f"compare needs another Ranking, got {type(other).__name__}.")
        place = {name: i for i, name in enumerate(other.names)}
        only_self = [name for name in self.names if name not in place]
        only_other = sorted(place.keys() - set(self.names))
        if only_self or only_other:
            sides = [
                f"{len(names)} only in the {side} ({_listed(names)})"
                for side, names in (("first", only_self), ("second", only_other))
                if names
            ]
            raise ValueError(f"the rankings are of different features: {' and '.join(sides)}.")
        return agreement(self.scores, other.scores[[place[name] for name in self.names]])

    def plot(self, n: int = 20, *, kind: str = "bars", ax: Any = None) -> Any:
        """Draw the best `n` features with matplotlib and return the axes.

        Parameters
        ----------
        n : int
        kind : {"bars", "targets"}
            Bars with standard errors, or a heat-map of features by target variables or classes.
        ax : matplotlib axes, optional
        """
        from ..report import figures

        if kind not in ("bars", "targets"):
            raise ValueError(f'kind must be "bars" or "targets", got {kind!r}.')
        return (figures.bars if kind == "bars" else figures.targets)(self, n, ax)

    def summary(self) -> str:
        """One sentence: what was ranked, how, from what, and which features came first."""
        how = self.method
        detail = [self.importance] if self.importance != self.method else []
        detail += [f"{CHOICE_NAMES.get(k, k)} = {four_digits(v)}" for k, v in self.choice.items()]
        if detail:
            how += f" ({', '.join(detail)})"
        best = [name for name, _ in self.top(3)]
        sentence = f"{how} ranked {len(self)} feature{'' if len(self) == 1 else 's'}"
        if self.task:
            sentence += f" for {self._target_words()}"
        if self.n_rows is not None and self.n_labeled is not None:
            sentence += f" from {plural(self.n_labeled, 'labelled row')} of {self.n_rows}"
        verb = "comes" if len(best) == 1 else "come"
        sentence += f"; first {verb} {_listed([printable(name) for name in best])}."
        return sentence[0].upper() + sentence[1:]

    def _target_words(self) -> str:
        """The target by name, with its task and the counts of its classes or labels."""
        words = TASKS[self.task].words if self.task in TASKS else self.task
        if self.target_counts:
            words += f": {printable(list_counts(self.target_counts))}"
        if not 0 < len(self.target_names) <= 3:
            return words
        return f"{_listed([printable(name) for name in self.target_names])} ({words})"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON; `from_dict` takes it back without loss."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {name: plain(value) for name, value in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Ranking:
        """The ranking that `to_dict` described."""
        known = {entry.name for entry in fields(cls)}
        if unknown := sorted(values.keys() - known):
            raise ValueError(f"not part of a ranking: {_listed(unknown)}.")
        if missing := [k for k in ("names", "scores", "method", "importance") if k not in values]:
            raise ValueError(f"a ranking without {_listed(missing)}.")
        return cls(**values)

    def save(self, path: str | PathLike[str], *, safe_csv: bool = True) -> None:
        """Write the ranking; the format follows the extension.

        ``.json`` keeps everything, ``.csv`` the table of features, ``.fimp`` the scores in the layout
        of CLUS, ``.html`` is a report for people. The file appears whole or not at all.

        Parameters
        ----------
        path : path
        safe_csv : bool, default=True
            In csv, names that a spreadsheet would run as formulas (they begin with =, +, - or @) have a '
            before them; `load` takes it away again. False writes them as they are.
        """
        files.save(self, path, safe_csv=safe_csv)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Ranking:
        """Read a ranking from ``.json``, ``.csv`` or ``.fimp`` (also one written by CLUS)."""
        return files.load(path, cls.from_dict)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ranking) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        lines = [*warning_lines(self.warnings), self.summary(), "", self._text_table(self.order[:15])]
        if len(self) > 15:
            lines.append(f"   … and {len(self) - 15} more")
        if self.notes:
            lines += ["", *self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        more = f"<p>… and {len(self) - 20} more</p>" if len(self) > 20 else ""
        first = "".join(f"<p><b>{escape(line)}</b></p>" for line in warning_lines(self.warnings) if line)
        return f"{first}<p>{escape(visible(self.summary()))}</p>{self._html_table(self.order[:20])}{more}"

    def _text_table(self, rows: np.ndarray) -> str:
        head = ["rank", "feature", self.importance]
        columns = [
            self.ranks[rows].astype(str).tolist(),
            [clipped(printable(self.names[i])) for i in rows],
            aligned(self.scores[rows]),
        ]
        if self.standard_errors is not None:
            head.append("± s.e.")
            columns.append(aligned(self.standard_errors[rows]))
        columns.append([bar(share) for share in self._shares(rows)])
        return text_table([*head, ""], zip(*columns), right={0, 2, 3} if len(head) == 4 else {0, 2})

    def _html_table(self, rows: np.ndarray) -> str:
        ranks = self.ranks
        errors = self.standard_errors
        head = f"<tr><th>rank</th><th>feature</th><th>{escape(self.importance)}</th>"
        head += ("<th>± s.e.</th>" if errors is not None else "") + "<th></th></tr>"
        body = []
        for i, share in zip(rows, self._shares(rows)):
            error = "" if errors is None else f"<td>{four_digits(errors[i])}</td>"
            bar = f'<div style="background:#0072b2;height:.8em;width:{max(share, 0.0) * 12:.2f}em"></div>'
            body.append(
                f'<tr><td>{ranks[i]}</td><td style="text-align:left">{escape(visible(self.names[i]))}</td>'
                f'<td>{four_digits(self.scores[i])}</td>{error}<td style="text-align:left">{bar}</td></tr>'
            )
        return f"<table><thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"

    def _shares(self, rows: np.ndarray) -> np.ndarray:
        """Bar lengths as shares of the largest score; nothing is drawn for scores below 0."""
        largest = float(self.scores.max())
        return self.scores[rows] / largest if largest > 0 else np.zeros(len(rows))


def above_mean(shares: np.ndarray) -> np.ndarray:
    """Which shares are above 1 / D, beyond rounding.

    Examples
    --------
    >>> above_mean(np.array([0.5, 0.3, 0.2]))
    array([ True, False, False])
    """
    return shares * len(shares) > 1.0 + 1e-9


def plain(value: Any) -> Any:
    """`value` as something JSON can hold.

    NaN becomes None, a named tuple a dictionary, an object its type's name.

    Examples
    --------
    >>> plain({"w": np.float64(0.5), "k": (np.int64(3), float("nan"))})
    {'w': 0.5, 'k': [3, None]}
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return plain(value._asdict()) if hasattr(value, "_asdict") else [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return [plain(item) for item in sorted(value, key=str)]
    return f"<{type(value).__name__}>"


def _array(values: Any, shape: tuple[int, ...], what: str, holes: bool = False) -> np.ndarray:
    """A read-only float copy of the right shape; None and NaN only where `holes` are allowed."""
    array = np.array(values, dtype=float)
    if array.shape != shape:
        raise ValueError(f"{what} must have shape {shape}, got {array.shape}.")
    if np.isinf(array).any() or (not holes and np.isnan(array).any()):
        raise ValueError(f"{what} must be finite.")
    array.setflags(write=False)
    return array


def _listed(names: list[str], limit: int = 3) -> str:
    shown = ", ".join(names[:limit])
    return f"{shown}, ..." if len(names) > limit else shown
