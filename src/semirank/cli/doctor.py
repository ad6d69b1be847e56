"""`semirank doctor`: what is installed, what is compiled, and whether it works."""

from __future__ import annotations

import os
import sys
import time

import typer

from .. import __version__
from . import terminal
from .precompile import say_if_compiling, state_of_kernels

NEEDED = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "threadpoolctl", "typer", "rich")
OPTIONAL = ("pandas", "polars", "pyarrow", "matplotlib", "anndata", "dask")


def doctor() -> None:
    """Check the installation and run a self-test.

    Versions, threads, the state of the compiled kernels, and a small ranking by every method.
    """
    import platform

    print(f"semirank {__version__}, Python {platform.python_version()}, {platform.platform()}\n")
    rows = [[name, _version(name) or "MISSING"] for name in NEEDED]
    rows += [[name, _version(name) or "not installed (optional)"] for name in OPTIONAL]
    terminal.show_table(["package", "version"], rows)
    print()
    ready, total = state_of_kernels()
    place = os.environ.get("NUMBA_CACHE_DIR", "beside the package")
    rows = [
        ["cores", f"{_cores()} usable of {os.cpu_count()}"],
        ["BLAS", _blas()],
        ["kernel cache", f"{place}; {ready} of {total} kernel files compiled"],
    ]
    terminal.show_table(["machine", ""], rows)
    print()
    if not _self_test():
        raise typer.Exit(1)


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _blas() -> str:
    import numpy  # noqa: F401  (loads the library that is asked about)
    from threadpoolctl import threadpool_info

    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return (
        ", ".join(f"{pool['internal_api']}, {pool['num_threads']} threads" for pool in pools) or "none found"
    )


def _self_test() -> bool:
    """Every method must put the two relevant of ten features first, with 60 of 400 rows labelled."""
    import numpy as np

    from .. import rank
    from ..rankers.methods import METHODS

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    y = X[:, 3] + X[:, 7]
    y[60:] = np.nan
    rows, good = [], True
    for method in METHODS:
        say_if_compiling(method)
        start = time.perf_counter()
        ranking = rank(X, y, method=method, task="regression", random_state=0)
        seconds = time.perf_counter() - start
        right = set(ranking.select(2)) == {ranking.names[3], ranking.names[7]}
        good &= right
        result = "ok" if right else "WRONG: the relevant features do not come first"
        rows.append([method, result, f"{seconds:.2f} s"])
    terminal.show_table(["self-test", "result", "time"], rows)
    if not good:
        print("error: the self-test failed; please report the lines above.", file=sys.stderr)
    return good
