"""How much memory is free, and a clear error before a call that needs more than that."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_ALWAYS = 32 << 20  # bytes; smaller requests are never refused
_UNLIMITED = 1 << 60  # cgroups write "no limit" as a number near 2^63, or as the word max


def ensure_room(n_bytes: float, what: str) -> None:
    """Raise MemoryError if this many bytes are not free; where that cannot be known, do nothing.

    Examples
    --------
    >>> ensure_room(1000, "A small table")
    >>> ensure_room(2.0**70, "A table of 2^67 cells")
    Traceback (most recent call last):
    ...
    MemoryError: A table of 2^67 cells would need about 1099511627776.0 GiB of memory, but only ...
    """
    if n_bytes <= _ALWAYS:
        return
    free = free_memory()
    if free is not None and n_bytes > free:
        raise MemoryError(
            f"{what} would need about {_amount(n_bytes)} of memory, but only {_amount(free)} are free; "
            "use fewer rows or columns, or a larger machine."
        )


def free_memory(proc: Path = Path("/proc"), cgroups: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Bytes that can still be taken without swapping, or None if the system does not tell.

    On Linux what the kernel calls available, but no more than the cgroups of this process (a container,
    a batch job) leave; elsewhere the free pages, or at least the size of the memory.
    """
    text = _read(proc / "meminfo")
    for line in text.splitlines():
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return max(0, min(1024 * int(amount.split()[0]), *_left_by_cgroups(proc, cgroups), _UNLIMITED))
    for pages in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        try:
            return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, OSError, ValueError):
            continue
    return None


def _left_by_cgroups(proc: Path, cgroups: Path) -> Iterator[int]:
    """What each cgroup with a limit leaves, this process's own and those around it, versions 1 and 2."""
    for line in _read(proc / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            root, names = cgroups / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        elif not controllers:
            root, names = cgroups, ("memory.max", "memory.current")
        else:
            continue
        parts = [part for part in path.split("/") if part not in ("", "..")]
        # In a container the path may be the host's, while the files lie at the root: look there too.
        for depth in range(len(parts), -1, -1):
            folder = root.joinpath(*parts[:depth])
            limit, used = (_read(folder / name).strip() for name in names)
            if limit.isdigit() and used.isdigit() and int(limit) < _UNLIMITED:
                yield int(limit) - int(used) + _reclaimable(_read(folder / "memory.stat"))


def _reclaimable(stat: str) -> int:
    """File pages that a cgroup gives back when memory is wanted; they count as used there."""
    sizes = dict(line.split(None, 1) for line in stat.splitlines() if " " in line)
    return int(sizes.get("total_inactive_file", sizes.get("inactive_file", "0")))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _amount(n_bytes: float) -> str:
    for size, unit in ((2**30, "GiB"), (2**20, "MiB")):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes / 1024:.1f} KiB"
