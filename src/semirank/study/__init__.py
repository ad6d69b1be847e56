"""The paper's whole experiment: its data sets, methods, tables and figures, run again and extended."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Name -> its module; nothing is imported before it is used.
_HOME = {
    "PRESETS": "plan",
    "Preset": "plan",
    "Progress": "run",
    "Record": "records",
    "Store": "store",
    "StoreError": "store",
    "Summary": "run",
    "available": "registry",
    "dataset_properties": "properties",
    "entries": "registry",
    "export_store": "exchange",
    "find": "registry",
    "import_store": "exchange",
    "open_dataset": "registry",
    "run_study": "run",
    "write_figures": "figures",
    "write_report": "pages",
    "write_tables": "tables",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from .exchange import export_store, import_store
    from .figures import write_figures
    from .pages import write_report
    from .plan import PRESETS, Preset
    from .properties import dataset_properties
    from .records import Record
    from .registry import available, entries, find, open_dataset
    from .run import Progress, Summary, run_study
    from .store import Store, StoreError
    from .tables import write_tables


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
