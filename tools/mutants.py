"""Mutation testing: does a test notice when the code is changed? `make mutants`, or python -m tools.mutants.

Each mutant is a copy of the package with one operator or constant changed, and the tests named beside the
file run on it; where the file has kernels the compiler is off, so that a change costs no compilation. One
that passes them survives, and shows an assertion that is missing, or a change that changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

SECONDS = 300  # for the tests of one mutant
EXAMPLES = 15  # of each property; enough where a change shows in most examples
ROOT = Path(__file__).parents[1]
TESTS = {
    "data/decode_target.py": ["tests/data/test_decode_target.py"],
    "judging/measures.py": ["tests/judging/test_measures.py"],
    "rankers/relief.py": ["tests/rankers/test_relief.py"],
    "rankers/relief_sums.py": ["tests/rankers/test_relief.py"],
    "rankers/relief_tuning.py": ["tests/rankers/test_relief.py"],
    "trees/permutation_scores.py": ["tests/trees/test_scores.py"],
}
WITHOUT_COMPILER = {"trees/permutation_scores.py"}
SELECT = {"trees/permutation_scores.py": "score or permut or damage"}
OTHER = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Other forms of one node, with words for the list of survivors."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OTHER:
        other = copy.deepcopy(node)
        other.op = OTHER[type(node.op)]()
        yield f"{type(node.op).__name__} -> {type(other.op).__name__}", other
    elif isinstance(node, ast.AugAssign) and type(node.op) in OTHER:
        other = copy.deepcopy(node)
        other.op = OTHER[type(node.op)]()
        yield f"{type(node.op).__name__}= -> {type(other.op).__name__}=", other
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER:
        other = copy.deepcopy(node)
        other.ops[0] = OTHER[type(node.ops[0])]()
        yield f"{type(node.ops[0]).__name__} -> {type(other.ops[0]).__name__}", other
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield f"{type(node.op).__name__} dropped", node.operand
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        if value == node.value:  # a float so large that one more is the same
            value *= 2
        yield f"{node.value} -> {value}", ast.Constant(value)


class Replace(ast.NodeTransformer):
    """Puts a node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.copy_location(self.new, node) if node is self.old else self.generic_visit(node)


def mutants(source: str) -> Iterator[tuple[int, str, str]]:
    """The line, what was changed, and the text of every mutant; annotations stay as they are."""
    tree = ast.parse(source)
    notes: set[int] = set()
    for node in ast.walk(tree):
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if part is not None:
                notes |= {id(inner) for inner in ast.walk(part)}
    for node in ast.walk(tree):
        if id(node) in notes:
            continue
        for words, other in changes(node):
            changed = ast.parse(source)
            twin = next(b for a, b in zip(ast.walk(tree), ast.walk(changed)) if a is node)
            text = ast.unparse(ast.fix_missing_locations(Replace(twin, other).visit(changed)))
            yield node.lineno, words, text


class LikelyFirst:
    """For pytest: tests that noticed earlier mutants come first, the latest of them before all others."""

    def __init__(self, noticed: list[str], found: Path) -> None:
        self.noticed, self.found = noticed, found

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        places = {test: place for place, test in enumerate(self.noticed)}
        items.sort(key=lambda item: places.get(item.nodeid, len(places)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.found.write_text(report.nodeid)


def survives(package: Path, name: str, text: str | None, noticed: list[str]) -> bool:
    """Whether the tests pass on a copy of the package with this text in the file's place.

    They run in a fork of this process, which has the libraries loaded but not the package. A test that fails
    moves to the front of `noticed`.
    """
    file = package / "semirank" / name
    order = LikelyFirst(noticed, package / "noticed")
    kept = file.read_text()
    if text is not None:
        file.write_text(text)
    child = os.fork()
    if child == 0:
        try:
            run_tests(package, name, os.devnull if text is not None else package / "output", order)
        finally:  # whatever happens, this copy of the process goes no further
            os._exit(1)
    _, status = os.waitpid(child, 0)
    file.write_text(kept)
    if order.found.exists():
        test = order.found.read_text()
        order.found.unlink()
        noticed[:] = [test, *(other for other in noticed if other != test)]
    if text is None and status:
        raise SystemExit(f"the tests of {name} fail as it is:\n{(package / 'output').read_text()[-3000:]}")
    return status == 0


def run_tests(package: Path, name: str, output: str | Path, order: LikelyFirst) -> None:
    """End the process with the exit code of the tests, on this copy of the package."""
    file = os.open(output, os.O_WRONLY | os.O_CREAT)
    os.dup2(file, 1)
    os.dup2(file, 2)
    signal.alarm(SECONDS)  # a loop without an end is noticed
    importlib.import_module("numba").config.DISABLE_JIT = name in WITHOUT_COMPILER
    sys.path.insert(0, str(package))
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts="]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is loaded before the fork
    # Random numbers wrap around, which Python mentions and compiled code does not.
    options += ["-W", "ignore:overflow encountered:RuntimeWarning"]
    settings.register_profile("mutants", deadline=None, max_examples=EXAMPLES, derandomize=True)
    options.append("--hypothesis-profile=mutants")
    selected = ["-k", SELECT[name]] if name in SELECT else []
    try:
        code = int(pytest.main([*options, *selected, *TESTS[name]], plugins=[order]))
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=about)
    parser.add_argument("files", nargs="*", default=list(TESTS), metavar="FILE", help=", ".join(TESTS))
    parser.add_argument("--skip", type=int, default=0, help="leave out so many first mutants of each file")
    parser.add_argument("--sample", type=int, help="so many mutants of each file, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
    os.environ.pop("NUMBA_CACHE_DIR", None)  # compiled kernels are kept beside the copy
    sys.dont_write_bytecode = True
    os.chdir(ROOT)
    for library in ("numba", "sklearn.ensemble", "sklearn.metrics", "scipy.stats", "pandas"):
        importlib.import_module(library)
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder)
        shutil.copytree(
            ROOT / "src" / "semirank", package / "semirank", ignore=shutil.ignore_patterns("__pycache__")
        )
        for name in given.files:
            found = list(mutants((package / "semirank" / name).read_text()))
            total = len(found)
            found = found[given.skip :]
            if given.sample is not None and given.sample < len(found):
                found = random.Random(given.seed).sample(found, given.sample)
            noticed: list[str] = []
            survives(package, name, None, noticed)
            left = []
            for number, (line, words, text) in enumerate(found):
                if sys.stderr.isatty():
                    print(f"{name}: {number} of {len(found)}", end="\r", file=sys.stderr, flush=True)
                if survives(package, name, text, noticed):
                    left.append(f"{name}:{line}: {words}")
                    print(f"  survived: {left[-1]}", flush=True)
            print(f"{name}: {len(found)} of {total} mutants, {len(left)} survived", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
