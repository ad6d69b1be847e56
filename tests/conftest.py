"""Shared test set-up: the slow marker, the folder with real data, the command line."""

from __future__ import annotations

import io
import os
import signal
import sys
import time
import types
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from .optional import missing, pd

# How long an example takes says more about the machine, and what else it does, than about the code.
# The usual run tries the same examples every time, so that it fails for what was changed; the full one
# (CI_FULL=1) looks for new ones.
settings.register_profile("semirank", deadline=None, derandomize=os.environ.get("CI_FULL") != "1")
settings.load_profile("semirank")

# Tests interrupt processes that they start. Shells let what they run in the background ignore interrupts, and
# what is ignored here would be ignored there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--runslow", action="store_true", default=False, help="also run slow tests")


def pytest_collection_modifyitems(config, items):
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec is not None and (lacking := missing(list(callspec.params.values()))) is not None:
            item.add_marker(pytest.mark.skip(reason=f"needs {lacking.library}"))
        if item.name.endswith(".to_frame") and not pd:  # an example in a docstring shows a frame
            item.add_marker(pytest.mark.skip(reason="needs pandas"))
    if config.getoption("--runslow") or os.environ.get("CI_FULL") == "1":
        return
    skip = pytest.mark.skip(reason="slow; use --runslow or CI_FULL=1")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session", autouse=True)
def compiled_in_halves(request, tmp_path_factory):
    """Two processes of a parallel run compile half of the large kernels each, and find the rest in the cache.

    Left to themselves both compile the same ones at the same time, for a minute.
    """
    worker = getattr(request.config, "workerinput", {"workercount": 1})
    if worker["workercount"] != 2 or os.environ.get("NUMBA_DISABLE_JIT") == "1":
        return
    folder = tmp_path_factory.getbasetemp().parent  # that of the whole run
    mine, other = (0, 1) if worker["workerid"] == "gw0" else (1, 0)
    try:
        for ranker, kind in _HALVES[mine]:
            _compile(ranker, kind)
    finally:
        (folder / f"compiled{mine}").touch()
    deadline = time.monotonic() + 300
    while not (folder / f"compiled{other}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)


# A ranker and what it ranks: numbers, nominal features or sparse ones have kernels of their own.
_HALVES = (
    (("random_forest", "numbers"), ("random_forest", "sparse"), ("relief", "numbers")),
    (("extra_trees", "numbers"), ("extra_trees", "sparse"), ("random_forest", "nominal")),
)


def _compile(ranker: str, kind: str) -> None:
    from semirank import ForestRanker, ReliefRanker

    rng = np.random.default_rng(0)
    X = (rng.random((60, 40)) < 0.04).astype(float) if kind == "sparse" else rng.normal(size=(60, 3))
    if kind == "nominal":
        X[:, 0] = rng.integers(0, 4, size=60)
    y = np.where(np.arange(60) < 40, np.arange(60) % 3, np.nan)
    options = {"task": "regression", "categorical_features": [0] if kind == "nominal" else []}
    if ranker == "relief":
        ReliefRanker(**options).fit(X, y)
    else:
        ForestRanker(ensemble=ranker, supervision=0.5, n_estimators=1, **options).fit(X, y)


def shared(kind: str) -> Path | None:
    """The folder of real data ("data") or truth files ("oracles"), or None where it is absent."""
    named = os.environ.get("SEMIRANK_DATA")
    beside = Path(__file__).resolve().parents[2] / "shared" / kind
    folders = [Path(named) if kind == "data" else Path(named).parent / kind] if named else []
    return next((folder for folder in (*folders, beside) if folder.is_dir()), None)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    folder = shared("data")
    if folder is None or not (folder / "manifest.json").exists():
        pytest.skip("no folder of real data (SEMIRANK_DATA)")
    return folder


@pytest.fixture(scope="session")
def oracle_folder() -> Path:
    folder = shared("oracles")
    if folder is None:
        pytest.skip("no folder of truth files")
    return folder


@pytest.fixture
def call(monkeypatch, capsys):
    """Run `semirank WORDS` and get (exit code, standard output, standard error)."""
    from semirank.cli import main as cli

    def run(*words, pipe=None):
        monkeypatch.setattr(sys, "argv", ["semirank", *map(str, words)])
        if pipe is not None:
            monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(pipe)))
        with pytest.raises(SystemExit) as stop:
            cli.main()
        return stop.value.code, *capsys.readouterr()

    return run
