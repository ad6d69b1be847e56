"""The table of tasks, and that nobody lists the tasks beside it."""

from __future__ import annotations

import ast
from pathlib import Path

import semirank
from semirank.data.tasks import CLASSES, HEADINGS, LABELS, NUMBERS, TASKS


def test_the_table():
    assert list(TASKS) == ["classification", "regression", "multi_target", "multi_label", "hierarchical"]
    assert [task.kind for task in TASKS.values()] == [CLASSES, NUMBERS, NUMBERS, LABELS, LABELS]
    for name, task in TASKS.items():
        assert task.name == name
        assert task.greater_is_better == (task.measure != "RRMSE") == (task.sign > 0)
        assert task.is_label_set == (task.noun == "label")
        assert HEADINGS[task.heading] == name


def test_the_papers_order():
    assert list(HEADINGS) == ["classification", "MLC", "HMLC", "STR", "MTR"]


def test_no_other_file_lists_the_tasks():
    """A list, tuple, set or dict that spells more than two of the tasks is another table."""
    names = {*TASKS, *HEADINGS, *(task.abbreviation for task in TASKS.values())}
    package = Path(semirank.__file__).parent
    for path in sorted(package.rglob("*.py")):
        if path == package / "data" / "tasks.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            items = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
            if isinstance(node, ast.ClassDef):  # an enumeration
                items = [part.value for part in node.body if isinstance(part, ast.Assign)]
            spelled = {item.value for item in items if isinstance(item, ast.Constant)} & names
            assert len(spelled) <= 2, f"{path.name}, line {node.lineno}: {spelled}"
