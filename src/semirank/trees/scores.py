"""The names of the scores that a forest gives (Def. 1.4), listed here alone. Light to import.

"genie3" and "symbolic" come from the nodes of a tree (`node_scores`), "genie3_oob" from the out-of-bag rows
that reach them (`out_of_bag_gain`), "rforest" from permuting features of out-of-bag rows
(`permutation_scores`).
"""

from __future__ import annotations

from collections.abc import Iterable

NODE_SCORES = ("genie3", "symbolic")
OUT_OF_BAG_SCORES = ("genie3_oob", "rforest")  # there with a bootstrap only
TARGET_SCORES = ("genie3", "genie3_oob")  # one of them is there for each target, too
IMPORTANCES = NODE_SCORES + OUT_OF_BAG_SCORES


def target_score(asked: Iterable[str]) -> str:
    """The score that is there for each target: the first of the two that was asked for.

    Examples
    --------
    >>> target_score(("rforest", "genie3_oob")), target_score(("rforest",))
    ('genie3_oob', 'genie3')
    """
    return next((name for name in asked if name in TARGET_SCORES), TARGET_SCORES[0])
