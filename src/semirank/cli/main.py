"""The program `semirank`. Heavy parts are imported inside the commands, so that --help stays quick."""

from __future__ import annotations

import gc
import sys
from typing import Annotated

import typer

from .. import __version__
from . import compare, datasets, demo, describe, doctor, evaluate, rank, select, study, terminal
from .options import help_if_alone
from .precompile import stop_precompiling

app = typer.Typer(
    name="semirank",
    help="Rank features when only some rows are labelled.",
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"semirank {__version__}")
    else:
        help_if_alone(context)


for command in (
    rank.rank, evaluate.evaluate, select.select, compare.compare, describe.describe, demo.demo, doctor.doctor,
):  # fmt: skip
    app.command()(command)
for group in (datasets.datasets, study.study):
    app.add_typer(group)


def _invoke() -> int:
    found = typer.main.get_command(app)
    # Not found.main(), which would handle interrupts, closed pipes and errors in its own way.
    try:
        with found.make_context("semirank", sys.argv[1:]) as context:
            found.invoke(context)
    except typer.Exit as stop:
        return stop.exit_code
    finally:
        stop_precompiling()
    sys.stdout.flush()
    return 0


def main() -> None:
    """Run the command that `sys.argv` holds, and leave."""
    terminal.speak_plainly()
    terminal.leave(terminal.run(_invoke))


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
