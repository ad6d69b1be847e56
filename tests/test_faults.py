"""What surrounds the program fails: caches, disks, the user's patience. It goes on, or says what to do.

Kills of a study, and of the processes of its jobs, are in study/test_run.py; the long form of both is
`make faults`.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from .optional import needs_psutil

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits and signals of POSIX")

SMALL = """
from semirank.runtime.jit import kernel

@kernel
def double(x):
    return 2 * x

if __name__ == "__main__":
    import numpy as np
    print(double(np.arange(3.0)), sum(double.stats.cache_hits.values()))
"""
COMPILED, LOADED = "[0. 2. 4.] 0\n", "[0. 2. 4.] 1\n"


def limited(size: int):
    """Before a process starts: no file may grow over `size` bytes, as if the disk were full."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


# A process that may write nothing cannot write down which lines it ran either, and would complain.
UNMEASURED = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}


@pytest.fixture
def small(tmp_path):
    """Runs a module with one small kernel in a new process, by default with a cache of its own."""
    (tmp_path / "small.py").write_text(SMALL)

    def run(folder: Path | str | None = tmp_path / "cache", **options):
        settings = UNMEASURED if "preexec_fn" in options else os.environ
        settings = {name: value for name, value in settings.items() if name != "NUMBA_CACHE_DIR"}
        settings |= options.pop("settings", {}) | ({"NUMBA_CACHE_DIR": str(folder)} if folder else {})
        done = subprocess.run(
            [sys.executable, "small.py"],
            cwd=tmp_path, env=settings, capture_output=True, text=True, **options,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done

    return run


def cached(folder: Path, ending: str) -> Path:
    (path,) = folder.rglob(f"*.{ending}")
    return path


@pytest.mark.parametrize("kept", [0.0, 0.7])
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_cache_is_made_anew(ending, kept, small, tmp_path):
    assert small().stdout == COMPILED
    path = cached(tmp_path / "cache", ending)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole))])
    done = small()
    assert (done.stdout, done.stderr) == (COMPILED, "")
    assert small().stdout == LOADED


def test_a_file_of_another_signature_is_not_taken(small, tmp_path):
    """As when two processes compiled at once: the index names a file that the other process wrote."""
    assert small().stdout == COMPILED
    path = cached(tmp_path / "cache", "nbc")
    text = SMALL.replace("arange(3.0)", "arange(3, dtype=np.float32)")
    stamp = os.stat(tmp_path / "small.py")
    ours = path.read_bytes()
    path.unlink()
    cached(tmp_path / "cache", "nbi").unlink()
    (tmp_path / "small.py").write_text(text + " " * (len(SMALL) - len(text)))
    os.utime(tmp_path / "small.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert small().stdout == COMPILED
    path.write_bytes(ours)
    assert small().stdout == COMPILED


def test_a_full_disk_keeps_nothing_in_the_cache(small, tmp_path):
    done = small(preexec_fn=limited(10))
    assert (done.stdout, done.stderr) == (COMPILED, "")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_cache_folder_that_cannot_be_made(small, tmp_path):
    """numba goes on to the next place, which is beside the file."""
    (tmp_path / "file").touch()
    done = small(tmp_path / "file" / "cache")
    assert (done.stdout, done.stderr) == (COMPILED, "")
    assert cached(tmp_path / "__pycache__", "nbc")


def test_no_place_for_a_cache_is_told_once(small, tmp_path):
    """Neither beside the file nor in the user's folder: not even root can make a folder below a file."""
    (tmp_path / "file").touch()
    (tmp_path / "__pycache__").touch()
    below = str(tmp_path / "file" / "cache")
    text = SMALL + "\n@kernel\ndef triple(x):\n    return 3 * x\n"
    (tmp_path / "small.py").write_text(text)
    done = small(None, settings={"HOME": below, "XDG_CACHE_HOME": below})
    assert done.stdout == COMPILED
    assert done.stderr.count("Compiled kernels cannot be kept") == 1
    assert "set NUMBA_CACHE_DIR" in done.stderr


def write_data(folder: Path, n_rows: int, n_features: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)).round(4)
    y = X[:, 0] + X[:, 1]
    head = ",".join([*(f"x{j}" for j in range(n_features)), "y"])
    rows = [
        ",".join([*map(str, row), f"{value:.4f}" if i < n_rows // 2 else ""])
        for i, (row, value) in enumerate(zip(X.tolist(), y))
    ]
    (folder / "data.csv").write_text("\n".join([head, *rows]) + "\n")


def semirank(*words: str) -> list[str]:
    return [sys.executable, "-m", "semirank.cli.main", *words]


def test_two_processes_compile_at_once(tmp_path):
    """Into one empty cache; each ranks, and a third one loads what they left."""
    write_data(tmp_path, 60, 4)
    command = semirank("rank", "data.csv", "-t", "y", "-m", "laplace", "--json", "--quiet")
    settings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    options = {"cwd": tmp_path, "env": settings, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    both = [subprocess.Popen(command, text=True, **options) for _ in range(2)]
    told = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    third = subprocess.run(command, check=True, text=True, **options)
    scores = [json.loads(text)["scores"] for text in (told[0][0], told[1][0], third.stdout)]
    assert scores[0] == scores[1] == scores[2]


FULL = {
    "rank": ("rank", "data.csv", "-t", "y", "-m", "relief", "--quiet", "--out"),
    "evaluate": ("evaluate", "data.csv", "-t", "y", "-m", "relief", "--repeats", "1", "--quiet", "--out"),
}


@pytest.mark.parametrize("ending", ["json", "html"])
@pytest.mark.parametrize("name", FULL)
def test_a_full_disk_is_told_in_one_line(name, ending, tmp_path):
    """The old file stays, and no half of a new one."""
    write_data(tmp_path, 60, 4)
    path = tmp_path / f"result.{ending}"
    path.write_text("old")
    before = sorted(tmp_path.iterdir())
    done = subprocess.run(
        semirank(*FULL[name], path.name),
        cwd=tmp_path, env=UNMEASURED, preexec_fn=limited(100), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert path.name in done.stderr
    assert done.stderr.count("\n") == 1
    assert path.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == before


def test_a_full_disk_under_the_rankings_of_an_evaluation(tmp_path):
    """They are a convenience: without room for them the evaluation goes on, and says so."""
    write_data(tmp_path, 60, 12)
    words = ("evaluate", "data.csv", "-t", "y", "-m", "relief", "--repeats", "1", "--cache", "kept", "--json")
    done = subprocess.run(
        semirank(*words),
        cwd=tmp_path,
        env=UNMEASURED,
        preexec_fn=limited(100),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("cannot be kept") == 1
    assert json.loads(done.stdout)
    assert list((tmp_path / "kept").iterdir()) == []


def children(pid: int) -> list:
    import psutil

    return psutil.Process(pid).children(recursive=True)


INTERRUPTED = {
    "rank": ("rank", "data.csv", "-t", "y", "-m", "forest", "--set", "n_estimators=100000"),
    "evaluate": ("evaluate", "data.csv", "-t", "y", "--repeats", "1000"),
}


def at_work(process: subprocess.Popen) -> list[str]:
    """Waits until the progress tells of kernels at work."""
    said = []
    for line in process.stderr:
        said.append(line)
        if " of 1000" in line or line.startswith("evaluation:"):
            break
    return said


@needs_psutil
@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupt_ends_real_work(name, tmp_path):
    """Ctrl-C in the middle of kernels; a minute is the limit of a hanging test, not what it takes."""
    write_data(tmp_path, 300, 20)
    command = semirank(*INTERRUPTED[name], "--out", "result.json")
    before = sorted(tmp_path.iterdir())
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, text=True, start_new_session=True, **pipes) as process:
        said = at_work(process)
        others = children(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, (said, err)
    assert err.splitlines()[-1] == "interrupted; no file was left half written."
    deadline = time.monotonic() + 60
    while any(other.is_running() for other in others) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(other.is_running() for other in others)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1", "utf-8"])
def test_output_that_knows_few_characters(encoding, tmp_path):
    """As when a command's output goes to a file on Windows: other characters stand for ours."""
    write_data(tmp_path, 60, 3)
    text = (tmp_path / "data.csv").read_text().replace("x0", "größe_☃")
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    done = subprocess.run(
        semirank("rank", "data.csv", "-t", "y", "-m", "laplace"),
        cwd=tmp_path, env=os.environ | {"PYTHONIOENCODING": encoding}, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    out = done.stdout.decode(encoding)
    assert "größe_☃" in out if encoding == "utf-8" else "_\\u2603" in out
    assert ("█" if encoding == "utf-8" else "###") in out


LIBRARY = """
import os, signal, sys, threading, time
import numpy as np
from semirank import ForestRanker

n_jobs = {"1": 1, "2": 2}.get(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 100))
y = X[:, 0] + X[:, 1]

def ranker(n_estimators):
    return ForestRanker(ensemble="bagging", supervision=0.5, n_estimators=n_estimators, n_jobs=n_jobs)

ranker(2).fit(X[:100], y[:100])


def interrupt():
    time.sleep(1)

    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
try:
    ranker(2000).fit(X, y)
except KeyboardInterrupt:
    print("KeyboardInterrupt")
"""


@pytest.mark.parametrize("n_jobs", ["None", "1", "2"])
def test_an_interrupt_in_library_use(n_jobs, tmp_path):
    """KeyboardInterrupt, whatever runs, and the process ends without the 2000 trees that nobody wants."""
    (tmp_path / "library.py").write_text(LIBRARY)
    done = subprocess.run(
        [sys.executable, "library.py", n_jobs], cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert (done.returncode, done.stdout) == (0, "KeyboardInterrupt\n"), done.stderr
