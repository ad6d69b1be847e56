"""Options and help that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..data.tasks import TASKS
from ..rankers.methods import DEFAULT, IMPORTANCES, METHODS
from ..rankers.presets import PRESET_METHOD, PRESETS

Task = StrEnum("Task", ["auto", *TASKS])  # type: ignore[misc]  # names that are not literals


Method = StrEnum("Method", ["auto", *METHODS])  # type: ignore[misc]
Preset = StrEnum("Preset", list(PRESETS))  # type: ignore[misc]

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Data as .arff, .csv, .tsv, .xlsx or .parquet; several are put together, - is a pipe. Or the "
        "name of a data set that `semirank datasets list` shows.",
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="Name, pattern ('TAG_*'), or positions from 0 as 72-77,80; may repeat.",
    ),
]
Features = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Rank only these; may repeat."),
]
Numeric = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Numbers, whose other words are missing; may repeat."),
]
Nominal = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Names, even if they look like numbers; may repeat."),
]
Missing = Annotated[
    list[str] | None, typer.Option(metavar="WORD", help="Also stands for a missing value; may repeat.")
]
Unlabeled = Annotated[
    str | None, typer.Option(metavar="WORD", help="Value of the target that means not labelled.")
]
Decimal = Annotated[
    str | None, typer.Option(metavar="SIGN", help="Decimal mark of CSV files: , or . (recognised otherwise).")
]
Drop = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Leave these out; may repeat.")]
TaskOption = Annotated[Task, typer.Option("--task", help="Kind of target; auto infers it and says so.")]
_WORDS = "; ".join(f"{name}: {method.words}" for name, method in METHODS.items())
MethodOption = Annotated[
    Method, typer.Option("--method", "-m", help=f"How to rank; auto is {DEFAULT}. {_WORDS}.")
]
PresetOption = Annotated[
    Preset | None,
    typer.Option("--preset", help=f"Settings of the paper's experiments; alone it means {PRESET_METHOD}."),
]
Importance = Annotated[
    list[str] | None,
    typer.Option(
        "--importance", "-i", metavar="NAME", help=f"{', '.join(IMPORTANCES)}; of forests, may repeat."
    ),
]
Labels = Annotated[int | None, typer.Option(metavar="L", help="Keep L labels at random and hide the others.")]
LabelsFrom = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Target column with label sets such as a;b;c (empty: not known)."),
]
HierarchyFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Text file, on each line a/b/c or parent,child."),
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


PlainCsv = Annotated[
    bool,
    typer.Option("--plain-csv", help="In .csv, no ' before names that a spreadsheet would run as formulas."),
]


def group(name: str, what: str) -> typer.Typer:
    """A group of commands."""
    return typer.Typer(
        name=name, help=what, rich_markup_mode=None, invoke_without_command=True, callback=help_if_alone
    )


def help_if_alone(context: typer.Context) -> None:
    """A group of commands without one of them shows what there is."""
    if context.invoked_subcommand is None:
        print(context.get_help())
