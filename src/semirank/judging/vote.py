"""The kernel of the judge's vote, apart from `knn_judge` so that the compiler is loaded only to vote."""

from __future__ import annotations

import numpy as np

from ..runtime.jit import kernel


@kernel
def vote(rows, ks, columns, empty):
    """Means over the nearest rows, for several numbers of them.

    rows : (query, neighbour), nearest first; ks : numbers of neighbours; columns : (row, column), NaN where
    unknown; empty : (column,) the answer where no neighbour knows it. Returns an array (k, query, column).
    After neighbour c, `total` and `known` hold the sums over neighbours 0 ... c.
    """
    n_query, n_found = rows.shape
    n_columns = columns.shape[1]
    out = np.empty((len(ks), n_query, n_columns), np.float64)
    total = np.empty(n_columns, np.float64)
    known = np.empty(n_columns, np.int64)
    for a in range(n_query):
        total[:] = 0.0
        known[:] = 0
        for c in range(n_found):
            line = columns[rows[a, c]]
            for j in range(n_columns):
                if not np.isnan(line[j]):
                    total[j] += line[j]
                    known[j] += 1
            for i in range(len(ks)):
                if c + 1 == min(ks[i], n_found):
                    for j in range(n_columns):
                        out[i, a, j] = total[j] / known[j] if known[j] > 0 else empty[j]
    return out
