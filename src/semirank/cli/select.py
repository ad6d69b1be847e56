"""`semirank select`: a table reduced to the first features of a ranking."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from . import terminal
from .options import Decimal, Missing, Nominal, Numeric, Quiet
from .results import check_outputs

SHOWN = 12  # names of features that are printed


def select(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="The table as .arff, .csv, .tsv, .xlsx or .parquet; several are put together.",
        ),
    ],
    ranking: Annotated[
        Path,
        typer.Option(
            "--ranking",
            "-r",
            metavar="FILE",
            help="A saved ranking (.json, .csv, .fimp) or evaluation (.json).",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The table: .csv, .tsv or .parquet.")
    ],
    top: Annotated[
        int | None,
        typer.Option(
            "--top", "-n", metavar="N", min=1, help="Features; by default what the evaluation says."
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target", "-t", metavar="COLUMN", help="By default the target of the ranking; may repeat."
        ),
    ] = None,
    numeric: Numeric = None,
    nominal: Nominal = None,
    missing: Missing = None,
    decimal: Decimal = None,
    quiet: Quiet = False,
) -> None:
    """Write a table with the first features of a ranking and the target, all rows as they were read.

    The number of features comes from --top, or from the evaluation that was saved with
    `semirank evaluate --out FILE.json`.
    """
    from ..data.choose_columns import find_columns
    from ..data.dataset import read_file_columns
    from ..data.read_files import FileOptions
    from ..data.write_table import FORMATS, write_table
    from ..results.ranking import Ranking
    from ..results.text_table import printable
    from ..runtime.messages import did_you_mean, plural, short

    check_outputs([out], FORMATS)
    found = Ranking.load(ranking)
    chosen = found.select(_how_many(ranking, len(found), top))
    if out.resolve() in [path.resolve() for path in files]:
        raise ValueError(f"{out} is the table itself; name another file, so that nothing is lost.")
    options = FileOptions(missing or (), decimal or "auto", numeric or (), nominal or ())
    raw, columns = read_file_columns(files, options)
    place = {name: j for j, name in enumerate(raw.names)}
    for name in chosen:
        if name not in place:
            near = did_you_mean(name, place)
            raise ValueError(
                f"{ranking.name} ranks {short(name)}, which is no column of {files[0].name}{near}."
            )
    if target:
        targets = list(find_columns(target, raw.names, files[0].name))
    else:
        targets = [place[name] for name in found.target_names if name in place]
    kept = [place[name] for name in chosen if place[name] not in targets] + targets
    write_table(out, [raw.names[j] for j in kept], [columns[j] for j in kept])
    if quiet:
        return
    more = f" and {len(chosen) - SHOWN} more" if len(chosen) > SHOWN else ""
    print(f"{len(chosen)} of {len(found)} features: {', '.join(map(printable, chosen[:SHOWN]))}{more}")
    sys.stdout.flush()
    if not targets:
        terminal.say("the ranking names no target column of this table; --target adds one")
    named = f" and the target {', '.join(raw.names[j] for j in targets)}" if targets else ""
    terminal.say(f"wrote {out}: {plural(len(raw.part), 'row')}, {plural(len(chosen), 'feature')}{named}")


def _how_many(path: Path, n_features: int, top: int | None) -> int:
    if top is not None:
        if top > n_features:
            raise ValueError(f"--top {top} is more than the {n_features} features of {path.name}.")
        return top
    values = json.loads(path.read_text(encoding="utf-8")) if path.suffix.lower() == ".json" else {}
    if "n_keep" not in values:
        raise ValueError(f"{path.name} does not say how many features to keep; say it with --top.")
    if values["n_keep"] is None:
        raise ValueError(
            f"The evaluation {path.name} found that no number of features is better than a guess: label more "
            "rows, or say --top."
        )
    return int(values["n_keep"])
