"""The paper's whole experiment: its data sets, methods, tables and figures, run again and extended."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..datasets.registry import available, entries, find, open_dataset
    from .figures import write_figures
    from .plan import PRESETS, Preset
    from .properties import dataset_properties
    from .records import Record
    from .report import write_report
    from .run import RunProgress as Progress
    from .run import Summary, run_study
    from .store import Store, StoreError
    from .tables import write_tables
    from .transfer import export_store, import_store

# Name -> where it is; nothing is imported before it is used.
_HOME = {
    "PRESETS": "study.plan.PRESETS",
    "Preset": "study.plan.Preset",
    "Progress": "study.run.RunProgress",
    "Record": "study.records.Record",
    "Store": "study.store.Store",
    "StoreError": "study.store.StoreError",
    "Summary": "study.run.Summary",
    "available": "datasets.registry.available",
    "dataset_properties": "study.properties.dataset_properties",
    "entries": "datasets.registry.entries",
    "export_store": "study.transfer.export_store",
    "find": "datasets.registry.find",
    "import_store": "study.transfer.import_store",
    "open_dataset": "datasets.registry.open_dataset",
    "run_study": "study.run.run_study",
    "write_figures": "study.figures.write_figures",
    "write_report": "study.report.write_report",
    "write_tables": "study.tables.write_tables",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOME[name].rpartition(".")
    return getattr(importlib.import_module(f"semirank.{module}"), attribute)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
