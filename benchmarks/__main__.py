"""`python -m benchmarks [startup] [consensus] [forest] [relief] [--page FILE]`: speed against the peers.

Prints markdown tables; with --page they also replace what is between the two marks in that file.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import re
from pathlib import Path

# One thread per measurement: BLAS must not take the second core. Set before numpy is loaded.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

PARTS = ("startup", "consensus", "forest", "relief")
MARKED = re.compile(r"(?<=<!-- benchmarks -->\n).*(?=<!-- end of benchmarks -->)", re.DOTALL)


def versions() -> str:
    """What was measured, in one line."""
    from importlib.metadata import version

    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "numba"))
    return f"Python {platform.python_version()}, {libraries}, {platform.machine()}, {os.cpu_count()} cores.\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--page", type=Path, help="a file with the marks of docs/performance.md")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"there is no part {sorted(unknown)[0]!r}; there are {', '.join(PARTS)}")
    if options.page and not MARKED.search(options.page.read_text()):
        parser.error(f"{options.page} has no place for the tables")
    tables = [versions()]
    print(tables[0])
    for part in options.parts or PARTS:
        for table in importlib.import_module(f"benchmarks.{part}").tables():
            print(table, flush=True)
            tables.append(table)
    if options.page:
        text = options.page.read_text()
        options.page.write_text(MARKED.sub(lambda _: "\n" + "\n".join(tables) + "\n", text))


main()
