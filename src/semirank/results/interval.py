"""A value with its confidence interval."""

from __future__ import annotations

from typing import NamedTuple


class Interval(NamedTuple):
    """A value with its confidence interval."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> int:
        """1 or -1 where the interval lies above or below 0, else 0: no difference."""
        return int(self.low > 0) - int(self.high < 0)

    def words(self, sign: str = "") -> str:
        """The value and its interval with three digits; `sign="+"` for differences.

        Examples
        --------
        >>> Interval(0.5, 0.4, 0.6).words("+")
        '+0.500, 95 % interval +0.400 to +0.600'
        """
        value, low, high = (f"{number:{sign}.3f}" for number in self)
        return f"{value}, 95 % interval {low} to {high}"
