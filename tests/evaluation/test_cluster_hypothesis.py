"""The clustering hypothesis: its measure, its recipe, and the paper's figures."""

from __future__ import annotations

import json

import numpy as np
import pytest

from semirank import cluster_hypothesis, load
from semirank.data.target import Target
from semirank.evaluation.cluster_hypothesis import resemblance

from ..neighbors.naive_neighbors import make_target
from . import naive_evaluation as naive

TASKS = {"stc": "classification", "str": "regression", "mtr": "multi_target", "mlc": "multi_label"}


@pytest.mark.parametrize("task", ["regression", "multi_target", "multi_label", "hierarchical"])
@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_resemblance_equals_twin(task, root, seed):
    rng = np.random.default_rng(seed)
    target = make_target(rng, 40, task, unlabeled=0.3, missing=0.2)
    clusters = rng.integers(4, size=40) * 3
    found = resemblance(clusters, target, root=root)
    assert found == pytest.approx(naive.resemblance(clusters, target, root), abs=1e-12)


def test_constant_targets_are_left_out():
    values = np.array([[1.0, 7.0, np.nan], [2.0, 7.0, np.nan], [3.0, 7.0, 4.0], [4.0, np.nan, np.nan]])
    clusters = np.array([0, 0, 1, 1])
    three = Target("multi_target", values, ("a", "b", "c"), np.ones(3))
    one = Target("regression", values[:, :1], ("a",), np.ones(1))
    assert resemblance(clusters, three) == resemblance(clusters, one)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e300])
def test_any_magnitude(scale):
    values = np.array([[-1.0], [-0.9], [1.0], [0.8]]) * scale
    target = Target("regression", values, ("a",), np.ones(1))
    within = np.sqrt(np.mean([0.0025, 0.01]) / np.var([-1.0, -0.9, 1.0, 0.8]))
    assert resemblance(np.array([0, 0, 1, 1]), target) == pytest.approx(1 - within)


def blobs(rng, n=150):
    which = rng.integers(3, size=n)
    return np.c_[which * 20.0, which * -30.0] + rng.normal(size=(n, 2)), which


def test_aligned_and_unrelated():
    rng = np.random.default_rng(0)
    X, which = blobs(rng)
    assert cluster_hypothesis(X, np.array(["a", "b", "c"])[which]) == 1.0
    assert abs(cluster_hypothesis(X, rng.permutation(np.array(["a", "b", "c"])[which]))) < 0.1
    numbers = which + 0.01 * rng.normal(size=150)
    assert cluster_hypothesis(X, numbers) > 0.97
    assert cluster_hypothesis(X, rng.permutation(numbers)) < 0.1


def test_the_two_forms():
    rng = np.random.default_rng(1)
    X, which = blobs(rng)
    y = which + 0.5 * rng.normal(size=150)
    with_root, printed = (cluster_hypothesis(X, y, root=root) for root in (True, False))
    assert with_root < printed
    # One target: 1 - sqrt(v) and 1 - v of the same clustering.
    assert (1 - with_root) ** 2 == pytest.approx(1 - printed)


def test_unlabelled_rows_shape_the_clusters_only():
    rng = np.random.default_rng(2)
    X, which = blobs(rng, 300)
    y = np.array(["a", "b", "c"], dtype=object)[which]
    y[30:] = None
    assert cluster_hypothesis(X, y) == 1.0


def test_deterministic():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(80, 4)), rng.normal(size=80)
    assert cluster_hypothesis(X, y) == cluster_hypothesis(X, y)


def test_recipe_for_nominal_and_missing():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    codes = rng.integers(3, size=60)
    numbers = rng.normal(size=60)
    y = codes + 0.1 * rng.normal(size=60)
    holes = numbers.copy()
    holes[:10] = np.nan
    frame = pandas.DataFrame({"c": pandas.Categorical.from_codes(codes, ["z", "a", "m"]), "x": holes})
    filled = np.where(np.isnan(holes), np.nanmean(holes), holes)
    assert cluster_hypothesis(frame, y) == cluster_hypothesis(np.c_[codes, filled], y)


def test_fewer_distinct_rows_than_clusters():
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    y = np.repeat([0.5, 3.5], 20) + np.tile([0.0, 0.01], 20)
    assert cluster_hypothesis(X, y) > 0.99
    assert cluster_hypothesis(X[18:22], y[18:22]) > 0.99  # and fewer rows than clusters


@pytest.mark.parametrize("y", [np.full(10, np.nan), np.ones(10), np.arange(9.0)])
def test_bad_input(y):
    with pytest.raises(ValueError, match=r"labelled|class|inconsistent"):
        cluster_hypothesis(np.arange(10.0).reshape(-1, 1), y)


PAPER = {
    "Mortgage": 0.57,
    "Treasury": 0.54,
    "Pol": 0.12,
    "CollembolaV2": 0.02,
    "Edm1": 0.23,
    "Scm20d": 0.16,
    "Scene": 0.21,
    "Enron-corr": 0.03,
    "Gasch1-yeast-FUN": 0.01,
    "Pheno-yeast-FUN": 0.00,
    "Expr-yeast-FUN": 0.00,
}
QUICK = ("Mortgage", "Treasury", "CollembolaV2", "Edm1")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PAPER]
)
def test_paper_figures(data_folder, name):
    entry = next(e for e in json.loads((data_folder / "manifest.json").read_text()) if e["name"] == name)
    files = [data_folder / file for file in entry["files"] if ".arff" in file]
    data = load(files, entry["target_attributes"], task=TASKS.get(entry["task"], "auto"))
    assert cluster_hypothesis(data.X, data.target) == pytest.approx(PAPER[name], abs=0.02)
