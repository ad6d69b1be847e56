"""The tests on every Python and with every set of libraries that is promised: `make test-all`.

Each environment is a folder .venv-NAME beside the source, made once. A Python that is not on this machine is
left out, and said so. Only the standard library is needed here.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TOOLS = ["pytest", "pytest-xdist", "hypothesis"]
# What is not there in "bare" is skipped by its tests or, where a whole file is about it, left out here.
NEEDS_FRAMES = [
    "test_anndata.py", "test_data_frames.py", "test_ecosystem.py", "test_numbers.py", "test_docs.py",
    "test_forest_ranker.py", "test_study_dask.py", "test_study_tables.py", "test_study_run.py",
]  # fmt: skip


class Environment(NamedTuple):
    """A Python, what is installed into it, and files of tests that make no sense there."""

    python: str
    packages: list[str]
    left_out: list[str]


def environments() -> dict[str, Environment]:
    """By name; the oldest libraries are those that pyproject.toml names, with the tools of their time."""
    newest = ["-e", ".[frames,plot,study,docs]", "selenium", *TOOLS]
    oldest = ["-e", ".[frames,plot,study]", *TOOLS, "-c", "tests/oldest.txt"]
    return {
        "3.11": Environment("3.11", newest, []),
        "3.12": Environment("3.12", newest, []),
        "3.13": Environment("3.13", newest, []),
        "oldest": Environment("3.11", oldest, ["test_docs.py"]),
        "bare": Environment("3.11", ["-e", ".", *TOOLS], NEEDS_FRAMES),
    }


def find_python(version: str) -> str | None:
    """An interpreter of this version that starts: on the path, or among those of pyenv."""
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}*/bin/python"))
    for found in (shutil.which(f"python{version}"), sys.executable, *map(str, pyenv)):
        if found is None:
            continue
        told = subprocess.run([found, "--version"], capture_output=True, text=True)
        if told.returncode == 0 and re.match(rf"Python {re.escape(version)}\.\d", told.stdout):
            return found
    return None


def test(name: str, environment: Environment, options: list[str]) -> str:
    """What to say of this environment."""
    python = find_python(environment.python)
    if python is None:
        return f"left out: no Python {environment.python} here"
    folder = ROOT / f".venv-{name}"
    inside = str(folder / "bin" / "python")
    if not (folder / "bin" / "pytest").exists():
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        subprocess.run(
            [inside, "-m", "pip", "install", "--quiet", *environment.packages], cwd=ROOT, check=True
        )
    ignored = [f"--ignore=tests/{file}" for file in environment.left_out]
    command = [inside, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", *ignored, *options]
    return "passed" if subprocess.run(command, cwd=ROOT).returncode == 0 else "FAILED"


def main() -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tests.matrix", description=about)
    parser.add_argument("names", nargs="*", default=list(environments()), help=", ".join(environments()))
    given, options = parser.parse_known_args()
    told = {}
    for name in given.names:
        print(f"--- {name}", flush=True)
        told[name] = test(name, environments()[name], options)
    for name, what in told.items():
        print(f"{name}: {what}")
    return int("FAILED" in told.values())


if __name__ == "__main__":
    sys.exit(main())
