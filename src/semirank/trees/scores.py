"""The names of the scores that a forest gives (Def. 1.4), listed here alone. Light to import.

"genie3" and "symbolic" come from the nodes of a tree (`node_scores`), "rforest" from permuting features of
out-of-bag rows (`permutation_scores`).
"""

from __future__ import annotations

IMPORTANCES = ("genie3", "symbolic", "rforest")
