"""Captured importance, references, worth and controls, against slow twins and by what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import isotonic_regression

from semirank.data.encode_target import encode_target
from semirank.data.hierarchy import Hierarchy
from semirank.data.table import Table
from semirank.data.target import Target
from semirank.data.tasks import TASKS
from semirank.evaluation import foreign_columns as fc
from semirank.evaluation import foreign_models as fm
from semirank.evaluation.captured import captured, captured_curve, depth
from semirank.evaluation.cells import draw_cell, half, label_counts, most_variable_labels, two_kinds_first
from semirank.evaluation.controls import fewer_unlabeled, invented_rows, shuffled_labels
from semirank.evaluation.ranking_judges import fair_knn, subset_value
from semirank.evaluation.references import Reference, foreign_reference
from semirank.evaluation.worth import Worth, labels_needed, summarise, worth
from semirank.results.shares import as_shares

from . import naive_worth as naive


@pytest.fixture(autouse=True)
def _one_thread():
    """Small models wait for each other's threads longer than they compute."""
    with fm.one_thread():
        yield


def mixed_table(rng, n_rows, n_numbers=4, n_nominal=3, missing=0.05):
    values = rng.normal(size=(n_rows, n_numbers + n_nominal))
    sizes = np.array([0] * n_numbers + [2 + j for j in range(n_nominal)])
    for j, size in enumerate(sizes):
        if size:
            values[:, j] = rng.integers(0, size, n_rows)
    values[rng.random(values.shape) < missing] = np.nan
    names = tuple(f"x{j}" for j in range(len(sizes)))
    return Table(values, sizes, names, tuple(None if k == 0 else tuple(map(str, range(k))) for k in sizes))


def target_of(task, table, rng):
    """A target of the first number and the last nominal feature."""
    x = np.nan_to_num(table.values[:, 0])
    nominal = np.nan_to_num(table.values[:, -1])
    y = x + (nominal == 1) + 0.2 * rng.normal(size=len(table))
    if task == "classification":
        return encode_target(np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.8])])
    if task == "regression":
        return encode_target(y)
    if task == "multi_target":
        return encode_target(np.column_stack([y, x**2]))
    labels = np.column_stack([y > -0.5, y > 0.5, x < -0.2]).astype(float)
    if task == "multi_label":
        return encode_target(labels, task="multi_label")
    return encode_target(labels, hierarchy={"y0": None, "y1": "y0", "y2": None})


def cell_of(task, seed=0, n_rows=240, **options):
    rng = np.random.default_rng(7)
    table = mixed_table(rng, n_rows, **options)
    return draw_cell("planted", table, target_of(task, table, rng), seed)


# ---------------------------------------------------------------- captured importance


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=7),
    st.lists(st.floats(0, 1), min_size=7, max_size=7),
)
def test_captured_is_the_mean_over_the_orders_of_equal_scores(scores, reference):
    reference = [*reference[: len(scores) - 1], 0.5]
    assert captured(np.array(scores), np.array(reference)) == pytest.approx(naive.captured(scores, reference))


def test_captured_counts_the_first_features_only():
    reference = np.arange(40.0)[::-1] + 1
    assert depth(40) == 12
    assert len(captured_curve(np.zeros(40), reference)) == 12
    scores = reference.copy()
    scores[12:] = scores[12:][::-1] * 1e-3  # what comes after the first 30 % does not matter
    assert captured(scores, reference) == pytest.approx(1.0)
    assert captured(-reference, reference) < 0.4
    assert (depth(3), depth(10), depth(17)) == (3, 5, 6)


@pytest.mark.parametrize(
    ("scores", "reference", "words"),
    [
        ([1.0, 2.0], [1.0], "one number per feature"),
        ([np.nan, 2.0], [1.0, 1.0], "contains NaN"),
        ([1.0, 2.0], [0.0, 0.0], "not all 0"),
        ([1.0, 2.0], [1.0, -1.0], "at least 0"),
    ],
)
def test_captured_refuses(scores, reference, words):
    with pytest.raises(ValueError, match=words):
        captured(np.array(scores), np.array(reference))


def test_shares_of_nothing_are_equal():
    assert as_shares(np.array([-1.0, 0.0])).tolist() == [0.5, 0.5]


# ---------------------------------------------------------------- worth


@given(
    st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.45]), min_size=2, max_size=5),
    st.sampled_from([0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5]),
)
def test_labels_needed_is_read_off_the_monotone_curve(curve, score):
    counts = [25 * 2**i for i in range(len(curve))]
    expected = naive.labels_needed(score, curve, counts)
    assert labels_needed(score, np.array(curve), counts) == pytest.approx(expected, rel=1e-4)


def curves(n_seeds, rng, noise=0.005):
    seeds = rng.normal(scale=0.05, size=(n_seeds, 1))  # a seed's level is not what is asked
    return 0.5 + 0.1 * np.arange(4.0) + seeds + rng.normal(scale=noise, size=(n_seeds, 4)), seeds[:, 0]


def test_several_curves_are_made_monotone_as_scikit_learn_does_one_by_one():
    rng = np.random.default_rng(0)
    curves, scores, counts = rng.random((50, 4)).round(1), rng.random(50).round(1), (25, 50, 100, 200)
    found = labels_needed(scores, curves, counts)
    for curve, score, n in zip(curves, scores, found):
        level = isotonic_regression(curve)
        assert n == pytest.approx(labels_needed(score, curve, counts))
        assert n == pytest.approx(labels_needed(score, level, counts))
        if level[0] <= score <= level[-1]:
            assert np.interp(np.log(n), np.log(counts), level) == pytest.approx(score)


def test_worth_is_the_factor_of_labels():
    curve, level = curves(5, np.random.default_rng(0), noise=0.0)
    for gain, factor in ((0.0, 1.0), (0.1, 2.0), (0.05, 2**0.5), (-0.1, 0.5), (-0.3, 0.5), (0.9, 4.0)):
        found = worth(0.6 + gain + level, curve, (25, 50, 100, 200), 50)
        assert found.factor == pytest.approx(factor)
        assert found.counted
        assert found.low <= found.factor + 1e-9
        assert found.high >= found.factor - 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_worth_is_that_of_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    curve, level = curves(3, rng, noise=0.02 + 0.05 * (seed % 3))
    method, counts = 0.6 + rng.normal(scale=0.1) + level + rng.normal(scale=0.03, size=3), [25, 50, 100, 200]
    factor, samples, counted = naive.worth(method.tolist(), curve.tolist(), counts, 50)
    found = worth(method, curve, counts, 50)
    assert found.factor == pytest.approx(factor, rel=1e-3)
    assert found.counted == counted
    # Two thousand samples are not all of them: the ends lie between near quantiles.
    ends = np.quantile(samples, [0.03, 0.07, 0.93, 0.97])
    assert ends[0] - 1e-3 <= found.low <= ends[1] + 1e-3
    assert ends[2] - 1e-3 <= found.high <= ends[3] + 1e-3


def test_worth_lists_curves_that_do_not_rise():
    rng = np.random.default_rng(1)
    curve = 0.6 + rng.normal(scale=0.05, size=(5, 4))
    curve[:, 3] = curve[:, 1] + np.array([0.1, -0.1, 0.08, -0.07, 0.01])
    found = worth(curve[:, 1], curve, (25, 50, 100, 200), 50)
    assert not found.counted
    assert "hardly help" in found.reason
    falling, _ = curves(5, rng)
    assert not worth(falling[:, 1], falling[:, ::-1], (25, 50, 100, 200), 50).counted


def test_worth_leaves_out_seeds_without_a_judge():
    curve, level = curves(4, np.random.default_rng(0))
    method = 0.7 + level
    method[1], curve[2] = np.nan, np.nan
    found = worth(method, curve, (25, 50, 100, 200), 50)
    assert found.n_seeds == 2
    rest = worth(method[[0, 3]], curve[[0, 3]], (25, 50, 100, 200), 50)
    assert found == rest
    method[0] = np.nan
    alone = worth(method, curve, (25, 50, 100, 200), 50)
    assert not alone.counted
    assert "two seeds" in alone.reason


def test_a_curve_rises_by_all_its_seeds_whatever_the_method_has():
    curve = np.array([[0.5, 0.6, 0.7, 0.8]] * 5) + np.array([0.0, 0, 0, 0.6]) * [[0], [1], [0], [0], [0]]
    method = np.array([0.7, 0.7, np.nan, np.nan, np.nan])
    found = worth(method, curve, (25, 50, 100, 200), 50)
    assert (found.n_seeds, found.counted) == (2, True)
    assert not worth(method[:2], curve[:2], (25, 50, 100, 200), 50).counted


def test_worth_refuses_a_curve_without_its_number_of_labels():
    with pytest.raises(ValueError, match="hold 60"):
        worth(np.zeros(2), np.zeros((2, 4)), (25, 50, 100, 200), 60)


def test_summary_counts_and_lists():
    def of(factor, reason=""):
        return Worth(factor, factor, factor, 5, reason)

    factors = [1.5, 2.0, 0.8, 1.2, 1.3, 1.0]
    found = summarise({str(f): of(f) for f in factors} | {"flat": of(4.0, "level")})
    assert found.factor == pytest.approx(np.prod(factors) ** (1 / 6))
    assert (found.wins, found.losses, found.n_counted) == (4, 1, 6)
    assert found.listed == {"flat": "level"}
    assert 0.8 < found.low < found.factor < found.high < 2.0
    assert found.p == pytest.approx(6 / 32)  # 0.8 has rank 2; three of 32 patterns of signs sum to at most 2
    assert summarise({"a": of(1.0)}).p == 1.0
    assert np.isnan(summarise({"a": of(1.0, "level")}).factor)


# ---------------------------------------------------------------- cells


@pytest.mark.parametrize("task", TASKS)
def test_cells_are_the_same_for_the_same_name_and_seed(task):
    one, two, other = cell_of(task), cell_of(task), cell_of(task, seed=1)
    assert one.digest == two.digest != other.digest
    assert (len(one.train), len(one.test)) == (160, 80)
    assert sorted(one.order) == list(range(160))
    small, large = one.labeled(20), one.labeled(40)
    assert small.labeled.sum() == 20
    assert (large.labeled | ~small.labeled).all()  # nested
    assert np.array_equal(small.values[small.labeled], one.train_target.values[small.labeled])


def test_cells_are_cut_to_size_and_leave_out_what_says_nothing():
    rng = np.random.default_rng(0)
    table = mixed_table(rng, 400)
    table.values[:, 2] = 3.0
    y = target_of("multi_target", table, rng)
    y.values[:50, 1] = np.nan
    cell = draw_cell("cut", table, y, max_rows=90)
    assert (len(cell.train), len(cell.test)) == (60, 30)
    assert cell.train.names == ("x0", "x1", "x3", "x4", "x5", "x6")
    assert not np.isnan(cell.train_target.values).any()
    rows = {tuple(row) for row in np.nan_to_num(np.vstack([cell.train.values, cell.test.values]))}
    assert len(rows) == 90  # no row twice
    with pytest.raises(ValueError, match="constant"):
        draw_cell(
            "c", Table(np.ones((40, 1)), np.zeros(1, int), ("a",), (None,)), y.take(np.arange(100, 140))
        )
    with pytest.raises(ValueError, match="too few"):
        draw_cell("c", table.take(np.arange(50)), y.take(np.arange(50)))
    with pytest.raises(ValueError, match="61 labels"):
        cell.labeled(61)


def test_rare_classes_are_among_the_first_labels():
    rng = np.random.default_rng(0)
    table = mixed_table(rng, 600)
    y = encode_target(np.where(np.arange(600) % 60 == 0, "rare", "usual"))
    for seed in range(10):
        assert (draw_cell("rare", table, y, seed).labeled(25).values == 0).sum() >= 2


@given(st.integers(0, 2**32 - 1))
def test_two_kinds_come_first_with_as_little_change_as_can_be(seed):
    rng = np.random.default_rng(seed)
    order, kinds = rng.permutation(30), (rng.random(30) < 0.1).astype(float)
    new = two_kinds_first(order, kinds, within=10)
    assert sorted(new) == list(range(30))
    for kind in np.unique(kinds):
        enough = min(2, (kinds == kind).sum())
        assert (kinds[new[:10]] == kind).sum() >= enough
        if all((kinds[order[:10]] == k).sum() >= min(2, (kinds == k).sum()) for k in np.unique(kinds)):
            assert new.tolist() == order.tolist()
    assert len(set(new[:10]) - set(order[:10])) <= 2


def test_labels_are_kept_by_variance_with_their_ancestors():
    rng = np.random.default_rng(0)
    shares = np.array([0.01, 0.5, 0.3, 0.4])
    values = (rng.random((4000, 4)) < shares).astype(float)
    flat = Target("multi_label", values, tuple("abcd"), np.ones(4))
    assert most_variable_labels(flat, 2).names == ("b", "d")
    assert most_variable_labels(flat, 4) is flat
    tree = Hierarchy.from_parents({"a": None, "b": "a", "c": None, "d": None})
    closed = Target("hierarchical", tree.close(values), tree.labels, tree.weights(), None, tree)
    kept = most_variable_labels(closed, 3)
    assert kept.names == ("a", "b", "d")
    assert kept.hierarchy.parents == ((), (0,), ())
    assert kept.weights.tolist() == [1.0, 0.75, 1.0]
    assert most_variable_labels(closed, 1).names == ("a",)  # as variable as its child b, which does not fit


def test_halves_and_numbers_of_labels():
    names = [f"data set {i}" for i in range(400)]
    assert 160 < sum(half(name) == "choosing" for name in names) < 240
    assert {half(name) for name in names} == {"choosing", "reporting"}
    assert label_counts(800, 200) == (100, 200, 400, 800)
    assert label_counts(400, 200) == (100, 200, 400)
    assert label_counts(399, 200) == ()


# ---------------------------------------------------------------- foreign references


def test_features_are_encoded_as_the_slow_twin_does():
    table = mixed_table(np.random.default_rng(3), 80)
    train, test = table.take(np.arange(50)), table.take(np.arange(50, 80))
    space = fc.FeatureSpace.fit(train)
    points, owners = naive.encode(train, test)
    np.testing.assert_allclose(space.encode(test), points, atol=1e-12)
    assert space.block.tolist() == owners
    assert [len(c) for c in space.columns_of(7)] == [owners.count(j) for j in range(7)]


def test_features_that_training_rows_do_not_tell_apart_are_no_columns_of_numbers():
    values = np.array([[1.0, 0.0, np.nan], [1.0, 0.0, np.nan], [5.0, 1.0, 2.0]])
    table = Table(values, np.array([0, 2, 2]), tuple("abc"), (None, ("u", "v"), ("u", "v")))
    space = fc.FeatureSpace.fit(table.take(np.arange(2)))
    assert not space.encode(table).any()
    assert [len(c) for c in space.columns_of(3)] == [1, 1, 0]


@pytest.mark.parametrize("task", TASKS)
def test_target_columns_have_variance_one(task):
    cell = cell_of(task)
    found = fc.target_columns(cell.train_target, cell.test_target)
    together = np.vstack([found.train, found.test])
    assert together.var(axis=0).sum() == pytest.approx(1.0)
    assert np.abs(found.train.mean(axis=0)).max() < 1e-12
    if task == "hierarchical":
        assert together.var(axis=0).tolist() == pytest.approx([1 / 2.75, 0.75 / 2.75, 1 / 2.75])


def test_target_columns_of_two_classes_and_of_many_labels():
    two = encode_target(np.array(["a", "b", "a", "b", "b", "a"]))
    assert fc.target_columns(two, two).train.shape == (6, 1)
    rng = np.random.default_rng(0)
    shares = rng.permutation(np.linspace(0.02, 0.5, 30))
    many = Target(
        "multi_label",
        (rng.random((3000, 30)) < shares).astype(float),
        tuple(map(str, range(30))),
        np.ones(30),
    )
    found = fc.target_columns(many, many)
    assert len(found.boosted) == fc.BOOSTED_COLUMNS
    assert set(found.boosted) == set(np.argsort(-many.values.var(axis=0))[: fc.BOOSTED_COLUMNS])
    constant = Target("regression", np.ones((5, 1)), ("y",), np.ones(1))
    rising = Target("regression", np.arange(5.0)[:, None], ("y",), np.ones(1))
    with pytest.raises(ValueError, match="constant on the training rows"):
        fc.target_columns(constant, rising)
    with pytest.raises(ValueError, match="constant on the held-out rows"):
        fc.target_columns(rising, constant)


@pytest.fixture(scope="module")
def learned():
    """Points, truth, held-out points and truth of three target columns; mixed features."""
    cell = cell_of("classification")
    space = fc.FeatureSpace.fit(cell.train)
    target = fc.target_columns(cell.train_target, cell.test_target)
    return space, space.encode(cell.train), target.train, space.encode(cell.test), target.test


@pytest.mark.parametrize("kind", [fm.Boosting, fm.Network, fm.KernelRidge])
def test_permutation_importance_is_that_of_predicting_again(kind, learned):
    space, train, truth, points, held_out = learned
    model = kind.fit(train, truth)
    found = fm.permutation_importance(model.bind(points), points, held_out, space.columns_of(7), seed=5)
    expected = naive.permutation_importance(
        lambda asked: model.bind(asked).base, points, held_out, space.block, 7, fm.REPEATS, 5
    )
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
    assert np.argmax(found) == 0
    assert (found > 0.01).sum() >= 2


def test_a_network_learns_where_rows_held_out_for_stopping_are_all_alike(learned):
    """Without a score of the rows held out, every weight decay does as well as the first."""
    _, train, _, points, _ = learned
    part = np.random.default_rng(0).permutation(len(train)) % 7
    rare = np.zeros((len(train), 1))
    rare[np.flatnonzero(part == 3)[:4]] = 1.0
    assert np.isfinite(fm.Network.fit(train, rare).bind(points).base).all()


def test_boosting_answers_as_scikit_learn_does(learned):
    from sklearn.ensemble import HistGradientBoostingRegressor

    _, train, truth, points, _ = learned
    found = fm.Boosting.fit(train, truth).bind(points).base
    for column in range(truth.shape[1]):
        model = HistGradientBoostingRegressor(
            max_iter=80, max_leaf_nodes=15, min_samples_leaf=10, early_stopping=False, random_state=0
        ).fit(train, truth[:, column])
        np.testing.assert_allclose(found[:, column], model.predict(points), atol=1e-12)


def test_kernel_ridge_chooses_by_leaving_one_out(learned):
    """The chosen rate and ridge are those with the least error when every row is really left out."""
    _, train, truth, points, _ = learned
    train, truth = train[:30], truth[:30]
    distance = fc.squared_distances(train, train)
    unit = np.median(distance[distance > 0])
    center, best = truth.mean(axis=0), (np.inf, None)
    for width in fm.KERNEL_WIDTHS:
        kernel = np.exp(-width / unit * distance) + 1.0
        for ridge in fm.RIDGES:
            error = 0.0
            for i in range(30):
                rest = np.arange(30) != i
                dual = np.linalg.solve(
                    kernel[np.ix_(rest, rest)] + ridge * np.eye(29), (truth - center)[rest]
                )
                error += ((kernel[i, rest] @ dual - (truth - center)[i]) ** 2).sum()
            if error < best[0]:
                best = error, (width / unit, np.linalg.solve(kernel + ridge * np.eye(30), truth - center))
    model = fm.KernelRidge.fit(train, truth)
    assert model.rate == pytest.approx(best[1][0])
    np.testing.assert_allclose(model.dual, best[1][1], rtol=1e-6, atol=1e-9)
    kernel = np.exp(-model.rate * ((points[:, None] - train) ** 2).sum(axis=2)) + 1
    np.testing.assert_allclose(model.bind(points).base, kernel @ model.dual + center, rtol=1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_references_find_what_was_planted(task):
    reference = foreign_reference(cell_of(task))
    assert "boosting" in reference.learned
    for model in reference.learned:
        found = reference.importances[model]
        assert found.sum() == pytest.approx(1.0)
        assert set(np.argsort(-found)[:2]) == {0, 6}
    good, bad = np.array([9, 0, 0, 0, 0, 0, 8]), np.array([0, 1, 2, 3, 4, 5, 0])
    assert reference.captured(good) > 0.9 > 0.6 > reference.captured(bad)
    mean = sum(reference.importances[model] for model in reference.learned) / len(reference.learned)
    assert reference.captured(good) == pytest.approx(captured(good, mean))


def test_kernel_ridge_does_not_decide_alone():
    values = {model: np.array([0.5, 0.5]) for model in ("boosting", "network", "kernel")}
    of = lambda **r2: Reference("d", 0, "", r2, values).learned  # noqa: E731
    assert of(boosting=0.05, network=0.04, kernel=0.3) == ("boosting", "kernel")
    assert of(boosting=0.0, network=0.0, kernel=0.3) == ()
    assert of(boosting=float("nan"), network=0.2, kernel=-1.0) == ("network",)
    nothing = Reference("d", 0, "", {"boosting": 0.0, "network": 0.0, "kernel": 0.9}, values)
    assert nothing.mean is None
    assert np.isnan(nothing.captured(np.array([1.0, 2.0])))


# ---------------------------------------------------------------- other judges


@pytest.mark.parametrize("task", TASKS)
def test_judges_prefer_what_was_planted(task):
    cell = cell_of(task)
    good, bad = np.array([9.0, 0, 0, 0, 0, 0, 8]), np.array([0.0, 1, 2, 3, 4, 5, 0])
    neighbours = fair_knn(np.array([good, bad]), cell, 60)
    assert neighbours.shape == (2,)
    assert neighbours[0] > neighbours[1]
    a, b = subset_value(good, cell), subset_value(bad, cell)
    assert a["boosting"] > b["boosting"]
    assert a["kernel"] > b["kernel"]


def test_subset_value_with_all_features_is_that_of_the_models():
    cell = cell_of("regression", n_numbers=2, n_nominal=0)
    space = fc.FeatureSpace.fit(cell.train)
    target = fc.target_columns(cell.train_target, cell.test_target)
    model = fm.KernelRidge.fit(space.encode(cell.train), target.train)
    expected = fm.explained(model.bind(space.encode(cell.test)).base, target.test)
    assert subset_value(np.array([1.0, 1.0]), cell)["kernel"] == pytest.approx(expected)


# ---------------------------------------------------------------- controls


def test_invented_rows_hold_nothing_but_labelled_rows():
    cell = cell_of("classification")
    target = cell.labeled(30)
    bits = cell.train.values[:, 1]
    bits[:] = np.where(np.isnan(bits), np.nan, bits > 0)  # a number with two values
    table, same = invented_rows(cell.train, target, seed=3)
    assert same is target
    labelled, hidden = target.labeled, ~target.labeled
    assert np.array_equal(table.values[labelled], cell.train.values[labelled], equal_nan=True)
    assert not np.array_equal(table.values[hidden], cell.train.values[hidden], equal_nan=True)
    for j, size in enumerate(table.n_values):
        known, new = table.values[labelled, j], table.values[hidden, j]
        if size or j == 1:
            assert set(new[~np.isnan(new)]) <= set(known[~np.isnan(known)])
        else:
            assert np.nanmin(known) <= np.nanmin(new) < np.nanmax(new) <= np.nanmax(known)
            assert len(np.unique(new[~np.isnan(new)])) > 50
    # Whatever the unlabelled rows were, the invented ones are the same.
    values = cell.train.values.copy()
    values[hidden] = np.where(table.n_values > 0, 0.0, 1e6)
    other = Table(values, table.n_values, table.names, table.categories)
    assert np.array_equal(invented_rows(other, target, seed=3)[0].values, table.values, equal_nan=True)
    assert not np.array_equal(invented_rows(other, target, seed=4)[0].values, table.values, equal_nan=True)
    with pytest.raises(ValueError, match="two labelled"):
        invented_rows(cell.train, cell.labeled(1))


def test_shuffled_labels_are_the_same_labels_on_other_rows():
    target = cell_of("multi_label").labeled(40)
    shuffled = shuffled_labels(target, seed=1)
    assert np.array_equal(shuffled.labeled, target.labeled)
    rows = target.labeled
    assert sorted(map(tuple, shuffled.values[rows])) == sorted(map(tuple, target.values[rows]))
    assert not np.array_equal(shuffled.values[rows], target.values[rows])


def test_fewer_unlabeled_rows_are_a_part_of_more():
    cell = cell_of("regression")
    target = cell.labeled(40)
    few, few_target = fewer_unlabeled(cell.train, target, 20)
    more, more_target = fewer_unlabeled(cell.train, target, 60)
    assert (len(few), len(more), few_target.labeled.sum(), more_target.labeled.sum()) == (60, 100, 40, 40)
    rows = [set(map(tuple, np.nan_to_num(t.values))) for t in (few, more, cell.train)]
    assert rows[0] < rows[1] < rows[2]
    assert len(fewer_unlabeled(cell.train, target, 10_000)[0]) == len(cell.train)
