"""How far long work has come: what it calls while it runs, shown as a bar or as lines of a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# progress(done, total, what), called while something long is running.
Progress = Callable[[int, int, str], None]


@contextmanager
def show_progress(quiet: bool = False) -> Iterator[Progress | None]:
    """Something to call as (done, total, what): a bar on a terminal, plain lines in a log, or None."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
            tasks: dict[str, Any] = {}

            def draw(done: int, total: int, what: str) -> None:
                if what not in tasks:
                    tasks[what] = bars.add_task(what, total=total)
                bars.update(tasks[what], completed=done, total=total)

            yield draw
    else:
        yield log_lines()


def log_lines() -> Progress:
    """At most one line in five seconds, with the time left; work that is over before that stays silent."""
    began: dict[str, tuple[float, int]] = {}  # when work was first heard of, and how far it was
    last: dict[str, float] = {}

    def report(done: int, total: int, what: str) -> None:
        now = time.monotonic()
        start, first = began.setdefault(what, (now, done))
        if now - last.setdefault(what, now) >= 5.0:
            last[what] = now
            left = (now - start) / (done - first) * (total - done) if done > first else 0.0
            more = f", about {duration(left)} left" if left >= 1 else ""
            print(f"{what}: {done} of {total}{more}", file=sys.stderr, flush=True)

    return report


def stopwatch(seconds: dict[str, float]) -> Callable[[str], None]:
    """A function that notes under the name of a step the seconds since the last one."""
    began = time.perf_counter()

    def step(name: str) -> None:
        nonlocal began
        now = time.perf_counter()
        seconds[name], began = now - began, now

    return step


def duration(seconds: float) -> str:
    """A time for the reader.

    Examples
    --------
    >>> duration(8.2), duration(75), duration(5000), duration(200000)
    ('8 s', '1 min 15 s', '1 h 23 min', '2 d 7 h')
    """
    whole = round(seconds)
    for size, unit, smaller, name in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // smaller} {name}"
    return f"{whole} s"
