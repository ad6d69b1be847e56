"""The store of a study: one SQLite file that survives kills and is shared by concurrent runs."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from ..runtime.messages import plural
from .job import Job, Study
from .records import Record

if TYPE_CHECKING:
    from .rankings import JobRanking

# "SEMI" as a number: tells a store from the databases of other programs.
_APPLICATION = 0x53454D49
_FORMAT = 1
# A run says this often that it is alive; a claim this old belongs to nobody.
BEAT_SECONDS = 15.0
DEAD_SECONDS = 120.0
_WAIT_SECONDS = 60.0  # for another run that is writing
_SAVE = "PRAGMA wal_checkpoint(PASSIVE)"  # what is written so far goes from sqlite's log into the file

_PLACE = ("dataset", "fold", "n_labeled", "family")
_PLACE_COLUMNS = ", ".join(_PLACE)
OF_RANKING = (*_PLACE, "side", "score")
_OF_RESULT = tuple(name for name in Record._fields if name not in Job._fields)
_SQL_TYPES = {str: "TEXT", int: "INTEGER", float: "REAL", bool: "INTEGER"}


def _columns(row: type[Job | Record], names: Sequence[str]) -> str:
    """Definitions of columns, each with a constraint of its own name that keeps out other types and inf."""
    found = []
    for name in names:
        kind: Any = get_type_hints(row)[name]
        sql = _SQL_TYPES[get_args(kind)[0] if get_args(kind) else kind]
        check = f"typeof(\"{name}\") IN ('{sql.lower()}', 'null')"
        check += f' AND abs("{name}") < 9e999' if sql == "REAL" else ""
        required = "" if get_args(kind) else " NOT NULL"
        found.append(f'"{name}" {sql}{required} CONSTRAINT "{name}" CHECK ({check})')
    return ", ".join(found)


_TABLES = (
    "CREATE TABLE study (preset TEXT NOT NULL, numbers TEXT NOT NULL, seed INTEGER NOT NULL "
    "CONSTRAINT seed CHECK (typeof(seed) = 'integer'))",
    f"CREATE TABLE jobs ({_columns(Job, Job._fields)}, owner TEXT, beat REAL, "
    f"PRIMARY KEY ({_PLACE_COLUMNS}), UNIQUE (key), "
    "CONSTRAINT state CHECK (state IN ('missing', 'claimed', 'done', 'failed')))",
    f"CREATE TABLE results (key TEXT NOT NULL REFERENCES jobs (key), {_columns(Record, _OF_RESULT)}, "
    "PRIMARY KEY (key, side, score, pool, k), CONSTRAINT setting CHECK "
    "(CASE WHEN json_valid(setting) THEN json_type(setting) = 'object' ELSE 0 END))",
    "CREATE TABLE properties (dataset TEXT NOT NULL, sha256 TEXT NOT NULL, name TEXT NOT NULL, "
    "value REAL NOT NULL, PRIMARY KEY (dataset, name))",
)
# Those that came later: a store made before gets them when it is first written to.
_LATER_TABLES = (
    "CREATE TABLE IF NOT EXISTS rankings (key TEXT NOT NULL REFERENCES jobs (key), side TEXT NOT NULL, "
    "score TEXT NOT NULL, importances BLOB NOT NULL, PRIMARY KEY (key, side, score))",
    # Runs that have not ended, and until when all they did is in the file itself.
    "CREATE TABLE IF NOT EXISTS runs (owner TEXT PRIMARY KEY, saved REAL NOT NULL)",
    "CREATE TABLE IF NOT EXISTS left_out (dataset TEXT PRIMARY KEY, why TEXT NOT NULL, "
    "in_folder INTEGER NOT NULL)",
)
_JOB_COLUMNS = ", ".join(f'"{name}"' for name in Job._fields)
NEW_JOB = f"INSERT INTO jobs ({_JOB_COLUMNS}) VALUES ({', '.join('?' * len(Job._fields))})"
_NEW_RESULT = f"INSERT INTO results (key, {', '.join(_OF_RESULT)}) VALUES (?{', ?' * len(_OF_RESULT)})"
_NEW_RANKING = "INSERT INTO rankings (key, side, score, importances) VALUES (?, ?, ?, ?)"
_AT_PLACE = " AND ".join(f"{name} = ?" for name in _PLACE)
_WHO_HAS = f"SELECT key, state, owner, beat FROM jobs WHERE {_AT_PLACE}"
_NOBODY = ("", "unknown", "", 0.0)


class StoreError(ValueError):
    """The store cannot be read or written; the message is one sentence for the user."""


class Store(AbstractContextManager["Store"]):
    """A store, open for reading and writing (or `read_only`).

    Parameters
    ----------
    path : path
    study : Study, optional
        Makes the store where there is none; one that holds another study is refused.
    read_only : bool, default=False

    Attributes
    ----------
    lost : str
        A sentence if the file came away from its log, and with it from finished jobs; else "".

    Examples
    --------
    >>> import tempfile
    >>> from semirank.study.plan import PRESETS
    >>> path = Path(tempfile.mkdtemp()) / "study.sqlite"
    >>> with Store(path, Study(PRESETS["quick"], 0, None)) as store:
    ...     store.jobs()
    []
    """

    def __init__(self, path: str | PathLike[str], study: Study | None = None, *, read_only: bool = False):
        self.path = Path(path)
        # With a token, because the system reuses process numbers.
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        # Where sqlite writes first, until it brings it into the file itself.
        self._log = self.path.with_name(self.path.name + "-wal")
        # Checked before sqlite makes a new one. An empty one means nothing: readers leave such files behind.
        self._has_log = self._log.exists() and self._log.stat().st_size > 0
        with self._said():
            self._connection = self._open(study, read_only)
            try:
                self._make_ready(study)
                self.lost = self._look_for_losses(read_only)
            except BaseException:
                self._connection.close()
                raise

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; all that was finished is in it."""
        self._connection.close()

    def preset_and_seed(self) -> tuple[str, int]:
        """Which study this is."""
        return self._execute("SELECT preset, seed FROM study")[0]

    def add(self, jobs: Iterable[Job]) -> None:
        """Plan jobs; those that are known already stay as they are."""
        with self._transaction() as cursor:
            # What was never done may be planned anew, from changed data or by a newer version.
            new = "key = excluded.key, sha256 = excluded.sha256, cost = excluded.cost WHERE state = 'missing'"
            cursor.executemany(f"{NEW_JOB} ON CONFLICT ({_PLACE_COLUMNS}) DO UPDATE SET {new}", list(jobs))

    def jobs(self) -> list[Job]:
        """All planned jobs, cheapest first; a claim that nobody works on any more counts as missing."""
        query = f"SELECT {_JOB_COLUMNS}, owner, beat FROM jobs ORDER BY cost, {_PLACE_COLUMNS}"
        found = []
        for *columns, owner, beat in self._execute(query):
            job = Job(*columns)
            abandoned = job.state == "claimed" and _is_abandoned(owner, beat)
            found.append(job._replace(state="missing") if abandoned else job)
        return found

    def claim(self, job: Job, *, retry: bool = False) -> bool:
        """Take a job, unless it is done or another run that is alive has it.

        `retry` takes failed jobs too, and those whose result came from other data or an older version.
        """
        with self._transaction() as cursor:
            key, state, owner, beat = cursor.execute(_WHO_HAS, job.place).fetchone() or _NOBODY
            left = state == "claimed" and self._may_take_over(owner, beat)
            again = retry and (state == "failed" or (state == "done" and key != job.key))
            if not (state == "missing" or left or again):
                return False
            _forget(cursor, key)
            query = (
                "UPDATE jobs SET key = ?, sha256 = ?, cost = ?, state = 'claimed', owner = ?, beat = ?, "
                f"job_seconds = NULL, error = NULL WHERE {_AT_PLACE}"
            )
            cursor.execute(query, (job.key, job.sha256, job.cost, self.owner, time.time(), *job.place))
            return True

    def beat(self) -> None:
        """Say that this run is alive, and bring what is finished into the file itself, to be copied."""
        now = time.time()
        query = "UPDATE jobs SET beat = ? WHERE owner = ? AND state = 'claimed'"
        self._execute(query, (now, self.owner))
        self._execute("INSERT OR REPLACE INTO runs (owner, saved) VALUES (?, ?)", (self.owner, now))
        self._execute(_SAVE)

    def release(self) -> None:
        """End this run: give back its claims, and bring all that is finished into the file itself."""
        query = "UPDATE jobs SET state = 'missing', owner = NULL WHERE owner = ? AND state = 'claimed'"
        self._execute(query, (self.owner,))
        self._execute("DELETE FROM runs WHERE owner = ?", (self.owner,))
        self._execute(_SAVE)

    def finish(
        self, job: Job, records: Sequence[Record], seconds: float, rankings: Iterable[JobRanking] = ()
    ) -> None:
        """Write the results of a job, all or none."""
        with self._transaction() as cursor:
            query = "UPDATE jobs SET state = 'done', owner = NULL, job_seconds = ? WHERE key = ?"
            cursor.execute(query, (seconds, job.key))
            if cursor.rowcount:  # not planned anew by another run, which believed this one dead
                # The other run may have done the job as well.
                _forget(cursor, job.key)
                insert_results(cursor, job.key, records)
                cursor.executemany(_NEW_RANKING, [(job.key, *ranking.packed()) for ranking in rankings])

    def fail(self, job: Job, error: str, seconds: float) -> None:
        """Write why a job failed."""
        query = "UPDATE jobs SET state = 'failed', owner = NULL, job_seconds = ?, error = ? WHERE key = ? "
        self._execute(f"{query} AND state != 'done'", (seconds, error, job.key))

    def records(self) -> list[Record]:
        """Everything that was judged."""
        columns = ", ".join(f'jobs."{n}"' if n in Job._fields else f"results.{n}" for n in Record._fields)
        rows = self._execute(
            f"SELECT {columns} FROM results JOIN jobs USING (key) WHERE state = 'done' "
            f"ORDER BY {_PLACE_COLUMNS}, side, score, pool, k"
        )
        place = Record._fields.index("greater_is_better")
        return [Record._make((*row[:place], bool(row[place]), *row[place + 1 :])) for row in rows]

    def rankings(self) -> list[tuple]:
        """`OF_RANKING` and the packed importances, for every ranking of finished jobs that is kept."""
        if not self._has("rankings"):
            return []
        columns = ", ".join(OF_RANKING)
        query = f"SELECT {columns}, importances FROM rankings JOIN jobs USING (key) WHERE state = 'done' "
        return self._execute(f"{query} ORDER BY {columns}")

    def leave_out(self, missing: Iterable[tuple[str, str]], broken: Iterable[tuple[str, str]]) -> None:
        """Write which data sets a run could not plan, and why: not in the folder, or not to be opened."""
        with self._transaction() as cursor:
            cursor.execute("DELETE FROM left_out")
            for in_folder, some in enumerate((missing, broken)):
                rows = [(name, why, in_folder) for name, why in some]
                cursor.executemany("INSERT OR REPLACE INTO left_out VALUES (?, ?, ?)", rows)

    def left_out(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """(name, why) of data sets that the last run over a whole folder could not plan, and no other did."""
        found: tuple[list, list] = ([], [])
        if self._has("left_out"):
            query = "SELECT dataset, why, in_folder FROM left_out "
            query += "WHERE dataset NOT IN (SELECT dataset FROM jobs) ORDER BY rowid"
            for name, why, in_folder in self._execute(query):
                found[in_folder].append((name, why))
        return found

    def take_in(self, rows: Iterable[tuple[Job, list[Record]]]) -> int:
        """Add jobs that are done or failed elsewhere; what is done here stays. Returns how many came in."""
        came = 0
        with self._transaction() as cursor:
            for job, records in rows:
                _, state, owner, beat = cursor.execute(_WHO_HAS, job.place).fetchone() or _NOBODY
                runs = state == "claimed" and not _is_abandoned(owner, beat)
                if runs or state in ("done", job.state):
                    continue
                cursor.execute(f"DELETE FROM jobs WHERE {_AT_PLACE}", job.place)
                cursor.execute(NEW_JOB, job)
                insert_results(cursor, job.key, records)
                came += 1
        return came

    def properties(self) -> dict[str, dict[str, float]]:
        """Numbers about data sets, by data set and name."""
        found: dict[str, dict[str, float]] = {}
        for dataset, name, value in self._execute("SELECT dataset, name, value FROM properties"):
            found.setdefault(dataset, {})[name] = value
        return found

    def keep_property(self, dataset: str, sha256: str, name: str, value: float) -> None:
        """Write a number about a data set."""
        query = "INSERT OR REPLACE INTO properties (dataset, sha256, name, value) VALUES (?, ?, ?, ?)"
        self._execute(query, (dataset, sha256, name, value))

    def _open(self, study: Study | None, read_only: bool) -> sqlite3.Connection:
        if not read_only and study is not None:
            folder = self.path.absolute().parent
            if not folder.is_dir():
                raise StoreError(f"{self.path} cannot be made: the folder {folder} does not exist.")
        elif not self.path.exists():
            raise StoreError(f"There is no store {self.path}; `semirank study run` makes one.")
        if self.path.is_dir():
            raise StoreError(f"{self.path} is a folder; name a file for the store.")
        mode = "ro" if read_only else "rwc" if study is not None else "rw"
        uri = self.path.absolute().as_uri()
        connection = _connect(f"{uri}?mode={mode}")
        if read_only:
            try:
                connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            except sqlite3.DatabaseError as error:
                connection.close()
                if self._has_log or not isinstance(error, sqlite3.OperationalError):
                    raise
                # A folder that cannot be written has no room for the files that sqlite reads along with.
                connection = _connect(f"{uri}?immutable=1")
        return connection

    def _make_ready(self, study: Study | None) -> None:
        """Begin a store or look at the one that is there."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                if study is not None:
                    self._begin(study)
                self._check(study)
                return
            except sqlite3.OperationalError as error:
                # While another run is creating the same store, sqlite refuses at once instead of waiting.
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def _begin(self, study: Study) -> None:
        """Turn an empty file into a store."""
        if self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return
        self._connection.execute("PRAGMA journal_mode = WAL")
        with self._transaction() as cursor:
            # Another run may have come first.
            if cursor.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return
            for statement in (*_TABLES, *_LATER_TABLES):
                cursor.execute(statement)
            cursor.execute(f"PRAGMA application_id = {_APPLICATION}")
            cursor.execute(f"PRAGMA user_version = {_FORMAT}")
            values = (study.preset.name, _numbers(study), study.seed)
            cursor.execute("INSERT INTO study (preset, numbers, seed) VALUES (?, ?, ?)", values)
        self._connection.execute(_SAVE)

    def _check(self, study: Study | None) -> None:
        execute = self._connection.execute
        if execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
            empty = execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
            if empty and not self._has_log and execute("PRAGMA journal_mode").fetchone()[0] == "wal":
                told = f"is empty without its file {self._log.name}"
                raise StoreError(f"{self.path} {told}; copy both, or start anew.")
            raise StoreError(f"{self.path} is not a store of semirank; name another file.")
        version = execute("PRAGMA user_version").fetchone()[0]
        if version != _FORMAT:
            told = f"has format {version}, this semirank writes format {_FORMAT}"
            raise StoreError(f"{self.path} {told}; use the version that made it, or another file.")
        if study is None:
            return
        preset, numbers, seed = execute("SELECT preset, numbers, seed FROM study").fetchone()
        held, wanted = f"{preset!r} with seed {seed}", f"{study.preset.name!r} with seed {study.seed}"
        if held != wanted:
            raise StoreError(f"{self.path} holds the preset {held}, not {wanted}; name another file.")
        if numbers != _numbers(study):
            other = f"holds the preset {preset!r} with other numbers, from another version of semirank"
            raise StoreError(f"{self.path} {other}; name another file.")

    def _look_for_losses(self, read_only: bool) -> str:
        """What a store lost if it was copied or moved without its log during a run."""
        if not read_only:
            for statement in _LATER_TABLES if not self._has("left_out") else ():
                self._connection.execute(statement)
        elif not self._has("runs"):
            return ""
        runs = self._execute("SELECT owner, saved FROM runs")
        if self._has_log and not read_only:  # sqlite has read the log: ended runs lost nothing
            for owner in [owner for owner, saved in runs if _is_abandoned(owner, saved)]:
                self._execute("DELETE FROM runs WHERE owner = ?", (owner,))
        if self._has_log or not runs:
            return ""
        saved = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(max(saved for _, saved in runs)))
        running = self._execute("SELECT count(*) FROM jobs WHERE state = 'claimed'")[0][0]
        return (
            f"{self.path} came away from its file {self._log.name} while a run went on: jobs finished "
            f"after {saved} may be missing ({plural(running, 'job')} had begun by then); run again to do them"
        )

    def _has(self, table: str) -> bool:
        query = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
        return bool(self._execute(query, (table,))[0][0])

    def _may_take_over(self, owner: str, beat: float) -> bool:
        """Whether a claim is ours, or its run is gone; one with our process number can only be gone."""
        same_process = owner.rsplit(":", 1)[0] == f"{socket.gethostname()}:{os.getpid()}"
        return owner == self.owner or same_process or _is_abandoned(owner, beat)

    def _execute(self, query: str, values: Sequence[Any] = ()) -> list[tuple]:
        with self._said(), closing(self._connection.execute(query, values)) as cursor:
            return cursor.fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Cursor]:
        """All changes inside or none; the write lock is taken first, so what is read inside stays valid."""
        with self._said(), self._connection:  # which commits, or rolls back
            yield self._connection.execute("BEGIN IMMEDIATE")

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Errors of the database in words."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            told = _TOLD.get(code, "cannot be used")
            raise StoreError(f"The store {self.path} {told} ({error}).") from error


_TOLD = {
    sqlite3.SQLITE_NOTADB: "is not a store of semirank; name another file",
    sqlite3.SQLITE_CORRUPT: "is damaged; take up a copy or an export of it",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full; what was finished is kept, make room and run again",
    sqlite3.SQLITE_IOERR: "cannot be read or written; what was finished is kept, look at the disk",
    sqlite3.SQLITE_READONLY: "cannot be written; change its permissions or name another file",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; look at its name and permissions",
    sqlite3.SQLITE_BUSY: "is in use by another program that does not let go; try again later",
}


def scratch_tables() -> sqlite3.Connection:
    """The empty tables of a store, in memory; what their constraints refuse belongs in no store."""
    connection = _connect(":memory:")
    for statement in _TABLES:
        connection.execute(statement)
    return connection


def insert_results(cursor: sqlite3.Cursor, key: str, records: Iterable[Record]) -> None:
    """Write judged values of the job with this key."""
    rows = [(key, *(getattr(record, name) for name in _OF_RESULT)) for record in records]
    cursor.executemany(_NEW_RESULT, rows)


def _forget(cursor: sqlite3.Cursor, key: str) -> None:
    """Take away what was written of a job."""
    for table in ("results", "rankings"):
        cursor.execute(f"DELETE FROM {table} WHERE key = ?", (key,))


def _connect(uri: str) -> sqlite3.Connection:
    # isolation_level None: transactions are ours alone.
    connection = sqlite3.connect(uri, uri=True, timeout=_WAIT_SECONDS, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _numbers(study: Study) -> str:
    return json.dumps(study.preset.numbers(), sort_keys=True)


def _is_abandoned(owner: str, beat: float) -> bool:
    """Whether the run that made a claim is gone."""
    host, pid, _ = owner.rsplit(":", 2)
    # A beat in the future comes from a clock that was wrong; a living run corrects it with its next beat.
    silent = abs(time.time() - beat) > DEAD_SECONDS
    return silent or (host == socket.gethostname() and not _process_lives(int(pid)))


def _process_lives(pid: int) -> bool:
    try:
        if os.name != "nt":  # on Windows there is no harmless way to ask; the beat will show it
            os.kill(pid, 0)
    except OSError as error:  # any other error means that the process exists but belongs to another user
        return not isinstance(error, ProcessLookupError)
    return True
