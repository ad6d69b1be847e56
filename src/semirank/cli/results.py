"""What the computing commands share: notes, progress, files and print-outs, and how to repeat the result."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ..runtime.progress import Progress
from . import terminal
from .precompile import say_if_compiling

Result = TypeVar("Result", bound=Any)  # a dataclass with notes, `save` and perhaps `plot`
PICTURES = (".png", ".svg", ".pdf")


def check_outputs(paths: Sequence[Path], formats: Sequence[str]) -> None:
    """Refuse a file that cannot be written before the work begins, not after it."""
    for path in paths:
        if path.suffix.lower() not in formats:
            picture = "; a picture goes to --plot" if path.suffix.lower() in PICTURES else ""
            raise ValueError(f"{path}: the extension must be one of {', '.join(formats)}{picture}.")
        folder = path.absolute().parent
        if not folder.is_dir():
            raise ValueError(f"{path} cannot be written: the folder {folder} does not exist.")


def compute(
    work: Callable[[Progress | None], Result], notes: Sequence[str], quiet: bool, method: str = "forest"
) -> Result:
    """Run with progress; notes from before and during the work are printed and kept in the result."""
    if not quiet:
        for note in notes:
            terminal.say(note)
        say_if_compiling(method)
    caught: list[str] = []
    with terminal.collected_warnings(caught), terminal.progress(quiet) as progress:
        found = terminal.interruptible(lambda: work(progress))
    every = list(dict.fromkeys([*notes, *found.notes, *caught]))
    if not quiet:
        for note in every[len(notes) :]:
            terminal.say(note)
    return replace(found, notes=every)


def origin(lines: Sequence[str], call: str, params: dict[str, Any]) -> dict[str, str]:
    """The command as it was typed, and the Python lines that do the same: `call` with these parameters."""
    arguments = "".join(f"    {name}={value!r},\n" for name, value in params.items())
    python = "\n".join([*lines, f"{call}(\n    data.X,\n    y,\n{arguments})"])
    return {"command": shlex.join(["semirank", *sys.argv[1:]]), "python": python}


def deliver(
    found: Any,
    out: Sequence[Path],
    show: Callable[[], None],
    *,
    as_json: Callable[[], str] | None,
    quiet: bool,
    plot: Path | None = None,
    save: Callable[[Path], None] | None = None,
) -> None:
    """Write the files, then print: JSON, or what `show` prints unless the files were all that was wanted."""
    for path in out:
        (save or found.save)(path)
    if plot is not None:
        from ..report.figures import save_figure

        save_figure(found.plot(), plot)
    written = [*out, *([plot] if plot else [])]
    if as_json is not None:
        print(as_json())
    elif not (quiet and written):
        show()
    if not quiet:
        sys.stdout.flush()
        for path in written:
            terminal.say(f"wrote {path}")
