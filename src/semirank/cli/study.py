"""The commands `study run|status|export|import|tables|figures|report`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..runtime.progress import duration
from . import terminal
from .options import group

if TYPE_CHECKING:
    from ..study.job import Job
    from ..study.records import Record
    from ..study.run import Pace, RunProgress, Summary
    from ..study.store import Store

study = group("study", "Run the paper's experiment and make its tables and figures.")

StoreFile = Annotated[
    Path, typer.Option("--store", "-s", metavar="FILE", help="The SQLite file of the study.")
]
DataFolder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="A folder with a manifest.json; else SEMIRANK_DATA."),
]
Clustered = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="A folder with the data, to compute the clustering hypothesis from."),
]
OutFolder = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Made if it is not there.")]
_LOG_SECONDS = 30.0


@study.command()
def run(
    store: StoreFile,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="More data sets after --only.")
    ] = None,
    preset: Annotated[str, typer.Option(metavar="NAME", help="quick, paper or worth.")] = "quick",
    data: DataFolder = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this data set and those that follow.")
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            "-m",
            metavar="NAME",
            help="random_forest, extra_trees, bagging, relief, laplace or equal (no ranking); the preset "
            "worth has others; may repeat.",
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", help="Processes; by default one per core.")
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Send the jobs to a Dask scheduler, or to one made here: local."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0)] = 0,
    retry: Annotated[bool, typer.Option("--retry", help="Do failed and outdated jobs again.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only what was not done.")] = False,
) -> None:
    """Do all jobs of a study that are not done yet.

    Every finished job is in the store at once; the same command goes on after an interruption. The exit code
    is 0 only if no job is left.
    """
    from ..study.plan import JOB_FAMILIES
    from ..study.run import run_study

    for name in names or ():
        if name in JOB_FAMILIES:
            raise ValueError(f"{name!r} is a method, not a data set; write --methods before each method.")
    with _progress(quiet) as (progress, say):
        found = run_study(
            preset,
            store=store,
            data=data,
            only=[*(only or ()), *(names or ())],
            methods=methods or (),
            n_jobs=jobs,
            dask=dask,
            seed=seed,
            retry=retry,
            progress=progress,
            say=say,
        )
    first, *rest = summary_lines(found)
    for line in rest if quiet else [first, *rest]:  # what was not done is told in any case
        terminal.say(line)
    if found.failed or found.failed_before or found.elsewhere or found.broken:
        raise typer.Exit(1)


def summary_lines(found: Summary) -> list[str]:
    """What a run did, in words."""
    from ..study.run import left_out_lines

    older = "were done with other data or an older version and are kept; --retry does them again"
    others = {
        "failed; `study status` says why, --retry tries them again": found.failed,
        "failed in another run; --retry tries them again": found.failed_before,
        older: found.outdated,
        "left to another run; run again if it stops": found.elsewhere,
    }
    lines = [f"jobs: {found.done} done, {found.kept} were done already"]
    lines += [f"jobs: {count} {words}" for words, count in others.items() if count]
    return [*lines, *left_out_lines(found.missing, found.broken)]


@study.command()
def status(
    store: StoreFile,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Write every job with its state to status.csv there."
        ),
    ] = None,
) -> None:
    """Say how far a study is."""
    from ..study.paper import paper_names
    from ..study.run import Pace, left_out_lines
    from ..study.store import Store
    from ..study.transfer import write_status

    with Store(store, read_only=True) as opened:
        preset, seed = opened.preset_and_seed()
        rows, left_out, lost = opened.jobs(), opened.left_out(), opened.lost
    pace = Pace(row for row in rows if row.state == "done")
    names = sorted({row.dataset for row in rows}, key=str.lower)
    table = [_status_row(name, [row for row in rows if row.dataset == name], pace) for name in names]
    print(f"preset {preset}, seed {seed}\n")
    terminal.show_table(["data set", "done", "failed", "running", "missing", "took", "left"], table)
    total = _status_row("all", rows, pace)
    print(f"\n{total[1]} of {len(rows)} jobs done in {total[5]} of computing, {total[6] or 'none'} left")
    for line in [*([lost] if lost else []), *left_out_lines(*left_out)]:
        print(line)
    known = {*names, *(name for some in left_out for name, _ in some)}
    if absent := [name for name in paper_names() if name not in known]:
        print(f"not planned, of the paper's {len(paper_names())} data sets: {', '.join(absent)}")
    failed = [row for row in rows if row.state == "failed"]
    for row in failed[:10]:
        print(f"failed: {row.describe()}: {row.error}")
    if len(failed) > 10:
        print(f"... and {len(failed) - 10} more")
    if out is not None:
        _tell([write_status(rows, _made(out))])


def _status_row(name: str, rows: list[Job], pace: Pace) -> list[str]:
    count = {state: sum(row.state == state for row in rows) for state in ("done", "failed", "claimed")}
    missing = len(rows) - sum(count.values())
    took = sum(row.job_seconds or 0.0 for row in rows if row.state == "done")
    to_do = [row for row in rows if row.state in ("claimed", "missing")]
    left = pace.seconds(to_do)
    words = "?" if left is None else duration(left) if to_do else ""
    counts = [str(n) if n else "" for n in (count["failed"], count["claimed"], missing)]
    return [name, str(count["done"]), *counts, duration(took), words]


@study.command()
def export(
    store: StoreFile,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help=".csv, .csv.gz or .parquet")
    ] = None,
    short: Annotated[
        bool,
        typer.Option("--short", help="Of the preset worth, what the tables need instead of importances."),
    ] = False,
    rankings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the importances of the features too: .npz")
    ] = None,
) -> None:
    """Write the finished jobs to a file, from which a run can go on elsewhere."""
    from ..study.store import Store
    from ..study.transfer import export_rankings, export_store

    if out is None and rankings is None:
        raise ValueError("There is nothing to write; name a file with --out, with --rankings, or both.")
    if out is not None:
        with Store(store, read_only=True) as opened:
            _warn_of_losses(opened)
        terminal.say(f"wrote {export_store(store, out, short=short)} jobs to {out}")
    if rankings is not None:
        terminal.say(f"wrote {export_rankings(store, rankings)} rankings to {rankings}")


@study.command(name="import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="From `study export`.")],
    store: StoreFile,
) -> None:
    """Take the jobs of an exported file into a store; what is done there stays."""
    from ..study.transfer import import_store

    added, n_jobs = import_store(store, file)
    terminal.say(f"{added} of {n_jobs} jobs were new to {store}")


@study.command()
def tables(store: StoreFile, out: OutFolder, data: Clustered = None) -> None:
    """Write the tables, beside the paper's figures, as Markdown and CSV."""
    from ..study.plan import WORTH_NAME
    from ..study.tables import write_tables
    from ..study.worth_page import write_worth_tables

    found, jobs, preset, seed = _finished(store)
    properties = _properties(store, data)
    if preset == WORTH_NAME:
        _tell(write_worth_tables(found, _made(out), jobs=jobs, properties=properties, seed=seed))
    else:
        _tell(write_tables(found, _made(out), jobs=jobs, properties=properties))


@study.command()
def figures(store: StoreFile, out: OutFolder, data: Clustered = None) -> None:
    """Draw the curves over the number of labels and the critical-difference diagrams."""
    from ..study.figures import write_figures
    from ..study.plan import WORTH_NAME
    from ..study.worth_figures import write_worth_figures
    from ..study.worth_page import worth_results

    found, jobs, preset, seed = _finished(store)
    if preset == WORTH_NAME:
        results, _, _ = worth_results(found, jobs, seed)
        _tell(write_worth_figures(results, _made(out), _properties(store, data)))
    else:
        _tell(write_figures(found, _made(out)))


@study.command()
def report(store: StoreFile, out: OutFolder, data: Clustered = None) -> None:
    """Write one HTML page with all tables and figures."""
    from ..study.report import page_path, write_report

    found, jobs, preset, seed = _finished(store, for_page=True)
    states = [job.state for job in jobs]
    notes = [f"Preset {preset} with seed {seed}: {states.count('done')} of {len(states)} jobs are done."]
    if failed := states.count("failed"):
        notes.append(f"{failed} jobs failed.")
    properties = _properties(store, data)
    _made(page_path(out).parent)
    _tell(write_report(found, out, jobs=jobs, properties=properties, notes=notes))


@contextmanager
def _progress(quiet: bool) -> Iterator[tuple[Callable[[RunProgress], None] | None, Callable[[str], None]]]:
    """A bar on a terminal, a line now and then in a log, or nothing; and how to say something meanwhile."""
    if quiet:
        yield None, lambda text: None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("jobs"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
        console = Console(stderr=True, highlight=False)
        with Bar(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=None)

            def draw(now: RunProgress) -> None:
                bar.update(task, completed=now.done + now.failed, total=now.total, description=_words(now))

            yield draw, lambda text: console.print(text, markup=False)
    else:
        last = -_LOG_SECONDS

        def log(now: RunProgress) -> None:
            nonlocal last
            if time.monotonic() - last >= _LOG_SECONDS:
                last = time.monotonic()
                terminal.say(f"{now.done + now.failed} of {now.total} jobs, {_words(now)}")

        yield log, terminal.say


def _words(now: RunProgress) -> str:
    failed = f"{now.failed} failed, " if now.failed else ""
    left = "time left not known yet" if now.seconds_left is None else f"{duration(now.seconds_left)} left"
    return failed + left


def _finished(store: Path, *, for_page: bool = False) -> tuple[list[Record], list[Job], str, int]:
    """What was judged, all jobs, the preset and the seed; the page is of the paper's experiment alone."""
    from ..study.plan import WORTH_NAME
    from ..study.store import Store

    with Store(store, read_only=True) as opened:
        preset, seed = opened.preset_and_seed()
        if for_page and preset == WORTH_NAME:
            raise ValueError(
                f"{store} holds the preset {WORTH_NAME!r}, which has tables and figures, but no page."
            )
        _warn_of_losses(opened)
        found, jobs = opened.records(), opened.jobs()
    if not found:
        raise ValueError(f"{store} holds no finished job yet; `semirank study run` does them.")
    return found, jobs, preset, seed


def _warn_of_losses(opened: Store) -> None:
    if opened.lost:
        terminal.say(opened.lost)


def _properties(store: Path, data: Path | None) -> dict[str, dict[str, float]]:
    from ..study.properties import dataset_properties

    return dataset_properties(store, data, terminal.say)


def _made(folder: Path) -> Path:
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; name a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _tell(written: list[Path]) -> None:
    for path in written:
        terminal.say(f"wrote {path}")
