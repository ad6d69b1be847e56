"""What a fresh interpreter loads: next to nothing, until something is used."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys

import pytest

from semirank.cli import precompile

HEAVY = ("numba", "sklearn", "scipy", "pandas", "polars", "matplotlib", "joblib")


def modules_after(code: str) -> set[str]:
    """The modules that a new process has loaded after running `code`."""
    tail = "\nimport json, sys\nprint()\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code + tail], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def heavy(modules: set[str]) -> set[str]:
    return {name for name in HEAVY if name in modules}


def help_of(*words: str) -> str:
    return (
        f"import sys; sys.argv = {['semirank', *words]!r}\n"
        "from semirank.cli import main as cli\n"
        "try:\n    cli.main()\nexcept SystemExit as stop:\n    assert stop.code == 0, stop.code\n"
    )


@pytest.mark.parametrize(
    "code",
    [
        "import semirank",
        "import semirank; semirank.__version__; dir(semirank); semirank.__all__",
        "from semirank import Table, Hierarchy",
    ],
)
def test_import_loads_nothing_heavy(code):
    modules = modules_after(code)
    assert "semirank" in modules
    assert heavy(modules) == set()


@pytest.mark.parametrize("words", [("--help",), ("rank", "--help"), ("--version",)])
def test_help_loads_nothing_heavy(words):
    modules = modules_after(help_of(*words))
    assert "semirank.cli.main" in modules
    assert heavy(modules) == set()


def test_names_load_what_they_need_and_no_more():
    modules = modules_after("import semirank; semirank.ForestRanker; semirank.rank")
    assert {"numba", "sklearn", "semirank.rankers.forest"} <= modules
    assert not {"polars", "matplotlib", "semirank.rankers.relief", "semirank.report"} & modules


def test_nothing_is_compiled_at_import():
    code = (
        "import semirank.rankers.forest\n"
        "from semirank.trees import grow, node_scores, permutation_scores, predict\n"
        "for module in (grow, node_scores, permutation_scores, predict):\n"
        "    for name, item in vars(module).items():\n"
        "        assert not getattr(item, 'signatures', []), name\n"
    )
    assert "semirank.trees.grow" in modules_after(code)


LATER = """
import numpy as np
from numba.core.dispatcher import Dispatcher
from semirank import ForestRanker
from semirank.cli import precompile
from semirank.judging import vote
from semirank.neighbors import kernels
from semirank.trees import node_scores, permutation_scores, predict

def compiled():
    found = {}
    for module in (node_scores, permutation_scores, predict, kernels, vote):
        for name, kernel in vars(module).items():
            if isinstance(kernel, Dispatcher) and kernel.signatures:
                found[name] = list(kernel.signatures)
    return found

precompile.LATER["forest"]()
before = compiled()
rng = np.random.default_rng(0)
x, y = rng.normal(size=(60, 3)), rng.integers(2, size=60).astype(float)
y[30:] = np.nan
ForestRanker(importance="rforest", supervision="judge", task="classification", random_state=0).fit(x, y)
assert compiled() == before, (before, compiled())
print(len(before))
"""


def test_what_is_precompiled_is_what_a_forest_needs():
    done = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 5


def test_nothing_is_precompiled_on_one_core(monkeypatch):
    monkeypatch.setattr(precompile.os, "cpu_count", lambda: 1)
    monkeypatch.setattr(precompile, "_running", [])
    precompile.start_precompiling("forest")
    assert precompile._running == []


def test_precompiling_leaves_no_process_behind(monkeypatch):
    monkeypatch.setattr(precompile.os, "cpu_count", lambda: 2)
    precompile.stop_precompiling()  # what commands before this test may have started
    precompile.start_precompiling("forest")
    (process,) = precompile._running
    assert process.poll() is None
    precompile.stop_precompiling()
    assert process.poll() is not None
    assert not precompile._running


@pytest.mark.parametrize(
    ("library", "room", "name", "given", "words"),
    [
        ("pyarrow.parquet", "data.dataset", "load", ("f.parquet", "y"), "pip install pyarrow"),
        ("pyarrow", "study.transfer", "_pyarrow", (), "Parquet files need pyarrow"),
        ("matplotlib.figure", "report.figures", "figure_class", (), "semirank[plot]"),
        ("matplotlib.pyplot", "report.figures", "_axes", (1.0, 1.0), "semirank[plot]"),
        ("distributed", "study.dask_workers", "DaskWorkers", (None, "local", 1), "semirank[study]"),
    ],
)
def test_what_needs_an_absent_library_says_so(library, room, name, given, words, tmp_path, monkeypatch):
    function = getattr(importlib.import_module(f"semirank.{room}"), name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, library, None)  # its import fails
    with pytest.raises(ImportError, match=re.escape(words)):
        function(*given)
