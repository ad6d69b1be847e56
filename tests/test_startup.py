"""What a fresh interpreter loads: next to nothing, until something is used."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

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
        "from semirank import cli\n"
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
    assert "semirank.cli" in modules
    assert heavy(modules) == set()


def test_names_load_what_they_need_and_no_more():
    modules = modules_after("import semirank; semirank.ForestRanker; semirank.rank")
    assert {"numba", "sklearn", "semirank.forest.ranker"} <= modules
    assert not {"polars", "matplotlib", "semirank.relief", "semirank.report"} & modules


def test_nothing_is_compiled_at_import():
    code = (
        "import semirank.forest.ranker\n"
        "from semirank.forest import predict, scores, tree\n"
        "for module in (predict, scores, tree):\n"
        "    for name, item in vars(module).items():\n"
        "        assert not getattr(item, 'signatures', []), name\n"
    )
    assert "semirank.forest.tree" in modules_after(code)
