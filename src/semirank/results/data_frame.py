"""Results as data frames of either library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..runtime.optional import optional


def make_frame(columns: Mapping[str, Any], library: str) -> Any:
    """Columns as a data frame of "pandas" or "polars"."""
    if library not in ("pandas", "polars"):
        raise ValueError(f'library must be "pandas" or "polars", got {library!r}.')
    complaint = f"A data frame needs {library}: pip install {library}."
    return optional(library, complaint).DataFrame(columns)
