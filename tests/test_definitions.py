"""Every definition that is cited exists in docs/definitions.md; nothing cites what a reader cannot open."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "definitions.md").read_text(encoding="utf-8")
TREES = ("src", "tests", "docs", "benchmarks", "tools")
TEXT = {".py", ".md", ".txt", ".toml", ".css", ".js", ".html", ".json"}

# "Def. 1.2", "Def. 1.2, 1.3 and 1.9", "Def. 1.1-1.4", also where a comment or docstring wraps.
GAP = r"\s+(?:#\s*)?"
NUMBER = r"\d+(?:\.\d+)?"
JOIN = rf"(?:,{GAP}(?:and{GAP})?|{GAP}(?:and|or|to){GAP}|-)"
CITATION = re.compile(rf"\bDefs?\.{GAP}({NUMBER}(?:{JOIN}{NUMBER})*)")
HEADING = re.compile(r"^#{2,3} (\d+(?:\.\d+)?) .*\{ #def-(\S+) \}$", re.MULTILINE)
# The notes that the code was once written from; in two parts, so that this file does not hold the word.
NOTES = re.compile(r"\b" + "DES" + "IGN" + r"\b")


def files() -> list[Path]:
    """Everything a reader of the repository reads."""
    found = [p for tree in TREES for p in sorted((ROOT / tree).rglob("*")) if p.suffix in TEXT]
    return [*found, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def cited(text: str) -> list[str]:
    """The numbers of all definitions that a text cites."""
    return [number for citation in CITATION.finditer(text) for number in re.findall(NUMBER, citation[1])]


def defined() -> set[str]:
    return {number for number, _ in HEADING.findall(PAGE)}


def test_every_cited_definition_exists():
    known = defined()
    unknown = [
        f"{path.relative_to(ROOT)}: {number}"
        for path in files()
        for number in cited(path.read_text(encoding="utf-8"))
        if number not in known
    ]
    assert unknown == []


def test_nothing_cites_notes_that_are_not_here():
    assert [
        str(path.relative_to(ROOT)) for path in files() if NOTES.search(path.read_text(encoding="utf-8"))
    ] == []


def test_the_code_cites_definitions():
    """Were the pattern wrong, the tests above would pass with nothing to look at."""
    source = [cited(p.read_text(encoding="utf-8")) for p in files() if p.is_relative_to(ROOT / "src")]
    assert {number for numbers in source for number in numbers} >= {"1.2", "1.3", "1.4", "1.6", "2.2", "3.1"}


def test_headings_are_numbered_in_order_and_anchors_carry_their_numbers():
    found = HEADING.findall(PAGE)
    assert all(number == anchor for number, anchor in found)
    assert len(found) == len(re.findall(r"^#{2,} ", PAGE, re.MULTILINE))
    order = [tuple(map(int, number.split("."))) for number, _ in found]
    assert order == sorted(set(order))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (". 1.2", ["1.2"]),
        (". 1.2, 1.3 and 1.10), then 7", ["1.2", "1.3", "1.10"]),
        (". 1.1-1.4.", ["1.1", "1.4"]),
        (".\n    # 9.9 of a wrapped comment", ["9.9"]),
        (". 1.3, ties)", ["1.3"]),
        ("inition 1.2", []),
    ],
)
def test_what_counts_as_a_citation(text, numbers):
    assert cited("Def" + text) == numbers
