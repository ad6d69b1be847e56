"""Mulan's XML files, which list the labels of a data set, nested where they form a hierarchy."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from .hierarchy import Hierarchy
from .read_text import read_text

_PART = re.compile(r"[-_.](train|test)$", re.IGNORECASE)


def find_label_file(path: Path) -> Path | None:
    """The XML file beside a data file: emotions.xml for emotions.arff and for emotions-train.arff.gz."""
    stem = re.sub(r"(\.arff)?(\.gz)?$", "", path.name, flags=re.IGNORECASE)
    stems = dict.fromkeys((stem, _PART.sub("", stem)))
    beside = [path.with_name(f"{name}{ending}") for name in stems for ending in (".xml", ".labels.xml")]
    return next((file for file in beside if file.is_file()), None)


def read_label_file(path: Path) -> tuple[list[str], Hierarchy | None] | None:
    """The labels in the order of the file, and their hierarchy if some stand inside others.

    None if the file is about something else: Mulan's outermost element is called "labels".

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fruit.xml"
    >>> _ = path.write_text('<labels><label name="fruit"><label name="lemon"/></label></labels>')
    >>> labels, tree = read_label_file(path)
    >>> labels, tree.depth
    (['fruit', 'lemon'], 2)
    """
    text = read_text(path)
    remedy = "correct it, remove it, or name the target"
    if "<!DOCTYPE" in text:  # entities could make a small file huge
        raise ValueError(f"{path.name} has a DOCTYPE, which a label file does not need; {remedy}.")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"{path.name} cannot be read as XML ({error}); {remedy}.") from None
    if _tag(root) != "labels":
        return None
    parents: dict[object, list[str]] = {}
    waiting = [(root, "")]
    for element, above in waiting:  # grows while it is walked
        for child in element:
            name = (child.get("name") or "").strip()
            if _tag(child) != "label" or not name:
                raise ValueError(f"{path.name} must hold nothing but <label name=...> elements; {remedy}.")
            parents.setdefault(name, []).extend([above] if above else [])
            waiting.append((child, name))
    if not parents:
        raise ValueError(f"{path.name} lists no labels; {remedy}.")
    tree = Hierarchy.from_parents(parents) if any(parents.values()) else None
    return [str(label) for label in parents], tree


def _tag(element: ElementTree.Element) -> str:
    """Its name without the namespace."""
    return element.tag.rpartition("}")[2]
