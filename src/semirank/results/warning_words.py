"""Warnings about the data, as a ranking carries them: in words, per feature, and in files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .text_table import printable

# What a warning says of each of its features.
FEATURE_WORDS = {
    "leak": "gives the target away",
    "missingness": "being missing tells the target",
    "shift": "differs between labelled and unlabelled rows",
    "identifiers": "names the rows, as identifiers and free text do",
}
_LINE = re.compile(r"Warning \((\w+)\): (.*)")


def is_warning(value: Any) -> bool:
    """Whether a value, perhaps from a file, is a warning as rankings keep them."""
    if not isinstance(value, dict) or not all(isinstance(value.get(key), str) for key in ("kind", "text")):
        return False
    names = value.get("features", [])
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def warning_lines(warnings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines for people, and an empty one below them.

    Examples
    --------
    >>> warning_lines([{"kind": "leak", "text": "'code' gives the target away"}])
    ["Warning: 'code' gives the target away", '']
    """
    return [*(f"Warning: {printable(str(w['text']))}" for w in warnings), ""] if warnings else []


def feature_words(warnings: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What is said of single features, by name."""
    said: dict[str, list[str]] = {}
    for warning in warnings:
        for name in warning.get("features", ()):
            words = FEATURE_WORDS.get(str(warning["kind"]))
            if words is not None and words not in said.setdefault(name, []):
                said[name].append(words)
    return {name: "; ".join(words) for name, words in said.items() if words}


def from_feature_words(names: Sequence[str], cells: Sequence[str]) -> list[dict[str, Any]]:
    """Warnings again from what `feature_words` said of each feature."""
    found = []
    for kind, words in FEATURE_WORDS.items():
        features = [name for name, cell in zip(names, cells) if words in cell.split("; ")]
        if features:
            text = f"{', '.join(features[:5])}{', ...' if len(features) > 5 else ''}: {words}"
            found.append({"kind": kind, "text": text, "features": features, "rows": []})
    return found


def fimp_lines(warnings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines for the head of a fimp file."""
    return [f"Warning ({w['kind']}): {printable(str(w['text']))}" for w in warnings]


def from_fimp_lines(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Warnings again from the head of a fimp file.

    Examples
    --------
    >>> from_fimp_lines(["Ranking method: relief", "Warning (leak): x gives it away"])
    [{'kind': 'leak', 'text': 'x gives it away', 'features': [], 'rows': []}]
    """
    found = (_LINE.fullmatch(line) for line in lines)
    return [{"kind": m[1], "text": m[2], "features": [], "rows": []} for m in found if m]
