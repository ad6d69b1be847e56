"""Compiling on two cores: what a forest needs after its trees is compiled by a second process.

The compiler runs in one thread. While the command line grows its first trees, another process compiles the
kernels for the leaves, the scores and the judge into numba's cache on the disk, where the first finds them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

_running: list[subprocess.Popen[bytes]] = []


def start() -> None:
    """Compile the later kernels aside, if there is a second core."""
    if (os.cpu_count() or 1) < 2:
        return
    command = [sys.executable, "-c", "from semirank.cli.precompile import compile_later; compile_later()"]
    nothing = subprocess.DEVNULL
    with suppress(OSError):  # a convenience: without it the same kernels are compiled when they are needed
        _running.append(subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing))


def stop() -> None:
    """End the other process; what it finished stays in the cache."""
    while _running:
        process = _running.pop()
        process.kill()
        process.wait()


def compile_later() -> None:
    """Call the kernels of leaves, scores and judge on a few rows, with the types that a fit gives them."""
    import numpy as np

    from ..data.encode_features import encode_features
    from ..data.target import encode_target
    from ..data.tasks import TASKS
    from ..judging.knn_judge import knn_score
    from ..trees.columns import build_prototype
    from ..trees.grow import leaves_only
    from ..trees.predict import apply_tree, node_sums, per_target_gain, prototypes
    from ..trees.scores import node_scores, permutation_damage

    x = np.random.default_rng(0).normal(size=(24, 2))
    table, target = encode_features(x), encode_target(np.arange(24) % 2, task="classification")
    rows, weight = np.arange(24), np.ones(24)
    prototype = build_prototype(target)
    tree = leaves_only(1)
    known, total, square = node_sums(tree, apply_tree(tree, table.values, rows), rows, weight, prototype)
    means = prototypes(tree, known, total, prototype.mean)
    per_target_gain(tree, known, total, square, prototype, False, np.zeros((2, 1)))
    seed = np.uint64(1)
    permutation_damage(tree, table.values, rows, means, prototype, TASKS["classification"].kind, seed)
    node_scores(tree, 2)
    knn_score(np.ones(2), table, target, table, target, 3)
