"""Shared parameters: the same checks, the same documentation and the same seed for every ranker."""

from __future__ import annotations

import pydoc
from inspect import signature

import numpy as np
import pytest

from semirank import knn_score
from semirank.base.parameters import (
    COUNT,
    SHARE,
    SHARED,
    UNIT_INTERVAL,
    Names,
    at_least,
    check_parameters,
    seed_of,
    with_shared_parts,
)
from semirank.base.ranker import RankerBase
from semirank.rankers.methods import METHODS

RANKERS = [method.load() for method in METHODS.values()]
rankers = pytest.mark.parametrize("ranker", RANKERS, ids=list(METHODS))


@rankers
@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("use_unlabeled", "False", "is neither True nor False"),
        ("use_unlabeled", None, "is neither True nor False"),
        ("use_unlabeled", 0, "is neither True nor False"),
        ("n_jobs", 0, "is neither None nor a whole number other than 0"),
        ("n_jobs", "two", "is neither None nor a whole number other than 0"),
        ("n_jobs", 1.5, "is neither None nor a whole number other than 0"),
        ("n_jobs", True, "is neither None nor a whole number other than 0"),
        ("n_features_to_select", 0, r"is neither a count \(1, 2, ...\), a share in \(0, 1\] nor None"),
        ("n_features_to_select", 1.5, "is neither a count"),
        ("n_features_to_select", True, "is neither a count"),
        ("random_state", -1, "is neither a whole number from 0 to 4294967295, a RandomState nor None"),
        ("random_state", 2**32, "is neither a whole number"),
        ("random_state", "0", "is neither a whole number"),
        ("random_state", True, "is neither a whole number"),
        ("random_state", np.random.default_rng(0), "is neither a whole number"),
    ],
)
def test_every_ranker_refuses(ranker, name, value, complaint):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match=rf"^{name}=.* {complaint}.*\.$") as caught:
        ranker(**{name: value}).fit(X, X[:, 0])
    assert isinstance(caught.value, TypeError)  # as scikit-learn's own
    assert "\n" not in str(caught.value)


@rankers
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("use_unlabeled", np.bool_(False)),
        ("n_jobs", np.int64(-1)),
        ("n_features_to_select", np.float64(0.5)),
        ("n_features_to_select", np.int32(7)),
        ("random_state", np.random.RandomState(0)),
        ("random_state", np.uint32(2**32 - 1)),
    ],
)
def test_every_ranker_takes(ranker, name, value):
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert ranker(**{name: value}).fit(X, X[:, 0]).ranking_.min() == 1


def test_functions_check_too():
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match="n_jobs=0 is neither"):
        knn_score(np.ones(3), X, X[:, 0], X, X[:, 0], k=3, n_jobs=0)


@pytest.mark.parametrize(
    ("allowed", "value", "words"),
    [
        ([at_least(2)], 1, "must be a whole number of at least 2"),
        ([at_least(2)], 2.0, "must be a whole number of at least 2"),
        ([at_least(1), None], 0, "is neither a whole number of at least 1 nor None"),
        ([at_least(1), Names("auto")], "many", "is neither a whole number of at least 1 nor 'auto'"),
        ([Names("b", "a")], "c", "is not one of b, a"),
        ([Names("b", "a")], 3, "is not one of b, a"),
        ([UNIT_INTERVAL, Names("b", "a")], "c", r"is not one of b, a, a number in \[0, 1\]"),
        ([UNIT_INTERVAL, Names("b", "a")], 2, r"is neither a number in \[0, 1\] nor one of b, a"),
        ([UNIT_INTERVAL], float("nan"), r"must be a number in \[0, 1\]"),
        ([COUNT, SHARE], 0.0, r"is neither a count \(1, 2, ...\) nor a share in \(0, 1\]"),
        (["boolean"], "no", "is neither True nor False"),
    ],
)
def test_sentences(allowed, value, words):
    with pytest.raises(ValueError, match=rf"^p=.* {words}\.$"):
        check_parameters({"p": allowed}, {"p": value})


def test_seeds():
    assert seed_of(7) == 7
    assert isinstance(seed_of(np.int64(7)), int)
    assert seed_of(np.random.RandomState(1)) == seed_of(np.random.RandomState(1))
    with pytest.raises(ValueError, match="random_state='7' is neither"):
        seed_of("7")


@rankers
def test_documentation_has_every_parameter_once(ranker):
    shown = pydoc.render_doc(ranker, renderer=pydoc.plaintext)
    parameters = shown[shown.index("Parameters\n") : shown.index("Attributes\n")]
    for name in signature(ranker).parameters:
        assert parameters.count(f"|  {name} :") == 1, name
    attributes = shown[shown.index("Attributes\n") : shown.index("Examples\n")]
    for name in ("feature_importances_", "ranking_", "task_", "n_labeled_", "notes_"):
        assert attributes.count(f"|  {name} :") == 1, name


@rankers
def test_constraints_are_of_parameters(ranker):
    names = set(signature(ranker).parameters)
    assert set(SHARED) | set(ranker._parameter_constraints) <= names
    assert set(signature(RankerBase).parameters) <= names
    assert all(
        parameter.kind is parameter.KEYWORD_ONLY for parameter in signature(ranker).parameters.values()
    )


def test_own_words_about_a_shared_parameter_stay():
    own = "R.\n\nParameters\n----------\na : int\n    Mine.\n\nAttributes\n----------\nx_ : int\n\nExamples\n"
    base = "B.\n\nParameters\n----------\na : int\n    Shared.\nb : int\n    Shared.\n    Too.\n"
    expected = own.replace("    Mine.\n", "    Mine.\nb : int\n    Shared.\n    Too.\n")
    assert with_shared_parts(own, base) == expected.rstrip()
