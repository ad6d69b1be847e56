"""`python -m benchmarks.quality --store FILE [--out DIR] [--page FILE]`: what unlabelled rows are worth.

Runs what is left of the study preset `worth`, which may be stopped at any time (Ctrl-C) and goes on when
called again; then writes the tables, the figures and the short form of the records, and one page of the most
important tables and figures with the coverage above them.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from pathlib import Path

from semirank.datasets.registry import data_folder
from semirank.runtime.atomic_write import atomic_write
from semirank.study import Store, export_store, run_study
from semirank.study.figures import Picture, drawn
from semirank.study.properties import dataset_properties
from semirank.study.run import RunProgress
from semirank.study.table_format import save_tables
from semirank.study.worth_figures import worth_pictures
from semirank.study.worth_page import worth_page, worth_results, worth_tables

_LOG_SECONDS = 60.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality")
    parser.add_argument(
        "--store", type=Path, required=True, help="the SQLite file of the study, made if needed"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results/worth"), help="folder for tables and records"
    )
    parser.add_argument("--data", type=Path, help="a folder with a manifest.json; else SEMIRANK_DATA")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these data sets")
    parser.add_argument(
        "--methods", nargs="+", default=[], metavar="NAME", help="only these methods, or controls"
    )
    parser.add_argument("--jobs", type=int, help="processes; by default one per core")
    parser.add_argument(
        "--page",
        type=Path,
        default=Path("docs/quality.md"),
        help="the page; figures go to images beside it",
    )
    parser.add_argument("--tables", action="store_true", help="run nothing, only write what is known")
    options = parser.parse_args()
    try:
        if not options.tables:
            _run(options)
        _write(options)
    except ValueError as error:
        parser.error(str(error))


def _run(options: argparse.Namespace) -> None:
    last = -_LOG_SECONDS

    def log(now: RunProgress) -> None:
        nonlocal last
        if time.monotonic() - last >= _LOG_SECONDS:
            last = time.monotonic()
            left = "" if now.seconds_left is None else f", about {now.seconds_left / 60:.0f} minutes left"
            _say(f"{now.done + now.failed} of {now.total} jobs{left}")

    try:
        found = run_study(
            "worth",
            store=options.store,
            data=options.data,
            only=options.only,
            methods=options.methods,
            n_jobs=options.jobs,
            retry=True,  # the page shows methods as they are now
            progress=log,
            say=_say,
        )
        _say(f"{found.done} jobs done, {found.kept} were done already, {found.failed} failed")
    except KeyboardInterrupt:
        _say("stopped; the tables hold what is done so far")


def _write(options: argparse.Namespace) -> None:
    store, out, page = options.store, options.out, options.page
    with Store(store, read_only=True) as opened:
        records, jobs = opened.records(), opened.jobs()
        _, seed = opened.preset_and_seed()
    if not records:
        raise ValueError(f"{store} holds no finished job yet.")
    properties = dataset_properties(store, data_folder(options.data), _say)
    found = worth_results(records, jobs, seed)
    tables = worth_tables(*found, properties)
    save_tables(tables, out)
    export_store(store, out / "records.csv.gz", short=True)
    pictures = list(worth_pictures(found[0], properties))
    for folder in (out / "figures", page.parent / "images"):
        folder.mkdir(parents=True, exist_ok=True)
    for picture in pictures:
        atomic_write(out / "figures" / f"{picture.name}.png", small_png(picture))
        atomic_write(page.parent / "images" / f"worth-{picture.name}.png", small_png(picture))
    titles = {picture.name: picture.title for picture in pictures}
    atomic_write(page, worth_page(tables, found[0], titles, "images/worth-"))
    _say(f"wrote {out} and {page}")


def small_png(picture: Picture) -> bytes:
    """A figure reduced to 256 colours: a third of the size."""
    from PIL import Image

    stream = io.BytesIO()
    image = Image.open(io.BytesIO(drawn(picture, "png"))).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(stream, "png", optimize=True)
    return stream.getvalue()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
