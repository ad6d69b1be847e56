"""Libraries that a test may use and that need not be there: what touches a missing one is skipped, no more.

`from .optional import pd, pl` stands for `import pandas as pd` and so on. Where pandas is not installed, `pd`
and all that is made of it while tests are collected (cases, class attributes) are stand-ins: a case that
holds one is skipped (conftest.py), and so is a test at the moment it asks a stand-in for anything.
"""

from __future__ import annotations

import importlib
import importlib.util
import os

import pytest


class Missing:
    """What is not installed, or made of what is not; false, so that `if pd` works."""

    def __init__(self, library: str) -> None:
        self.library = library

    def __bool__(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Missing:
        if "PYTEST_CURRENT_TEST" in os.environ:
            pytest.skip(f"needs {self.library}")
        if name.startswith("_"):  # what Python and pytest look for in any object
            raise AttributeError(name)
        return self

    def __call__(self, *args: object, **options: object) -> Missing:
        return self.__getattr__("__call__") if "PYTEST_CURRENT_TEST" in os.environ else self


def optional(name: str):
    """The module, or its stand-in."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return Missing(name.partition(".")[0])


def missing(value: object) -> Missing | None:
    """The stand-in that a case is or holds."""
    if isinstance(value, Missing):
        return value
    inside = value if isinstance(value, list | tuple | set) else ()
    return next((found for part in inside if (found := missing(part)) is not None), None)


pd = optional("pandas")
pl = optional("polars")
pa = optional("pyarrow")
parquet = optional("pyarrow.parquet")
# For what needs them without naming them.
needs_pandas = pytest.mark.skipif(not pd, reason="needs pandas")
needs_pyarrow = pytest.mark.skipif(not pa, reason="needs pyarrow")
needs_psutil = pytest.mark.skipif(importlib.util.find_spec("psutil") is None, reason="needs psutil")
