"""Running a study: plan, claim, hand out, write down."""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .job import Job, Study
from .local_workers import LocalWorkers, Outcome
from .plan import find_families, find_preset, job_order, jobs_of, left_out_families
from .store import BEAT_SECONDS, Store

if TYPE_CHECKING:
    from .dask_workers import DaskWorkers

# A job whose process dies is tried again once: another program may have taken the memory.
_ATTEMPTS = 2


class RunProgress(NamedTuple):
    """How far a run is; `seconds_left` is an estimate, None before anything is known."""

    done: int
    failed: int
    total: int
    seconds_left: float | None


OnProgress = Callable[[RunProgress], None]
Say = Callable[[str], None]  # with sentences for the user


class Summary(NamedTuple):
    """What a run did.

    Attributes
    ----------
    done, failed : int
        Jobs that this run finished, and that failed in it.
    kept : int
        Jobs that were done before, or by another run meanwhile.
    failed_before : int
        Jobs that failed in other runs and were not tried again.
    outdated : int
        Jobs whose result was made from other data or by an older version, and kept.
    elsewhere : int
        Jobs that another run took.
    missing : list of (str, str)
        Data sets of the registry that are not in the folder, and why.
    broken : list of (str, str)
        Data sets of the folder's manifest that could not be opened, and why.
    """

    done: int
    failed: int
    kept: int
    failed_before: int
    outdated: int
    elsewhere: int
    missing: list[tuple[str, str]]
    broken: list[tuple[str, str]]


def run_study(
    preset: str = "quick",
    *,
    store: str | PathLike[str],
    data: str | PathLike[str] | None = None,
    only: Iterable[str] = (),
    methods: Iterable[str] = (),
    n_jobs: int | None = None,
    dask: str | None = None,
    seed: int = 0,
    retry: bool = False,
    progress: OnProgress | None = None,
    say: Say | None = None,
) -> Summary:
    """Do all jobs of a study that are not done yet.

    Finished jobs are in the store whatever happens later; call again to go on. Several runs may share a
    store on one machine.

    Parameters
    ----------
    preset : {"quick", "paper", "worth"}
    store : path
        An SQLite file, made if it is not there. It holds one preset with one seed.
    data : path, optional
        A folder with a manifest.json; by default the one that SEMIRANK_DATA names, else the cache.
    only : names of data sets, optional
        By default all that are there.
    methods : names of families, optional
        Of "random_forest", "extra_trees", "bagging", "relief", "laplace", "equal"; by default all. The preset
        "worth" has others, of which "subset_value" runs only if it is named.
    n_jobs : int, optional
        Processes; by default one per core.
    dask : str, optional
        The address of a Dask scheduler, or "local".
    seed : int, default=0
    retry : bool, default=False
        Do failed and outdated jobs again.
    progress : callable, optional
        Called with a :class:`RunProgress` now and then.
    say : callable, optional
        Called with sentences for the user.

    Returns
    -------
    Summary
    """
    from joblib import cpu_count

    from ..datasets.registry import data_folder

    n_workers = cpu_count() if n_jobs is None else n_jobs
    if n_workers < 1:
        raise ValueError(f"The number of processes must be at least 1, not {n_workers}.")
    say = say or (lambda text: None)
    study = Study(find_preset(preset), seed, data_folder(data).absolute())
    methods = list(methods)
    families, only = find_families(methods, study.preset.name), list(only)
    if not methods:
        for line in left_out_families(study.preset.name):
            say(line)
    if Path(store).exists() or not Path(store).absolute().parent.is_dir():
        Store(store, study).close()  # an unusable one is refused before the data are read
    planned = plan_jobs(study, only, families, say)  # first, so that no store is made if this fails
    with Store(store, study) as opened:
        if opened.lost:
            say(opened.lost)
        opened.add(planned.jobs)
        if not only:
            opened.leave_out(planned.missing, planned.broken)
        progress = progress or (lambda now: None)
        return _Run(opened, study, planned, retry, progress, say).go(n_workers, dask)


class Planned(NamedTuple):
    """Jobs in the order of a run, and (name, why) of the data sets that have none."""

    jobs: list[Job]
    missing: list[tuple[str, str]]
    broken: list[tuple[str, str]]


def plan_jobs(study: Study, only: Sequence[str], families: Sequence[str], say: Say) -> Planned:
    """The jobs of all data sets that can be opened.

    A name that is not known, or not there though it was asked for, is an error.
    """
    from ..datasets.registry import Availability, available, find, open_dataset

    folder = study.folder
    found = Availability(list(dict.fromkeys(find(name, folder).name for name in only)), [], [])
    names, missing, broken = found if only else available(folder)
    say("reading the data set" if len(names) == 1 else f"reading {len(names)} data sets")
    jobs: list[Job] = []
    for name in names:
        try:
            jobs += jobs_of(open_dataset(name, folder), study, families)
        except ValueError as error:
            if only:
                raise
            broken.append((name, str(error)))
    left_out = left_out_lines(missing, broken)
    if not jobs:
        # Laplace is the only family that does not fit every task.
        some_opened = any(name not in dict(broken) for name in names)
        reasons = left_out[bool(missing) :] + ["laplace is for regression, no task here"] * some_opened
        raise ValueError(f"There is nothing to do: {'; '.join(reasons) or f'{folder} holds no data set'}.")
    for line in left_out:
        say(line)
    return Planned(sorted(jobs, key=lambda job: job_order(job, study)), missing, broken)


def left_out_lines(missing: Sequence[tuple[str, str]], broken: Sequence[tuple[str, str]]) -> list[str]:
    """Which data sets have no jobs, in words.

    Examples
    --------
    >>> broken = [("Edm1", "Edm1 has 3 rows."), ("Dis", "the file Disks.arff does not exist")]
    >>> for line in left_out_lines([("Pol", "..."), ("Bank", "...")], broken):
    ...     print(line)
    left out, not in the folder: Pol, Bank (`datasets list` says why)
    left out: Edm1 has 3 rows
    left out: Dis, the file Disks.arff does not exist
    """
    names = ", ".join(name for name, _ in missing)
    lines = [f"left out, not in the folder: {names} (`datasets list` says why)"] if missing else []
    for name, why in broken:
        why = why.removesuffix(".")
        lines.append(f"left out: {why if why.startswith(name) else f'{name}, {why}'}")
    return lines


class _Run:
    """The loop of one run; it alone writes to the store."""

    def __init__(
        self, store: Store, study: Study, planned: Planned, retry: bool, progress: OnProgress, say: Say
    ) -> None:
        self.store, self.study, self.planned, self.retry = store, study, planned, retry
        self.progress, self.say = progress, say
        keys = {job.place: job.key for job in planned.jobs}
        known = [job for job in store.jobs() if job.place in keys]
        kept = [job for job in known if job.state == "done" and job.key == keys[job.place]]
        failed = {job.place for job in known if job.state == "failed"}
        outdated = {job.place for job in known if job.state == "done"} - {job.place for job in kept}
        self.kept, self.pace = len(kept), Pace(kept)
        self.failed_before, self.outdated = (0, 0) if retry else (len(failed), len(outdated))
        to_do = {job.place for job in known if job.state in ("missing", "claimed")}
        to_do |= failed | outdated if retry else set()
        self.queue = deque(job for job in planned.jobs if job.place in to_do)
        self.running: dict[tuple, Job] = {}
        self.deaths: Counter[str] = Counter()
        self.done = self.failed = 0

    def go(self, n_workers: int, dask: str | None) -> Summary:
        """Hand out jobs until none is left that this run may take."""
        taken: set[tuple] = set()  # by other runs
        if self.queue:
            workers: LocalWorkers | DaskWorkers
            if dask is None:
                workers = LocalWorkers(self.study, min(n_workers, len(self.queue)))
            else:
                from .dask_workers import DaskWorkers

                workers = DaskWorkers(self.study, dask, n_workers)
            try:
                with closing(workers):
                    taken = {job.place for job in self._loop(workers, n_workers)}
            finally:
                self.store.release()
        theirs = Counter(job.state for job in self.store.jobs() if job.place in taken)
        open_there = theirs["missing"] + theirs["claimed"]
        kept, failed_before = self.kept + theirs["done"], self.failed_before + theirs["failed"]
        return Summary(
            self.done, self.failed, kept, failed_before, self.outdated, open_there, *self.planned[1:]
        )

    def _loop(self, workers: LocalWorkers | DaskWorkers, n_workers: int) -> list[Job]:
        """Do the jobs; returns those that other runs took."""
        taken: list[Job] = []
        claimed = False
        beat = time.monotonic()
        self.store.beat()  # before anything is claimed, so that the file itself shows that a run is going on
        self._report(n_workers)
        while True:
            while self.queue and workers.free() > 0:
                job = self.queue.popleft()
                if self.store.claim(job, retry=self.retry):
                    claimed = True
                    self.running[job.place] = job
                    workers.submit(job)
                else:
                    taken.append(job)
            if not self.running:
                if not claimed:
                    return taken
                # Jobs that another run held a while ago may be free by now, if that run was stopped.
                self.queue, taken, claimed = deque(taken), [], False
                continue
            for outcome in workers.wait(1.0):
                self._note(outcome)
                self._report(n_workers)
            if time.monotonic() - beat > BEAT_SECONDS:
                beat = time.monotonic()
                self.store.beat()
                self._report(n_workers)

    def _note(self, outcome: Outcome) -> None:
        job = outcome.job
        del self.running[job.place]
        if outcome.error is None:
            self.store.finish(job, outcome.records, outcome.seconds, outcome.rankings)
            self.pace.add(job, outcome.seconds)
            self.done += 1
            return
        self.deaths[job.key] += outcome.died
        if outcome.died and self.deaths[job.key] < _ATTEMPTS:
            self.queue.appendleft(job)
            return
        self.store.fail(job, outcome.error, outcome.seconds)
        self.failed += 1
        self.say(f"failed: {job.describe()}: {outcome.error}")

    def _report(self, n_workers: int) -> None:
        left = self.pace.seconds([*self.queue, *self.running.values()], n_workers)
        total = len(self.planned.jobs) - self.outdated - self.failed_before
        self.progress(RunProgress(self.kept + self.done, self.failed, total, left))


class Pace:
    """How long jobs of each family take, relative to their estimated cost (which is in rough seconds)."""

    def __init__(self, done: Iterable[Job] = ()) -> None:
        self._cost: dict[str, float] = defaultdict(float)
        self._spent: dict[str, float] = defaultdict(float)
        for job in done:
            self.add(job, job.job_seconds or 0.0)

    def add(self, job: Job, seconds: float) -> None:
        """Learn from a finished job."""
        self._cost[job.family] += job.cost
        self._spent[job.family] += seconds

    def seconds(self, jobs: Iterable[Job], n_workers: int = 1) -> float | None:
        """For these jobs; None while nothing is known."""
        cost, spent = self._cost, self._spent
        each = [
            job.cost * (spent[job.family] / cost[job.family] if job.family in cost else 1.0) for job in jobs
        ]
        return sum(each) / n_workers if cost else None
