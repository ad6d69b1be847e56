"""How kernels are compiled: cached on disk, without the interpreter lock, nothing at import.

`kernel` and `fast_kernel` are entry points, callable from Python and cached. `inner` and `fast_inner` are
called by kernels only: they have no Python wrapper, and they allocate nothing, so the reference counting of
arrays is off; both would cost more than many of these functions do, at run time and in compilation.

Division follows IEEE (no ZeroDivisionError): the raising form costs a branch per division and stops
vectorisation. The fast forms may reorder sums but keep NaN and infinity what they are.

A cache that cannot be read or written costs time, never a result: see `_KernelCache`. What is cached is valid
for the text of a kernel's file and of all files it imports from (`sources`); after an edit it is compiled
anew.

Every decorator registers the module of its function, so that others can ask whether it is `compiled`.
"""

from __future__ import annotations

import hashlib
import re
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache
from numba.core.sigutils import normalize_signature

_COMMON: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
_FAST = {"nsz", "contract", "reassoc"}
_njit: Any = njit  # its type hints leave out options that it takes


# Module name -> the caches of its entry points; a module with inner functions alone has none.
_registered: dict[str, list[_KernelCache]] = {}

_IMPORT = re.compile(r"^from (\.+[\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)


def compiled(module: str) -> bool:
    """Whether the cache on disk holds something compiled from the present text of this module."""
    return any(kernel_cache.filled() for kernel_cache in _registered[module])


def sources(module: str) -> list[Path]:
    """The files that decide what the kernels of a module do: its own and those it imports from.

    Imports are followed through modules with kernels. Other modules, such as those of constants and named
    tuples, count themselves, but what they import does not.
    """
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = getattr(sys.modules.get(name), "__file__", None)
        if name in found or file is None:
            continue
        found[name] = Path(file)
        if name in _registered:
            waiting += _imported(name, found[name].read_text("utf-8"))
    return [found[name] for name in sorted(found)]


def _imported(module: str, text: str) -> list[str]:
    """The modules of this package that a module's relative imports name."""
    package = module.rpartition(".")[0]
    names = []
    for dotted, imported in _IMPORT.findall(text):
        origin = resolve_name(dotted, package)
        names += [origin, *(f"{origin}.{name}" for name in re.findall(r"\w+", imported))]
    return names


@cache
def _digest_of_sources(module: str) -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources(module))).hexdigest()


class _KernelCache(FunctionCache):
    """numba's cache on disk, without its errors; the text of the sources decides what is valid.

    A damaged file is compiled anew and replaced; on a full disk nothing is kept.
    """

    def _stamp(self) -> None:
        # Not before the first use: while a module is being imported, what it calls may not be there yet.
        self._cache_file._source_stamp = _digest_of_sources(self._py_func.__module__)

    def filled(self) -> bool:
        """Whether there is something in the cache that a call could load."""
        self._stamp()
        try:
            return bool(self._cache_file._load_index())
        except Exception:  # a pickle cut short may raise almost anything
            return False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        self._stamp()
        try:
            found = super().load_overload(sig, target_context)
        except Exception:  # a pickle cut short may raise almost anything
            return None
        # Two processes that compile at once may give two signatures the same file: the later one stays.
        right = found is not None and tuple(found.signature.args) == tuple(normalize_signature(sig)[0])
        return found if right else None

    def save_overload(self, sig: Any, data: Any) -> None:
        self._stamp()
        try:
            super().save_overload(sig, data)
        except Exception:  # the index could not be read, or nothing can be written
            with suppress(Exception):
                self.flush()
                super().save_overload(sig, data)


def _entry(**options: Any) -> Callable[[Any], Any]:
    # `_nrt` is stated because an entry point called by an inner function would inherit that function's.
    jit = _njit(no_cfunc_wrapper=True, _nrt=True, **_COMMON, **options)

    def decorate(function: Any) -> Any:
        caches = _registered.setdefault(function.__module__, [])
        compiled = jit(function)
        if compiled is not function:  # it is where NUMBA_DISABLE_JIT is set
            try:
                compiled._cache = _KernelCache(function)
                caches.append(compiled._cache)
            except RuntimeError:  # numba found no folder that can be written
                _warn_of_no_cache()
        return compiled

    return decorate


def _called_by_kernels(**options: Any) -> Callable[[Any], Any]:
    jit = _njit(**_COMMON, **_INNER, **options)

    def decorate(function: Any) -> Any:
        _registered.setdefault(function.__module__, [])
        return jit(function)

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
inner = _called_by_kernels()
fast_inner = _called_by_kernels(fastmath=_FAST)
# Small and called once per candidate: passing the work arrays would cost more than the work.
hot_inner = _called_by_kernels(fastmath=_FAST, forceinline=True)
# Written into its only caller before LLVM sees it: a body is optimised once per level of calls.
inlined = _called_by_kernels(inline="always")
