"""The command `evaluate`."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..rankers.methods import COMPARED
from . import terminal
from .options import (
    Drop,
    Features,
    Files,
    HierarchyFile,
    Jobs,
    Json,
    LabelsFrom,
    Quiet,
    Seed,
    Targets,
    Task,
    TaskOption,
)
from .precompile import say_if_compiling
from .rank import typed_command

if TYPE_CHECKING:
    from ..results.evaluation import Evaluation

PICTURES = (".png", ".svg", ".pdf")


def evaluate(
    files: Files,
    target: Targets = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help=f"{', '.join(COMPARED)}; may repeat.",
        ),
    ] = None,
    features: Features = None,
    drop: Drop = None,
    task: TaskOption = Task["auto"],
    labels_from_column: LabelsFrom = None,
    hierarchy: HierarchyFile = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="How to read the target, as unlabeled=-1."),
    ] = None,
    repeats: Annotated[int, typer.Option(metavar="N", help="Repeats of the cross-validation.")] = 5,
    folds: Annotated[int, typer.Option(metavar="N", help="Folds of the labelled rows.")] = 5,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Keep finished rankings here; the same command goes on from them."
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the result as .png, .svg or .pdf.")
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write .json or .html; may repeat."),
    ] = None,
    as_json: Json = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Say which ranker suits a file, and whether its unlabelled rows help.

    Labels are hidden in turn and predicted by nearest neighbours in the space that a ranking weights,
    with and without the unlabelled rows.
    """
    from ..results.evaluation import FORMATS
    from .input import READING, parameters, read

    for path in out or []:
        _check(path, FORMATS)
    if plot is not None:
        from ..report.figures import figure_class

        _check(plot, PICTURES)
        figure_class()
    reading = parameters(set_ or [])
    if unknown := [name for name in reading if name not in READING]:
        raise ValueError(f"--set {unknown[0]} is not known here; it takes {', '.join(READING)}.")
    given = read(
        files,
        targets=target or [],
        features=features or [],
        drop=drop or [],
        task=task.value,
        labels_from_column=labels_from_column,
        hierarchy=hierarchy,
        **reading,
    )
    if not quiet:
        for note in given.notes:
            terminal.say(note)
        say_if_compiling("forest")
    from ..evaluation.evaluate import evaluate as judge_rankers

    params: dict[str, Any] = {
        "methods": method, "n_repeats": repeats, "n_folds": folds, "random_state": seed, "n_jobs": jobs,
    }  # fmt: skip
    caught: list[str] = []
    with terminal.collected_warnings(caught), terminal.progress(quiet) as progress:
        found = terminal.interruptible(
            lambda: judge_rankers(given.X, given.target, cache=cache, progress=progress, **params)
        )
    notes = list(dict.fromkeys([*given.notes, *found.notes, *caught]))
    arguments = "".join(f"    {name}={value!r},\n" for name, value in params.items())
    call = f"found = sr.evaluate(\n    data.X,\n    y,\n{arguments})"
    origin = {
        "command": typed_command(),
        "python": "\n".join([*given.lines, call, "ranking = found.ranking"]),
    }
    found = replace(found, notes=notes, ranking=replace(found.ranking, origin=origin))
    if not quiet:
        for note in notes[len(given.notes) :]:
            terminal.say(note)
    _deliver(found, out or [], plot, as_json=as_json, quiet=quiet)


def _deliver(found: Evaluation, out: list[Path], plot: Path | None, *, as_json: bool, quiet: bool) -> None:
    for path in out:
        found.save(path)
    if plot is not None:
        from ..report.figures import save_figure

        save_figure(found.plot(), plot)
    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False))
    elif not (quiet and (out or plot)):
        print(f"{found.summary()}\n")
        terminal.show(found.table())
        print()
        print(found.sentences()[-1])
    if not quiet:
        sys.stdout.flush()
        for path in [*out, *([plot] if plot else [])]:
            terminal.say(f"wrote {path}")


def _check(path: Path, formats: tuple[str, ...]) -> None:
    """Say before the work, not after it, that a file cannot be written."""
    if path.suffix.lower() not in formats:
        picture = "; a picture goes to --plot" if path.suffix.lower() in PICTURES else ""
        raise ValueError(f"{path} must end in {' or '.join(formats)}{picture}.")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ValueError(f"{path} cannot be written: the folder {folder} does not exist.")
