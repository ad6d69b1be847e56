"""The distance on one feature: the definition, and the forms in which the fast paths use its missing rule."""

from __future__ import annotations

import numpy as np
import pytest

from semirank.neighbors.feature_distance import both_missing, feature_distance, one_missing

NAN = np.nan


@pytest.mark.parametrize(
    ("x", "y", "n_values", "expected"),
    [
        (0.2, 0.7, 0, 0.5),
        (0.2, NAN, 0, 0.8),
        (NAN, 0.9, 0, 0.9),
        (NAN, NAN, 0, 1.0),
        (1.0, 1.0, 3, 0.0),
        (1.0, 2.0, 3, 1.0),
        (1.0, NAN, 4, 0.75),
        (NAN, NAN, 4, 0.75),
        (0.0, NAN, 1, 0.0),
    ],
)
def test_definition(x, y, n_values, expected):
    assert feature_distance(x, y, n_values) == pytest.approx(expected)
    assert feature_distance(y, x, n_values) == pytest.approx(expected)


@pytest.mark.parametrize("n_values", [0, 1, 2, 3, 10])
def test_forms_for_arrays_are_the_definition(n_values):
    x = np.linspace(0, 1, 11) if n_values == 0 else np.arange(n_values, dtype=float)
    assert both_missing(n_values) == feature_distance(NAN, NAN, n_values)
    expected = [feature_distance(value, NAN, n_values) for value in x]
    np.testing.assert_array_equal(np.broadcast_to(one_missing(x, n_values), x.shape), expected)
