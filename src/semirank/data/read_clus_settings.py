"""Settings files of CLUS (.s): sections, and the data that they name (Def. 3.3)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from ..runtime.messages import short
from .read_text import read_text

_SECTION = re.compile(r"\[([^\[\]]*)\]")
_POSITIONS = re.compile(r"\d{1,9}(-\d{1,9})?")
_NOTHING = ("", "none", "0")
_DECAYING = "expavgparentweight"  # the weights of Def. 1.1


class ClusSettings(NamedTuple):
    """A settings file.

    Attributes
    ----------
    path : Path
    sections : dict of str to dict of str to str
        Values by section and name, both in lower case.
    spelled : dict of (str, str) to str
        How the file spells each of them: "[Tree] PruningMethod = M5".
    used : set of (str, str)
        Those that were asked for.
    """

    path: Path
    sections: dict[str, dict[str, str]]
    spelled: dict[tuple[str, str], str]
    used: set[tuple[str, str]]

    def get(self, section: str, name: str) -> str | None:
        """A value, or None where the file does not give it."""
        self.used.add((section.lower(), name.lower()))
        return self.sections.get(section.lower(), {}).get(name.lower())

    def number(self, section: str, name: str) -> float | None:
        """The same of a value that must be a number."""
        given = self.get(section, name)
        return None if given is None else self.as_number(given, section, name)

    def numbers(self, section: str, name: str) -> list[float]:
        """The numbers of a list."""
        return [self.as_number(part, section, name) for part in values_of(self.get(section, name) or "")]

    def as_number(self, text: str, section: str, name: str) -> float:
        """A value, or a part of it, as the number that it must be."""
        try:
            return float(text)
        except ValueError:
            where = self.spelled[section.lower(), name.lower()]
            raise ValueError(f"{self.path.name}: {short(where)} needs a number.") from None


def read_clus_settings(path: Path) -> ClusSettings:
    """Read a settings file: sections in brackets, NAME = VALUE, and comments after %.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "example.s"
    >>> _ = path.write_text("[Data]\\nFile = genes.arff % here\\n[Attributes]\\nTarget = 4-6\\n")
    >>> read_clus_settings(path).sections
    {'data': {'file': 'genes.arff'}, 'attributes': {'target': '4-6'}}
    """
    sections: dict[str, dict[str, str]] = {}
    spelled: dict[tuple[str, str], str] = {}
    section: str | None = None
    for number, raw in enumerate(read_text(path).split("\n"), start=1):
        line = raw.partition("%")[0].strip()
        if not line:
            continue
        if found := _SECTION.fullmatch(line):
            section = found[1].strip()
            sections.setdefault(section.lower(), {})
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not name or section is None:
            what = "outside of all sections" if equals and name else "neither [Section] nor NAME = VALUE"
            raise ValueError(f"{path.name}, line {number}: {short(line)} is {what}.")
        sections[section.lower()][name.lower()] = value
        spelled[section.lower(), name.lower()] = f"[{section}] {name} = {value}"
    return ClusSettings(path, sections, spelled, set())


def values_of(text: str) -> list[str]:
    """One value, or those of a list in brackets.

    Examples
    --------
    >>> values_of("[Genie3, RForest]"), values_of("10")
    (['Genie3', 'RForest'], ['10'])
    """
    inner = text.strip().removeprefix("[").removesuffix("]")
    return [part.strip() for part in inner.split(",") if part.strip()]


def clus_data(settings: ClusSettings) -> tuple[list[Path], dict[str, Any]]:
    """Which files to read and how, in the words of :func:`semirank.load`.

    A second file is one of rows whose target does not count. CLUS counts attributes from 1, `load` from 0.
    """
    file = settings.get("Data", "File")
    if not file:
        raise ValueError(f"{settings.path.name} names no data: [Data] File = ... is not there.")
    files = [_find(file, settings.path)]
    more = settings.get("SemiSupervised", "UnlabeledData")
    if more is not None and more.lower() not in _NOTHING:
        files.append(_find(more, settings.path))
    targets = _positions(settings, "Target")
    left_out = [j for name in ("Disable", "Key") for j in _positions(settings, name) if j not in targets]
    features = [j for j in _positions(settings, "Descriptive") if j not in targets]
    chosen = {"targets": targets, "features": features, "drop": left_out}
    options: dict[str, Any] = {name: positions for name, positions in chosen.items() if positions}
    decay = settings.get("Hierarchical", "WParam")
    if decay is not None and settings.sections["hierarchical"].get("wtype", _DECAYING).lower() == _DECAYING:
        options["hierarchy_decay"] = settings.as_number(decay, "Hierarchical", "WParam")
    return files, options | {"sparse_base": 1}


def _positions(settings: ClusSettings, name: str) -> list[int]:
    """Attributes such as "143,144,146-148", from 0; nothing for None."""
    given = settings.get("Attributes", name)
    if given is None or given.lower() in _NOTHING:
        return []
    found: dict[int, None] = {}
    for part in values_of(given):
        first, _, last = part.partition("-")
        if not _POSITIONS.fullmatch(part) or int(first) < 1 or int(last or first) < int(first):
            where = settings.spelled["attributes", name.lower()]
            raise ValueError(
                f"{settings.path.name}: {short(where)} must number attributes from 1, such as 1-8,10."
            )
        if int(last or first) - int(first) > 1_000_000:
            raise ValueError(f"{settings.path.name}: the range {part} is beyond any file.")
        found.update(dict.fromkeys(range(int(first) - 1, int(last or first))))
    return list(found)


def _find(file: str, settings: Path) -> Path:
    """A file as CLUS names it: beside the settings, in the folder one is in, or by its last name."""
    given = Path(file.strip("\"'"))
    for path in (settings.parent / given, given, settings.parent / given.name):
        if path.is_file():
            return path
    raise ValueError(f"{settings.name} names the data file {short(str(given))}, which is not there.")
