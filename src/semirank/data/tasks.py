"""The five tasks: everything that is said or spelled once per task."""

from __future__ import annotations

from typing import NamedTuple

# What a prototype holds: shares of classes, means of numbers or shares of labels.
CLASSES, NUMBERS, LABELS = 0, 1, 2


class Task(NamedTuple):
    """One kind of target.

    Attributes
    ----------
    name : str
        As `task=` and `--task` spell it.
    words : str
        As people read it.
    kind : int
        CLASSES, NUMBERS or LABELS.
    noun : str
        What one target variable is called.
    measure : str
        How predictions are judged (Def. 2.3).
    greater_is_better : bool
        Which way the measure points.
    abbreviation : str
        As manifests of data folders may spell it.
    heading : str
        The paper's heading above its data sets, the group of a data set in the study.
    """

    name: str
    words: str
    kind: int
    noun: str
    measure: str
    greater_is_better: bool
    abbreviation: str
    heading: str

    @property
    def is_label_set(self) -> bool:
        """Whether a row has a set of labels."""
        return self.kind == LABELS

    @property
    def sign(self) -> float:
        """The measure times this is larger for better predictions."""
        return 1.0 if self.greater_is_better else -1.0


_ROWS = (
    Task("classification", "classification", CLASSES, "class", "macro F1", True, "stc", "classification"),
    Task("regression", "regression", NUMBERS, "target", "RRMSE", False, "str", "STR"),
    Task("multi_target", "multi-target regression", NUMBERS, "target", "RRMSE", False, "mtr", "MTR"),
    Task("multi_label", "multi-label classification", LABELS, "label", "pooled AUPRC", True, "mlc", "MLC"),
    Task(
        "hierarchical",
        "hierarchical multi-label classification",
        LABELS,
        "label",
        "pooled AUPRC",
        True,
        "hmlc",
        "HMLC",
    ),
)
TASKS = {row.name: row for row in _ROWS}
# In the paper's order: classes, labels, numbers.
HEADINGS = {row.heading: row.name for kind in (CLASSES, LABELS, NUMBERS) for row in _ROWS if row.kind == kind}
