"""The documentation tells the truth: its code runs, its output is the real one, its commands exist."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: Path) -> list[tuple[str, str, int]]:
    """(language, text, line of the text) of every fenced block."""
    text = page.read_text(encoding="utf-8")
    return [(b[1], b[2], text.count("\n", 0, b.start(2))) for b in BLOCK.finditer(text)]


def commands(text: str) -> list[list[str]]:
    """The words of every command of a block, without comments."""
    joined = text.replace("\\\n", " ")
    return [words for line in joined.splitlines() if (words := shlex.split(line, comments=True))]


def parse(words: list[str]) -> None:
    """Parse a command line without running it; unknown commands and options raise."""
    import typer

    from semirank.cli import main as cli

    group = typer.main.get_command(cli.app)
    with group.make_context("semirank", list(words)) as context:
        name, command, rest = group.resolve_command(context, list(words))
        command.make_context(name, rest, parent=context)


def run(words: list[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a command of semirank in this process and return what it printed."""
    from semirank.cli import main as cli

    monkeypatch.setattr(sys, "argv", ["semirank", *words])
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert cli._invoke() == 0
    return out.getvalue()


def check_command(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    program, *rest = words
    if program == "semirank":
        parse(rest)
        # Files that the page has made are there: then the command must not only exist but work.
        files = [word for word in rest[1:] if re.fullmatch(r"[\w-]+\.(csv|json)", word)]
        inputs = [file for file in files if rest[rest.index(file) - 1] not in ("--out", "-o")]
        if inputs and all(Path(file).exists() for file in inputs):
            assert run(rest, monkeypatch).strip()
    elif program == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        for target in rest:
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"
    elif program == "python":
        assert rest[0] == "-m"
        assert (ROOT / rest[1] / "__main__.py").exists()
    else:
        assert words[:2] == ["pip", "install"], f"an unknown command: {words}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page, tmp_path, monkeypatch):
    """Blocks of a page run in order in one namespace; a `text` block is the output of the one before it."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    found = blocks(page)
    space: dict[str, object] = {"__name__": "page"}
    printed = None
    for language, text, line in found:
        if language == "python":
            # Empty lines before the code: errors name the line of the page.
            code = compile("\n" * line + text, str(page), "exec")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, space)
            printed = out.getvalue()
        elif language == "text":
            assert printed is not None, f"line {line}: output of nothing"
            assert [x.rstrip() for x in printed.splitlines()] == [x.rstrip() for x in text.splitlines()]
        elif language == "sh":
            for words in commands(text):
                check_command(words, monkeypatch)
        else:
            assert language in ("fimp", "ini"), f"line {line}: a block of {language or 'nothing'}"
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def test_links_and_pictures_exist():
    """What the site builder does not see: links of the README, and pictures."""
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if not target.startswith(("http:", "https:", "mailto:")):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_navigation_is_complete():
    """Every page is in the navigation of the site, and nothing else."""
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    listed = set(re.findall(r"[\w/-]+\.md", nav))
    assert listed == {str(p.relative_to(ROOT / "docs").as_posix()) for p in PAGES[1:]}


@pytest.mark.parametrize("words", [["rnak", "a.csv"], ["rank", "a.csv", "--no-such-option"]])
def test_commands_that_do_not_exist_are_noticed(words):
    with pytest.raises(Exception, match="No such"):
        parse(words)
