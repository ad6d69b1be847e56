"""Prototypes back in the user's terms, by hand, for each of the five tasks."""

from __future__ import annotations

import numpy as np

from semirank import Hierarchy
from semirank.data.decode_target import decode
from semirank.data.encode_target import encode_target


def test_class_of_the_largest_share_the_first_of_equals():
    schema = encode_target(["b", "a", "c"], task="classification")
    shares = np.array([[0.2, 0.3, 0.5], [0.4, 0.4, 0.2], [0.1, 0.7, 0.2]])
    assert decode(schema, shares).tolist() == ["c", "a", "b"]


def test_a_number_is_the_first_column():
    schema = encode_target(np.array([0.5, 1.5]), task="regression")
    found = decode(schema, np.array([[3.5], [-1.0]]))
    assert found.shape == (2,)
    assert found.tolist() == [3.5, -1.0]


def test_several_numbers_stay_as_they_are():
    schema = encode_target(np.array([[0.5, 1.5], [0.0, 2.0]]), task="multi_target")
    prototypes = np.array([[0.4, 7.0], [-0.6, 0.5]])
    np.testing.assert_array_equal(decode(schema, prototypes), prototypes)


def test_labels_from_half_on():
    schema = encode_target(np.array([[0, 1], [1, 0]]), task="multi_label")
    found = decode(schema, np.array([[0.5, 0.499], [0.0, 1.0]]))
    assert found.dtype == np.int64
    assert found.tolist() == [[1, 0], [0, 1]]


def test_a_label_brings_its_ancestors():
    hierarchy = Hierarchy.from_paths(["a", "a/b", "a/b/c", "d"])
    schema = encode_target([["a/b/c"], ["d"]], task="hierarchical", hierarchy=hierarchy)
    shares = np.zeros((2, 4))
    shares[0, list(schema.names).index("a/b/c")] = 0.6
    shares[1, list(schema.names).index("d")] = 0.3
    found = decode(schema, shares)
    assert found.tolist() == [[int(name.startswith("a")) for name in schema.names], [0] * 4]
