"""The names of the scores that a forest gives (Def. 1.4), listed here alone. Light to import.

"genie3" and "symbolic" come from the nodes of a tree (`node_scores`), "genie3_oob" from the out-of-bag rows
that reach them (`out_of_bag_gain`), "rforest" from permuting features of out-of-bag rows
(`permutation_scores`).
"""

from __future__ import annotations

NODE_SCORES = ("genie3", "symbolic")
OUT_OF_BAG_SCORES = ("genie3_oob", "rforest")  # there with a bootstrap only
IMPORTANCES = NODE_SCORES + OUT_OF_BAG_SCORES
