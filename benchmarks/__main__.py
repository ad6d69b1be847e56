"""`python -m benchmarks [forest] [relief]`: speed and memory against the peers, as markdown tables."""

from __future__ import annotations

import importlib
import os
import platform
import sys

# One thread per measurement: BLAS must not take the second core. Set before numpy is loaded.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")


def main() -> None:
    names = sys.argv[1:] or ["forest", "relief"]
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores\n")
    for name in names:
        importlib.import_module(f"benchmarks.{name}").main()


main()
