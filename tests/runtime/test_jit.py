"""Compiled kernels on disk belong to the text they were compiled from, wherever a part of it stands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import semirank
from semirank.runtime import jit

CONSTANTS = "STEP = 1.0\n"
INNER = """
from ..runtime.jit import inner
from .probe_constants import STEP

@inner
def step(x):
    return x + STEP
"""
ENTRY = """
from ..runtime.jit import kernel
from .probe_inner import (
    step,
)

@kernel
def walk(x):
    return step(step(x))
"""
RUN = """
import semirank.neighbors.probe_entry as entry
from semirank.runtime import jit
ready = jit.compiled(entry.__name__)
print(entry.walk(0.0), ready, sum(entry.walk.stats.cache_hits.values()))
"""


@pytest.fixture
def probe(tmp_path):
    """A copy of the package with a kernel that calls another file's, and a way to run it in a new process."""
    copy = tmp_path / "semirank"
    shutil.copytree(Path(semirank.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    room = copy / "neighbors"
    for name, text in (("constants", CONSTANTS), ("inner", INNER), ("entry", ENTRY)):
        (room / f"probe_{name}.py").write_text(text)

    def run() -> tuple[float, bool, int]:
        environment = os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        environment.pop("NUMBA_DISABLE_JIT", None)
        done = subprocess.run(
            [sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True
        )
        value, ready, hits = done.stdout.split()
        return float(value), ready == "True", int(hits)

    return room, run


def test_an_edit_in_any_source_is_noticed(probe):
    room, run = probe
    assert run() == (2.0, False, 0)
    assert run() == (2.0, True, 1)
    inner = room / "probe_inner.py"
    dates = inner.stat()
    inner.write_text(INNER.replace("x + STEP", "x - STEP"))  # the same size and, with this, the same date
    os.utime(inner, ns=(dates.st_atime_ns, dates.st_mtime_ns))
    assert run() == (-2.0, False, 0)
    (room / "probe_constants.py").write_text("STEP = 5.0\n")
    assert run() == (-10.0, False, 0)
    assert run() == (-10.0, True, 1)
    (room / "layouts.py").write_text("# imported by neither\n")
    assert run() == (-10.0, True, 1)


def test_sources_follow_kernels_and_stop_behind_others():
    import semirank.trees.grow  # noqa: F401

    names = {path.stem for path in jit.sources("semirank.trees.grow")}
    assert {"grow", "random", "jit"} <= names
    assert "encode_features" not in names  # what reads a user's data has no part in a kernel


def test_kernels_register_where_they_stand():
    for name in ("neighbors.kernels", "trees.random", "trees.ensemble"):
        import_module(f"semirank.{name}")
    assert {"semirank.neighbors.kernels", "semirank.trees.random"} <= set(jit._registered)
    assert not jit.compiled("semirank.trees.random")  # inner functions alone: nothing on disk
    assert "semirank.trees.ensemble" not in jit._registered
