"""The kernel that reads the numbers of a long line; it rounds as Python's `float` does."""

from __future__ import annotations

import numpy as np

from ..runtime.jit import kernel

_POWERS = 10.0 ** np.arange(23)  # the powers of ten that float64 holds exactly
_SPLIT = 134217729.0  # 2^27 + 1: cuts a number into two halves whose products are exact
_MAX = np.uint64(999_999_999_999_999_999)  # one more digit still fits into 64 bits


@kernel
def parse_line(text, delimiter, mark, skip, out, fraction, odd, start, end):
    """Plain decimals such as -12.5 into `out`, NaN for empty and skipped cells, and the others by position.

    text : bytes of the line; mark : the decimal mark; skip : (cell,) whether to pass over it; out : (cell,);
    fraction : (cell,) gets the number of digits behind a decimal mark, -1 without one. Returns the number of
    cells (one more than there is room for if there are too many) and the number of those that are no plain
    decimals: `odd` has their numbers, `start` and `end` where they lie, and out holds NaN for them.

    A decimal is m / 10^k with whole m < 10^19 and k < 23. The quotient of the double next to m and of 10^k
    is improved by its exact remainder; where the sum is so near to the middle of two doubles that the last
    bit is in doubt, the cell is left to Python.
    """
    size, n_cells, n_odd, at = len(out), 0, 0, 0
    while at <= len(text):
        first = at
        while at < len(text) and text[at] != delimiter:
            at += 1
        last = at
        at += 1
        if n_cells == size:
            return size + 1, n_odd
        cell = n_cells
        n_cells += 1
        out[cell] = np.nan
        fraction[cell] = -1
        if skip[cell]:
            continue
        while first < last and text[first] == 32:
            first += 1
        while first < last and text[last - 1] == 32:
            last -= 1
        if first == last:
            continue
        place = first
        negative = text[place] == 45
        if negative:
            place += 1
        m, k, digits, dots, plain = np.uint64(0), 0, 0, 0, True
        while place < last:
            sign = text[place]
            if 48 <= sign <= 57 and m <= _MAX:
                m = m * np.uint64(10) + np.uint64(sign - 48)
                digits += 1
                k += dots
            elif sign == mark:
                dots += 1
            else:
                plain = False
                break
            place += 1
        if plain and digits and dots < 2 and k < 23:
            near = np.float64(m)
            # What the double leaves of m; near can be 2^64 only beyond 10^19.
            rest = np.float64(np.int64(m - np.uint64(near)))
            power = _POWERS[k]
            quotient = near / power
            a = _SPLIT * quotient
            high = a - (a - quotient)
            low = quotient - high
            b = _SPLIT * power
            above = b - (b - power)
            below = power - above
            product = quotient * power
            lost = ((high * above - product) + high * below + low * above) + low * below
            more = (((near - product) - lost) + rest) / power
            slack = abs(more) * 1e-15
            value = quotient + more
            if quotient + (more - slack) == value and quotient + (more + slack) == value:
                out[cell] = -value if negative else value
                fraction[cell] = k if dots else -1
                continue
        odd[n_odd], start[n_odd], end[n_odd] = cell, first, last
        n_odd += 1
    return n_cells, n_odd
