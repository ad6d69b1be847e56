"""`python -m benchmarks.quality --store FILE [--out DIR]`: what unlabelled rows are worth.

Runs what is left of the study preset `worth`, which may be stopped at any time (Ctrl-C) and goes on when
called again; then writes the tables, one page with the coverage above them, and the records.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from semirank.study import Store, export_store, run_study
from semirank.study.run import RunProgress
from semirank.study.worth_tables import PAGE, write_worth_tables

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
    parser.add_argument("--tables", action="store_true", help="run nothing, only write what is known")
    options = parser.parse_args()
    try:
        if not options.tables:
            _run(options)
        _write(options.store, options.out)
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
            progress=log,
            say=_say,
        )
        _say(f"{found.done} jobs done, {found.kept} were done already, {found.failed} failed")
    except KeyboardInterrupt:
        _say("stopped; the tables hold what is done so far")


def _write(store: Path, out: Path) -> None:
    with Store(store, read_only=True) as opened:
        records, jobs = opened.records(), opened.jobs()
    if not records:
        raise ValueError(f"{store} holds no finished job yet.")
    write_worth_tables(records, out, jobs=jobs)
    export_store(store, out / "records.csv.gz")
    print((out / PAGE).read_text(encoding="utf-8"))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
