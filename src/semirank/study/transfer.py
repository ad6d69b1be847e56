"""Stores as files: what a run needs to go on elsewhere as CSV or Parquet, and rankings as arrays.

A CSV or Parquet file has one row per judged value.
"""

from __future__ import annotations

import csv
import gzip
import io
import sqlite3
import zlib
from collections.abc import Iterable
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Any, get_type_hints

from ..results.csv_cells import csv_text, original_cell
from ..runtime.atomic_write import atomic_write
from ..runtime.messages import short
from ..runtime.optional import optional
from .job import Job, Study
from .plan import WORTH_NAME, find_preset, judged_values
from .records import Record
from .store import NEW_JOB, OF_RANKING, Store, insert_results, scratch_tables

FORMATS = (".csv", ".csv.gz", ".parquet")

# A failed job has one row, without the columns of a judged value.
_NUMBERS = {"seed": int, "cost": float, "job_seconds": float}
_OF_JOB = ("preset", "seed", "key", "sha256", "state", "error", "cost", "job_seconds")
_COLUMNS: dict[str, type] = {name: _NUMBERS.get(name, str) for name in _OF_JOB} | get_type_hints(Record)
_EXPECTED = {
    str: "text",
    int: "a whole number below 2**63",
    float: "a finite number",
    bool: "True or False",
    "state": "done or failed",
    "setting": "a JSON object",
}
Jobs = dict[str, tuple[Job, list[Record]]]  # by their keys


def export_store(store: str | PathLike[str], out: str | PathLike[str], *, short: bool = False) -> int:
    """Write all finished and failed jobs to a file; returns the number of jobs.

    Parameters
    ----------
    store : path
    out : path
        Ends in .csv, .csv.gz or .parquet.
    short : bool, default=False
        For the preset "worth", whose records hold importances: write what the tables need of them instead.
        Jobs of such a file count as done like others. Those of older versions of a method are left out.
    """
    kind = check_format(out)
    with Store(store, read_only=True) as opened:
        preset, seed = opened.preset_and_seed()
        jobs = {job.place: job for job in opened.jobs() if job.state in ("done", "failed")}
        found = opened.records()
    if short:
        if preset != WORTH_NAME:
            raise ValueError(
                f"Only records of the preset {WORTH_NAME!r} have a short form, not of {preset!r}."
            )
        from .worth_records import short_form

        jobs, found = short_form(jobs, found, seed)
    judged = [(jobs[r.dataset, r.fold, r.n_labeled, r.family], r._asdict()) for r in found]
    judged += [(job, {}) for job in jobs.values() if job.state == "failed"]
    study = {"preset": preset, "seed": seed}
    cells = [study | job._asdict() | values for job, values in judged]
    rows = [{name: row.get(name) for name in _COLUMNS} for row in cells]
    if kind == ".parquet":
        atomic_write(out, _parquet(rows))
    else:
        raw = csv_text(_COLUMNS, (row.values() for row in rows)).encode()
        # No time inside, so that the same store gives the same file.
        atomic_write(out, gzip.compress(raw, mtime=0) if kind == ".csv.gz" else raw)
    return len(jobs)


def export_rankings(store: str | PathLike[str], out: str | PathLike[str]) -> int:
    """Write the rankings of all finished jobs that have them to an .npz file; returns their number.

    Jobs that were imported, or done before rankings were kept, have none.

    Parameters
    ----------
    store : path
    out : path
        Ends in .npz. The arrays ``dataset``, ``fold``, ``n_labeled``, ``family``, ``side`` and ``score`` have
        one element for each ranking; the importances of ranking i, in the order of the data set's features,
        are ``importances[start[i]:start[i + 1]]``. ``preset`` and ``seed`` say which study it is.
    """
    if not str(out).lower().endswith(".npz"):
        raise ValueError(f"{out} must end in .npz: rankings are written as arrays of NumPy.")
    with Store(store, read_only=True) as opened:
        preset, seed = opened.preset_and_seed()
        rows = opened.rankings()
    if not rows:
        raise ValueError(
            f"{store} holds no rankings: its jobs were imported, or done before rankings were kept."
        )
    import numpy as np

    from .rankings import unpacked

    *columns, contents = zip(*rows)
    importances = [unpacked(content) for content in contents]
    arrays: dict[str, Any] = {"preset": preset, "seed": seed} | dict(zip(OF_RANKING, columns))
    arrays["start"] = np.cumsum([0, *map(len, importances)])
    arrays["importances"] = np.concatenate(importances)
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    atomic_write(out, stream.getvalue())
    return len(rows)


def import_store(store: str | PathLike[str], path: str | PathLike[str]) -> tuple[int, int]:
    """Add the jobs of an exported file to a store, made if it is not there.

    What is done in the store stays as it is.

    Returns
    -------
    n_added, n_jobs : int
        Jobs that were new to the store, and jobs in the file.
    """
    kind = check_format(path)
    try:
        rows = _read_parquet(Path(path)) if kind == ".parquet" else _read_csv(Path(path), kind)
        studies, jobs = _checked(rows)
    except (UnicodeDecodeError, csv.Error, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ValueError(f"{path} cannot be read ({error}); export it again.") from error
    except ValueError as error:
        raise ValueError(f"{path} is not an export of a study: {error}") from error
    if not jobs:
        raise ValueError(f"{path} holds no jobs.")
    if len(studies) > 1:
        raise ValueError(f"{path} holds several studies; import each from a file of its own.")
    ((preset, seed),) = studies
    study = Study(find_preset(preset), seed, None)
    for job, records in jobs.values():
        if job.state == "done" and (fault := _fault(job, records, study)):
            # Half a job would count as done and never be done again.
            raise ValueError(f"{path}: {job.describe()} has {fault}; export it again.")
    with Store(store, study) as opened:
        return opened.take_in(jobs.values()), len(jobs)


def _checked(rows: Iterable[dict[str, Any]]) -> tuple[set[tuple[str, int]], Jobs]:
    """The studies in a file, and its jobs by their keys; the constraints of a store's tables check them."""
    studies: set[tuple[str, int]] = set()
    jobs: Jobs = {}
    with closing(scratch_tables()) as tables:
        for number, given in enumerate(rows, start=1):
            row = {name: _value(given.get(name), kind) for name, kind in _COLUMNS.items()}
            job = Job(*(row[name] for name in Job._fields))
            try:
                if (study := (row["preset"], row["seed"])) not in studies:
                    tables.execute("INSERT INTO study VALUES (?, '', ?)", study)
                    studies.add(study)
                if job.state in ("missing", "claimed"):  # known to a store, but in no export
                    raise sqlite3.IntegrityError("CHECK constraint failed: state")
                if job.key not in jobs:
                    tables.execute(NEW_JOB, job)
                first, records = jobs.setdefault(job.key, (job, []))
                if first != job:
                    raise ValueError(f"row {number} is of another job than those before with its key.")
                if job.state == "done":
                    records.append(Record(*(row[name] for name in Record._fields)))
                    insert_results(tables.cursor(), job.key, records[-1:])
            except sqlite3.IntegrityError as error:
                raise ValueError(f"row {number} {_refusal(str(error), given)}.") from error
    return studies, jobs


def _value(given: Any, kind: type) -> Any:
    """A cell as its column wants it, None if it is empty; what does not fit is left to the constraints."""
    if given is None or given == "":
        return None
    if kind is bool:
        return {"True": True, "False": False}.get(str(given), given)
    try:
        value = kind(given)
    except (TypeError, ValueError, OverflowError):
        return given
    return str(given) if kind is int and value.bit_length() > 63 else value


def _refusal(error: str, given: dict[str, Any]) -> str:
    """What is wrong with a row, from the constraint that it violates."""
    rule, _, columns = error.partition(" constraint failed: ")
    if rule == "UNIQUE":
        return "holds what a row before it holds"
    column = columns.rpartition(".")[2]
    if given.get(column) in (None, ""):
        return f"has nothing in the column {column!r}"
    expected = _EXPECTED.get(column, _EXPECTED[_COLUMNS[column]])
    return f"has {short(given[column])} in the column {column!r}, not {expected}"


def _fault(job: Job, records: list[Record], study: Study) -> str | None:
    """What is wrong with the values of a finished job."""
    from .worth_plan import worth_values

    is_worth = study.preset.name == WORTH_NAME
    expected = worth_values(job) if is_worth else judged_values(job.family, study.preset)
    found = {(r.side, r.score, r.pool, r.k) for r in records}
    if missing := expected - found:
        return f"{len(expected) - len(missing)} of {len(expected)} values"
    if unknown := found - expected:
        return f"a value that is no part of it ({', '.join(map(str, min(unknown)))})"
    return None


def write_status(jobs: Iterable[Job], out: str | PathLike[str]) -> Path:
    """Write all planned jobs with their states to ``status.csv`` in a folder."""
    path = Path(out) / "status.csv"
    atomic_write(path, csv_text(Job._fields, jobs))
    return path


def check_format(path: str | PathLike[str]) -> str:
    """The ending of a file that can be exported to or imported from."""
    for kind in reversed(FORMATS):
        if str(path).lower().endswith(kind):
            return kind
    raise ValueError(f"{path} must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    pyarrow, parquet = _pyarrow()
    kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in _COLUMNS.items()])
    sink = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema), sink)
    return sink.getvalue()


def _read_csv(path: Path, kind: str) -> Iterable[dict[str, Any]]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if kind == ".csv.gz" else raw).decode("utf-8-sig")
    for row in csv.DictReader(io.StringIO(text, newline=""), strict=True):
        yield {k: original_cell(value) if isinstance(value, str) else value for k, value in row.items()}


def _read_parquet(path: Path) -> Iterable[dict[str, Any]]:
    pyarrow, parquet = _pyarrow()
    raw = path.read_bytes()
    try:
        return parquet.read_table(io.BytesIO(raw)).to_pylist()
    except pyarrow.ArrowException as error:
        raise ValueError(" ".join(str(error).split())) from error


def _pyarrow() -> tuple[Any, Any]:
    complaint = "Parquet files need pyarrow; install semirank[study], or use .csv.gz."
    return optional("pyarrow", complaint), optional("pyarrow.parquet", complaint)
