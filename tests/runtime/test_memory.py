"""What is free, what a call needs, and a word before it is too much."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from semirank import ForestRanker, LaplaceRanker, ReliefRanker, knn_score, load
from semirank.data.target import Target
from semirank.neighbors.feature_distance import fit_metric
from semirank.neighbors.search import nearest_l1, squares
from semirank.rankers.laplace import laplace_scores
from semirank.runtime import memory as _memory
from semirank.runtime.memory import ensure_room, free_memory
from semirank.trees.ensemble import Plan, grow_forest, prepare
from semirank.trees.grow import Growth

from ..neighbors.naive_neighbors import make_table

MIB = 1 << 20


def machine(folder: Path, files: dict[str, object]) -> tuple[Path, Path]:
    """A made-up /proc and /sys/fs/cgroup."""
    for name, content in {"proc/meminfo": "MemTotal: 99 kB\nMemAvailable: 8192 kB\n", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(content))
    return folder / "proc", folder / "cgroup"


class TestFreeMemory:
    def test_here(self):
        free = free_memory()
        assert free is None or 2**20 < free < 2**50

    def test_no_limits(self, tmp_path):
        assert free_memory(*machine(tmp_path, {})) == 8 * MIB

    def test_cgroup_2(self, tmp_path):
        files = {
            "proc/self/cgroup": "0::/jobs/mine\n",
            "cgroup/memory.max": "max",
            "cgroup/jobs/memory.max": 7 * MIB,
            "cgroup/jobs/memory.current": 2 * MIB,
            "cgroup/jobs/mine/memory.max": 6 * MIB,
            "cgroup/jobs/mine/memory.current": 4 * MIB,
            "cgroup/jobs/mine/memory.stat": f"anon 5\ninactive_file {MIB}\n",
        }
        assert free_memory(*machine(tmp_path, files)) == 3 * MIB
        (tmp_path / "cgroup/jobs/memory.current").write_text(str(6 * MIB))
        assert free_memory(tmp_path / "proc", tmp_path / "cgroup") == MIB

    def test_cgroup_1_in_a_container(self, tmp_path):
        """The path is the host's; the files of the container's own cgroup lie at the root."""
        files = {
            "proc/self/cgroup": "5:cpu:/\n4:memory:/docker/abc\n",
            "cgroup/memory/memory.limit_in_bytes": 5 * MIB,
            "cgroup/memory/memory.usage_in_bytes": 4 * MIB,
            "cgroup/memory/memory.stat": f"inactive_file 1\ntotal_inactive_file {2 * MIB}\n",
        }
        assert free_memory(*machine(tmp_path, files)) == 3 * MIB
        (tmp_path / "cgroup/memory/memory.limit_in_bytes").write_text("9223372036854771712")
        assert free_memory(tmp_path / "proc", tmp_path / "cgroup") == 8 * MIB

    def test_more_used_than_allowed(self, tmp_path):
        files = {
            "proc/self/cgroup": "0::/\n",
            "cgroup/memory.max": MIB,
            "cgroup/memory.current": 2 * MIB,
        }
        assert free_memory(*machine(tmp_path, files)) == 0

    def test_other_systems(self, tmp_path, monkeypatch):
        answers = {"SC_PHYS_PAGES": 3, "SC_PAGE_SIZE": MIB}  # no SC_AVPHYS_PAGES, as on macOS

        def sysconf(name):
            if name not in answers:
                raise ValueError("unrecognized configuration name")
            return answers[name]

        monkeypatch.setattr(_memory.os, "sysconf", sysconf, raising=False)
        assert free_memory(tmp_path, tmp_path) == 3 * MIB
        answers.clear()
        assert free_memory(tmp_path, tmp_path) is None


class TestEnsureRoom:
    def test_words(self, monkeypatch):
        monkeypatch.setattr(_memory, "free_memory", lambda: 100 * MIB)
        ensure_room(100 * MIB, "It")
        with pytest.raises(MemoryError, match=r"^It would need about 3.0 GiB of memory, but only 100.0 MiB"):
            ensure_room(3 << 30, "It")

    def test_small_things_are_not_asked_for(self, monkeypatch):
        monkeypatch.setattr(_memory, "free_memory", lambda: 0)
        ensure_room(MIB, "It")

    def test_unknown(self, monkeypatch):
        monkeypatch.setattr(_memory, "free_memory", lambda: None)
        ensure_room(1e30, "It")


# ---------------------------------------------------------------- estimates against what is really taken


class Asked(list):
    """Collects what is asked for instead of comparing it with the machine."""

    def __init__(self, monkeypatch):
        super().__init__()
        for module in ("neighbors.search", "neighbors.layouts", "rankers.laplace_graph", "trees.ensemble"):
            monkeypatch.setattr(f"semirank.{module}.ensure_room", lambda size, what: self.append(size))


def peak_of(work) -> int:
    work()  # compiled, imported, cached
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


TABLES = {
    "numbers": ([0] * 60, 0.0),
    "numbers with holes": ([0] * 60, 0.1),
    "two values": ([2] * 60, 0.0),
    "ten values": ([10] * 20, 0.05),
    "many values": ([80] * 3, 0.0),
}


def problem(kinds, missing, n=4000):
    rng = np.random.default_rng(0)
    table = make_table(rng, n, kinds, missing)
    y = np.where(np.arange(n)[:, None] < n // 2, rng.normal(size=(n, 1)), np.nan)
    return table, Target("regression", y, ("y",), np.ones(1))


@pytest.mark.parametrize("name", TABLES)
def test_estimates(name, monkeypatch):
    """Neither much too low, which would not protect, nor much too high, which would refuse what works."""
    table, target = problem(*TABLES[name])
    asked = Asked(monkeypatch)
    material = prepare(table)
    plan = Plan(1, Growth(3, False, 1.0, 4.0, 2), True, "all", 0)
    steps = {
        "prepare": lambda: prepare(table),
        "forest": lambda: grow_forest(material, target, 0.5, plan),
        "squares": lambda: squares(fit_metric(table), table, table),
        "laplace": lambda: laplace_scores(table, target),
    }
    for step, work in steps.items():
        asked.clear()
        taken = peak_of(work)
        # what is asked for last comes on top of what is held already, so the largest is a lower bound
        assert 0.5 * taken < max(asked) < 2.5 * taken + MIB, (step, max(asked) / MIB, taken / MIB)


def test_estimate_of_neighbours(monkeypatch):
    """With few queries, so that the layout counts and not the block of distances."""
    table, _ = problem([0] * 100, 0.0, n=8000)
    asked = Asked(monkeypatch)
    taken = peak_of(lambda: nearest_l1(table, 5, rows=np.arange(32)))
    assert 0.7 * taken < max(asked) < 2 * taken


# ---------------------------------------------------------------- refused before the work

SMALL = np.random.default_rng(0).normal(size=(40, 6))


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: ForestRanker().fit(SMALL, SMALL[:, 0]), r"^A forest on 40 rows and 6 columns would need"),
        (lambda: ReliefRanker().fit(SMALL, SMALL[:, 0]), r"^Comparing 40 rows with 40 would need"),
        (lambda: LaplaceRanker().fit(SMALL, SMALL[:, 0]), r"^The graph of 40 rows and 6 columns would need"),
        (
            lambda: knn_score(np.ones(6), SMALL, SMALL[:, 0], SMALL, SMALL[:, 0], k=3),
            r"^Comparing 40 rows with 40 would need",
        ),
    ],
)
def test_refused(call, what, monkeypatch):
    monkeypatch.setattr(_memory, "_ALWAYS", 8 * SMALL.size)  # the table itself
    monkeypatch.setattr(_memory, "free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=what):
        call()


def test_trees_at_a_time(monkeypatch):
    """What one worker may do, many at once may not."""
    table, target = problem([0] * 30, 0.0, n=1000)
    material = prepare(table)
    plan = Plan(2, Growth(3, False, 1.0, 4.0, 2), True, "all", 0)
    monkeypatch.setattr(_memory, "_ALWAYS", 0)
    monkeypatch.setattr(_memory, "free_memory", lambda: 4 * MIB)
    assert len(grow_forest(material, target, 0.5, plan).members) == 2
    with pytest.raises(MemoryError, match=r"^Growing 64 trees at a time on 1000 rows and 31 columns"):
        grow_forest(material, target, 0.5, plan, n_jobs=64)


def test_files(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("a,b\n" + "1,2\n" * 1000)
    monkeypatch.setattr(_memory, "_ALWAYS", 0)
    monkeypatch.setattr(_memory, "free_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"^Reading a\.csv \(0 MiB of it so far\) would need about 58"):
        load(tmp_path / "a.csv", "b")


# ---------------------------------------------------------------- nothing is kept


@pytest.mark.slow
@pytest.mark.parametrize("make", [ForestRanker, ReliefRanker, LaplaceRanker])
def test_no_growth_over_200_fits(make):
    X = np.random.default_rng(0).normal(size=(200, 20))
    y = np.where(np.arange(200) < 80, X[:, 0], np.nan)
    settings = {"n_estimators": 5, "supervision": 0.5} if make is ForestRanker else {}
    ranker = make(random_state=0, **settings)
    for _ in range(20):
        ranker.fit(X, y)
    gc.collect()
    tracemalloc.start()
    try:
        ranker.fit(X, y)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        resident = _resident()
        for _ in range(200):
            ranker.fit(X, y)
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # Caches of numba fill up at first (75 kB after 50 fits, 105 after 200); a forest kept is 50 kB per fit.
    assert after - before < 200_000
    assert _resident() - resident < 32 * MIB  # what Python does not see: work arrays of kernels and threads


def _resident() -> int:
    """Bytes of this process in memory now; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0
