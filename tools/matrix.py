"""The tests on every Python and with every set of libraries that is promised: `make test-all`.

Each environment is a folder .venv-NAME beside the source, made once. A Python that is not on this machine is
left out, and said so. All tests run everywhere; those that need what is not installed skip themselves. Only
the standard library is needed here.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
TOOLS = ["pytest", "pytest-xdist", "hypothesis"]


class Environment(NamedTuple):
    """A Python, and what is installed into it."""

    python: str
    packages: list[str]


class Result(NamedTuple):
    """What came of an environment; `remark` says why there are no figures."""

    passed: int = 0
    skipped: int = 0
    failed: int = 0
    minutes: float = 0.0
    remark: str = ""


def environments() -> dict[str, Environment]:
    """By name; the oldest libraries are those that pyproject.toml names, with the tools of their time."""
    newest = ["-e", ".[dev]"]
    oldest = ["-e", ".[frames,plot,study,anndata]", *TOOLS, "-c", "tools/oldest.txt"]
    return {
        "3.11": Environment("3.11", newest),
        "3.12": Environment("3.12", newest),
        "3.13": Environment("3.13", newest),
        "oldest": Environment("3.11", oldest),
        "bare": Environment("3.11", ["-e", ".", *TOOLS]),
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


def install(python: str, packages: list[str], folder: Path) -> str:
    """The interpreter of the environment, which is made unless it is there and newer than its recipe."""
    inside, done = str(folder / "bin" / "python"), folder / ".installed"
    recipe = max((ROOT / file).stat().st_mtime for file in ("pyproject.toml", "tools/oldest.txt"))
    if not done.exists() or done.stat().st_mtime < recipe:
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        subprocess.run([inside, "-m", "pip", "install", "--quiet", *packages], cwd=ROOT, check=True)
        done.touch()
    return inside


def read(report: Path, code: int, minutes: float) -> Result:
    """The figures of pytest's report; a run that ended badly without any failed all the same."""
    try:
        suite = ElementTree.parse(report).getroot().find("testsuite")
    except (OSError, ElementTree.ParseError):
        suite = None
    if suite is None:
        return Result(failed=1, minutes=minutes, remark=f"pytest ended with {code} and no report")
    tests, skipped, *bad = (int(suite.get(name, 0)) for name in ("tests", "skipped", "failures", "errors"))
    failed = sum(bad) or int(code != 0)
    remark = f"pytest ended with {code}" if failed and not any(bad) else ""
    return Result(tests - sum(bad) - skipped, skipped, failed, minutes, remark)


def test(name: str, environment: Environment, options: list[str]) -> Result:
    """Make the environment if need be, and run the tests in it."""
    python = find_python(environment.python)
    if python is None:
        return Result(remark=f"left out: no Python {environment.python} here")
    try:
        inside = install(python, environment.packages, ROOT / f".venv-{name}")
    except subprocess.CalledProcessError:
        return Result(failed=1, remark="could not be installed")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [inside, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={report}", *options]
        start = time.monotonic()
        code = subprocess.run(command, cwd=ROOT).returncode
        return read(report, code, (time.monotonic() - start) / 60)


def table(results: dict[str, Result]) -> str:
    lines = [f"{'environment':<12}{'passed':>8}{'skipped':>9}{'failed':>8}{'minutes':>9}"]
    for name, r in results.items():
        figures = f"{r.passed:>8}{r.skipped:>9}{r.failed:>8}{r.minutes:>9.1f}"
        lines.append(f"{name:<12}{figures}  {r.remark}".rstrip())
    return "\n".join(lines)


def main() -> int:
    about = (__doc__ or "").partition("\n")[0]
    known = environments()
    parser = argparse.ArgumentParser(
        prog="python -m tools.matrix", description=about, epilog="Other options are those of pytest."
    )
    parser.add_argument("names", nargs="*", help=f"of {', '.join(known)}; all unless some are named")
    parser.add_argument("-n", default="2", metavar="N", help="processes that share the tests (2)")
    given, options = parser.parse_known_args()
    if wrong := [name for name in given.names if name not in known]:
        parser.error(f"no environment {', '.join(wrong)}; there are {', '.join(known)}")
    results = {}
    for name in given.names or known:
        print(f"--- {name}", flush=True)
        results[name] = test(name, known[name], ["-n", given.n, "--dist", "worksteal", *options])
    print(table(results))
    return int(any(result.failed for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
