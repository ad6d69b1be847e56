"""Clock, memory and tables for the benchmarks."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence


def best_time(work: Callable[..., object], *args: object, repeats: int = 3, **params: object) -> float:
    """Seconds of the fastest of a few runs of work(*args, **params)."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work(*args, **params)
        times.append(time.perf_counter() - began)
    return min(times)


def best_times(*works: Callable[[], object], seconds: float = 8.0) -> list[float]:
    """Seconds of the fastest run of each work; they take turns, so that a slow spell of the machine hits all.

    Two rounds at least, and more, up to ten, while they fit into the given time.
    """
    times: list[list[float]] = [[] for _ in works]
    while len(times[0]) < 2 or (len(times[0]) < 10 and sum(map(sum, times)) < seconds):
        for work, own in zip(works, times):
            own.append(best_time(work, repeats=1))
    return [min(own) for own in times]


def peak_memory(code: str) -> tuple[str, int]:
    """Run code in a fresh process of Linux: (what it printed, its peak memory in bytes)."""
    # Not getrusage: its maximum starts at what the parent had.
    find = "next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM'))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nprint({find})\n"], check=True, capture_output=True, text=True
    )
    *output, peak = done.stdout.strip().split("\n")
    return "\n".join(output), int(peak) * 1024


def markdown(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A titled markdown table."""
    lines = [f"### {title}", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
