"""How long a user waits for the first result: processes of their own, with and without compiled kernels."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from .common import best_time, markdown

_LAUNCH = "import sys; sys.argv[0] = 'semirank'; from semirank.cli.main import program; program()"


def tables() -> Iterator[str]:
    """The table of this file."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": os.path.join(folder, "kernels")}

        def run(*words: str) -> None:
            command = [sys.executable, *words]
            subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)

        run("-c", "import semirank")  # its files are read once
        first = best_time(run, "-c", _LAUNCH, "demo", repeats=1)
        rows = [
            ["`import semirank`", best_time(run, "-c", "import semirank"), "< 0.3"],
            ["`semirank --help`", best_time(run, "-c", _LAUNCH, "--help"), "< 0.5"],
            ["first `semirank demo`, with compilation", first, "< 40"],
            ["`semirank demo` in a second process", best_time(run, "-c", _LAUNCH, "demo"), "< 5"],
        ]
    yield markdown(
        "Start-up: whole processes, seconds",
        ["what", "seconds", "goal"],
        [[what, f"{seconds:.2f}", goal] for what, seconds, goal in rows],
    )
