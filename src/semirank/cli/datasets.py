"""The commands `datasets list`, `datasets info` and `datasets fetch`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import terminal as _terminal
from .main import Json, Quiet, help_if_alone

if TYPE_CHECKING:
    from ..datasets.registry import Entry

Name = Annotated[str, typer.Argument(metavar="NAME", help="As the list shows it.", show_default=False)]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="FOLDER",
        help="Folder with a manifest.json; else the one SEMIRANK_DATA names, else the cache.",
    ),
]

# What the paper prints of its data sets, in words.
PRINTED = {
    "examples": "rows",
    "features": "features",
    "classes": "classes",
    "labels": "labels",
    "targets": "targets",
    "majority_share": "share of the largest class",
    "label_cardinality": "labels of a row",
    "depth": "depth of the hierarchy",
    "ch": "clustering hypothesis",
}


def register(app: typer.Typer) -> None:
    """Add the commands; `semirank.cli.main` calls this."""
    datasets = typer.Typer(
        name="datasets",
        help="The data sets of the study: which there are, and how to get them.",
        invoke_without_command=True,
        rich_markup_mode=None,
        callback=help_if_alone,
    )
    datasets.command("list")(list_)
    datasets.command()(info)
    datasets.command()(fetch)
    app.add_typer(datasets)


def list_(data: Data = None, as_json: Json = False) -> None:
    """Show every data set, and why some are not here.

    Sizes are those printed in the paper.
    """
    from ..datasets.registry import available, known

    every = known(data)
    found = available(data)
    why = found.why()
    if as_json:
        print(json.dumps([_as_dict(entry, why) for entry in every], ensure_ascii=False))
        return
    rows = [
        [_marked(entry), entry.group, _size(entry), _split(entry), "no" if entry.name in why else "yes"]
        for entry in every
    ]
    _terminal.show_table(["data set", "task", "printed size", "parts", "here"], rows)
    print(f"\n{len(found.present)} of {len(every)} are here.")
    for name, reason in why.items():
        print(f"{name}: {reason}")


def info(name: Name, data: Data = None, as_json: Json = False) -> None:
    """Tell what is known of a data set.

    Task, sizes printed in the paper and counted here, and where to get it.
    """
    from ..datasets.manifest import SIZES, sizes
    from ..datasets.registry import available, data_folder, find, open_dataset

    entry = find(name, data_folder(data))
    why = available(data).why()
    here: dict[str, Any] | None = None
    if entry.name not in why:
        opened = open_dataset(entry.name, data)
        here = {**sizes(opened.dataset), "train_rows": opened.n_train, "sha256": opened.sha256}
    if as_json:
        print(json.dumps({**_as_dict(entry, why), "counted": here}, ensure_ascii=False))
        return
    rows = [["data set", _marked(entry)], ["task", entry.task]]
    rows += [[f"printed: {PRINTED[key]}", f"{value + 0.0:g}"] for key, value in entry.printed.items()]
    rows += [["parts", _split(entry)], ["source", _source(entry)]]
    if here is None:
        rows.append(["here", f"no, {why[entry.name]}"])
    else:
        rows += [[f"here: {SIZES[key]}", str(value)] for key, value in here.items() if key in SIZES]
        rows += [["here: rows of the train part", str(opened.n_train)]] if opened.n_train else []
        rows.append(["sha256", opened.sha256])
    width = max(len(row[0]) for row in rows)
    for label, value in rows:
        print(f"{label.ljust(width)}  {value}")


def fetch(
    name: Name,
    to: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Else the folder SEMIRANK_DATA names, else the cache."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Put a data set into a folder, checked and whole or not at all.

    Commands that take --data find it there.
    """
    from ..datasets.download import fetch as fetch_whole

    with _terminal.progress(quiet) as progress:
        home = fetch_whole(name, to, progress=progress)
    print(home)


def _marked(entry: Entry) -> str:
    return f"{entry.name} [stands in for {entry.stand_in_for}]" if entry.stand_in_for else entry.name


def _size(entry: Entry) -> str:
    printed = entry.printed
    if not printed:
        return "-"
    kinds = {key: printed[key] for key in ("classes", "labels", "targets") if key in printed}
    last = ", ".join(f"{number:g} {key if number != 1 else key[:-1]}" for key, number in kinds.items())
    return f"{printed['examples']:g} x {printed['features']:g}, {last}"


def _split(entry: Entry) -> str:
    return "train and test" if entry.predefined_split else "one"


def _source(entry: Entry) -> str:
    kind, where = entry.source.kind, entry.source.where
    if kind == "openml":
        return f"OpenML {entry.source.openml}; originally from {where}"
    if kind == "folder":
        return f"by hand, from {where}" if where else "your own manifest"
    return where


def _as_dict(entry: Entry, why: dict[str, str]) -> dict[str, Any]:
    return {
        "name": entry.name,
        "task": entry.task,
        "group": entry.group,
        "printed": dict(entry.printed),
        "stand_in_for": entry.stand_in_for,
        "predefined_split": entry.predefined_split,
        "source": {
            "kind": entry.source.kind,
            "where": entry.source.where,
            "openml": entry.source.openml,
            "files": [file._asdict() for file in entry.source.files],
        },
        "here": entry.name not in why,
        "why_not": why.get(entry.name),
    }
