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
    from .transfer import export_rankings, export_store, import_store

_NAMES = {
    "datasets.registry": ("available", "entries", "find", "open_dataset"),
    "study.figures": ("write_figures",),
    "study.plan": ("PRESETS", "Preset"),
    "study.properties": ("dataset_properties",),
    "study.records": ("Record",),
    "study.report": ("write_report",),
    "study.run": ("Summary", "run_study"),
    "study.store": ("Store", "StoreError"),
    "study.tables": ("write_tables",),
    "study.transfer": ("export_rankings", "export_store", "import_store"),
}
# Name -> where it is; nothing is imported before it is used.
_HOME = {name: (module, name) for module, names in _NAMES.items() for name in names}
_HOME["Progress"] = ("study.run", "RunProgress")

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _HOME[name]
    return getattr(importlib.import_module(f"semirank.{module}"), attribute)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
