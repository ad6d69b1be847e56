"""How kernels are compiled: cached on disk, without the interpreter lock, nothing at import.

`kernel` and `fast_kernel` are entry points, callable from Python and cached. `inner` and `fast_inner` are
called by kernels only: they have no Python wrapper, and they allocate nothing, so the reference counting of
arrays is off; both would cost more than many of these functions do, at run time and in compilation.

Division follows IEEE (no ZeroDivisionError): the raising form costs a branch per division and stops
vectorisation. The fast forms may reorder sums but keep NaN and infinity what they are.

A cache that cannot be read or written costs time, never a result: see `_KernelCache`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache
from numba.core.sigutils import normalize_signature

_COMMON: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
_FAST = {"nsz", "contract", "reassoc"}


class _KernelCache(FunctionCache):
    """numba's cache on disk, without its errors.

    A damaged file is compiled anew and replaced; on a full disk nothing is kept.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
        except Exception:  # a pickle cut short may raise almost anything
            return None
        # Two processes that compile at once may give two signatures the same file: the later one stays.
        right = found is not None and tuple(found.signature.args) == tuple(normalize_signature(sig)[0])
        return found if right else None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:  # the index could not be read, or nothing can be written
            with suppress(Exception):
                self.flush()
                super().save_overload(sig, data)


def _entry(**options: Any) -> Callable[[Any], Any]:
    jit: Any = njit

    def decorate(function: Any) -> Any:
        compiled = jit(no_cfunc_wrapper=True, **_COMMON, **options)(function)
        if compiled is not function:  # it is where NUMBA_DISABLE_JIT is set
            try:
                compiled._cache = _KernelCache(function)
            except RuntimeError:  # numba found no folder that can be written
                _warn_of_no_cache()
        return compiled

    return decorate


@cache  # once, not for every kernel
def _warn_of_no_cache() -> None:
    warnings.warn(
        "Compiled kernels cannot be kept, so every process compiles them again: neither the folder of the "
        "package nor the user's cache can be written; set NUMBA_CACHE_DIR to a folder that can.",
        UserWarning,
        stacklevel=4,
    )


kernel = _entry()
fast_kernel = _entry(fastmath=_FAST)
inner = njit(**_COMMON, **_INNER)
fast_inner = njit(fastmath=_FAST, **_COMMON, **_INNER)
# Small and called once per candidate: passing the work arrays would cost more than the work.
hot_inner = njit(fastmath=_FAST, forceinline=True, **_COMMON, **_INNER)
# Written into its only caller before LLVM sees it: a body is optimised once per level of calls.
inlined = njit(inline="always", **_COMMON, **_INNER)
