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


def peak_memory(code: str) -> tuple[str, int]:
    """Run code in a fresh process: (what it printed, its peak memory in bytes)."""
    tail = "\nimport resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)\n"
    done = subprocess.run([sys.executable, "-c", code + tail], check=True, capture_output=True, text=True)
    *output, peak = done.stdout.strip().split("\n")
    return "\n".join(output), int(peak)


def markdown(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A titled markdown table."""
    lines = [f"### {title}", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
