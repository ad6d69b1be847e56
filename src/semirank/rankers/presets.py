"""Settings under one name: `preset="paper"` ranks as the paper's experiments did. Light to import."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from ..runtime.messages import did_you_mean
from .methods import METHODS

PRESETS = tuple(dict.fromkeys(preset for method in METHODS.values() for preset in method.presets))
PRESET_METHOD = "forest"  # what a preset means where no method is named


def preset_parameters(preset: str, method: str) -> dict[str, Any]:
    """The parameters that a preset gives to the ranker of a method.

    Examples
    --------
    >>> preset_parameters("paper", "relief")["n_neighbors"]
    (15, 20, 30)
    >>> preset_parameters("papr", "forest")
    Traceback (most recent call last):
    ...
    ValueError: There is no preset 'papr' (did you mean 'paper'?); there is paper.
    """
    if preset not in PRESETS:
        near = did_you_mean(str(preset), PRESETS)
        raise ValueError(f"There is no preset {preset!r}{near}; there is {', '.join(PRESETS)}.")
    known = {name: row.presets[preset] for name, row in METHODS.items() if preset in row.presets}
    if method not in known:
        raise ValueError(
            f"The preset {preset!r} says nothing about method={method!r}; it is for {', '.join(known)}."
        )
    return dict(known[method])


class PresetMixin:
    """`from_preset` for rankers that presets know."""

    _method: ClassVar[str]

    @classmethod
    def from_preset(cls, preset: str, **params: Any) -> Self:
        """A ranker with the settings of a preset.

        Parameters
        ----------
        preset : {"paper"}
            The settings of the paper's experiments.
        **params
            Further parameters; they win over the preset.

        Examples
        --------
        >>> from semirank import ForestRanker
        >>> ranker = ForestRanker.from_preset("paper", ensemble="bagging")
        >>> ranker.supervision, ranker.min_labeled, ranker.ensemble
        ('cv', 0, 'bagging')
        """
        return cls(**preset_parameters(preset, cls._method) | params)
