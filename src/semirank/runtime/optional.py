"""Libraries that not every installation has."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optional(module: str, complaint: str) -> Any:
    """A module, imported now; where that fails, an error that says what needs it and how to get it.

    Examples
    --------
    >>> optional("json", "Notes need json.").dumps(1)
    '1'
    >>> optional("no_such_library", "Notes need no_such_library; install it.")
    Traceback (most recent call last):
    ...
    ImportError: Notes need no_such_library; install it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(complaint) from error
