"""The commands `datasets list`, `datasets info` and `datasets fetch`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import terminal
from .options import Json, Quiet, group

if TYPE_CHECKING:
    from ..datasets.registry import Entry

Name = Annotated[str, typer.Argument(metavar="NAME", help="As the list shows it.")]
Data = Annotated[
    Path | None,
    typer.Option(
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


datasets = group("datasets", "The data sets of the study: which there are, and how to get them.")


@datasets.command("list")
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
    terminal.show_table(["data set", "task", "printed size", "parts", "here"], rows)
    print(f"\n{len(found.present)} of {len(every)} are here.")
    for name, reason in why.items():
        print(f"{name}: {reason}")


@datasets.command()
def info(name: Name, data: Data = None, as_json: Json = False) -> None:
    """Tell what is known of a data set.

    Task, sizes printed in the paper and counted here, and where to get it.
    """
    from ..datasets.manifest import SIZES, sizes
    from ..datasets.registry import available, data_folder, find, open_dataset
    from ..results.text_table import text_table

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
    rows += [["parts", _split(entry)], ["source", entry.source.where or "your own manifest"]]
    rows += [["licence", entry.source.licence]] if entry.source.licence else []
    rows += [["on OpenML", str(entry.source.openml)]] if entry.source.openml else []
    rows += [["original file", file.url] for file in (*entry.source.files, *entry.source.unseen)]
    if here is None:
        rows.append(["here", f"no, {why[entry.name]}"])
    else:
        rows += [[f"here: {SIZES[key]}", str(value)] for key, value in here.items() if key in SIZES]
        rows += [["here: rows of the train part", str(opened.n_train)]] if opened.n_train else []
        rows.append(["sha256", opened.sha256])
    print(text_table(rows[0], rows[1:]))


@datasets.command()
def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME...", help="As the list shows them."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every data set that can be fetched.")] = False,
    to: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Else the folder SEMIRANK_DATA names, else the cache."),
    ] = None,
    openml: Annotated[bool, typer.Option("--openml", help="Take the copies that OpenML has.")] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Only download the original files, also those no recipe uses.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Put data sets into a folder, each checked and whole or not at all.

    Commands that take --data find them there. What is there already is left alone, so that a command that
    was interrupted goes on where it stopped.
    """
    from ..datasets.download import UnreachableError, fetch_raw
    from ..datasets.download import fetch as fetch_whole
    from ..datasets.registry import entries, find

    if bool(names) == every:
        raise ValueError("Name the data sets to fetch, or give --all; `semirank datasets list` shows them.")
    if raw and openml:
        raise ValueError("--raw and --openml exclude each other: OpenML's copies are not the original files.")
    chosen = [find(name) for name in dict.fromkeys(names or ())]
    chosen = chosen or [entry for entry in entries() if _is_offered(entry, raw, openml)]
    failed: list[str] = []
    with terminal.progress(quiet) as progress:
        for i, entry in enumerate(chosen):
            if progress is not None and len(chosen) > 1:
                progress(i, len(chosen), "data sets")
            try:
                if raw:
                    home = fetch_raw(entry.name, to, progress=progress)
                else:
                    home = fetch_whole(entry.name, to, openml=openml, progress=progress)
            except (ValueError, ConnectionError) as error:
                if len(chosen) == 1 or isinstance(error, UnreachableError):
                    raise
                terminal.say(f"{entry.name}: {error}")
                failed.append(entry.name)
            else:
                print(f"{entry.name} is in {home}; licence: {entry.source.licence}")
    if failed:
        missing = f"{len(failed)} of {len(chosen)} data sets could not be fetched: {', '.join(failed)}."
        raise ValueError(f"{missing} The same command asks for these alone again.")


def _is_offered(entry: Entry, raw: bool, openml: bool) -> bool:
    """Whether --all means this data set."""
    source = entry.source
    if openml:
        return source.openml is not None
    return bool(source.files or source.unseen) if raw else source.kind in ("bundled", "recipe")


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


def _as_dict(entry: Entry, why: dict[str, str]) -> dict[str, Any]:
    source = entry.source
    shown = ("name", "task", "group", "stand_in_for", "predefined_split")
    files = {key: [file._asdict() for file in getattr(source, key)] for key in ("files", "unseen")}
    return {
        **{key: getattr(entry, key) for key in shown},
        "printed": dict(entry.printed),
        "source": {key: getattr(source, key) for key in ("kind", "where", "licence", "openml")} | files,
        "here": entry.name not in why,
        "why_not": why.get(entry.name),
    }
