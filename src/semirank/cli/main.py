"""The command line. Heavy parts are imported inside the commands, so that --help stays quick."""

from __future__ import annotations

import gc
import json
import shlex
import sys
from dataclasses import replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from ..data.tasks import TASKS
from . import terminal as _terminal

if TYPE_CHECKING:
    import numpy as np

    from ..results.ranking import Ranking

app = typer.Typer(
    name="semirank",
    help="Rank features when only some rows are labelled.",
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


Task = StrEnum("Task", ["auto", *TASKS])  # type: ignore[misc]  # names that are not literals


class Method(StrEnum):
    auto = "auto"
    forest = "forest"
    relief = "relief"
    laplace = "laplace"


# Options that several commands share.
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Data as .arff, .csv, .tsv or .parquet; several are put together, - is a pipe.",
        show_default=False,
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option("--target", "-t", metavar="COLUMN", help="Name, position or pattern ('TAG_*'); may repeat."),
]
Features = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Rank only these; may repeat."),
]
Drop = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Leave these out; may repeat.")]
TaskOption = Annotated[Task, typer.Option("--task", help="Kind of target; auto infers it and says so.")]
MethodOption = Annotated[Method, typer.Option("--method", "-m", help="How to rank.")]
Importance = Annotated[
    str | None, typer.Option("--importance", "-i", metavar="NAME", help="genie3, symbolic or rforest.")
]
LabelsFrom = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Target column with label sets such as a;b;c (empty: not known)."),
]
HierarchyFile = Annotated[
    Path | None,
    typer.Option("--hierarchy", metavar="FILE", help="Text file, on each line a/b/c or parent,child."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Another parameter of the ranker; may repeat."),
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="The same seed gives the same ranking.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="Threads; -1 is every core.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes, no progress: only the result.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Out = Annotated[
    list[Path] | None,
    typer.Option("--out", "-o", metavar="FILE", help="Write .json, .csv, .html or .fimp; may repeat."),
]


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"semirank {__version__}")
    else:
        help_if_alone(context)


def help_if_alone(context: typer.Context) -> None:
    """A group of commands without one of them shows what there is."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def rank(
    files: Files,
    target: Targets = None,
    features: Features = None,
    drop: Drop = None,
    task: TaskOption = Task["auto"],
    method: MethodOption = Method.auto,
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

    _check_outputs(out)
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
        "command": _command(),
        "python": python_call(given.lines, params),
    }
    ranking = _ranked(given.X, given.target, params, given.notes, origin, quiet)
    _deliver(ranking, out, as_json=as_json, quiet=quiet)


@app.command()
def demo(quiet: Quiet = False) -> None:
    """Rank handwritten digits with 100 of 1797 labels kept.

    Prints the best pixels and writes demo-report.html in this folder.
    """
    from sklearn.datasets import load_digits

    from ..data.encode_features import encode_features

    out = [Path("demo-report.html")]
    _check_outputs(out)
    digits = load_digits()
    y = _hidden_labels(digits.target)
    params = {"task": "classification", "random_state": 0, "n_jobs": -1}
    origin = {"command": "semirank demo", "python": _DEMO_CODE}
    notes = ["scikit-learn's digits; 100 labels were kept, the other 1697 rows are unlabelled"]
    X = encode_features(digits.data, names=digits.feature_names)
    ranking = _ranked(X, y, params, notes, origin, quiet)
    _deliver(ranking, out, as_json=False, quiet=quiet)


_DEMO_CODE = """\
import numpy as np
import pandas as pd
import semirank as sr
from sklearn.datasets import load_digits

digits = load_digits()
X = pd.DataFrame(digits.data, columns=digits.feature_names)
keep = np.random.default_rng(0).choice(1797, 100, replace=False)
y = np.full(1797, np.nan)
y[keep] = digits.target[keep]
ranking = sr.rank(X, y, task="classification", random_state=0, n_jobs=-1)"""


def _hidden_labels(target: np.ndarray) -> np.ndarray:
    """The same 100 labels on every machine."""
    import numpy as np

    keep = np.random.default_rng(0).choice(len(target), 100, replace=False)
    y = np.full(len(target), np.nan)
    y[keep] = target[keep]
    return y


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="A saved ranking: .json, .csv or .fimp.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="Another one of the same features.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Say how far two saved rankings agree.

    Kendall's tau-b of the scores, overlap of the best k, and the area under the fuzzy Jaccard
    (FUJI) curve; 1 is full agreement.
    """
    from ..results.ranking import Ranking, printable

    one, two = Ranking.load(first), Ranking.load(second)
    found = one.compare(two)
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    size = len(one)
    rows = [["Kendall's tau-b", f"{found.kendall:.3f}"], ["FUJI area", f"{found.fuji_area:.3f}"]]
    for k in (k for k in (1, 5, 10, 20, 50, 100, 200, 500) if k < size):
        rows.append([f"overlap of top {k}", f"{found.overlap[k - 1]:.2f}"])
    print(f"{first.name} against {second.name}, {size} features\n")
    _terminal.show_table(["measure", "value"], rows)
    first_ranks, second_ranks = (dict(zip(r.names, r.ranks.tolist())) for r in (one, two))
    rows = [[str(first_ranks[n]), str(second_ranks[n]), printable(n)] for n, _ in one.top(10)]
    print()
    _terminal.show_table([first.name, second.name, "feature"], rows)


@app.command()
def doctor() -> None:
    """Check the installation and run a self-test.

    Versions, threads, the state of the compiled kernels, and a small ranking by every method.
    """
    from .doctor import examine

    if not examine():
        raise typer.Exit(1)


def _command() -> str:
    return shlex.join(["semirank", *sys.argv[1:]])


def _check_outputs(out: list[Path] | None) -> None:
    from ..results.files import check_path

    for path in out or []:
        check_path(path)


def _ranked(
    X: Any, y: Any, params: dict[str, Any], notes: list[str], origin: dict[str, str], quiet: bool
) -> Ranking:
    """Rank with progress; what was decided on the way is in the ranking's notes, and said."""
    if not quiet:
        for note in notes:
            _terminal.say(note)
        _terminal.say_if_compiling(params.get("method", "auto"))
    from .. import rank as rank_features

    notes = list(notes)
    caught: list[str] = []
    with _terminal.collected_warnings(caught), _terminal.progress(quiet) as progress:
        ranking = _terminal.interruptible(lambda: rank_features(X, y, progress=progress, **params))
    said = len(notes)
    notes = list(dict.fromkeys([*notes, *ranking.notes, *caught]))
    if not quiet:
        for note in notes[said:]:
            _terminal.say(note)
    return replace(ranking, notes=notes, origin=origin)


def _deliver(ranking: Ranking, out: list[Path] | None, *, as_json: bool, quiet: bool) -> None:
    """Write the files, then print: JSON, or a table unless the files were all that was wanted."""
    for path in out or []:
        ranking.save(path)
    if as_json:
        from ..results.files import to_json

        print(to_json(ranking))
    elif not (quiet and out):
        print(f"{ranking.summary()}\n")
        _terminal.show(repr(ranking.top(20)))
        if len(ranking) > 20:
            print(f"   … and {len(ranking) - 20} more")
    if not quiet:
        sys.stdout.flush()
        for path in out or []:
            _terminal.say(f"wrote {path}")


@cache  # a process may run several commands
def _add_commands() -> None:
    """Commands that live in modules of their own, each with register(app)."""
    from . import datasets, evaluate, study

    for module in (datasets, evaluate, study):
        module.register(app)


def _invoke() -> int:
    _add_commands()
    command = typer.main.get_command(app)
    # Not command.main(): it would treat interrupts, closed pipes and errors its own way.
    try:
        with command.make_context("semirank", sys.argv[1:]) as context:
            command.invoke(context)
    except typer.Exit as stop:
        return stop.exit_code
    sys.stdout.flush()
    return 0


def main() -> None:
    """Run the command that `sys.argv` holds, and leave."""
    _terminal.leave(_terminal.run(_invoke))


def program() -> None:
    """Entry point of the program `semirank`.

    The libraries leave hundreds of thousands of objects that live until the end; to look through them for
    garbage, while they are imported and once more at the end, takes longer than many a ranking.
    """
    gc.set_threshold(50_000)
    try:
        main()
    finally:
        gc.freeze()


if __name__ == "__main__":
    program()
