"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

writing = threading.Lock()  # held while a file is being written, so that a program that ends can wait for it


def atomic_write(path: str | PathLike[str], content: str | bytes) -> None:
    """Write a file so that an interruption leaves the old one or none, never half of the new one."""
    atomic_write_all({Path(path): content})


def atomic_write_all(files: Mapping[Path, str | bytes]) -> None:
    """Write several files, each whole; a disk without room for all of them keeps the old ones."""
    drafts: dict[Path, tuple[Path, Path]] = {}
    with writing:
        try:
            for path, content in files.items():
                raw = content if isinstance(content, bytes) else content.encode()
                target = Path(os.path.realpath(path))
                with _naming(path):
                    if target.exists() and not target.is_file():
                        target.write_bytes(raw)  # a pipe or a device cannot be replaced by a draft
                        continue
                    # A random name, so that no other program has a file there.
                    draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
                    drafts[path] = draft, target
                    with open(draft, "xb") as file:
                        file.write(raw)
                        file.flush()
                        os.fsync(file.fileno())
            for path, (draft, target) in drafts.items():
                with _naming(path):
                    os.replace(draft, target)
        finally:
            for draft, _ in drafts.values():
                draft.unlink(missing_ok=True)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Make errors name the user's file: those of a full disk name no file, the others name the draft."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
