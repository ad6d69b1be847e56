"""What the commands share: messages, progress, one-line errors. Light to import."""

from __future__ import annotations

import codecs
import io
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TypeVar

from ..results.text_table import visible
from ..runtime.atomic_write import writing
from ..runtime.progress import show_progress as progress  # noqa: F401  for the commands

Result = TypeVar("Result")

INTERRUPTED = "interrupted; no file was left half written."
WORKER = "semirank-work"


def say(text: str) -> None:
    """A line for the reader; results go to standard output, everything else here."""
    print(visible(text), file=sys.stderr, flush=True)


_PLAIN = {"█": "#", "…": "...", "±": "+-", "\N{EN DASH}": "-", "\N{REPLACEMENT CHARACTER}": "?"}
_PLAIN |= dict.fromkeys("▉▊▋▌", "#") | dict.fromkeys("▍▎▏", "")


def speak_plainly() -> None:
    """Where the output lacks some of our characters (cp1252, ASCII), plain ones stand in for them."""
    codecs.register_error("semirank", _plain_characters)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="semirank")


def _plain_characters(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    words = (_PLAIN.get(c, c.encode("ascii", "backslashreplace").decode()) for c in lost)
    return "".join(words), error.end


def run(command: Callable[[], int]) -> int:
    """Run a command and return its exit code; bad input becomes one line, never a traceback."""
    if os.environ.get("SEMIRANK_DEBUG") == "1":
        return command()
    try:
        return command()
    except KeyboardInterrupt:
        say(INTERRUPTED)
        return 130
    except BrokenPipeError:  # whatever read our output has closed the pipe, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError as error:
        why = str(error) and _one_line(error)
        say(f"error: {why or 'not enough memory; use fewer rows or features.'}")
        return 2
    except OSError as error:
        system = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        say(f"error: {_one_line(system or error)}")
        return 2
    except (ValueError, TypeError, ImportError) as error:
        say(f"error: {_one_line(error)}")
        return 2
    except Exception as error:
        # typer and click raise their own errors, from classes whose home differs between versions.
        if hasattr(error, "format_message"):
            say(f"error: {_one_line(error.format_message())}")
            return 2
        if isinstance(error.__cause__, KeyboardInterrupt):  # numba's way of passing on Ctrl-C
            say(INTERRUPTED)
            return 130
        say(
            f"error: {type(error).__name__}: {_one_line(error)} "
            "(this is a fault of semirank; SEMIRANK_DEBUG=1 shows where)"
        )
        return 1


def interruptible(work: Callable[[], Result]) -> Result:
    """What `work` returns. It runs in a thread, because Ctrl-C would have to wait for compiled code to end.

    Whoever interrupts it ends the process by `leave`.
    """
    done: Future[Result] = Future()

    def call() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    worker = threading.Thread(target=call, name=WORKER, daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.1)  # without a limit, Windows would not notice Ctrl-C
    return done.result()


def leave(code: int) -> NoReturn:
    """End the process with this code, without waiting for work that was interrupted."""
    if any(thread.name == WORKER for thread in threading.enumerate()):
        writing.acquire(timeout=10)
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


def _one_line(error: object) -> str:
    return " ".join(str(error).split()) or type(error).__name__


@contextmanager
def collected_warnings(notes: list[str]) -> Iterator[None]:
    """Warnings inside the block become notes, each text once, without a full stop as notes are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    texts = (_one_line(warning.message).removesuffix(".") for warning in caught)
    notes += dict.fromkeys(text for text in texts if text not in notes)


def show_warnings(warnings: Sequence[Mapping[str, Any]]) -> None:
    """What to know of the data before anything else is read, on standard output."""
    from ..results.warning_words import warning_lines

    for line in warning_lines(warnings):
        print(line)


def show_table(head: list[str], rows: list[list[str]]) -> None:
    """Columns on standard output, under a header."""
    from ..results.text_table import text_table

    show(text_table(head, [[visible(cell) for cell in row] for row in rows]))


def show(table: str) -> None:
    """A table made of text on standard output; on a terminal its header and bars get some colour."""
    if not sys.stdout.isatty():
        print(table)
        return
    from rich.console import Console
    from rich.text import Text

    styled = Text(table, no_wrap=True, overflow="ellipsis")  # not markup: a feature may be called [bold]
    styled.stylize("bold", 0, len(table.split("\n", 1)[0]))
    styled.highlight_regex("[█▉▊▋▌▍▎▏]+", "blue")
    Console(highlight=False).print(styled)
