"""Stores as CSV or Parquet: one row per judged value, with all that lets a run go on elsewhere."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import zlib
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, get_type_hints

from ..runtime.atomic_write import write_whole
from .plan import Study, find_preset, judged_values
from .records import Record
from .store import JobRow, Store, describe

FORMATS = (".csv", ".csv.gz", ".parquet")

# A failed job has one row, without the columns of a judged value.
_COLUMNS: dict[str, type] = {
    "preset": str,
    "seed": int,
    "key": str,
    "sha256": str,
    "state": str,
    "error": str,
    "cost": float,
    "job_seconds": float,
} | get_type_hints(Record)
_OPTIONAL = {"error", "job_seconds"} | {name for name in Record._fields if name not in JobRow._fields}


def export_store(store: str | PathLike[str], out: str | PathLike[str]) -> int:
    """Write all finished and failed jobs to a file; returns the number of jobs.

    Parameters
    ----------
    store : path
    out : path
        Ends in .csv, .csv.gz or .parquet.
    """
    kind = check_format(out)
    with Store(store, read_only=True) as opened:
        preset, seed = opened.preset_and_seed()
        jobs = {row.place: row for row in opened.jobs() if row.state in ("done", "failed")}
        found = opened.records()
    rows = [_row(preset, seed, jobs[r.dataset, r.fold, r.n_labeled, r.family], r) for r in found]
    rows += [_row(preset, seed, job, None) for job in jobs.values() if job.state == "failed"]
    if kind == ".parquet":
        write_whole(out, _parquet(rows))
    else:
        raw = _csv(_COLUMNS, (row.values() for row in rows)).encode()
        # No time inside, so that the same store gives the same file.
        write_whole(out, gzip.compress(raw, mtime=0) if kind == ".csv.gz" else raw)
    return len(jobs)


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
        read = _read_parquet(Path(path)) if kind == ".parquet" else _read_csv(Path(path), kind)
        rows = [_typed(row, number) for number, row in enumerate(read, start=1)]
    except (UnicodeDecodeError, csv.Error, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ValueError(f"{path} cannot be read ({error}); export it again.") from error
    except ValueError as error:
        raise ValueError(f"{path} is not an export of a study: {error}") from error
    if not rows:
        raise ValueError(f"{path} holds no jobs.")
    studies = {(row["preset"], row["seed"]) for row in rows}
    if len(studies) > 1:
        raise ValueError(f"{path} holds several studies; import each from a file of its own.")
    ((preset, seed),) = studies
    study = Study(find_preset(preset), seed, None)
    jobs: dict[str, tuple[JobRow, list[Record]]] = {}
    for number, row in enumerate(rows, start=1):
        here = JobRow(*(row[n] for n in JobRow._fields))
        job, records = jobs.setdefault(here.key, (here, []))
        if job != here:
            raise ValueError(f"{path}: row {number} is of another job than those before with its key.")
        if job.state == "done":
            records.append(Record(*(row[n] for n in Record._fields)))
    for job, records in jobs.values():
        if job.state == "done" and (fault := _fault(job, records, study)):
            # Half a job would count as done and never be done again.
            raise ValueError(f"{path}: {describe(job)} has {fault}; export it again.")
    with Store(store, study) as opened:
        return opened.take_in(jobs.values()), len(jobs)


def _fault(job: JobRow, records: list[Record], study: Study) -> str | None:
    """What is wrong with the values of a finished job."""
    expected = judged_values(job.family, study.preset)
    found = [(r.side, r.score, r.pool, r.k) for r in records]
    if len(set(found)) < len(found):
        return "a value twice"
    if missing := expected - set(found):
        return f"{len(expected) - len(missing)} of {len(expected)} values"
    if unknown := set(found) - expected:
        return f"a value that is no part of it ({', '.join(map(str, min(unknown)))})"
    return None


def write_status(jobs: Iterable[JobRow], out: str | PathLike[str]) -> Path:
    """Write all planned jobs with their states to ``status.csv`` in a folder."""
    path = Path(out) / "status.csv"
    write_whole(path, _csv(JobRow._fields, jobs))
    return path


def check_format(path: str | PathLike[str]) -> str:
    """The ending of a file that can be exported to or imported from."""
    for kind in reversed(FORMATS):
        if str(path).lower().endswith(kind):
            return kind
    raise ValueError(f"{path} must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")


def _row(preset: str, seed: int, job: JobRow, record: Record | None) -> dict[str, Any]:
    values = {"preset": preset, "seed": seed} | job._asdict() | (record._asdict() if record else {})
    return {name: values.get(name) for name in _COLUMNS}


def _csv(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    pyarrow, parquet = _pyarrow()
    kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in _COLUMNS.items()])
    sink = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema), sink)
    return sink.getvalue()


def _read_csv(path: Path, kind: str) -> Iterator[dict[str, Any]]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if kind == ".csv.gz" else raw).decode("utf-8-sig")
    return csv.DictReader(io.StringIO(text, newline=""), strict=True)


def _read_parquet(path: Path) -> list[dict[str, Any]]:
    pyarrow, parquet = _pyarrow()
    raw = path.read_bytes()
    try:
        return parquet.read_table(io.BytesIO(raw)).to_pylist()
    except pyarrow.ArrowException as error:
        raise ValueError(" ".join(str(error).split())) from error


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow; install semirank[study], or use .csv.gz.") from error
    return pyarrow, parquet


def _typed(row: dict[str, Any], number: int) -> dict[str, Any]:
    """The cells of a row as what they are; empty ones as None where that may be."""
    found: dict[str, Any] = {}
    for name, kind in _COLUMNS.items():
        value = row.get(name)
        if value is None or value == "":
            if name not in _OPTIONAL or (row.get("state") == "done" and name not in ("error", "job_seconds")):
                raise ValueError(f"row {number} has nothing in the column {name!r}.")
            found[name] = None
        elif kind is bool:
            found[name] = value if isinstance(value, bool) else {"True": True, "False": False}.get(value)
            if found[name] is None:
                raise ValueError(f"row {number} has {value!r} in the column {name!r}, not True or False.")
        else:
            try:
                found[name] = kind(value)
            except (TypeError, ValueError):
                raise ValueError(
                    f"row {number} has {value!r} in the column {name!r}, not a number."
                ) from None
            if kind is float and not math.isfinite(found[name]):
                raise ValueError(f"row {number} has {value!r} in the column {name!r}, not a finite number.")
            if kind is int and abs(found[name]) >= 2**63:  # the store has no larger ones
                raise ValueError(f"row {number} has {value!r} in the column {name!r}, which is too large.")
    if found["state"] not in ("done", "failed"):
        raise ValueError(f"row {number} has the state {found['state']!r}, not done or failed.")
    if found["state"] == "done" and not _is_object(found["setting"]):
        raise ValueError(f"row {number} has {found['setting']!r} in the column 'setting', not a JSON object.")
    return found


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (json.JSONDecodeError, RecursionError):
        return False
