"""Numbers of any size: a ranking is that of the same data in another unit, and nothing infinite comes out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semirank import ForestRanker, LaplaceRanker, ReliefRanker, cluster_hypothesis, evaluate, knn_score
from semirank.data.encode_features import encode_features
from semirank.data.scaling import in_range, in_widest_range, ranges, unscale

RANKERS = {
    "random forest": ForestRanker(
        n_estimators=5, supervision=0.5, importance=["genie3", "genie3_oob", "rforest"]
    ),
    "extra trees": ForestRanker(n_estimators=5, supervision=0.5, ensemble="extra_trees"),
    "bagging": ForestRanker(n_estimators=3, supervision=1.0, ensemble="bagging", bootstrap=False),
    "judge": ForestRanker(n_estimators=3, supervision="judge", missing_weight="known"),
    "relief": ReliefRanker(n_neighbors=5),
    "laplace": LaplaceRanker(),
}

# 60 rows of multiples of 1/64 between -8 and 8: few enough digits to survive every change below exactly.
_rng = np.random.default_rng(0)
BASE = np.round(_rng.uniform(-8, 8, size=(60, 5)) * 64) / 64
BASE[:, 4] = np.round(BASE[:, 4])
NUMBERS = np.where(np.arange(60) < 40, np.round(64 * (BASE[:, 1] + BASE[:, 4])) / 64, np.nan)
CLASSES = [str(v > 0) if v == v else None for v in NUMBERS]
TINY = 2.0**-1074  # the smallest number above 0

UNITS = {
    "range beyond the largest float": BASE * 2.0**1020,
    "around 1e300": BASE * 2.0**997,
    "around 1e-300": BASE * 2.0**-997,
    "denormal": BASE * 64 * TINY,
    "far from 0": BASE + 1e9,
    "farther from 0": BASE + 2.0**42,
    "far and large": (BASE + 2.0**20) * 2.0**900,
    "each column its own": BASE * 2.0 ** np.array([1020, -1020, 0, -500, 900]),
    "float32": BASE.astype(np.float32),
    "float16": BASE.astype(np.float16),
    "integers": (BASE * 64).astype(np.int16),
    "the ends of int64": (BASE * 64).astype(np.int64) * 2**53,
    "the end of uint64": ((BASE + 8) * 64).astype(np.uint64) * np.uint64(2**53),
}


def scores(name, X, y):
    ranker = RANKERS[name]
    ranker.set_params(random_state=0)
    ranker.fit(X, y)
    found = [*ranker.importances_.values(), *ranker.importances_std_error_.values()]
    if ranker.importances_per_target_ is not None:
        found += list(ranker.importances_per_target_.T)
    found = np.array(found)
    assert np.isfinite(found).all()
    assert ranker.feature_importances_.any()
    return found


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", RANKERS)
def test_features_in_other_units(name, unit):
    X = UNITS[unit]
    assert len(np.unique(X[:, 0])) == len(np.unique(BASE[:, 0]))
    for y in (NUMBERS, CLASSES):
        np.testing.assert_allclose(scores(name, X, y), scores(name, BASE, y), rtol=1e-9, atol=1e-12)


TARGETS = (
    "range beyond the largest float",
    "around 1e-300",
    "denormal",
    "far from 0",
    "float32",
    "the ends of int64",
)


@pytest.mark.parametrize("unit", TARGETS)
@pytest.mark.parametrize("name", RANKERS)
def test_targets_in_other_units(name, unit):
    def both(values):  # a target that leans on two columns, in the unit of the columns
        values = np.stack([values[:, 1], values[:, 4]], axis=1).astype(float)
        values[40:] = np.nan
        return values

    base, other = both(BASE), both(UNITS[unit])
    np.testing.assert_allclose(
        scores(name, BASE, other[:, 0]), scores(name, BASE, base[:, 0]), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(scores(name, BASE, other), scores(name, BASE, base), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("unit", TARGETS)
def test_predictions_in_other_units(unit):
    y, other = BASE[:, 1].copy(), UNITS[unit][:, 1].astype(float)
    ranker = ForestRanker(n_estimators=5, supervision=1.0, random_state=0)
    expected = ranker.fit(BASE[:40], y[:40]).predict(BASE[40:])
    quality = ranker.score(BASE[40:], y[40:])
    ranker.fit(BASE[:40], other[:40])
    found = ranker.predict(BASE[40:])
    assert np.isfinite(found).all()
    # back into the unit of y: by a number on either side, since their ratio may be no float
    low, high = other.min(), other.max()
    place = in_range(found[:, None], np.array([low]), np.array([high])).ravel()
    np.testing.assert_allclose(
        place, (expected - y.min()) / (y.max() - y.min()), atol=2e-3 if unit == "denormal" else 1e-7
    )
    assert ranker.score(BASE[40:], other[40:]) == pytest.approx(
        quality, rel=1e-2 if unit == "denormal" else 1e-6
    )


@pytest.mark.parametrize("unit", UNITS)
def test_judgements_in_other_units(unit):
    X = UNITS[unit]
    weights = [0.0, 1.0, 0.0, 0.0, 0.5]
    for y in (NUMBERS, CLASSES):
        known, half = slice(0, 40), slice(0, 20)
        rest = slice(20, 40)
        found = knn_score(weights, X[half], y[half], X[rest], y[rest], k=(3, 5))
        expected = knn_score(weights, BASE[half], y[half], BASE[rest], y[rest], k=(3, 5))
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        if unit != "each column its own":  # clusters are sought in the features as they are
            assert cluster_hypothesis(X[known], y[known]) == pytest.approx(
                cluster_hypothesis(BASE[known], y[known]), abs=1e-6
            )


@pytest.mark.parametrize("unit", ["range beyond the largest float", "denormal", "far from 0"])
def test_evaluation_in_other_units(unit):
    def scores(X, y):
        ways = {"method": ReliefRanker(n_neighbors=5), "methods": {"laplace": LaplaceRanker()}}
        found = evaluate(X, y, **ways, n_repeats=1, n_folds=3)
        numbers = [v for r in sorted(found.rankers) for v in (r.supervised, *(r.effect or ()), *r.behind)]
        return np.array([*numbers, found.cluster_hypothesis, *found.forward, *found.reverse])

    y = np.where(np.arange(60) < 40, UNITS[unit][:, 1], np.nan)
    base = scores(BASE, np.where(np.arange(60) < 40, BASE[:, 1], np.nan))
    assert np.isfinite(base).all()
    # predictions of denormal numbers are rounded to whole multiples of the smallest one
    np.testing.assert_allclose(scores(UNITS[unit], y), base, atol=5e-3 if unit == "denormal" else 1e-6)


@pytest.mark.parametrize("name", RANKERS)
def test_equal_and_repeated_columns(name):
    """Constant columns of any size change nothing and have no importance; a copy of a column is one."""
    constant = np.full((60, 1), 1.7e308)
    X = np.hstack([BASE, constant, np.full((60, 1), 5e-324), BASE[:, 1:2]])
    ranker = RANKERS[name].set_params(random_state=0).fit(X, NUMBERS)
    importances = ranker.feature_importances_
    assert np.isfinite(importances).all()
    assert (importances[5:7] == 0).all()
    if name in ("relief", "laplace"):
        assert importances[7] == pytest.approx(importances[1], rel=1e-12)
    huge = ranker.fit(np.hstack([X[:, :5] * 2.0**1000, X[:, 5:7], X[:, 7:] * 2.0**1000]), NUMBERS)
    np.testing.assert_allclose(huge.feature_importances_, importances, rtol=1e-9)


finite = st.floats(allow_nan=False, allow_infinity=False)
LARGEST = np.finfo(np.float64).max
extreme = st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 2.3e-308, 1e300, -1e300, LARGEST, -LARGEST])
cell = finite | extreme | st.just(np.nan)


@st.composite
def problems(draw):
    n, d = draw(st.integers(8, 14)), draw(st.integers(1, 3))
    X = np.array(draw(st.lists(cell, min_size=n * d, max_size=n * d))).reshape(n, d)
    kind = draw(st.sampled_from(["number", "class", "several"]))
    if kind == "class":
        return X, [draw(st.sampled_from(["a", "b", None])) for _ in range(n - 2)] + ["a", "b"], "auto"
    width = 1 if kind == "number" else 2
    y = np.array(draw(st.lists(cell, min_size=n * width, max_size=n * width))).reshape(n, width)
    y[0], y[1] = 0.0, draw(finite.filter(lambda v: v != 0))
    return X, y[:, 0] if width == 1 else y, "regression" if width == 1 else "multi_target"


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from(sorted(RANKERS)))
def test_whatever_the_numbers_are(problem, name):
    X, y, task = problem
    ranker = RANKERS[name].set_params(random_state=0, task=task)
    try:
        if name == "judge":  # four folds of so few rows warn, and that is tested elsewhere
            ranker.set_params(supervision=0.25)
        ranker.fit(X, y)
    finally:
        ranker.set_params(task="auto")
        if name == "judge":
            ranker.set_params(supervision="judge")
    for found in (*ranker.importances_.values(), *ranker.importances_std_error_.values()):
        assert np.isfinite(found).all()
    if name not in ("relief", "laplace"):
        predicted = ranker.predict(X)
        assert task == "auto" or np.isfinite(predicted).all()
        assert np.isfinite(ranker.score(X, y))


def test_predictions_next_to_the_largest_number():
    """Mean + deviation * place is the largest float, but for rounding."""
    X = np.arange(10.0)[:, None]
    y = np.array([0.5, 1, 0, 0, 0, 0, -1e300, LARGEST, np.nan, 0])
    ranker = ForestRanker(n_estimators=3, supervision=1.0, bootstrap=False, min_labeled=0, random_state=0)
    assert ranker.fit(X, y).predict(X)[7] == LARGEST
    assert unscale(np.array([[1.0]]), np.array([LARGEST]), np.array([1.0]))[0, 0] == LARGEST


def test_errors_that_are_no_floats():
    X = np.arange(8.0)[:, None]
    small, large = np.arange(8) * 5e-324, np.arange(8) * 2e307
    assert np.isfinite(knn_score([1.0], X, large, X, small, k=2, task="regression"))
    assert knn_score([1.0], X, small, X, large, k=2, task="regression") == pytest.approx(1.83, abs=0.1)


@settings(max_examples=20, deadline=None)
@given(problems())
def test_whatever_the_judge_sees(problem):
    X, y, task = problem
    score = knn_score(np.ones(X.shape[1]), X, y, X, y, k=2, task=task)
    assert np.isfinite(score)
    assert np.isfinite(cluster_hypothesis(X, y, task=task))


@given(st.lists(finite | extreme, min_size=2, max_size=6))
def test_ranges(numbers):
    values = np.array(numbers)[:, None]
    low, high = ranges(values)
    place = in_range(values, low, high).ravel()
    assert (low[0], high[0]) == (min(numbers), max(numbers))
    if low < high:
        assert (place.min(), place.max()) == (0.0, 1.0)
    order = np.argsort(values.ravel(), kind="stable")
    assert (np.diff(place[order]) >= 0).all()
    assert np.array_equal(in_widest_range(values, low, high).ravel(), place)


def test_beyond_float64():
    with pytest.raises(ValueError, match="Column 'x0' contains infinity"):
        encode_features(np.array([[np.longdouble("1e400")], [np.longdouble(1)]]))
    with pytest.raises(TypeError, match="Column 'x0' cannot be read as numbers"):
        encode_features(np.array([[10**400], [1]], dtype=object))
    assert encode_features(np.array([[2**70], [1]], dtype=object)).values[0, 0] == 2.0**70
