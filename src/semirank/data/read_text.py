"""Text files from anywhere: bounded reading, decoding, numbers."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..runtime.memory import ensure_room

_CHUNK = 1 << 24
# Lines, cells and columns made of a text take 8 to 14 times its size (measured on numbers and words).
_PER_BYTE = 15


def read_text(path: str | Path) -> str:
    """The text of a file, gunzipped, without byte-order mark, with plain line ends.

    UTF-8, UTF-16 where a byte-order mark says so, else Latin-1.
    """
    path = Path(path)
    with path.open("rb") as file:
        return decode(read_bytes(file, path.name))


def read_bytes(file: BinaryIO, name: str, limit: int | None = None) -> bytes:
    """What an open file holds (or begins with), gunzipped; refused if memory cannot hold its data."""
    buffered = io.BufferedReader(file)  # type: ignore[type-var]  # any binary file can be buffered
    chunks: list[bytes] = []
    size = 0
    try:
        source: io.BufferedIOBase = buffered
        if buffered.peek(2)[:2] == b"\x1f\x8b":
            source = gzip.GzipFile(fileobj=buffered)
        while chunk := source.read(_CHUNK if limit is None else limit - size):
            chunks.append(chunk)
            size += len(chunk)
            ensure_room(_PER_BYTE * size, f"Reading {name} ({size >> 20} MiB of it so far)")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{name} is a damaged gzip file ({error}); unpack or download it anew.") from None
    finally:
        buffered.detach()  # leaves the file open for the caller
    return b"".join(chunks)


def decode(data: bytes) -> str:
    """Bytes as text with plain line ends."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def parse_numbers(cells: Sequence[str], missing: frozenset[str]) -> np.ndarray | None:
    """The cells as numbers, NaN where missing, or None if one of them is no number."""
    try:
        values = list(map(float, cells))
    except ValueError:
        try:
            values = [np.nan if cell in missing else float(cell) for cell in cells]
        except ValueError:
            return None
    # Python reads 1_2 as 12, which nobody means in a data file
    return None if "_" in "".join(cells) else np.array(values, dtype=np.float64)
