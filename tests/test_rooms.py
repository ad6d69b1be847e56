"""The order of the rooms: a folder of `semirank` imports only folders that come before it in `ROOMS`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import semirank

ROOMS = (
    "runtime", "data", "neighbors", "judging", "results", "base", "trees", "teacher", "rankers", "evaluation",
    "report", "datasets", "study", "app", "cli",
)  # fmt: skip
PACKAGE = Path(semirank.__file__).parent
# The two exceptions: the one call that needs every room, and results that are drawn or written as a page.
FREE_FILES = {"__init__.py", "api.py"}
LOADED_WHEN_CALLED = {("results", "report")}


class Import(NamedTuple):
    """One import of a module of the package; `inside` is the function it stands in, "" for none."""

    file: str
    line: int
    module: tuple[str, ...]
    inside: str


def imports(package: Path) -> Iterator[Import]:
    """Every import that a file of the package makes of the package, in functions too."""
    for path in sorted(package.rglob("*.py")):
        here = path.relative_to(package)
        yield from _imports(ast.parse(path.read_text(encoding="utf-8")), here, package.name, "")


def _imports(node: ast.AST, file: Path, package: str, inside: str) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            paths = [tuple(alias.name.split(".")) for alias in child.names]
        elif isinstance(child, ast.ImportFrom):
            folder = (package, *file.parts[:-1])
            start = folder[: len(folder) - child.level + 1] if child.level else ()
            module = (*start, *(child.module or "").split(".")) if child.module else start
            # What is taken from the package itself may be a room.
            paths = [(*module, alias.name) if len(module) == 1 else module for alias in child.names]
        else:
            name = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else inside
            yield from _imports(child, file, package, name)
            continue
        for path in dict.fromkeys(paths):
            if path[0] == package:
                yield Import(file.as_posix(), child.lineno, path[1:], inside)


def violations(package: Path) -> list[str]:
    """Imports against the order, each as a line that says where."""
    found = []
    for file, line, module, inside in imports(package):
        room = file.split("/")[0]
        target = module[0] if module else ""
        if file in FREE_FILES or target == room or target not in (*ROOMS, "api"):
            continue
        if room not in ROOMS:
            found.append(f"{file}:{line} belongs to no room")
        elif target == "api":
            if room not in ("app", "cli"):
                found.append(f"{file}:{line} imports api")
        elif ROOMS.index(target) > ROOMS.index(room) and not (
            (room, target) in LOADED_WHEN_CALLED and inside
        ):
            found.append(f"{file}:{line} imports {target}, which comes after {room}")
    return found


def test_rooms_import_only_what_comes_before_them():
    assert violations(PACKAGE) == []


def test_every_folder_is_a_room_that_says_what_it_is_for():
    folders = {path.parent.name: path for path in PACKAGE.glob("*/__init__.py")}
    assert {path.name for path in PACKAGE.iterdir() if path.is_dir()} - {"__pycache__"} == set(folders)
    assert set(folders) <= set(ROOMS)
    for name, path in folders.items():
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith('"""'), name
        if name != "study":  # it is public, so its names are found lazily there
            assert len(lines) == 1, name


def test_contributing_shows_the_rooms_in_this_order():
    """Those that are there; the document is part of a checkout, not of an installed package."""
    page = Path(__file__).parent.parent / "CONTRIBUTING.md"
    shown = re.findall(r"^\| `(\w+)/` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert shown == [room for room in ROOMS if (PACKAGE / room).is_dir()]


PAGES = (
    "CONTRIBUTING.md",
    "docs/extend.md",
    "docs/testing.md",
    "docs/how-it-works.md",
    "docs/definitions.md",
)


@pytest.mark.parametrize("page", PAGES)
def test_files_that_pages_name_are_there(page):
    """Of the package or of the checkout; `read_FORMAT.py` and the like stand for many."""
    root = Path(__file__).parent.parent
    named = set(re.findall(r"`([\w/]+/\w+\.py)`", (root / page).read_text(encoding="utf-8")))
    named = {name for name in named if not re.search("[A-Z]{4}", name)}
    assert [name for name in sorted(named) if not any((p / name).is_file() for p in (PACKAGE, root))] == []


def cycle(package: Path) -> list[str]:
    """Modules that import one another in a ring, none where there is no such ring.

    What is loaded when results are drawn or saved does not count; inside functions everything else does.
    """
    files = {path.relative_to(package).as_posix() for path in package.rglob("*.py")}
    graph: dict[str, set[str]] = {}
    for file, _, module, inside in imports(package):
        imported = "/".join(module) + ".py"
        allowed = inside and (file.split("/")[0], module[0] if module else "") in LOADED_WHEN_CALLED
        if imported in files and not allowed:
            graph.setdefault(file, set()).add(imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_module_imports_itself_by_way_of_others():
    assert cycle(PACKAGE) == []


def test_a_ring_of_imports_is_found(tmp_path):
    room = tmp_path / "semirank" / "study"
    room.mkdir(parents=True)
    (room / "plan.py").write_text("def jobs():\n    from .worth import more\n", encoding="utf-8")
    (room / "worth.py").write_text("from .plan import jobs\n", encoding="utf-8")
    assert set(cycle(tmp_path / "semirank")) == {"study/plan.py", "study/worth.py"}


@pytest.mark.parametrize(
    ("file", "code", "found"),
    [
        ("data/table.py", "from ..results.ranking import Ranking", "data/table.py:1 imports results"),
        ("data/table.py", "def f():\n    from ..cli import main", "data/table.py:2 imports cli"),
        ("data/table.py", "import semirank.trees.grow", "data/table.py:1 imports trees"),
        ("data/table.py", "from semirank import rankers", "data/table.py:1 imports rankers"),
        ("data/table.py", "from .. import evaluation", "data/table.py:1 imports evaluation"),
        (
            "trees/grow.py",
            "if True:\n    from semirank.rankers import forest",
            "trees/grow.py:2 imports rankers",
        ),
        ("results/files.py", "from ..report.html import render", "results/files.py:1 imports report"),
        ("results/files.py", "def save():\n    from ..study import plan", "results/files.py:2 imports study"),
        ("study/run.py", "from ..api import rank", "study/run.py:1 imports api"),
        ("attic/old.py", "from ..data import table", "attic/old.py:1 belongs to no room"),
    ],
)
def test_an_import_against_the_order_is_found(file, code, found, tmp_path):
    path = tmp_path / "semirank" / file
    path.parent.mkdir(parents=True)
    path.write_text(f"{code}\n", encoding="utf-8")
    (line,) = violations(tmp_path / "semirank")
    assert line.startswith(found)


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("cli/main.py", "from ..study.plan import PRESETS\nfrom ..api import rank"),
        ("api.py", "from .rankers.forest import ForestRanker\nfrom .cli import main"),
        ("results/files.py", "def save():\n    from ..report.html import render"),
        ("data/table.py", "from .. import __version__\nfrom .target import Target\nimport numpy.random"),
    ],
)
def test_imports_in_the_order_are_not(file, code, tmp_path):
    path = tmp_path / "semirank" / file
    path.parent.mkdir(parents=True)
    path.write_text(f"{code}\n", encoding="utf-8")
    assert violations(tmp_path / "semirank") == []
