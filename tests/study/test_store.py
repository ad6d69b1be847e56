"""The store: claims, transactions, damage, and the way out and back in."""

from __future__ import annotations

import csv
import gzip
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from semirank.study import PRESETS, Store, StoreError, export_store, import_store
from semirank.study import store as module
from semirank.study.plan import Job, Study
from semirank.study.rankings import JobRanking, unpacked
from semirank.study.records import Record

from ..optional import needs_pyarrow
from .study_folder import read_records

QUICK = Study(PRESETS["quick"], 0, None)


def make_job(number: int = 0, key: str | None = None) -> Job:
    task = "classification"
    return Job("Digits", number, 50, "relief", task, task, "sha", key or f"key{number}", 1.0 + number)


def make_records(job: Job) -> list[Record]:
    first = (job.dataset, job.task, job.group, job.fold, 50, 49, 599, job.family)
    last = (0.1 + 0.2, 1 / 3, '{"k": 15}')
    return [
        Record(*first, side, "relief", pool, k, "macro F1", True, (k + job.fold) / 7, *last)
        for side in ("sl", "ssl")
        for pool in ("all", "labelled")
        for k in (20, 40)
    ]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.sqlite"


def filled(path, n_done: int = 2, n_failed: int = 1, n_missing: int = 1) -> list[Job]:
    jobs = [make_job(i) for i in range(n_done + n_failed + n_missing)]
    with Store(path, QUICK) as store:
        store.add(jobs)
        for job in jobs[: n_done + n_failed]:
            assert store.claim(job)
        for job in jobs[:n_done]:
            store.finish(job, make_records(job), 1.5)
        for job in jobs[n_done : n_done + n_failed]:
            store.fail(job, 'ValueError: "quoted", with comma\nand a line', 0.5)
    return jobs


def test_what_is_written_comes_back(path):
    jobs = filled(path)
    assert read_records(path) == [r for job in jobs[:2] for r in make_records(job)]
    with Store(path, read_only=True) as store:
        assert [row.state for row in store.jobs()] == ["done", "done", "failed", "missing"]
        assert store.preset_and_seed() == ("quick", 0)
        assert store.jobs()[2].error.startswith("ValueError")
        assert type(store.records()[0].greater_is_better) is bool


def test_planning_twice_changes_nothing(path):
    jobs = filled(path)
    before = read_records(path)
    with Store(path, QUICK) as store:
        rows = store.jobs()
        store.add(jobs)
        assert store.jobs() == rows
    assert read_records(path) == before


def test_a_job_is_claimed_once(path):
    job = make_job()
    with Store(path, QUICK) as one, Store(path, QUICK) as two:
        one.add([job])
        # As if the second were another program on another machine.
        one.owner, two.owner = "elsewhere:1:a", "elsewhere:2:b"
        assert one.claim(job)
        assert not two.claim(job)
        one.release()
        assert two.claim(job)
        two.finish(job, make_records(job), 1.0)
        assert not one.claim(job)
        assert not one.claim(job, retry=True)
        assert not one.claim(make_job(7))  # nobody planned it


def test_claims_race_without_doubles(path):
    """Four connections in threads claim the same sixty jobs."""
    jobs = [make_job(i) for i in range(60)]
    with Store(path, QUICK) as store:
        store.add(jobs)
    got: list[int] = []

    def work(number: int) -> None:
        with Store(path, QUICK) as store:
            store.owner = f"host{number}:1:x"
            got.extend(job.fold for job in jobs if store.claim(job))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == list(range(60))


def test_runs_that_start_at_once_make_one_store(tmp_path):
    for number in range(10):
        path, ready, wrong = tmp_path / f"{number}.sqlite", threading.Barrier(4), []

        def begin(path=path, ready=ready, wrong=wrong) -> None:
            ready.wait()
            try:
                Store(path, QUICK).close()
            except StoreError as error:
                wrong.append(str(error))

        threads = [threading.Thread(target=begin) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        with Store(path, read_only=True) as store:
            assert store.preset_and_seed() == ("quick", 0)


@pytest.mark.skipif(os.name == "nt", reason="there is no harmless way to ask for a process")
def test_claims_of_dead_runs_are_taken_over(path, monkeypatch):
    job = make_job()
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    host = socket.gethostname()
    with Store(path, QUICK) as store:
        store.add([job])
        mine = store.owner
        for owner, free in (
            (f"{host}:{child.pid}:t", True),  # that process is gone
            (f"{host}:{os.getpid()}:t", True),  # it had our number, so it is gone too
            (f"{host}:{os.getppid()}:t", False),
            ("other-host:1:t", False),
        ):
            store.owner = owner
            assert store.claim(job)
            store.owner = mine
            assert store.claim(job) == free
            store.owner = owner
            store.release()
            store.owner = mine
            store.release()
        store.owner = "other-host:1:t"
        assert store.claim(job)
        store.owner = mine
        now = time.time()
        monkeypatch.setattr(module.time, "time", lambda: now + module.DEAD_SECONDS + 1)
        assert store.claim(job)


def test_a_claim_from_the_future_is_released(path, monkeypatch):
    """It was dated by a clock that was wrong; a run that lives dates its claims anew."""
    job, now = make_job(), time.time()
    with Store(path, QUICK) as store:
        store.add([job])
        mine, store.owner = store.owner, "other-host:1:t"
        monkeypatch.setattr(module.time, "time", lambda: now + 86400)
        assert store.claim(job)
        monkeypatch.setattr(module.time, "time", lambda: now)
        assert store.jobs()[0].state == "missing"
        store.beat()
        assert store.jobs()[0].state == "claimed"
        store.owner = mine
        assert not store.claim(job)
        monkeypatch.setattr(module.time, "time", lambda: now - 2 * module.DEAD_SECONDS)
        assert store.claim(job)


def test_what_is_finished_reaches_the_file_itself(path, tmp_path):
    """A plain copy of the file, without sqlite's log, has all that was finished before the last beat."""
    jobs = [make_job(i) for i in range(3)]
    copy = tmp_path / "copy.sqlite"
    with Store(path, QUICK) as store:
        store.add(jobs)
        store.beat()
        for job in jobs[:2]:
            assert store.claim(job)
        store.finish(jobs[0], make_records(jobs[0]), 1.0)
        store.beat()
        shutil.copyfile(path, copy)
        store.finish(jobs[1], make_records(jobs[1]), 1.0)
        with Store(path, read_only=True) as other:
            assert other.lost == ""
        with Store(copy, read_only=True) as other:
            assert [job.state for job in other.jobs()] == ["done", "claimed", "missing"]
            assert other.records() == make_records(jobs[0])
            first = f"{copy} came away from its file copy.sqlite-wal while a run went on: jobs"
            last = r" finished after [\d-]{10} [\d:]{8} may be missing \(1 job had begun by then\); run .*"
            assert re.fullmatch(re.escape(first) + last, other.lost)
        with Store(copy, read_only=True) as other:  # reading mends nothing, so it is told again
            assert re.fullmatch(re.escape(first) + last, other.lost)
        store.release()
        shutil.copyfile(path, copy)
        with Store(copy, read_only=True) as other:
            assert other.lost == ""
            assert [job.state for job in other.jobs()] == ["done", "done", "missing"]


@pytest.mark.skipif(os.name == "nt", reason="there is no harmless way to ask for a process")
def test_a_killed_run_that_left_its_log_lost_nothing(path):
    code = f"""
import os
from tests.study.test_store import QUICK, Store, make_job, make_records
store = Store({str(path)!r}, QUICK)
store.add([make_job()])
store.beat()
store.claim(make_job())
store.finish(make_job(), make_records(make_job()), 1.0)
os._exit(9)
"""
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 9
    log = path.with_name(path.name + "-wal")
    assert log.exists()
    whole = [(path, path.read_bytes()), (log, log.read_bytes())]
    with Store(path) as store:
        assert (store.lost, len(store.records())) == ("", 8)
    with Store(path) as store:  # the log is gone now, for a good reason
        assert store.lost == ""
    for file, content in whole[:1]:
        file.write_bytes(content)
    with Store(path) as store:
        assert "may be missing" in store.lost
        assert store.records() == []


def test_an_empty_file_without_its_log(tmp_path):
    path = tmp_path / "empty.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    with pytest.raises(StoreError, match=r"is empty without its file empty.sqlite-wal; copy both"):
        Store(path, read_only=True)


def test_a_store_from_before_rankings_were_kept(path, tmp_path):
    jobs = filled(path)
    with sqlite3.connect(path) as connection:
        for table in ("rankings", "runs", "left_out"):
            connection.execute(f"DROP TABLE {table}")
    connection.close()
    with Store(path, read_only=True) as store:
        assert (store.lost, store.rankings(), store.left_out()) == ("", [], ([], []))
    with Store(path, QUICK) as store:
        assert store.claim(jobs[3])
        ranking = JobRanking("ssl", "relief", np.array([0.1, -1e300, 1 / 3]))
        store.finish(jobs[3], make_records(jobs[3]), 1.0, [ranking])
        ((*about, content),) = store.rankings()
        assert tuple(about) == (*jobs[3].place, "ssl", "relief")
        assert unpacked(content).tolist() == ranking.importances.tolist()
        # Done again without a ranking, from other data: the old ranking goes with the old results.
        newer = make_job(3, key="other data")
        assert store.claim(newer, retry=True)
        assert store.rankings() == []
        store.finish(newer, make_records(newer), 1.0)
        assert len(store.records()) == 8 * 3


@pytest.mark.skipif(os.name == "nt", reason="there is no harmless way to ask for a process")
def test_a_claim_of_a_dead_run_is_not_shown_as_running(path, tmp_path):
    child = subprocess.Popen([sys.executable, "-c", ""])
    with Store(path, QUICK) as store:
        store.add([make_job()])
        store.owner = f"{socket.gethostname()}:{child.pid}:t"
        assert store.claim(make_job())
        with Store(path, read_only=True) as other:
            assert other.jobs()[0].state == "claimed"
            child.wait()
            assert other.jobs()[0].state == "missing"
    elsewhere = tmp_path / "elsewhere.sqlite"
    filled(elsewhere, 1, 0, 0)
    export_store(elsewhere, tmp_path / "export.csv")
    assert import_store(path, tmp_path / "export.csv") == (1, 1)
    assert read_records(path) == read_records(elsewhere)


def test_a_process_of_another_user_lives(monkeypatch):
    def refuse(pid, signal):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(module.os, "kill", refuse)
    assert module._process_lives(os.getppid())


def test_a_beat_keeps_a_claim(path, monkeypatch):
    job, now = make_job(), time.time()
    with Store(path, QUICK) as one, Store(path, QUICK) as two:
        one.add([job])
        one.owner = "other-host:1:t"
        assert one.claim(job)
        monkeypatch.setattr(module.time, "time", lambda: now + module.DEAD_SECONDS + 1)
        one.beat()
        assert not two.claim(job)


def test_failed_jobs_wait_for_retry(path):
    jobs = filled(path)
    with Store(path, QUICK) as store:
        assert not store.claim(jobs[2])
        assert store.claim(jobs[2], retry=True)
        store.finish(jobs[2], make_records(jobs[2]), 1.0)
        assert store.jobs()[2].state == "done"
        assert store.jobs()[2].error is None


def test_results_of_other_data_are_kept_until_retry(path):
    filled(path)
    newer = make_job(0, key="made of other data")
    before = read_records(path)
    with Store(path, QUICK) as store:
        store.add([newer])
        assert not store.claim(newer)
        assert store.records() == before
        assert store.claim(newer, retry=True)
        records = [r._replace(value=0.5) for r in make_records(newer)]
        store.finish(newer, records, 1.0)
        assert [r.value for r in store.records() if r.fold == 0] == [0.5] * 8
        # What was never done is simply planned anew.
        store.add([make_job(3, key="newer")])
        assert store.jobs()[3].key == "newer"


def test_a_transaction_is_whole_or_nothing(path):
    job = make_job()
    with Store(path, QUICK) as store:
        store.add([job])
        store.claim(job)
        broken = [*make_records(job), make_records(job)[0]]  # the last one is there twice
        with pytest.raises(StoreError):
            store.finish(job, broken, 1.0)
        assert store.records() == []
        assert store.jobs()[0].state == "claimed"
        store.finish(job, make_records(job), 1.0)
        assert len(store.records()) == 8


def test_another_study_is_refused(path):
    filled(path)
    for study, said in (
        (Study(PRESETS["paper"], 0, None), r"holds the preset 'quick' with seed 0, not 'paper' with seed 0"),
        (QUICK._replace(seed=3), "not 'quick' with seed 3; name another file"),
        (QUICK._replace(preset=replace(QUICK.preset, n_trees=7)), "with other numbers"),
    ):
        with pytest.raises(StoreError, match=said):
            Store(path, study)


def test_files_that_are_no_stores(tmp_path):
    text = tmp_path / "text.sqlite"
    text.write_text("not a database, but long enough to be looked at as one\n" * 50)
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE jobs (a)")
    connection.close()
    before = text.read_bytes(), foreign.read_bytes()
    for path in (text, foreign):
        for arguments in ({"study": QUICK}, {"read_only": True}, {}):
            with pytest.raises(StoreError, match="not a store of semirank"):
                Store(path, **arguments)
    assert (text.read_bytes(), foreign.read_bytes()) == before
    with pytest.raises(StoreError, match="There is no store"):
        Store(tmp_path / "none.sqlite", read_only=True)
    assert not (tmp_path / "none.sqlite").exists()
    with pytest.raises(StoreError, match="is a folder"):
        Store(tmp_path, QUICK)
    with pytest.raises(StoreError, match=r"folder .* does not exist"):
        Store(tmp_path / "no" / "x.sqlite", QUICK)


def test_a_newer_format_is_refused(path):
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="has format 99"):
        Store(path, read_only=True)


def test_a_damaged_store_is_told(path):
    filled(path, n_done=40)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 8192))
    with pytest.raises(StoreError, match=r"is damaged|cannot be used") as caught:
        read_records(path)
    assert "\n" not in str(caught.value)


def test_a_full_disk_loses_nothing(path):
    jobs = filled(path, n_done=2, n_missing=30)
    before = read_records(path)
    with Store(path, QUICK) as store:
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(StoreError, match="the disk is full; what was finished is kept"):
            _finish_all(store, jobs)
    kept = read_records(path)
    assert kept[: len(before)] == before
    assert len(kept) % 8 == 0
    with Store(path, QUICK) as store:  # there is room again
        _finish_all(store, jobs)
    assert len(read_records(path)) == 8 * 32


def _finish_all(store: Store, jobs: list[Job]) -> None:
    for job in jobs:
        if store.claim(job):
            store.finish(job, make_records(job), 1.0)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_store_that_cannot_be_written(path):
    filled(path)
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert len(read_records(path)) == 16
        with pytest.raises(StoreError, match="cannot be"), Store(path, QUICK) as store:
            store.add([make_job(9)])
    finally:
        path.parent.chmod(0o700)


def test_a_read_only_connection_writes_nothing(path):
    jobs = filled(path)
    with Store(path, read_only=True) as store, pytest.raises(StoreError, match="cannot be written"):
        store.claim(jobs[3])


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", pytest.param(".parquet", marks=needs_pyarrow)])
def test_export_and_import_keep_everything(path, tmp_path, suffix):
    filled(path)
    out, other = tmp_path / f"export{suffix}", tmp_path / "other.sqlite"
    assert export_store(path, out) == 3
    first = out.read_bytes()
    assert import_store(other, out) == (3, 3)
    assert read_records(other) == read_records(path)
    with Store(path, read_only=True) as a, Store(other, read_only=True) as b:
        assert b.jobs() == [row for row in a.jobs() if row.state != "missing"]
        assert b.preset_and_seed() == a.preset_and_seed()
    assert import_store(other, out) == (0, 3)
    export_store(other, out)
    assert out.read_bytes() == first
    assert not list(tmp_path.glob(".*.tmp"))


def test_import_keeps_what_is_done_here(path, tmp_path):
    jobs = filled(path, n_done=3, n_failed=1, n_missing=0)
    out, other = tmp_path / "export.csv", tmp_path / "other.sqlite"
    export_store(path, out)
    with Store(other, QUICK) as store:
        store.add(jobs)
        for job in jobs[:3]:
            store.claim(job)
        store.finish(jobs[0], [r._replace(value=0.25) for r in make_records(jobs[0])], 9.0)
        store.fail(jobs[1], "failed here", 1.0)
    # Job 0 is done here, 1 failed here but is done there, 2 is running here, 3 failed there.
    assert import_store(other, out) == (2, 4)
    with Store(other, read_only=True) as store:
        assert [row.state for row in store.jobs()] == ["done", "done", "claimed", "failed"]
        assert {r.value for r in store.records() if r.fold == 0} == {0.25}


def test_bad_exports_are_told(path, tmp_path):
    filled(path)
    out = tmp_path / "export.csv"
    export_store(path, out)
    text = out.read_text()
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    other = tmp_path / "other.sqlite"

    def refuse(content: str | bytes, said: str, name: str = "bad.csv") -> None:
        bad = tmp_path / name
        bad.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(ValueError, match=said) as caught:
            import_store(other, bad)
        assert "\n" not in str(caught.value)
        assert not other.exists()

    refuse("", "holds no jobs")
    refuse("a,b\n1,2\n", "row 1 has nothing in the column 'preset'")
    refuse(
        text.replace(rows[0]["value"], "many"), "row 1 has 'many' in the column 'value', not a finite number"
    )
    refuse(text.replace("True", "yes"), "row 1 has 'yes' in the column 'greater_is_better'")
    refuse(text.replace("done", "fine"), "row 1 has 'fine' in the column 'state', not done or failed")
    refuse(text.replace("done", "missing"), "row 1 has 'missing' in the column 'state', not done or failed")
    refuse(text.replace("quick,0,", "quick,0.5,"), "row 1 has '0.5' in the column 'seed', not a whole number")
    refuse(text.replace("quick,0", "quick,1", 1), "several studies")
    refuse(text.replace("quick", "quik"), r"no preset 'quik'")
    for value in ("inf", "nan"):
        refuse(text.replace(rows[0]["value"], value), f"row 1 has '{value}' in the column 'value', not a fin")
    refuse(text.replace("{", "["), "row 1 has .* in the column 'setting', not a JSON object")
    lines = text.splitlines(keepends=True)
    job = "Digits, fold 0, 50 labels, relief"
    refuse("".join(lines[:6]), f"{job} has 5 of 8 values; export it again")  # cut at the end of a line
    refuse("".join(lines[:3] + lines[4:]), f"{job} has 7 of 8 values")
    refuse("".join(lines[:3] + lines[2:]), "row 3 holds what a row before it holds")
    another_key = lines[1].replace(rows[0]["key"], "another")
    refuse("".join([*lines, another_key]), f"row {len(rows) + 1} holds what a row before it holds")
    more = lines[1].replace(",ssl,", ",both,").replace(",sl,", ",both,")
    refuse("".join([*lines[:9], more, *lines[9:]]), rf"{job} has a value that is no part of it \(both, rel")
    place = "Digits,classification,classification"
    other_fold = lines[1].replace(f"{place},0", f"{place},7")
    refuse("".join([*lines[:8], other_fold, *lines[9:]]), "row 8 is of another job than those before")
    refuse("".join([*lines[:8], lines[8].replace("done", "failed")]), "row 8 is of another job than those")
    refuse(
        text.replace("quick,0", f"quick,{10**25}"),
        "row 1 has '1000.* in the column 'seed', not a whole number below 2",
    )
    refuse(text.replace("{", "[" * 9999 + "{"), "row 1 has .* in the column 'setting', not a JSON object")
    packed = gzip.compress(text.encode())
    for place in range(12, len(packed) - 9, 7):
        refuse(packed[:place] + bytes([packed[place] ^ 64]) + packed[place + 1 :], "export", "bad.csv.gz")
    refuse(b"\xff\xfe\x00", "cannot be read")
    refuse(b"\x1f\x8b nothing", "cannot be read", "bad.csv.gz")
    with pytest.raises(ValueError, match=r"must end in .csv, .csv.gz or .parquet"):
        import_store(other, tmp_path / "x.json")
    with pytest.raises(FileNotFoundError):
        import_store(other, tmp_path / "none.csv")
    pytest.importorskip("pyarrow")
    refuse(b"nothing", "not an export of a study", "bad.parquet")


def test_properties_of_data_sets(path):
    filled(path)
    with Store(path, QUICK) as store:
        store.keep_property("Digits", "sha", "ch", 0.5)
        store.keep_property("Digits", "sha", "ch", 0.6)
        assert store.properties() == {"Digits": {"ch": 0.6}}
