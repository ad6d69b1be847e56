"""Results as data frames of either library."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any


def make_frame(columns: Mapping[str, Any], library: str) -> Any:
    """Columns as a data frame of "pandas" or "polars"."""
    if library not in ("pandas", "polars"):
        raise ValueError(f'library must be "pandas" or "polars", got {library!r}.')
    try:
        module = importlib.import_module(library)
    except ImportError:
        raise ImportError(f"A data frame needs {library}: pip install {library}.") from None
    return module.DataFrame(columns)
