"""The paper's whole experiment: its data sets, methods, tables and figures, run again and extended."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Name -> its module; nothing is imported before it is used.
_HOME = {
    "PRESETS": "study.plan",
    "Preset": "study.plan",
    "Progress": "study.run",
    "Record": "study.records",
    "Store": "study.store",
    "StoreError": "study.store",
    "Summary": "study.run",
    "available": "datasets.registry",
    "dataset_properties": "study.properties",
    "entries": "datasets.registry",
    "export_store": "study.transfer",
    "find": "datasets.registry",
    "import_store": "study.transfer",
    "open_dataset": "datasets.registry",
    "run_study": "study.run",
    "write_figures": "study.figures",
    "write_report": "study.report",
    "write_tables": "study.tables",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from ..datasets.registry import available, entries, find, open_dataset
    from .figures import write_figures
    from .plan import PRESETS, Preset
    from .properties import dataset_properties
    from .records import Record
    from .report import write_report
    from .run import Progress, Summary, run_study
    from .store import Store, StoreError
    from .tables import write_tables
    from .transfer import export_store, import_store


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"semirank.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
