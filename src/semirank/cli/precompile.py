"""The notice that kernels are being compiled, and the second process that compiles the later ones.

The compiler runs in one thread. While the command line grows its first trees, another process compiles what
comes later, such as the scores and the judge of a forest, or extra trees, Relief and the graph of a
consensus, into numba's cache on the disk, where the first finds them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module

from ..rankers.methods import DEFAULT, METHODS
from .terminal import say

_running: list[subprocess.Popen[bytes]] = []


def say_if_compiling(method: str) -> None:
    """The first ranking on a machine waits for the compiler: say so."""
    from ..runtime import jit

    row = METHODS[DEFAULT if method == "auto" else method]
    needed = _import(row.kernels)
    if not all(map(jit.compiled, needed)):
        say("compiling kernels, once per machine ...")
        if row.name in LATER:
            start_precompiling(row.name)


def state_of_kernels() -> tuple[int, int]:
    """How many modules of kernels are compiled, and how many there are."""
    from ..runtime import jit

    modules = _import(sorted({module for row in METHODS.values() for module in row.kernels}))
    return sum(map(jit.compiled, modules)), len(modules)


def _import(names: Iterable[str]) -> list[str]:
    return [import_module(f"semirank.{name}").__name__ for name in names]


def start_precompiling(method: str) -> None:
    """Compile the later kernels of a method in another process, if there is a second core."""
    if (os.cpu_count() or 1) < 2:
        return
    code = f"from semirank.cli.precompile import LATER; LATER[{method!r}]()"
    command = [sys.executable, "-c", code]
    nothing = subprocess.DEVNULL
    with suppress(OSError):  # a convenience: without it the same kernels are compiled when they are needed
        _running.append(subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing))


def stop_precompiling() -> None:
    """End the other process; what it finished stays in the cache."""
    while _running:
        process = _running.pop()
        process.kill()
        process.wait()


def _use_scores() -> None:
    """Call the kernels of leaves, scores and judge on a few rows, with the types that a fit gives them."""
    import numpy as np

    from ..data.encode_features import encode_features
    from ..data.encode_target import encode_target
    from ..data.tasks import TASKS
    from ..judging.knn_judge import judge_rankings
    from ..trees.columns import build_prototype, build_space, feature_columns, target_columns
    from ..trees.ensemble import measure_tree
    from ..trees.grow import leaves_only
    from ..trees.scores import OUT_OF_BAG_SCORES, TARGET_SCORES

    x = np.random.default_rng(0).normal(size=(24, 2))
    table, target = encode_features(x), encode_target(np.arange(24) % 2, task="classification")
    weight = np.arange(24) % 3.0  # some rows are out of bag
    kind, seed = TASKS["classification"].kind, np.uint64(1)
    prototype = build_prototype(target)
    space = build_space(feature_columns(table), target_columns(target), 0.5)
    tree, wanted = leaves_only(1), OUT_OF_BAG_SCORES
    for per_target in TARGET_SCORES:
        measure_tree(
            tree, table.values, target.labeled, weight, space, prototype, kind, wanted, per_target, seed
        )
    judge_rankings(np.ones(2), table, target, table, target, 3)


def _use_parts() -> None:
    """Rank a few rows by the parts of a consensus that come after the random forest."""
    import numpy as np

    from ..rankers.consensus import ConsensusRanker
    from ..teacher.teacher import Teacher

    x = np.random.default_rng(0).normal(size=(60, 3))
    y = np.where(np.arange(60) < 30, x[:, 0] > 0, np.nan)
    teacher = Teacher(members=("graph",))
    ranker = ConsensusRanker(rankers=("extra_trees", "relief"), teacher=teacher, task="classification")
    ranker.fit(x, y)


# Compiles what a method needs after its first trees.
LATER = {"forest": _use_scores, "consensus": _use_parts}
