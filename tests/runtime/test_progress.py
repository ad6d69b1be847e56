"""Progress as lines of a log and as a bar."""

from __future__ import annotations

import io
import sys

from semirank.runtime import progress as progress_module
from semirank.runtime.progress import show_progress


def test_progress_is_silent_when_quiet():
    with show_progress(quiet=True) as progress:
        assert progress is None


def test_progress_in_a_log(capsys, monkeypatch):
    clock = iter([0.0, 1.0, 6.0, 7.0, 12.0])
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: next(clock))
    with show_progress() as progress:
        for done in range(5):
            progress(done, 4, "trees")
    assert capsys.readouterr().err.splitlines() == [
        "trees: 2 of 4, about 6 s left",
        "trees: 4 of 4",
    ]


def test_progress_on_a_terminal(monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with show_progress() as progress:
        progress(0, 3, "trees")
        progress(3, 3, "trees")
    assert "trees" in stream.getvalue()
