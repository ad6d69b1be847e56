"""Running a study: real processes, kills, concurrent runs, failures, and the commands."""

from __future__ import annotations

import csv
import io
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from semirank.study import Store, StoreError, dataset_properties, run_study
from semirank.study import local_workers as workers_module
from semirank.study import run as module
from semirank.study.local_workers import LocalWorkers, Outcome, perform
from semirank.study.plan import PRESETS, Job, Study
from semirank.study.records import Record

from ..optional import needs_psutil
from .study_folder import NAMES, read_records, write_folder

CHEAP = ["equal", "relief"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def undisturbed(folder, tmp_path_factory):
    """The records of a run in one process that nothing got in the way of."""
    path = tmp_path_factory.mktemp("store") / "study.sqlite"
    summary = run_study(store=path, data=folder, n_jobs=1, methods=CHEAP)
    assert summary.failed == 0
    return timeless(path)


def timeless(path: Path) -> list[Record]:
    """The records without what differs from run to run."""
    return [r._replace(seconds=0.0, tuning_seconds=0.0) for r in read_records(path)]


def states(path: Path) -> dict[str, int]:
    with Store(path, read_only=True) as store:
        found = [row.state for row in store.jobs()]
    return {state: found.count(state) for state in set(found)}


def command(*arguments: object, **options: object) -> subprocess.Popen:
    code = "from semirank.cli.main import main; main()"
    parts = [sys.executable, "-c", code, "study", *map(str, arguments)]
    return subprocess.Popen(parts, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def start(path: Path, folder: Path, n_jobs: int, **options: object) -> subprocess.Popen:
    methods = [part for name in CHEAP for part in ("--methods", name)]
    return command("run", "--store", path, "--data", folder, "--jobs", n_jobs, *methods, **options)


class Inline:
    """Workers without processes, for what concerns the loop alone."""

    def __init__(self, study: Study, n_workers: int) -> None:
        self.study, self.jobs = study, []

    def free(self) -> int:
        return 2 - len(self.jobs)

    def submit(self, job) -> None:
        self.jobs.append(job)

    def wait(self, timeout: float) -> list[Outcome]:
        return [perform(self.jobs.pop(0), self.study)]

    def close(self) -> None:
        self.jobs = []


@pytest.fixture
def inline(monkeypatch):
    monkeypatch.setattr(module, "LocalWorkers", Inline)


def test_the_number_of_processes_does_not_change_results(folder, tmp_path, undisturbed):
    path = tmp_path / "study.sqlite"
    seen = []
    summary = run_study(store=path, data=folder, n_jobs=2, methods=CHEAP, progress=seen.append)
    assert timeless(path) == undisturbed
    # 3 numbers of labels, 3 folds of three data sets and one of the two others, by two methods.
    assert summary == module.Summary(66, 0, 0, 0, 0, 0, summary.missing, [])
    assert (seen[0].done, seen[-1]) == (0, module.RunProgress(66, 0, 66, 0.0))
    assert len(summary.missing) == 38 + 9  # of the registry, none is in this folder
    again = run_study(store=path, data=folder, n_jobs=2, methods=CHEAP)
    assert again[:6] == (0, 0, 66, 0, 0, 0)
    assert timeless(path) == undisturbed


@pytest.mark.slow
def test_all_methods_give_the_same_in_one_and_two_processes(folder, tmp_path):
    found = []
    for n_jobs in (1, 2):
        path = tmp_path / f"{n_jobs}.sqlite"
        assert run_study(store=path, data=folder, n_jobs=n_jobs).failed == 0
        found.append(timeless(path))
    assert found[0] == found[1]
    assert {r.family for r in found[0]} == {
        "random_forest", "extra_trees", "bagging", "relief", "laplace", "equal"
    }  # fmt: skip


@needs_psutil
def test_kills_at_any_moment_lose_nothing(folder, tmp_path, undisturbed):
    """kill -9, again and again: what was done stays, and in the end all is as if nothing had happened."""
    path = tmp_path / "study.sqlite"
    rng = random.Random(0)
    done = 0
    for _ in range(4):
        run = start(path, folder, 2)
        deadline = time.monotonic() + 60
        while run.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02 + 0.3 * rng.random())
            if path.exists() and (rng.random() < 0.2 or states_or_nothing(path).get("done", 0) > done):
                break
        children = child_processes(run.pid)
        run.kill()
        run.communicate()
        wait_until(lambda pids=children: not any(map(lives, pids)))  # the processes of the jobs go too
        kept = states_or_nothing(path).get("done", 0)
        assert kept >= done
        done = kept
    run = start(path, folder, 2)
    _, told = run.communicate(timeout=300)
    assert run.returncode == 0, told
    assert timeless(path) == undisturbed


def states_or_nothing(path: Path) -> dict[str, int]:
    try:
        return states(path)
    except StoreError:  # just being made
        return {}


def child_processes(pid: int) -> list[int]:
    import psutil

    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def lives(pid: int) -> bool:
    import psutil

    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(condition, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def test_two_runs_share_the_work(folder, tmp_path, undisturbed):
    path = tmp_path / "study.sqlite"
    runs = [start(path, folder, 1) for _ in range(2)]
    told = [run.communicate(timeout=300)[1] for run in runs]
    # The one that ends first may leave its last job to the other, and says so.
    assert [run.returncode for run in runs] == ["left to another run" in text for text in told], told
    assert 0 in [run.returncode for run in runs]
    assert timeless(path) == undisturbed
    found = [re.search(r"jobs: (\d+) done, (\d+) were done already", text) for text in told]
    assert sum(int(some[1]) for some in found) == 66  # none twice
    assert [int(some[1]) + int(some[2]) for some in found].count(66) >= 1  # the last one saw them all


@needs_psutil
def test_an_interrupt_stops_at_once_and_leaves_the_store_in_order(folder, tmp_path, undisturbed):
    path = tmp_path / "study.sqlite"
    # A group of its own, as a shell gives it: the signal of Ctrl-C goes to all of it.
    run = start(path, folder, 2, start_new_session=True)
    wait_until(lambda: states_or_nothing(path).get("claimed", 0) > 0, 120)
    children = child_processes(run.pid)
    assert children
    os.killpg(run.pid, signal.SIGINT)
    _, told = run.communicate(timeout=60)
    assert run.returncode == 130
    assert told.splitlines()[-1].startswith("interrupted")
    assert "Traceback" not in told
    wait_until(lambda: not any(map(lives, children)))
    assert "claimed" not in states(path)
    run_study(store=path, data=folder, n_jobs=1, methods=CHEAP)
    assert timeless(path) == undisturbed


def test_a_failed_job_does_not_stop_the_rest(folder, tmp_path, undisturbed, inline, monkeypatch):
    from semirank.study import jobs

    real, path, said = jobs.run_job, tmp_path / "study.sqlite", []

    def sometimes(job, study):
        if job.place == ("Tiny numbers", 1, 50, "relief"):
            raise ZeroDivisionError("made to\nfail")
        return real(job, study)

    monkeypatch.setattr(jobs, "run_job", sometimes)
    summary = run_study(store=path, data=folder, methods=CHEAP, say=said.append)
    assert summary[:6] == (65, 1, 0, 0, 0, 0)
    assert states(path) == {"done": 65, "failed": 1}
    (line,) = [text for text in said if text.startswith("failed")]
    assert line.startswith(
        "failed: Tiny numbers, fold 1, 50 labels, relief: ZeroDivisionError: made to fail ("
    )
    monkeypatch.setattr(jobs, "run_job", real)
    assert run_study(store=path, data=folder, methods=CHEAP)[:6] == (0, 0, 65, 1, 0, 0)
    assert run_study(store=path, data=folder, methods=CHEAP, retry=True)[:6] == (1, 0, 65, 0, 0, 0)
    assert timeless(path) == undisturbed


@needs_psutil
def test_the_death_of_a_process_costs_one_attempt(folder, tmp_path, undisturbed):
    """Processes of jobs that are seen in the first seconds are killed; another one does their job.

    Other tests leave children of their own here, such as joblib's, who must live.
    """
    import psutil

    path, killed, over = tmp_path / "study.sqlite", [], threading.Event()
    others = set(psutil.Process().children())

    def killer() -> None:
        while not over.is_set() and len(killed) < 2:
            for child in psutil.Process().children():  # older ones first: a new one may not be ready
                if child in others or child.pid in killed:
                    continue
                if states_or_nothing(path).get("done", 0):
                    killed.append(child.pid)
                    child.kill()
                    break
            time.sleep(0.01)

    thread = threading.Thread(target=killer)
    thread.start()
    try:
        summary = run_study(store=path, data=folder, n_jobs=2, methods=CHEAP)
    finally:
        over.set()
        thread.join()
    assert killed
    assert summary.failed == 0
    assert timeless(path) == undisturbed


def test_a_job_that_kills_every_process_fails(folder, tmp_path, monkeypatch):
    """After two processes the job is to blame; the others go on."""
    code = """
import os
from semirank.study import jobs
from semirank.study import local_workers as workers
real = jobs.run_job
def deadly(job, study):
    if job.fold == 1 and job.n_labeled == 50:
        os.kill(os.getpid(), 9)
    return real(job, study)
jobs.run_job = deadly
workers.serve()
"""
    real = subprocess.Popen

    def popen(parts, **options):
        return real([parts[0], "-c", code], **options)

    monkeypatch.setattr(workers_module.subprocess, "Popen", popen)
    path = tmp_path / "study.sqlite"
    summary = run_study(store=path, data=folder, n_jobs=1, methods=["equal"], only=["Tiny classes"])
    assert summary[:6] == (8, 1, 0, 0, 0, 0)
    with Store(path, read_only=True) as store:
        (row,) = [row for row in store.jobs() if row.state == "failed"]
    assert row.error == "the process of the job was killed by signal 9"


def test_processes_that_do_not_start_stop_the_run(folder, tmp_path, monkeypatch):
    real = subprocess.Popen
    broken = [sys.executable, "-c", "raise SystemExit(3)"]
    monkeypatch.setattr(workers_module.subprocess, "Popen", lambda parts, **o: real(broken, **o))
    path = tmp_path / "study.sqlite"
    with pytest.raises(RuntimeError, match=r"does not start \(exit code 3\)"):
        run_study(store=path, data=folder, n_jobs=1, methods=["equal"])
    assert set(states(path)) == {"missing"}  # nothing was claimed or failed for it


def test_only_what_was_asked_for_is_done(folder, tmp_path, inline):
    path = tmp_path / "study.sqlite"
    run_study(store=path, data=folder, only=["tiny NUMBERS"], methods=["laplace", "equal"])
    assert {(r.dataset, r.family) for r in read_records(path)} == {
        ("Tiny numbers", "laplace"),
        ("Tiny numbers", "equal"),
    }
    with pytest.raises(ValueError, match="nothing to do: laplace is for regression"):
        run_study(store=path, data=folder, only=["Tiny classes"], methods=["laplace"])


def test_another_seed_gives_other_splits(folder, tmp_path, inline):
    for seed in (0, 1):
        run_study(store=tmp_path / f"{seed}.sqlite", data=folder, only=NAMES[:1], methods=CHEAP, seed=seed)
    assert timeless(tmp_path / "0.sqlite") != timeless(tmp_path / "1.sqlite")


def test_data_that_changed_since_are_told(tmp_path, inline):
    folder = write_folder(tmp_path / "data", NAMES[:1])
    path = tmp_path / "study.sqlite"
    run_study(store=path, data=folder, methods=["equal"])
    before = timeless(path)
    file = folder / "classes.arff"
    head, rows = file.read_text().split("@data\n")
    file.write_text(head + "@data\n" + "\n".join(reversed(rows.split())) + "\n")
    from semirank.study import jobs

    jobs.opened_data.cache_clear()
    jobs._folds.cache_clear()
    summary = run_study(store=path, data=folder, methods=["equal"])
    assert (summary.kept, summary.outdated, summary.done) == (0, 9, 0)
    assert timeless(path) == before
    summary = run_study(store=path, data=folder, methods=["equal"], retry=True)
    assert (summary.kept, summary.outdated, summary.done) == (0, 0, 9)
    assert timeless(path) != before


def test_a_data_set_that_cannot_be_opened_is_reported(tmp_path, inline):
    folder = write_folder(tmp_path / "data", NAMES[:2])
    file = folder / "classes.arff"
    file.write_text(file.read_text().rstrip().rsplit("\n", 1)[0] + "\n")
    said = []
    summary = run_study(store=tmp_path / "s.sqlite", data=folder, methods=["equal"], say=said.append)
    why = "Tiny classes has 89 rows, but its manifest says 90."
    assert summary.broken == [("Tiny classes", why)]
    assert f"left out: {why[:-1]}" in said
    assert "Digits" in dict(summary.missing)
    assert summary.done == 9
    with pytest.raises(ValueError, match="89 rows"):
        run_study(store=tmp_path / "s.sqlite", data=folder, only=["Tiny classes"])


def test_a_data_set_that_is_left_out_is_told_even_quietly(tmp_path, call):
    """Its manifest lists it, so that somebody wants it."""
    folder = write_folder(tmp_path / "data", NAMES[:2])
    (folder / "classes.arff").unlink()
    words = ("run", "--store", tmp_path / "s.sqlite", "--data", folder, "-m", "equal", "--jobs", 1)
    line = f"left out: Tiny classes, the file {folder / 'classes.arff'} does not exist"
    for more in ((), ("--quiet",)):
        code, _, told = call(*words, *more)
        assert code == 1
        assert told.splitlines()[-1] == line
        assert told.splitlines()[-2].startswith("left out, not in the folder: Arrhythmia, Bank, ")
    (folder / "numbers.arff").unlink()
    code, _, told = call(*words)
    assert (code, told.splitlines()[-1][:35]) == (2, "error: There is nothing to do: left")
    folder = write_folder(tmp_path / "other", ("Tiny classes", "Tiny targets"))
    (folder / "classes.arff").unlink()
    with pytest.raises(
        ValueError, match=r"left out: Tiny classes, .*; laplace is for regression, no task here"
    ):
        run_study(store=tmp_path / "o.sqlite", data=folder, methods=["laplace"])


def test_a_run_that_fails_on_its_input_makes_no_store(folder, tmp_path):
    path = tmp_path / "study.sqlite"
    with pytest.raises(ValueError, match="does not exist"):
        run_study(store=path, data=tmp_path / "none")
    with pytest.raises(ValueError, match="no data set 'TTT'; `semirank datasets list` shows"):
        run_study(store=path, data=folder, only=["TTT"])
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(ValueError, match=r"nothing to do: .* holds no data set"):
        run_study(store=path, data=tmp_path)
    with pytest.raises(ValueError, match="is a file, not a folder"):
        run_study(store=path, data=tmp_path / "manifest.json")
    assert not path.exists()


def test_bad_arguments(folder, tmp_path):
    path = tmp_path / "study.sqlite"
    for arguments, said in (
        ({"preset": "papr"}, r"no preset 'papr' \(did you mean 'paper'"),
        ({"only": ["Tiny class"]}, r"no data set 'Tiny class' \(did you mean 'Tiny classes'"),
        ({"only": ["Digits"]}, "Digits is not in"),
        ({"methods": ["forest"]}, "no method 'forest'"),
        ({"n_jobs": 0}, "at least 1"),
        ({"data": tmp_path / "none"}, "does not exist"),
        ({"data": tmp_path}, "no manifest.json"),
    ):
        with pytest.raises(ValueError, match=said):
            run_study(**({"store": path, "data": folder} | arguments))


def test_workers_report_in_words_what_went_wrong(folder):
    study = Study(PRESETS["quick"], 0, folder)
    job = module.plan_jobs(study, ["Tiny classes"], ["equal"], print)[0][0]
    local = LocalWorkers(study, 1)
    try:
        local.submit(job._replace(sha256="other"))
        (outcome,) = wait_for(local)
        assert outcome.error.startswith("ValueError: The files of Tiny classes changed")
        assert (outcome.records, outcome.died, local.free()) == ([], False, 1)
        local.submit(job)
        (outcome,) = wait_for(local)
        assert (outcome.error, len(outcome.records)) == (None, 4)
    finally:
        local.close()


def wait_for(local: LocalWorkers) -> list[Outcome]:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if found := local.wait(1.0):
            return found
    raise AssertionError("no job ended")


def test_the_pace_is_that_of_each_family():
    def row(family: str, cost: float, seconds: float | None) -> Job:
        return Job("a", 0, 50, family, "", "", "", "", cost, "done", seconds)

    pace = module.Pace()
    assert pace.seconds([row("relief", 1.0, None)]) is None
    pace = module.Pace([row("relief", 1.0, 2.0), row("relief", 3.0, 4.0), row("bagging", 1.0, 10.0)])
    assert pace.seconds([row("relief", 2.0, None), row("bagging", 2.0, None)], 2) == (3.0 + 20.0) / 2
    assert pace.seconds([]) == 0.0


@pytest.fixture
def call(call):
    """Run `semirank study WORDS` here and get (exit code, standard output, standard error)."""
    return partial(call, "study")


def test_commands(folder, tmp_path, call):
    """One store through all commands that need no tables."""
    path, out, other = tmp_path / "study.sqlite", tmp_path / "export.csv", tmp_path / "other.sqlite"
    code, shown, told = call("run", "--store", path, "--data", folder, "-m", "equal", "--jobs", 1)
    assert (code, shown) == (0, "")
    assert "left out, not in the folder: Arrhythmia, Bank, Chess," in told
    assert "jobs: 33 done, 0 were done already" in told.splitlines()
    assert call()[1].startswith("Usage: ")
    names = ("--only", *NAMES)
    code, shown, told = call("run", "--store", path, "--data", folder, "-m", "equal", "--quiet", *names)
    assert (code, shown, told) == (0, "", "")
    code, shown, told = call("status", "--store", path, "--out", tmp_path / "status")
    assert (code, told) == (0, f"wrote {tmp_path / 'status' / 'status.csv'}\n")
    with (tmp_path / "status" / "status.csv").open(newline="") as file:
        assert [row["state"] for row in csv.DictReader(file)] == ["done"] * 33
    assert shown.startswith("preset quick, seed 0\n")
    assert "33 of 33 jobs done" in shown
    assert "\nleft out, not in the folder: Arrhythmia, Bank, Chess," in shown
    assert "not planned" not in shown
    assert call("export", "--store", path, "--out", out)[0] == 0
    code, shown, told = call("import", out, "--store", other)
    assert (code, told) == (0, f"33 of 33 jobs were new to {other}\n")
    assert read_records(other) == read_records(path)
    code, shown, told = call("run", "--store", other, "--data", folder, "-m", "equal")
    assert "jobs: 0 done, 33 were done already" in told.splitlines()
    assert call("export", "--store", path)[2].startswith("error: There is nothing to write; name a file")

    (tmp_path / "text").write_text("x" * 5000)
    for arguments, said in (
        (("status", "--store", tmp_path / "none"), "There is no store"),
        (("status", "--store", tmp_path / "text"), "not a store of semirank"),
        (("run", "--store", tmp_path / "text", "--data", folder), "not a store of semirank"),
        (("run", "--store", tmp_path / "no" / "x", "--data", folder), "does not exist"),
        (("run", "--store", path, "--data", folder, "--seed", 4), "name another file"),
        (("run", "--store", path, "--data", folder, "--only", "Tiny"), "no data set 'Tiny'"),
        (("run", "--store", path, "--data", tmp_path), "no manifest.json"),
        (("run", "--store", path, "--data", folder, "--preset", "quik"), "did you mean 'quick'"),
        (("run", "--store", path, "--data", folder, "-m", "relief", "equal"), "'equal' is a method"),
        (("export", "--store", path, "--out", tmp_path / "x.json"), "must end in"),
        (("import", tmp_path / "none.csv", "--store", path), "No such file"),
        (("tables", "--store", tmp_path / "none", "--out", tmp_path), "There is no store"),
        (("tables", "--store", path, "--out", tmp_path / "text"), "is a file; name a folder"),
        (("export", "--store", path, "--out", tmp_path / "no" / "x.csv"), f"{tmp_path / 'no' / 'x.csv'}: No"),
    ):
        code, shown, told = call(*arguments)
        assert (code, shown) == (2, ""), arguments
        assert said in told
        assert told.startswith("error: ")
        assert told.count("\n") == 1


def test_commands_that_write_tables_and_figures(folder, tmp_path, inline, call):
    """What they write is the matter of their own tests; here they get the records and the notes."""
    pytest.importorskip("matplotlib")
    path = tmp_path / "study.sqlite"
    run_study(store=path, data=folder, only=["Tiny numbers"], methods=["equal", "laplace"])
    assert call("tables", "--store", path, "--out", tmp_path / "tables")[0] == 0
    assert list((tmp_path / "tables").glob("*.md"))
    code, _, told = call("report", "--store", path, "--out", tmp_path / "page", "--data", folder)
    assert (code, told) == (0, f"wrote {tmp_path / 'page' / 'study.html'}\n")
    assert "Preset quick with seed 0: 18 of 18 jobs are done." in (tmp_path / "page/study.html").read_text()
    known = dataset_properties(path)
    assert set(known) == {"Tiny numbers"}
    ch = known["Tiny numbers"].pop("cluster hypothesis")
    sizes = {"examples": 90, "features": 5, "classes, labels or targets": 1, "missing share": 0.0}
    assert known["Tiny numbers"] == sizes
    assert -1 <= ch <= 1
    assert call("report", "--store", path, "--out", tmp_path / "page.html")[0] == 0
    assert (tmp_path / "page.html").stat().st_size > 10_000
    assert call("figures", "--store", path, "--out", tmp_path / "figures")[0] == 0
    assert list((tmp_path / "figures").glob("*.svg"))


def test_status_names_data_sets_that_are_not_planned(tmp_path, inline, call):
    """A data set that was left out and is there later is no longer left out."""
    folder, path = write_folder(tmp_path / "data", NAMES[:2]), tmp_path / "study.sqlite"
    text = (folder / "classes.arff").read_text()
    (folder / "classes.arff").unlink()
    run_study(store=path, data=folder, only=["Tiny numbers"], methods=["equal"])
    assert "not planned, of the paper's 38 data sets: Arrhythmia, Bank" in call("status", "--store", path)[1]
    run_study(store=path, data=folder, methods=["equal"])
    shown = call("status", "--store", path)[1]
    assert "not planned" not in shown
    assert "left out, not in the folder: Arrhythmia, Bank" in shown
    assert f"left out: Tiny classes, the file {folder / 'classes.arff'} does not exist" in shown.splitlines()
    (folder / "classes.arff").write_text(text)
    run_study(store=path, data=folder, only=["Tiny classes"], methods=["equal"])
    shown = call("status", "--store", path)[1]
    assert "left out, not in the folder: Arrhythmia, Bank" in shown
    assert "left out: Tiny classes" not in shown


def test_a_run_that_leaves_jobs_to_another_ends_with_1(folder, tmp_path, inline, call):
    path = tmp_path / "study.sqlite"
    words = ("run", "--store", path, "--data", folder, "-m", "equal", "--only", "Tiny numbers")
    study = Study(PRESETS["quick"], 0, folder)
    jobs = module.plan_jobs(study, ["Tiny numbers"], ["equal"], print).jobs
    with Store(path, study) as other:
        other.owner = "another-machine:1:x"
        other.add(jobs)
        assert other.claim(jobs[0])
        code, _, told = call(*words)
        assert (code, told.splitlines()[-1]) == (1, "jobs: 1 left to another run; run again if it stops")
        other.release()
        assert call(*words)[0] == 0


def test_rankings_are_kept_and_exported(folder, tmp_path, inline, call):
    """To the bit, so that they can be judged again: here by the study's own judge."""
    from semirank.datasets.registry import open_dataset
    from semirank.judging.knn_judge import judge_rankings
    from semirank.study.plan import folds_of

    path, out = tmp_path / "study.sqlite", tmp_path / "rankings.npz"
    words = ("export", "--store", path, "--rankings", out)
    run_study(store=path, data=folder, only=["Tiny numbers"], methods=["equal"])
    code, _, told = call(*words)
    assert (code, told.split(":")[0]) == (2, "error")
    assert "holds no rankings" in told
    run_study(store=path, data=folder, only=["Tiny numbers"], methods=["relief", "laplace"])
    assert call(*words) == (0, "", f"wrote 36 rankings to {out}\n")
    first = out.read_bytes()
    with np.load(out, allow_pickle=False) as file:
        found = dict(file)
    assert (found["preset"], found["seed"], len(found["start"])) == ("quick", 0, 37)
    data = open_dataset("Tiny numbers", folder)
    folds = folds_of(data, Study(PRESETS["quick"], 0, folder))
    values = {r[:5] + r[7:12]: r.value for r in read_records(path)}
    about = ("Tiny numbers", "regression", "STR")
    for i in range(36):
        place = [found[name][i].item() for name in ("fold", "n_labeled", "family", "side", "score")]
        importances = found["importances"][found["start"][i] : found["start"][i + 1]]
        parts = folds[place[0]].parts(data.dataset.X, data.dataset.target, place[1])
        again = judge_rankings(importances, *parts, (20, 40), "labelled", 1)
        expected = [values[(*about, *place, "labelled", k)] for k in (20, 40)]
        assert np.ravel(again).tolist() == expected
    assert call(*words)[0] == 0
    assert out.read_bytes() == first
    code, _, told = call("export", "--store", path, "--rankings", tmp_path / "x.csv")
    assert (code, "must end in .npz" in told) == (2, True)


def test_failures_are_told_by_every_command(folder, tmp_path, inline, call, monkeypatch):
    pytest.importorskip("matplotlib")
    from semirank.study import jobs

    real, path = jobs.run_job, tmp_path / "study.sqlite"

    def mostly(job, study):
        if job.dataset == "Tiny numbers" and job.family == "laplace" and job.fold == 0:
            return real(job, study)
        raise ZeroDivisionError("made to fail")

    monkeypatch.setattr(jobs, "run_job", mostly)
    words = ("run", "--store", path, "--data", folder, "-m", "equal", "-m", "laplace")
    code, shown, told = call(*words)
    with Store(path, read_only=True) as store:
        failed = sum(row.state == "failed" for row in store.jobs())
    assert (code, shown) == (1, "")
    assert (
        told.splitlines()[-2] == f"jobs: {failed} failed; `study status` says why, --retry tries them again"
    )
    code, shown, told = call(*words)
    assert code == 1
    assert f"jobs: {failed} failed in another run; --retry tries them again" in told.splitlines()
    code, shown, _ = call("status", "--store", path)
    lines = shown.splitlines()
    assert code == 0
    assert sum(line.startswith("failed: Tiny") for line in lines) == 10
    assert lines[-1] == f"... and {failed - 10} more"
    assert sum(": ZeroDivisionError: made to fail (" in line for line in lines) == 10
    assert call("report", "--store", path, "--out", tmp_path / "page")[0] == 0
    assert f"{failed} jobs failed." in (tmp_path / "page/study.html").read_text()


def test_what_a_run_did_in_words():
    from semirank.cli.study import summary_lines

    assert summary_lines(module.Summary(3, 0, 4, 0, 5, 6, [], [("Pol", "gone.")])) == [
        "jobs: 3 done, 4 were done already",
        "jobs: 5 were done with other data or an older version and are kept; --retry does them again",
        "jobs: 6 left to another run; run again if it stops",
        "left out: Pol, gone",
    ]


def test_progress_on_a_terminal(monkeypatch):
    from semirank.cli.study import _progress

    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with _progress(quiet=False) as (draw, say):
        draw(module.RunProgress(3, 1, 8, 75.0))
        say("left out: [none]")
    shown = stream.getvalue()
    assert "left out: [none]" in shown
    assert "4/8" in shown
    assert "1 failed, 1 min 15 s left" in shown


def test_an_idle_process_that_dies_is_replaced(folder):
    """It takes no job with it, so there is nothing to tell."""
    workers = LocalWorkers(Study(PRESETS["quick"], 0, folder), 1)
    try:
        (child,) = workers._children
        child.ready = True  # as after a first job
        child.process.kill()
        assert workers.wait(5.0) == []
        assert workers._children[0] is not child
        assert workers.free() == 1
    finally:
        workers.close()


def test_a_job_for_a_process_that_just_died_is_told(folder):
    """It was sent before anybody looked whether the process is still there."""
    study = Study(PRESETS["quick"], 0, folder)
    job = module.plan_jobs(study, NAMES[:1], ["equal"], print)[0][0]
    workers = LocalWorkers(study, 1)
    try:
        (child,) = workers._children
        child.ready = True
        child.process.kill()
        wait_until(lambda: not workers._ended.empty())
        workers.submit(job)
        (outcome,) = wait_for(workers)
        assert (outcome.job, outcome.died, outcome.error) == (
            job, True, "the process of the job was killed by signal 9"
        )  # fmt: skip
        assert workers.free() == 1
    finally:
        workers.close()


def test_a_ranking_without_a_finite_score_is_an_error(folder, monkeypatch):
    from semirank.study import jobs

    study = Study(PRESETS["quick"], 0, folder)
    job = module.plan_jobs(study, NAMES[:1], ["equal"], print)[0][0]
    monkeypatch.setattr(jobs, "judge_rankings", lambda *_: np.array([[0.5, np.nan]]))
    outcome = perform(job, study)
    assert outcome.error.startswith("ValueError: The judge gave nan for a ranking.")
    assert outcome.records == []


def test_data_sets_that_are_gone_have_no_numbers(folder, tmp_path, inline):
    path, said = tmp_path / "study.sqlite", []
    run_study(store=path, data=folder, only=["Tiny numbers"], methods=["equal"])
    other = write_folder(tmp_path / "other", ["Tiny classes"])
    assert dataset_properties(path, other, said.append) == {"Tiny numbers": {}}
    assert len(said) == 1
    assert said[0].startswith("no sizes and no clustering hypothesis for Tiny numbers: ")


def test_numbers_that_cannot_be_kept_are_used_all_the_same(folder, tmp_path, inline, monkeypatch):
    path, said = tmp_path / "study.sqlite", []
    run_study(store=path, data=folder, only=["Tiny numbers"], methods=["equal"])

    def refuse(*_):
        raise StoreError("read only")

    monkeypatch.setattr(Store, "keep_property", refuse)
    assert dataset_properties(path, folder, said.append)["Tiny numbers"]["examples"] == 90
    assert said == ["the numbers of Tiny numbers are not kept for the next time: read only"]
    assert dataset_properties(path) == {}


def test_a_full_disk_keeps_the_old_tables_figures_and_page(folder, tmp_path, inline, call, monkeypatch):
    pytest.importorskip("matplotlib")
    path, out = tmp_path / "study.sqlite", tmp_path / "out"
    run_study(store=path, data=folder, only=["Tiny numbers"], methods=["equal"])
    for name in ("tables", "figures", "report"):
        assert call(name, "--store", path, "--out", out)[0] == 0
    before = {file: file.read_bytes() for file in out.iterdir()}
    run_study(store=path, data=folder, only=["Tiny numbers"], methods=["laplace"])
    sync, count = os.fsync, [0]

    def full(file):
        count[0] += 1
        if count[0] % 3 == 0 or name == "report":
            raise OSError(28, "No space left on device")
        sync(file)

    monkeypatch.setattr(os, "fsync", full)
    for name in ("tables", "figures", "report"):
        code, _, told = call(name, "--store", path, "--out", out)
        assert code == 2
        assert told.startswith(f"error: {out}{os.sep}")
        assert told.endswith(": No space left on device\n")
        assert {file: file.read_bytes() for file in out.iterdir()} == before


def test_coverage_is_that_of_the_plan(folder, tmp_path, inline):
    """A store whose run was stopped knows what it has not done, though no record speaks of it."""
    from semirank.study import write_tables

    path = tmp_path / "study.sqlite"
    run_study(store=path, data=folder, only=NAMES[:1], methods=["equal"])
    with Store(path) as store:
        done = store.jobs()
        first = done[0]
        store.add(
            Job(*row[:3], family, *row[4:7], f"{row.key}{family}", 1.0)
            for row in done
            for family in ("relief", "bagging")
        )
        store.add([Job("Tiny tree", 0, 50, "relief", "hierarchical", "HMLC", "sha", "tree", 1.0)])
        jobs = store.jobs()
    write_tables(read_records(path), tmp_path, jobs=jobs, stand_ins={})
    with (tmp_path / "0_coverage.csv").open(newline="") as file:
        rows = {row["data set"]: row for row in csv.DictReader(file)}
    assert rows[first.dataset]["not finished"] == "bagging 0 of 9, relief 0 of 9"
    assert rows["Tiny tree"]["not finished"] == "relief 0 of 1"
    assert f"Not complete: {first.dataset}, Tiny tree." in (tmp_path / "0_coverage.md").read_text()


def test_tables_need_results(folder, tmp_path, call):
    path = tmp_path / "study.sqlite"
    Store(path, Study(PRESETS["quick"], 0, None)).close()
    for name in ("tables", "figures", "report"):
        code, _, told = call(name, "--store", path, "--out", tmp_path / "out")
        assert (code, told) == (
            2,
            f"error: {path} holds no finished job yet; `semirank study run` does them.\n",
        )
        assert not (tmp_path / "out").exists()


def test_a_run_whose_disk_is_full_stops_with_a_line(folder, tmp_path, undisturbed):
    """The size of files is limited for the command, as a full disk would."""
    resource = pytest.importorskip("resource")
    path = tmp_path / "study.sqlite"
    limit = 60_000
    # A process that may write nothing cannot write down which lines it ran either, and would complain.
    unmeasured = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    before = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))
    run = start(path, folder, 1, preexec_fn=before, env=unmeasured)
    _, told = run.communicate(timeout=300)
    assert run.returncode == 2, told
    assert told.splitlines()[-1].startswith(f"error: The store {path} cannot")
    assert "Traceback" not in told
    run_study(store=path, data=folder, n_jobs=1, methods=CHEAP)
    assert timeless(path) == undisturbed


def test_nothing_heavy_is_loaded_for_help():
    code = "import sys; sys.argv[1:] = ['study', '--help']\nfrom semirank.cli.main import main\n"
    code += "try:\n    main()\nexcept SystemExit:\n    pass\n"
    code += (
        "print([m for m in ('numba', 'sklearn', 'numpy', 'distributed', 'matplotlib') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1] == "[]"
    assert "import" in shown
