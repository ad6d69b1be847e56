"""What the site does on top of mkdocs: formulas as MathML, links to definitions, tidy docstrings."""

from __future__ import annotations

import html
import importlib
import inspect
import re
from typing import Any

import griffe
from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
DEFINITION = re.compile(r"\bDef\.\s(\d+\.\d+)(?!</a>)")
ROLE = re.compile(r":(?:class|func|meth):")


def on_page_content(content: str, page: Any, files: Any, **_: Any) -> str:
    """Replace the TeX that Markdown left (MathML needs no script), drop roles, and link cited definitions."""
    home = files.get_file_from_path("definitions.md").url_relative_to(page.file)
    linked = DEFINITION.sub(rf'<a href="{home}#def-\1">\g<0></a>', content)
    return ROLE.sub("", FORMULA.sub(_formula, linked))


def _formula(found: re.Match[str]) -> str:
    display = "block" if found[1] == "div" else "inline"
    return convert(html.unescape(found[2]), display=display)


class OwnDefaults(griffe.Extension):
    """Parameters documented together ("task, hierarchy") show each its own type and default.

    Estimators get their docstrings from the classes themselves, which add what they share with others.
    """

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Once everything is loaded."""
        for estimator in _estimators(pkg):
            home = importlib.import_module(estimator.module.path)
            estimator.docstring.value = inspect.getdoc(getattr(home, estimator.name))
        for function in _functions(pkg):
            if function.docstring is None:
                continue
            for section in function.docstring.parsed:
                if section.kind is griffe.DocstringSectionKind.parameters:
                    _own_defaults(section.value, function.parameters)


def _own_defaults(documented: Any, parameters: griffe.Parameters) -> None:
    before = None
    for entry in documented:
        if entry.name in parameters:
            entry.value = parameters[entry.name].default
            if entry.description and entry.description == before:
                entry.annotation = parameters[entry.name].annotation
        before = entry.description


def _estimators(pkg: griffe.Module) -> Any:
    for room in ("rankers", "teacher"):
        for module in pkg.members[room].members.values():
            for member in module.members.values():
                if not member.is_alias and member.is_class and member.docstring and member.bases:
                    yield member


def _functions(place: Any) -> Any:
    for member in place.members.values():
        if member.is_alias:
            continue
        if member.is_function:
            yield member
        elif member.is_module or member.is_class:
            yield from _functions(member)
