"""`semirank rank`: from a file to a ranking in the terminal and in files."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import terminal
from .options import (
    Drop,
    Features,
    Files,
    HierarchyFile,
    Importance,
    Jobs,
    Json,
    LabelsFrom,
    Method,
    MethodOption,
    Out,
    Quiet,
    Seed,
    Set,
    Targets,
    Task,
    TaskOption,
)
from .precompile import say_if_compiling

if TYPE_CHECKING:
    from ..results.ranking import Ranking


def rank(
    files: Files,
    target: Targets = None,
    features: Features = None,
    drop: Drop = None,
    task: TaskOption = Task["auto"],
    method: MethodOption = Method["auto"],
    importance: Importance = None,
    labels_from_column: LabelsFrom = None,
    hierarchy: HierarchyFile = None,
    set_: Set = None,
    out: Out = None,
    as_json: Json = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Rank the features of a file.

    Rows whose target is empty are the unlabelled ones.
    """
    from .input import READING, parameters, python_call, read

    check_outputs(out)
    params = parameters(set_ or [])
    given = read(
        files,
        targets=target or [],
        features=features or [],
        drop=drop or [],
        task=task.value,
        labels_from_column=labels_from_column,
        hierarchy=hierarchy,
        **{name: params.pop(name) for name in READING if name in params},
    )
    params = {"method": method.value, "random_state": seed, "n_jobs": jobs} | params
    if importance is not None:
        params["importance"] = importance
    origin = {
        "command": typed_command(),
        "python": python_call(given.lines, params),
    }
    ranking = rank_with_progress(given.X, given.target, params, given.notes, origin, quiet)
    deliver(ranking, out, as_json=as_json, quiet=quiet)


def typed_command() -> str:
    return shlex.join(["semirank", *sys.argv[1:]])


def check_outputs(out: list[Path] | None) -> None:
    from ..results.files import check_path

    for path in out or []:
        check_path(path)


def rank_with_progress(
    X: Any, y: Any, params: dict[str, Any], notes: list[str], origin: dict[str, str], quiet: bool
) -> Ranking:
    """Rank with progress; what was decided on the way is in the ranking's notes, and said."""
    if not quiet:
        for note in notes:
            terminal.say(note)
        say_if_compiling(params.get("method", "auto"))
    from .. import rank as rank_features

    notes = list(notes)
    caught: list[str] = []
    with terminal.collected_warnings(caught), terminal.progress(quiet) as progress:
        ranking = terminal.interruptible(lambda: rank_features(X, y, progress=progress, **params))
    said = len(notes)
    notes = list(dict.fromkeys([*notes, *ranking.notes, *caught]))
    if not quiet:
        for note in notes[said:]:
            terminal.say(note)
    return replace(ranking, notes=notes, origin=origin)


def deliver(ranking: Ranking, out: list[Path] | None, *, as_json: bool, quiet: bool) -> None:
    """Write the files, then print: JSON, or a table unless the files were all that was wanted."""
    for path in out or []:
        ranking.save(path)
    if as_json:
        from ..results.files import to_json

        print(to_json(ranking))
    elif not (quiet and out):
        print(f"{ranking.summary()}\n")
        terminal.show(repr(ranking.top(20)))
        if len(ranking) > 20:
            print(f"   … and {len(ranking) - 20} more")
    if not quiet:
        sys.stdout.flush()
        for path in out or []:
            terminal.say(f"wrote {path}")
