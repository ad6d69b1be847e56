"""The study on a Dask cluster: two worker processes, and the death of one of them."""

from __future__ import annotations

import os
import threading
import time
import types

import pytest

from semirank.study import Store, run_study
from semirank.study.plan import PRESETS, Study
from semirank.study.run import plan_jobs

from .study_folder import NAMES, read_records, write_folder

distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")

CHEAP = ["equal", "relief"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("data"), NAMES[:2])


@pytest.fixture(scope="module")
def undisturbed(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "study.sqlite"
    assert run_study(store=path, data=folder, n_jobs=1, methods=CHEAP).failed == 0
    return timeless(path)


@pytest.fixture
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as made:
        yield made


def timeless(path):
    return [r._replace(seconds=0.0, tuning_seconds=0.0) for r in read_records(path)]


def workers_of(cluster) -> dict[str, int]:
    """Address -> process of every worker."""
    with distributed.Client(cluster, set_as_default=False) as client:
        return client.run(os.getpid)


def test_a_cluster_gives_the_same_and_survives_the_death_of_a_worker(folder, tmp_path, undisturbed, cluster):
    path = tmp_path / "study.sqlite"
    before = workers_of(cluster)
    assert len(before) == 2
    victim = psutil.Process(sorted(before.values())[0])
    over = threading.Event()

    def killer() -> None:
        while not over.is_set():
            if path.exists() and _claimed(path):
                victim.kill()
                return
            time.sleep(0.01)

    thread = threading.Thread(target=killer)
    thread.start()
    try:
        summary = run_study(store=path, data=folder, methods=CHEAP, dask=cluster.scheduler_address)
    finally:
        over.set()
        thread.join()
    assert not victim.is_running() or victim.status() == psutil.STATUS_ZOMBIE
    assert (summary.done, summary.failed) == (36, 0)
    assert timeless(path) == undisturbed
    # The cluster is still there, with a new worker in place of the dead one, and not ours to close.
    deadline = time.monotonic() + 60
    while len(workers_of(cluster)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert set(workers_of(cluster).values()) != set(before.values())
    again = run_study(store=path, data=folder, methods=CHEAP, dask=cluster.scheduler_address)
    assert (again.done, again.kept) == (0, 36)


def _claimed(path) -> bool:
    from semirank.study import StoreError

    try:
        with Store(path, read_only=True) as store:
            return any(row.state == "claimed" for row in store.jobs())
    except StoreError:  # just being made
        return False


def test_a_local_cluster_is_made_and_closed(folder, tmp_path):
    path = tmp_path / "study.sqlite"
    summary = run_study(store=path, data=folder, only=NAMES[:1], methods=["equal"], n_jobs=1, dask="local")
    assert (summary.done, summary.failed) == (9, 0)
    names = [child.name() for child in psutil.Process().children(recursive=True)]
    assert not [name for name in names if "dask" in name.lower()]


def test_errors_of_jobs_come_back_in_words(folder, tmp_path, cluster):
    from semirank.study.dask_workers import DaskWorkers

    study = Study(PRESETS["quick"], 0, folder)
    job = plan_jobs(study, NAMES[:1], ["equal"], print)[0][0]
    workers = DaskWorkers(study, cluster.scheduler_address, 1)
    try:
        assert workers.free() == 2
        workers.submit(job._replace(sha256="other"))
        workers.submit(job)
        assert workers.free() == 0
        found, deadline = [], time.monotonic() + 120
        while len(found) < 2 and time.monotonic() < deadline:
            found += workers.wait(1.0)
        bad, good = sorted(found, key=lambda outcome: outcome.error is None)
        assert bad.error.startswith("ValueError: The files of Tiny classes changed")
        assert (good.error, len(good.records)) == (None, 4)
    finally:
        workers.close()


def test_no_scheduler_at_the_address(folder, tmp_path, monkeypatch):
    from semirank.study import dask_workers as cluster

    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1)
    path = tmp_path / "study.sqlite"
    for address in ("tcp://127.0.0.1:9", "nonsense:://x"):
        with pytest.raises(ValueError, match="no Dask scheduler at") as caught:
            run_study(store=path, data=folder, methods=["equal"], dask=address)
        assert "\n" not in str(caught.value)
    with Store(path, read_only=True) as store:
        assert {row.state for row in store.jobs()} == {"missing"}


def test_a_cluster_without_workers(folder, tmp_path, monkeypatch):
    from semirank.study import dask_workers as cluster

    monkeypatch.setattr(cluster, "_WORKER_SECONDS", 1)
    with (
        distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as empty,
        pytest.raises(ValueError, match="has no workers"),
    ):
        run_study(
            store=tmp_path / "study.sqlite", data=folder, methods=["equal"], dask=empty.scheduler_address
        )


def test_a_job_that_kills_every_worker_fails_as_soon_as_the_run_says(folder, tmp_path, monkeypatch, cluster):
    """After two deaths the job is to blame, whatever number Dask would allow; the others go on."""
    from semirank.study import dask_workers

    log = tmp_path / "deaths"

    def deadly(job, study):
        import os

        from semirank.study.local_workers import perform

        if job.fold == 1 and job.n_labeled == 50:
            with open(log, "a") as file:
                file.write("x")
            os._exit(9)
        return perform(job, study)

    monkeypatch.setattr(dask_workers, "perform", deadly)
    path = tmp_path / "study.sqlite"
    summary = run_study(
        store=path, data=folder, only=NAMES[:1], methods=["equal"], dask=cluster.scheduler_address
    )
    assert (summary.done, summary.failed) == (8, 1)
    assert log.read_text() == "xx"
    with Store(path, read_only=True) as store:
        (job,) = [job for job in store.jobs() if job.state == "failed"]
    assert (job.fold, job.error) == (1, "the Dask worker of the job went away")


class Ended(types.SimpleNamespace):
    """A future that ended; `outcome` is raised where it is an error."""

    key = "k"

    def result(self, timeout):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    def exception(self):
        return self.outcome


def after(status, outcome=None):
    """What workers make of a future that ended with this status."""
    from semirank.study.dask_workers import DaskWorkers, Sent

    future = Ended(status=status, outcome=outcome)
    workers = object.__new__(DaskWorkers)
    workers._sent = {"k": Sent(future, "job", "tcp://worker", time.perf_counter())}
    return workers._outcomes(future), workers._outcomes(future)


def test_jobs_that_the_cluster_gives_up_and_a_lost_connection():
    """What cannot be made to happen here in good time: the scheduler gives up a job, or is gone."""
    from distributed.scheduler import KilledWorker

    (outcome,), again = after("error", RuntimeError("4 workers\ndied"))
    assert (outcome.job, outcome.records, outcome.error) == ("job", [], "RuntimeError: 4 workers died")
    assert not outcome.died
    assert again == []  # a job ends once
    killed = KilledWorker("k", types.SimpleNamespace(address="tcp://worker"), 3)
    (outcome,), _ = after("error", killed)
    assert outcome.died
    assert outcome.error.startswith("KilledWorker: Attempted to run")
    (outcome,), _ = after("finished", TimeoutError())
    assert (outcome.died, outcome.error) == (True, "the Dask worker of the job went away with its result")
    with pytest.raises(ConnectionError, match="what was finished is kept, run again to go on"):
        after("lost")
