"""One row of the study's long table: one ranking, judged one way (Def. 2.5)."""

from __future__ import annotations

from typing import NamedTuple


class Record(NamedTuple):
    """One judged value.

    A ranking is known by its data set, fold, number of labels, family, side and score; each is judged
    with both pools and every k.

    Examples
    --------
    >>> Record._fields[:4]
    ('dataset', 'task', 'group', 'fold')
    """

    dataset: str
    task: str
    # The paper's heading, as `semirank.data.tasks` spells it.
    group: str
    # 0 for a predefined split.
    fold: int
    # The nominal number of labels, and how many the training part of this fold really holds.
    n_labeled: int
    labels_used: int
    # The weight of the fold.
    n_test: int
    # "random_forest", "extra_trees", "bagging", "relief", "laplace", or "equal": every weight 1.
    family: str
    # "ssl" | "sl"
    side: str
    # "genie3", "symbolic", "rforest", "relief", "laplace", "equal"
    score: str
    # "labelled" | "all": the judge's pool (Def. 2.2)
    pool: str
    k: int
    # As `semirank.data.tasks` names it.
    measure: str
    greater_is_better: bool
    value: float
    # Of the processor, for the ranking with its setting fixed; the scores of one forest share it.
    seconds: float
    # Of choosing that setting.
    tuning_seconds: float
    # JSON: {"w": 0.5} | {"k": 15, "w0": 0.0, "w1": 1.0} | {}
    setting: str
