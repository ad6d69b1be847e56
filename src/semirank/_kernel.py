"""How kernels are compiled: cached on disk, without the interpreter lock, nothing at import.

`kernel` and `fast_kernel` are entry points, callable from Python and cached. `inner` and `fast_inner` are
called by kernels only: they have no Python wrapper, and they allocate nothing, so the reference counting of
arrays is off; both would cost more than many of these functions do, at run time and in compilation.

Division follows IEEE (no ZeroDivisionError): the raising form costs a branch per division and stops
vectorisation. The fast forms may reorder sums but keep NaN and infinity what they are.
"""

from __future__ import annotations

from typing import Any

from numba import njit

_COMMON: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_ENTRY: dict[str, Any] = {"cache": True, "no_cfunc_wrapper": True}
_INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
_FAST = {"nsz", "contract", "reassoc"}

kernel = njit(**_COMMON, **_ENTRY)
fast_kernel = njit(fastmath=_FAST, **_COMMON, **_ENTRY)
inner = njit(**_COMMON, **_INNER)
fast_inner = njit(fastmath=_FAST, **_COMMON, **_INNER)
# Small and called once per candidate: passing the work arrays would cost more than the work.
hot_inner = njit(fastmath=_FAST, forceinline=True, **_COMMON, **_INNER)
# Written into its only caller before LLVM sees it: a body is optimised once per level of calls.
inlined = njit(inline="always", **_COMMON, **_INNER)
