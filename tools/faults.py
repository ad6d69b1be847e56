"""Faults at random moments, counted: `make faults`, or python -m tools.faults --help.

A small study is killed (kill -9, the run and not its children) again and again and started anew; what was
done must stay, no child may outlive the run, and in the end the records must equal those of a run that
nothing got in the way of. Then commands are interrupted as by Ctrl-C, and files are written to a full disk.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.study.study_folder import write_folder
from tests.study.test_run import CHEAP, child_processes, lives, start, states_or_nothing, timeless, wait_until
from tests.test_faults import INTERRUPTED, at_work, semirank, write_data

from semirank.study import run_study


def over(run: subprocess.Popen, path: Path, goal: int) -> bool:
    """Whether a run has ended, or done so many jobs."""
    return run.poll() is not None or states_or_nothing(path).get("done", 0) >= goal


def kills(folder: Path, count: int, seed: int) -> bool:
    """Kill `count` runs, each while it starts or after it has done one to six jobs more."""
    data = write_folder(folder / "data")
    run_study(store=folder / "undisturbed.sqlite", data=data, n_jobs=1, methods=CHEAP)
    rng = random.Random(seed)
    killed = stores = kept = 0
    while killed < count:
        stores += 1
        path = folder / f"killed-{stores}.sqlite"
        done = 0
        for _ in range(4):  # then it may end
            run = start(path, data, 2)
            if rng.random() < 0.25:  # while it starts
                time.sleep(2 * rng.random())
            else:
                goal = done + rng.randint(1, 6)
                wait_until(lambda run=run, path=path, goal=goal: over(run, path, goal), 300)
                time.sleep(0.3 * rng.random())
            children = child_processes(run.pid)
            if run.poll() is None:
                run.kill()
                killed += 1
            run.communicate()
            wait_until(lambda pids=children: not any(map(lives, pids)))
            now = states_or_nothing(path).get("done", 0)
            if now < done:
                print(f"store {stores}: {done} jobs were done, {now} are left")
                return False
            done = now
        kept += done
        _, told = (run := start(path, data, 2)).communicate()
        if run.returncode != 0 or timeless(path) != timeless(folder / "undisturbed.sqlite"):
            print(f"store {stores}: not as undisturbed; {told}")
            return False
    print(
        f"{killed} kills over {stores} studies of 22 jobs, {kept} jobs done between them: all as undisturbed"
    )
    return True


def interrupts(folder: Path, name: str, count: int, seed: int) -> bool:
    """Interrupt a command at work; say how long the slowest took to end."""
    write_data(folder, 300, 20)
    rng = random.Random(seed)
    slowest, good = 0.0, True
    for _ in range(count):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        run = subprocess.Popen(semirank(*INTERRUPTED[name]), cwd=folder, start_new_session=True, **pipes)
        at_work(run)
        time.sleep(rng.random())
        children = child_processes(run.pid)
        began = time.monotonic()
        os.killpg(run.pid, signal.SIGINT)
        run.communicate()
        slowest = max(slowest, time.monotonic() - began)
        wait_until(lambda pids=children: not any(map(lives, pids)))
        good &= run.returncode == 130
    print(f"{count} interrupts of `semirank {name}`, the slowest ended after {slowest:.1f} s: {good}")
    return good


def full_disk(folder: Path) -> bool:
    """A file on a disk of 16 kB (Linux, root): one line, and no half of a file."""
    disk = folder / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], capture_output=True
    ).returncode:
        print("no small disk could be mounted: left out")
        return True
    try:
        write_data(folder, 60, 4)
        done = subprocess.run(
            semirank("rank", "data.csv", "-ty", "-mrelief", "-o", "disk/a.html", "-o", "disk/b.html", "-q"),
            cwd=folder, capture_output=True, text=True,
        )  # fmt: skip
        left = sorted(path.name for path in disk.iterdir())
    finally:
        subprocess.run(["umount", disk], check=True)
    good = done.returncode == 2 and done.stderr.count("\n") == 1 and set(left) <= {"a.html"}
    print(f"a full disk: {done.stderr.strip()!r}, left on it: {left}: {good}")
    return good


def main() -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=about)
    parser.add_argument("--kills", type=int, default=20, help="kills of a study")
    parser.add_argument("--interrupts", type=int, default=5, help="of each command")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        good = kills(folder, given.kills, given.seed)
        for command in INTERRUPTED:
            good &= interrupts(folder, command, given.interrupts, given.seed)
        good &= full_disk(folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
