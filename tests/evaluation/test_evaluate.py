"""`evaluate`: the four answers, their honesty, and the command."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import semirank
from semirank import ConsensusRanker, Evaluation, ForestRanker, Ranking, ReliefRanker, evaluate
from semirank.data.tasks import TASKS
from semirank.evaluation.compared_methods import as_methods
from semirank.report.figures import save_figure
from semirank.results.evaluation import NO_RANKING
from semirank.trees.scores import IMPORTANCES

from ..neighbors.naive_neighbors import knn_prototypes, make_table, make_target
from ..optional import needs_pandas
from . import naive_evaluation as naive


def clustered(rng, kind, n=400, n_labeled=60, p=8, noise=40, strength=1.0, blur=1.0):
    """Two clusters in p features, `noise` features without structure, few labels.

    "helps": the target follows the clusters, blurred. "hurts": it follows two of the other features, the
    clusters say nothing. "unrelated": it follows nothing.
    """
    cluster = rng.integers(2, size=n) * 2 - 1
    X = np.c_[strength * cluster[:, None] + rng.normal(size=(n, p)), rng.normal(size=(n, noise))]
    if kind == "helps":
        y = cluster + blur * rng.normal(size=n)
    elif kind == "hurts":
        y = X[:, p] + X[:, p + 1]
    else:
        y = rng.normal(size=n)
    y[rng.permutation(n)[n_labeled:]] = np.nan
    return X, y


# Few labels hardly tell ten useful features from 800 others; the clusters do. Chosen among ten constructions
# as one where the effect is large enough to be seen: with fewer useless features or fewer labels the interval
# mostly covers 0, so this shows the sign of the verdict, not its power.
NEEDLES = {"n": 600, "n_labeled": 100, "p": 10, "noise": 800, "strength": 0.7, "blur": 0.3}


def structure(table, target, use_unlabeled, seed):
    """A ranker made of two obvious parts: correlation with the target, and with the main direction of X."""
    known = target.labeled
    supervised = np.corrcoef(table.values[known].T, target.values[known].T)[-1, :-1] ** 2
    if not use_unlabeled:
        return supervised
    centred = table.values - table.values.mean(axis=0)
    direction = centred[:, :50].sum(axis=1)
    for _ in range(30):  # the first principal direction
        direction = centred @ (direction @ centred)
        direction /= np.linalg.norm(direction)
    clusters = np.corrcoef(centred.T, direction)[-1, :-1] ** 2
    return supervised * 0.1 + clusters


def label_correlation(table, target, use_unlabeled, seed):
    known = target.labeled
    return np.abs(np.corrcoef(table.values[known].T, target.values[known].T)[-1, :-1])


class TestUnlabelledRows:
    @pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
    @pytest.mark.parametrize(("kind", "verdict"), [("helps", "helped"), ("hurts", "hurt")])
    def test_they_help_or_hurt(self, kind, verdict, seed):
        X, y = clustered(np.random.default_rng(seed), kind, **(NEEDLES if kind == "helps" else {}))
        found = evaluate(X, y, method=structure, methods=[], n_repeats=3, random_state=seed)
        if kind == "helps" and seed > 0:  # the sign is there, the interval may hold 0
            assert found.effect.value > 0
            assert found.verdict != "hurt"
            return
        assert found.verdict == verdict
        assert found.effect.low > 0 if kind == "helps" else found.effect.high < 0
        assert f"unlabelled rows {'helped' if kind == 'helps' else 'hurt'} it" in found.summary()

    def test_no_difference_where_the_target_is_unrelated(self):
        """Eight data sets: the 95 % interval may miss 0 now and then, not often (tools.calibrate counts)."""
        misses = 0
        for seed in range(8):
            X, y = clustered(np.random.default_rng(100 + seed), "unrelated", n=120, n_labeled=40, noise=12)
            found = evaluate(X, y, method=structure, methods=[], n_repeats=1, random_state=seed)
            misses += found.verdict != "no difference"
            if seed == 0:
                assert "made no difference" in found.summary()
        assert misses <= 2

    def test_identical_rankings_are_no_difference(self):
        X, y = clustered(np.random.default_rng(0), "helps", n=150, n_labeled=40)
        found = evaluate(X, y, method=label_correlation, methods=[], n_repeats=2)
        assert found.effect == (0.0, 0.0, 0.0)
        assert found.verdict == "no difference"

    @needs_pandas
    def test_without_unlabelled_rows(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(50, 4))
        calls = []

        def spy(table, target, use_unlabeled, seed):
            calls.append(use_unlabeled)
            return np.ones(4)

        found = evaluate(X, X[:, 0], method=spy, methods=[], n_repeats=1)
        assert (found.effect, found.verdict) == (None, "none")
        assert not any(calls)
        assert "every row is labelled" in found.summary()
        assert "unlabelled rows" not in found.table()
        assert np.isnan(found.to_frame()["difference"]).all()
        pytest.importorskip("matplotlib")
        scores, effects, _ = found.plot().axes
        assert [line.get_label() for line in scores.get_lines()[:-1]] == ["supervised"]
        assert [text.get_text() for text in effects.texts] == ["every row is labelled"]

    def test_a_single_feature(self):
        X = np.random.default_rng(0).normal(size=(50, 1))
        found = evaluate(X, X[:, 0], method=lambda *_: np.ones(1), methods=[], n_repeats=1)
        assert "there is one feature only" in found.summary().lower()


def test_scores_equal_twin():
    """One repeat by hand: take a fold away, rank, predict, put the folds together, measure."""
    rng = np.random.default_rng(0)
    table = make_table(rng, 60, [0, 0, 3, 0], missing=0.05)
    target = make_target(rng, 60, "multi_target", unlabeled=0.4)
    seen = []

    def some(part, labels, use_unlabeled, seed):
        seen.append((part, labels, use_unlabeled, seed))
        return {
            "one": np.array([1.0, 0, 0, 0]) + 0.1 * use_unlabeled,
            "two": np.array([0, 1.0, 0.5, 0]) * len(seen),
        }

    found = evaluate(
        table, target, method=lambda *_: np.ones(4), methods={"m": some}, n_folds=4, n_repeats=1,
        random_state=5,
    )  # fmt: skip
    labeled = np.flatnonzero(target.labeled)
    assert [side for _, _, side, _ in seen] == [True, False] * 4
    assert [seed for _, _, _, seed in seen] == [5, 5, 6, 6, 7, 7, 8, 8]
    held = []
    for part, labels, _, _ in seen[::2]:
        kept = {values.tobytes() for values in part.values}
        away = [i for i in range(60) if table.values[i].tobytes() not in kept]
        held.append(np.array(away))
        # The rows that test are absent, and so for both sides; unlabelled rows are all there.
        assert set(away) <= set(labeled.tolist())
        assert len(part) == len(labels) == 60 - len(away)
        assert (~labels.labeled).sum() == (~target.labeled).sum()
    np.testing.assert_array_equal(np.sort(np.concatenate(held)), labeled)
    expected = {}
    for name, weights in (("m one", [1.0, 0, 0, 0]), ("m two", [0, 1.0, 0.5, 0]), (NO_RANKING, [1.0] * 4)):
        predicted = np.empty((60, 3))
        for rows in held:
            rest = np.setdiff1d(np.arange(60), rows)
            known = target.take(rest)
            k = min(20, max(3, round(np.sqrt(known.labeled.sum()))))
            predicted[rows] = knn_prototypes(
                weights, table.take(rest), known, table.take(rows), k, "labelled"
            )
        expected[name] = naive.rrmse(target.values[labeled], predicted[labeled])
    assert {r.name: pytest.approx(r.supervised) for r in found.rankers[1:]} == expected


def test_best_ranker_and_what_is_as_good():
    X, y = clustered(np.random.default_rng(1), "hurts", n=200, n_labeled=80, noise=10)

    def right(table, target, use_unlabeled, seed):
        return np.r_[np.zeros(8), 1.0, 1.0, np.zeros(8)]

    def nearly(table, target, use_unlabeled, seed):
        return np.r_[np.zeros(8), 1.0, 0.98, np.zeros(8)]

    def wrong(table, target, use_unlabeled, seed):
        return np.r_[np.ones(8), np.zeros(10)]

    others = {"wrong": wrong, "nearly": nearly}
    found = evaluate(X, y, method=right, methods=others, n_repeats=2)
    assert (found.asked, found.as_good, found.worse, found.better) == ("right", ("nearly",), ("wrong",), ())
    assert [r.name for r in found.rankers] == ["right", "nearly", "wrong", NO_RANKING]
    assert found.rankers[0].behind == (0.0, 0.0, 0.0)
    assert found.rankers[2].behind.low > 0
    assert "better than taking all features equally" in found.summary()
    assert evaluate(X, y, method=wrong, methods={"right": right}, n_repeats=2).better == ("right",)
    assert found.n_keep == 2
    assert found.select() == found.ranking.select(2) == ["x8", "x9"]
    assert "the first 2 of 18 features do as well as any number: x8, x9" in found.summary()
    np.testing.assert_array_equal(found.n_features, [1, 2, 4, 8, 16, 18])
    assert found.forward[1] < found.forward[0] < found.reverse[0]  # RRMSE


def test_no_ranking_is_as_good_is_said():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    found = evaluate(X, y, method=lambda *_: np.array([1.0, 2.0, 3.0]), methods=[], n_repeats=1)
    assert "no better than taking all features equally" in found.summary()
    assert found.n_keep is None
    assert "no number of features is better than a guess: label more rows" in found.summary()
    assert found.to_dict()["keep"] == []
    with pytest.raises(ValueError, match=r"No number of features is better than a guess: .*select\(n\)"):
        found.select()
    assert found.select(1) == ["x2"]


@pytest.mark.parametrize("task", TASKS)
def test_the_default_on_every_task(task):
    """What `rank` does against rankings of labelled rows, named beforehand; and its ranking, bit by bit."""
    rng = np.random.default_rng(list(TASKS).index(task))
    table = make_table(rng, 80, [0, 0, 0, 3, 2], missing=0.05)
    target = make_target(rng, 80, task, unlabeled=0.5)
    light = {"method": "consensus", "rankers": ("relief",), "sensitivity": 0.0, "random_state": 1}
    found = evaluate(table, target, n_repeats=1, n_folds=2, **light)
    usual = ["consensus", "forest genie3_oob", "forest rforest", "relief", NO_RANKING]
    assert sorted(r.name for r in found.rankers) == sorted(usual)
    assert (found.rankers[0].name, found.rankers[-1].name) == (usual[0], usual[-1])
    first, *others = found.rankers
    assert first.effect == found.effect
    assert first.effect.low <= first.effect.value <= first.effect.high
    assert all(other.semi_supervised is None and other.effect is None for other in others)
    assert np.isfinite([found.cluster_hypothesis, found.guess, *found.forward, *found.reverse]).all()
    same = semirank.rank(table, target, **light)
    assert without_times(found.ranking) == without_times(same)
    json.dumps(found.to_dict(), allow_nan=False)


def without_times(ranking):
    return {name: value for name, value in ranking.to_dict().items() if name != "timings"}


@pytest.mark.parametrize(
    "words",
    [
        {"rankers": ("relief",)},  # of the default method
        {"method": "forest", "importance": "rforest", "n_estimators": 5, "supervision": 1.0},
        {"method": "forest", "ensemble": "extra_trees", "n_estimators": 5, "supervision": 0.5},
        {"method": "relief", "n_neighbors": 5},
        {"method": "relief", "use_unlabeled": False},
        {"preset": "paper", "method": "laplace"},
    ],
)
def test_the_ranking_is_that_of_rank(words):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(80, 4)), columns=list("abcd"))
    frame["kind"] = np.where(frame["b"] > 0, "p", "q")
    frame["y"] = np.where(np.arange(80) < 50, frame["a"], np.nan)
    small = {"n_repeats": 1, "n_folds": 2, "methods": []}
    found = evaluate(frame, target="y", random_state=7, **words, **small)
    same = semirank.rank(frame, target="y", random_state=7, **words)
    assert without_times(found.ranking) == without_times(same)
    assert found.asked == (f"forest {same.importance}" if same.method == "forest" else same.method)
    uses = words.get("use_unlabeled", True)
    assert (found.rankers[0].semi_supervised is not None) == uses
    assert uses or found.verdict == "not used"
    assert uses or "the 30 unlabelled rows took no part" in found.summary()


class TestRealForest:
    """Semi-supervised forests on clusters that are, or are not, what the target is about.

    The helpful construction was looked for: of some thirty (clusters, noise, labels, w, score), in few did
    the unlabelled rows help a forest in every seed, and it is the symbolic score that they help. Its effect
    is large, but with 60 labels hardly beyond what another draw of labels could do.
    """

    seeds = pytest.mark.parametrize(
        "seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in range(1, 5))]
    )

    @staticmethod
    def groups(rng, n, distance):
        centres = np.random.default_rng(0).normal(size=(4, 8))
        group = rng.integers(4, size=n)
        return distance * (centres / centres.std(axis=0))[group] + rng.normal(size=(n, 8)), group

    @seeds
    def test_helps(self, seed):
        rng = np.random.default_rng(seed)
        X, group = self.groups(rng, 1000, 1.5)
        X = np.c_[X, rng.normal(size=(1000, 150))]
        y = np.linspace(-1, 1, 4)[group] + 0.1 * rng.normal(size=1000)
        y[rng.permutation(1000)[60:]] = np.nan

        def symbolic(table, target, use_unlabeled, seed):
            forest = ForestRanker(
                supervision=0.1, use_unlabeled=use_unlabeled, n_estimators=25, random_state=seed
            )
            return forest.fit(table, target).importances_["symbolic"]

        found = evaluate(X, y, method=symbolic, methods=[], n_repeats=2, random_state=seed)
        assert found.effect.value > 0.05
        assert found.verdict != "hurt"
        assert found.cluster_hypothesis > 0.7

    @seeds
    def test_hurts(self, seed):
        rng = np.random.default_rng(seed)
        X, _ = self.groups(rng, 300, 2.0)
        X = np.c_[X, rng.normal(size=300)]
        y = X[:, 8] + 0.1 * rng.normal(size=300)
        y[60:] = np.nan
        forest = ForestRanker(importance="genie3", supervision=0.25, n_estimators=25)
        found = evaluate(X, y, method=forest, methods=[], n_repeats=2, random_state=seed)
        assert found.verdict == "hurt"

    @pytest.mark.slow
    def test_unrelated(self):
        misses = 0
        for seed in range(8):
            rng = np.random.default_rng(seed)
            X, _ = self.groups(rng, 200, 2.0)
            y = np.where(np.arange(200) < 40, rng.normal(size=200), np.nan)
            found = evaluate(
                X, y, method="forest", supervision=0.5, methods=[], n_repeats=2, random_state=seed
            )
            misses += found.verdict != "no difference"
        assert misses <= 1


class TestDetails:
    def test_without_a_seed_every_run_has_its_own(self):
        X, y = clustered(np.random.default_rng(0), "helps", n=60, n_labeled=30, noise=2)
        seeds = []

        def spy(table, target, use_unlabeled, seed):
            seeds.append(seed)
            return np.ones(table.shape[1])

        for _ in range(2):
            evaluate(X, y, method=spy, methods=[], n_repeats=1, random_state=None)
        half = len(seeds) // 2
        assert seeds[:half] != seeds[half:]

    def test_deterministic_for_any_number_of_threads(self):
        X, y = clustered(np.random.default_rng(0), "helps", n=80, n_labeled=30, noise=5)
        small = {
            "method": "forest",
            "n_estimators": 5,
            "supervision": 0.5,
            "methods": "relief",
            "n_repeats": 1,
        }
        one, two = (evaluate(X, y, **small, n_jobs=n) for n in (1, 2))
        assert one.rankers == two.rankers
        assert one.n_keep == two.n_keep
        other = evaluate(X, y, **small, random_state=1)
        assert other.rankers != one.rankers

    def test_forms_of_input(self):
        pandas = pytest.importorskip("pandas")
        X, y = clustered(np.random.default_rng(0), "helps", n=80, n_labeled=40, noise=2)
        frame = pandas.DataFrame(X, columns=[f"f{i}" for i in range(10)])
        found = evaluate(frame, pandas.Series(y), method=label_correlation, methods=[], n_repeats=1)
        array = evaluate(X, y, method=label_correlation, methods=[], n_repeats=1)
        assert found.rankers == array.rankers
        assert found.ranking.names[0] == "f0"
        classes = np.where(np.isnan(y), -1, y > 0).astype(int)
        marked = evaluate(X, classes, method=label_correlation, methods=[], unlabeled=-1, n_repeats=1)
        assert (marked.task, marked.n_labeled) == ("classification", 40)
        assert "classification, 2 classes, 40 of 80 rows labelled" in marked.notes

    def test_one_member_classes_are_learnt_from_only(self):
        rng = np.random.default_rng(0)
        y = np.array(["a", "b"] * 10 + ["c"] + [None] * 20, dtype=object)
        tested = []

        def spy(table, target, use_unlabeled, seed):
            tested.append((target.values[:, 0] == 2).any())
            return np.ones(2)

        found = evaluate(rng.normal(size=(41, 2)), y, method=spy, methods=[], n_repeats=2)
        assert all(tested)
        assert "classes with one labelled row are learnt from but never tested: 'c'" in found.notes

    def test_warnings_become_one_note(self):
        class Warner(ReliefRanker):
            def fit(self, X, y, progress=None):
                import warnings

                warnings.warn("few labels", UserWarning, stacklevel=2)
                return super().fit(X, y)

        X, y = clustered(np.random.default_rng(0), "helps", n=60, n_labeled=30, noise=2)
        found = evaluate(X, y, method=Warner(), methods=[], n_repeats=1)
        assert found.notes.count("few labels") == 1

    def test_progress(self):
        X, y = clustered(np.random.default_rng(0), "helps", n=60, n_labeled=30, noise=2)
        steps = []
        evaluate(
            X,
            y,
            method=label_correlation,
            methods=[],
            n_repeats=2,
            n_folds=3,
            progress=lambda *s: steps.append(s),
        )
        assert steps[:7] == [(i, 7, "evaluation") for i in range(7)]
        assert steps[7:] == [(1, 2, "judging"), (2, 2, "judging"), (7, 7, "evaluation")]

    def test_whole_ranking(self):
        X, y = clustered(np.random.default_rng(0), "helps", n=80, n_labeled=40, noise=2)
        own = ForestRanker(importance="symbolic", supervision=1.0, n_estimators=5)
        found = evaluate(X, y, method=own, methods=[], n_repeats=1, n_folds=2)
        assert (found.asked, found.ranking.importance) == ("ForestRanker", "symbolic")
        assert own.random_state is None
        (relief,) = as_methods(ReliefRanker())
        assert relief.whole(X, y, 0).method == "relief"

    def test_one_fit_for_both_sides_is_two(self):
        """The consensus holds its label-only counterpart; two fits give the same scores."""
        X, y = clustered(np.random.default_rng(0), "helps", n=80, n_labeled=40, noise=2)

        light = {"rankers": ("relief",), "sensitivity": 0.5}

        def twice(table, target, use_unlabeled, seed):
            ranker = ConsensusRanker(use_unlabeled=use_unlabeled, random_state=seed, **light)
            return ranker.fit(table, target).feature_importances_

        small = {"methods": [], "n_repeats": 1, "n_folds": 2}
        asked = ({"method": ConsensusRanker(**light)}, {"method": twice})
        one, two = (evaluate(X, y, **one, **small).rankers[0] for one in asked)
        assert one[1:] == two[1:]

    def test_names_of_several_methods(self):
        X, y = clustered(np.random.default_rng(0), "helps", n=60, n_labeled=30, noise=2)
        small = {"n_repeats": 1, "n_folds": 3}

        def one_alone(table, target, use_unlabeled, seed):
            return {"big": np.ones(table.shape[1]), "other": np.arange(table.shape[1])}

        def first(table, target, use_unlabeled, seed):
            return {"b c": np.ones(table.shape[1]), "d": np.arange(table.shape[1])}

        def second(table, target, use_unlabeled, seed):
            return {"c": np.ones(table.shape[1]), "d": np.arange(table.shape[1])}

        found = evaluate(X, y, method=one_alone, methods=first, **small)
        assert {r.name for r in found.rankers} == {"one_alone", "first b c", "first d", NO_RANKING}
        assert found.ranking.scores.tolist() == [1.0] * X.shape[1]
        alike = {"forest": label_correlation, "forest big": first}
        found = evaluate(X, y, method=one_alone, methods=alike, **small)
        assert {r.name for r in found.rankers[1:-1]} == {"forest", "forest big b c", "forest big d"}
        with pytest.raises(ValueError, match="each ranking its own"):
            evaluate(X, y, method=one_alone, methods={"a": first, "a b": second}, **small)
        with pytest.raises(ValueError, match="Two methods are called 'one_alone'"):
            evaluate(X, y, method=one_alone, methods={"one_alone": first}, **small)

    def test_repeats_follow_the_size_of_the_table(self):
        """Larger tables have fewer repeats, and the notes say so; what the user says is done."""
        rng = np.random.default_rng(0)
        y = np.where(np.arange(600) < 40, rng.normal(size=600), np.nan)
        wide = rng.normal(size=(600, 400))
        small = {"method": label_correlation, "methods": [], "n_folds": 2}
        found = evaluate(wide, y, **small)
        assert found.n_repeats == 3
        assert "the folds were dealt 3 instead of 5 times, since the table has 240,000 values" in found.notes
        assert evaluate(wide[:, :300], y, **small).n_repeats == 5
        given = evaluate(wide, y, **small, n_repeats=1)
        assert (given.n_repeats, [note for note in given.notes if "dealt" in note]) == (1, [])

    def test_quick_says_what_it_left_out(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(1100, 3))
        y = np.where(np.arange(1100) < 40, X[:, 0], np.nan)
        seen = []

        class Sampler(ReliefRanker):
            def __init__(self, max_rows=10_000, use_unlabeled=True, random_state=None):
                self.max_rows, self.use_unlabeled, self.random_state = max_rows, use_unlabeled, random_state

            def fit(self, X, y, progress=None):
                seen.append((len(X), self.max_rows))
                inner = ReliefRanker(use_unlabeled=self.use_unlabeled, random_state=self.random_state)
                self.inner_ = inner.fit(X, y)
                self.importances_ = self.inner_.importances_
                self.feature_importances_ = self.inner_.feature_importances_
                return self

            def to_ranking(self):
                return self.inner_.to_ranking()

        found = evaluate(X, y, method=Sampler(), methods=[], quick=True)
        assert (found.n_folds, found.n_repeats) == (3, 1)
        assert (
            "quick: 3 folds dealt once, where five folds are dealt up to five times otherwise" in found.notes
        )
        assert "quick: Sampler saw at most 1000 rows where it was judged" in found.notes
        assert [rows for _, rows in seen] == [1000] * 6 + [10_000]
        assert seen[-1][0] == 1100

    def test_random_state_follows_the_rule_of_rankers(self):
        X, y = clustered(np.random.default_rng(0), "helps", n=60, n_labeled=30, noise=2)

        def noise(table, target, use_unlabeled, seed):
            return np.random.default_rng(seed).random(table.shape[1])

        def seed(random_state):
            return evaluate(
                X, y, method=noise, methods=[], n_repeats=1, n_folds=3, random_state=random_state
            ).seed

        drawn = seed(np.random.RandomState(5))
        assert (
            drawn
            == seed(np.random.RandomState(5))
            == ReliefRanker(random_state=np.random.RandomState(5)).fit(X, y).seed_
        )
        assert drawn != seed(np.random.RandomState(6))
        assert seed(np.int64(3)) == 3
        assert seed(2**32 - 1) == 2**32 - 1
        assert 0 <= seed(None) < 2**31


class TestCache:
    def counting(self, monkeypatch):
        calls = []

        def ranker(table, target, use_unlabeled, seed):
            calls.append(seed)
            if len(calls) == 8 and not getattr(ranker, "calm", False):
                raise KeyboardInterrupt
            return label_correlation(table, target, use_unlabeled, seed)

        return calls, ranker

    def test_goes_on_where_it_stopped(self, tmp_path, monkeypatch):
        X, y = clustered(np.random.default_rng(0), "helps", n=60, n_labeled=30, noise=2)
        calls, ranker = self.counting(monkeypatch)
        settings = {"method": ranker, "methods": [], "n_repeats": 1, "cache": tmp_path / "kept"}
        with pytest.raises(KeyboardInterrupt):
            evaluate(X, y, **settings)
        assert len(list((tmp_path / "kept").iterdir())) == 3  # with both sides of each split
        ranker.calm = True
        found = evaluate(X, y, **settings)
        assert len(calls) == 8 + 4 + 1  # two splits that were left, and the ranking of all rows
        fresh = evaluate(X, y, method=ranker, methods=[], n_repeats=1)
        assert found.rankers == fresh.rankers

    def test_no_room_is_told_once_and_costs_nothing(self, tmp_path, monkeypatch):
        X, y = clustered(np.random.default_rng(0), "helps", n=60, n_labeled=30, noise=2)
        settings = {"method": label_correlation, "methods": [], "n_repeats": 1}

        def full(path, text):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("semirank.evaluation.ranking_cache.atomic_write", full)
        with pytest.warns(UserWarning, match="No space left on device") as told:
            found = evaluate(X, y, **settings, cache=tmp_path)
        assert len(told) == 1
        assert found.rankers == evaluate(X, y, **settings).rankers

    def test_other_data_settings_and_damage_are_no_hit(self, tmp_path):
        X, y = clustered(np.random.default_rng(0), "helps", n=60, n_labeled=30, noise=2)

        def files():
            return len(list(tmp_path.iterdir()))

        def run(X, **change):
            forest = ForestRanker(supervision=1.0, n_estimators=2, **change)
            return evaluate(X, y, method=forest, methods=[], n_repeats=1, n_folds=2, cache=tmp_path)

        first = run(X)
        assert files() == 2
        run(X, n_jobs=2)
        assert files() == 2
        run(X, max_depth=2)
        assert files() == 4
        run(X, importance="symbolic")
        assert files() == 6
        run(X + 1.0)
        assert files() == 8
        for path in tmp_path.iterdir():
            path.write_text("[1, 2")
        assert run(X).rankers == first.rankers


@pytest.fixture(scope="module")
def found():
    X, y = clustered(np.random.default_rng(0), "helps", n=100, n_labeled=40, noise=4)
    return evaluate(X, y, method=structure, methods={"labels": label_correlation}, n_repeats=2)


class TestResult:
    def test_sentences(self, found):
        assert found.summary().count(".") >= 1
        assert found.summary().endswith(".")
        assert "\n" not in found.summary()
        sentences = found.sentences()
        assert len(sentences) == 5
        assert all(text[0].isupper() and text.endswith(".") for text in sentences)
        assert "5 folds of the 40 labelled rows, dealt 2 times" in sentences[-1]
        assert "about 32 labels" in sentences[-1]
        assert f"to {found.cluster_hypothesis:.2f} of 1" in found.summary()

    @needs_pandas
    def test_frames(self, found):
        frame = found.to_frame()
        assert frame["ranker"].tolist() == [r.name for r in found.rankers]
        assert frame["ranker"].iloc[-1] == NO_RANKING
        assert (frame["low"].iloc[:-1] <= frame["high"].iloc[:-1]).all()
        assert found.to_frame("polars").shape == frame.shape
        with pytest.raises(ValueError, match="library must be"):
            found.to_frame("excel")

    def test_text(self, found):
        assert found.table().splitlines()[0].split()[:3] == ["ranking", "semi-supervised", "supervised"]
        assert found.table().splitlines()[-1].split() == ["a", "guess", "1.000"]
        assert found.summary() in repr(found)
        assert "100 rows" in repr(found)

    def test_dict_and_json(self, found, tmp_path):
        found.save(tmp_path / "e.json")
        values = json.loads((tmp_path / "e.json").read_text())
        assert values == found.to_dict()
        assert values["verdict"] == found.verdict
        assert values["keep"] == found.ranking.select(found.n_keep)
        assert Ranking.from_dict(values["ranking"]) == found.ranking
        assert Ranking.load(tmp_path / "e.json") == found.ranking

    def test_html(self, found, tmp_path):
        found.save(tmp_path / "e.html")
        page = (tmp_path / "e.html").read_text()
        section = page.split('<section id="evaluation">')[1].split("</section>")[0]
        assert "better than taking all features equally" in section
        assert "How many features?" in section
        assert found.sentences()[3] in section
        assert NO_RANKING in section

    def test_save_refuses(self, found, tmp_path):
        with pytest.raises(ValueError, match="extension must be one of"):
            found.save(tmp_path / "e.txt")

    @pytest.mark.parametrize("suffix", [".png", ".svg", ".PDF"])
    def test_a_figure_is_written_whole_or_not_at_all(self, found, suffix, tmp_path, monkeypatch):
        pytest.importorskip("matplotlib")
        path = tmp_path / f"e{suffix}"
        figure = found.plot()
        save_figure(figure, path)
        whole = path.read_bytes()
        assert len(whole) > 1000
        assert [entry.name for entry in tmp_path.iterdir()] == [path.name]

        def half(target, **options):
            if isinstance(target, str | Path):
                Path(target).write_bytes(whole[:100])
            else:
                target.write(whole[:100])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(figure, "savefig", half)
        with pytest.raises(OSError, match="No space left"):
            save_figure(figure, path)
        assert path.read_bytes() == whole
        monkeypatch.undo()
        monkeypatch.setattr(os, "replace", lambda *names: half(str(tmp_path / "draft")))
        with pytest.raises(OSError, match="No space left"):
            save_figure(figure, path)
        assert path.read_bytes() == whole

    def test_plot(self, found, tmp_path):
        pytest.importorskip("matplotlib")
        figure = found.plot()
        assert [ax.get_title(loc="left") for ax in figure.axes] == [
            "How good is the ranking?",
            "Do the unlabelled rows help?",
            "How many features?",
        ]
        assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == [r.name for r in found.rankers]
        figure.savefig(tmp_path / "e.png")

    def test_public(self, found):
        assert isinstance(found, Evaluation)
        for name in ("Evaluation", "evaluate", "knn_score", "cluster_hypothesis", "semi_supervised_folds"):
            assert name in semirank.__all__


class TestMethods:
    def test_forms(self):
        assert [m.name for m in as_methods(None)] == ["forest", "relief"]
        assert [m.name for m in as_methods(None, task="regression")] == ["forest", "relief", "laplace"]
        assert [m.name for m in as_methods("relief")] == ["relief"]
        assert [m.name for m in as_methods(ReliefRanker())] == ["ReliefRanker"]
        assert [m.name for m in as_methods(label_correlation)] == ["label_correlation"]
        assert [m.name for m in as_methods({"a": "relief", "b": ReliefRanker()})] == ["a", "b"]
        assert as_methods([]) == []
        for name in ("extra_trees", "bagging"):
            assert as_methods(name)[0].maker.ensemble == name
        assert as_methods("forest")[0].maker.supervision == 0.5
        assert as_methods("forest", quick=False)[0].maker.get_params() == (
            ForestRanker(importance=IMPORTANCES, ensemble="random_forest").get_params()
        )

    @pytest.mark.parametrize(
        ("change", "error", "sentence"),
        [
            ({"method": "forrest"}, ValueError, "did you mean 'forest'"),
            ({"method": "relief", "n_neighbours": 3}, TypeError, "did you mean 'n_neighbors'"),
            ({"method": "relief", "importance": "genie3"}, ValueError, "is for method=.forest."),
            ({"n_estimators": 3}, TypeError, "n_estimators= goes with the name of a method"),
            ({"importance": "genie3"}, TypeError, "importance= goes with the name of a method"),
            ({"method": 3}, TypeError, "neither the name"),
            ({"methods": "forrest"}, ValueError, "did you mean 'forest'"),
            ({"methods": ["relief", "relief"]}, ValueError, "Two methods are called 'relief'"),
            ({"methods": {"a": 3}}, TypeError, "neither the name"),
            ({"methods": {"a": lambda *_: np.ones(2)}}, ValueError, "3 finite importances"),
            ({"method": lambda *_: np.array([1, 2, np.nan])}, ValueError, "3 finite importances"),
            ({"methods": {NO_RANKING: lambda *_: np.ones(3)}}, ValueError, "is taken"),
        ],
    )
    def test_bad_methods(self, change, error, sentence):
        rng = np.random.default_rng(0)
        given = {"method": lambda *_: np.ones(3), "methods": [], "n_repeats": 1} | change
        with pytest.raises(error, match=sentence):
            evaluate(rng.normal(size=(30, 3)), rng.normal(size=30), **given)

    def test_estimator_without_sides(self):
        from sklearn.ensemble import RandomForestClassifier

        with pytest.raises(TypeError, match="has no parameter 'use_unlabeled'"):
            as_methods({"rf": RandomForestClassifier()})

    def test_changing_names(self):
        rng = np.random.default_rng(0)
        with pytest.raises(ValueError, match="the same names every time"):
            evaluate(
                rng.normal(size=(30, 3)),
                rng.normal(size=30),
                method=lambda *_: np.ones(3),
                methods={"a": lambda t, y, side, seed: {f"s{seed}": np.ones(3), "x": np.ones(3)}},
                n_repeats=1,
            )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n_folds": 1}, "n_folds=1 is neither a whole number of at least 2 nor None"),
        ({"n_folds": 2.0}, "n_folds=2.0 is neither"),
        ({"n_repeats": 0}, "n_repeats=0 is neither"),
        ({"quick": 1.5}, "quick=1.5 is neither True nor False"),
        ({"more_labels": "yes"}, "more_labels='yes' is neither True nor False"),
        ({"n_folds": 16}, "30 labelled rows are too few for 16 folds"),
        ({"random_state": -1}, "random_state=-1 is neither a whole number from 0 to 4294967295"),
        ({"random_state": 0.5}, "random_state=0.5 is neither"),
        ({"random_state": True}, "random_state=True is neither"),
        ({"n_jobs": 0}, "n_jobs=0 is neither None nor a whole number other than 0"),
        ({"n_jobs": "two"}, "n_jobs='two' is neither"),
        ({"y": np.r_[1.0, np.zeros(29)], "task": "regression"}, "leaves too little to rank by"),
        ({"y": np.array(["a"] * 29 + ["b"])}, "Fewer than two classes"),
        ({"y": np.array([f"c{i}" for i in range(30)])}, "Fewer than two classes"),
        ({"y": np.full(30, np.nan)}, "No row of y is labelled"),
        ({"y": np.ones(29)}, "inconsistent numbers"),
        ({"task": "other"}, "task must be"),
    ],
)
def test_bad_input(change, sentence):
    rng = np.random.default_rng(0)
    arguments = {"X": rng.normal(size=(30, 3)), "y": rng.normal(size=30)} | change
    with pytest.raises(ValueError, match=sentence):
        evaluate(**arguments, method=lambda *_: np.ones(3), methods=[])


@pytest.fixture
def call(monkeypatch, call, tmp_path):
    """Run `semirank evaluate WORDS` in a folder with a file; get (exit code, output, errors)."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = ["a,b,c,y"]
    for row in rng.normal(size=(60, 3)):
        lines.append(
            ",".join(f"{v:.4f}" for v in row) + ("," + ("p" if row[0] > 0 else "q") if row[1] < 0.3 else ",")
        )
    Path("data.csv").write_text("\n".join(lines) + "\n")

    return partial(call, "evaluate")


class TestCommand:
    small = ("data.csv", "--target", "y", "--repeats", "1", "--folds", "3")

    def test_table_and_sentence(self, call):
        code, out, err = call(*self.small, "-m", "relief")
        assert code == 0
        assert out.startswith("Warning: ")  # the class is the sign of a
        lines = out[out.index("Relief has macro F1") :].splitlines()
        assert lines[1].startswith("The ")
        assert "unlabelled rows" in lines[1]
        assert lines[5].split()[0] == "ranking"
        assert lines[6].split()[0] == "relief"
        assert "3 folds" in lines[-1]
        table = Path("data.csv").read_text()
        Path("data.csv").write_text(table + "0.5,0.5,0.5,r\n")
        told = call(*self.small, "-m", "relief")[2].splitlines()
        assert "classes with one labelled row are learnt from but never tested: 'r'" in told
        assert any(line.startswith("classification, 2 classes") for line in err.splitlines())

    def test_names_of_ensembles(self, call):
        words = (
            *self.small,
            "-m",
            "extra_trees",
            "--set",
            "n_estimators=3",
            "--set",
            "supervision=1.0",
            "--json",
        )
        code, out, _ = call(*words, "-q")
        assert code == 0
        found = json.loads(out)
        assert found["asked"] == "forest genie3"
        assert found["ranking"]["settings"]["ensemble"] == "extra_trees"

    def test_the_words_of_rank(self, call):
        """The same options give the ranking of `semirank rank`."""
        words = ("data.csv", "-t", "y", "-m", "forest", "-i", "rforest", "--set", "n_estimators=5")
        words += ("--set", "supervision=0.5", "--seed", "4", "--json", "-q")
        code, out, _ = call(*words, "--repeats", "1", "--folds", "2")
        assert code == 0
        found = json.loads(out)
        assert found["asked"] == "forest rforest"
        code, out, _ = call.func("rank", *words)
        assert code == 0
        ranking = json.loads(out)
        for values in (ranking, found["ranking"]):
            for name in ("timings", "origin", "format", "notes"):
                values.pop(name, None)
        assert found["ranking"] == ranking

    def test_files(self, call):
        pytest.importorskip("matplotlib")
        code, out, err = call(
            *self.small, "-m", "relief", "--out", "e.json", "--out", "e.html", "--plot", "e.png", "-q"
        )
        assert (code, out, err) == (0, "", "")
        assert json.loads(Path("e.json").read_text())["asked"] == "relief"
        page = Path("e.html").read_text()
        assert '<section id="evaluation">' in page
        assert "semirank evaluate data.csv --target y" in page
        assert Path("e.png").read_bytes()[:4] == b"\x89PNG"

    def test_json_methods_and_cache(self, call):
        words = (*self.small, "-m", "relief", "-m", "laplace", "--json", "-q", "--cache", "kept")
        code, out, err = call(*words)
        assert (code, err) == (0, "")
        first = json.loads(out)
        named = [row["ranker"] for row in first["tables"][0]["rows"]]
        assert named == ["relief", "laplace", NO_RANKING, "a guess"]
        assert len(list(Path("kept").iterdir())) == 6
        again = json.loads(call(*words)[1])
        assert again["tables"] == first["tables"]

    def test_reproduce_lines_run(self, call):
        code, out, _ = call(*self.small, "-m", "relief", "--json", "-q", "--seed", "3")
        assert code == 0
        first = json.loads(out)
        names: dict = {}
        exec(first["ranking"]["origin"]["python"], names)
        assert names["found"].to_dict()["tables"] == first["tables"]

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (("data.csv", "-t", "z"), "z"),
            (("none.csv", "-t", "y"), "There is no file none.csv"),
            ((*small, "-m", "relif"), "did you mean 'relief'"),
            ((*small, "--out", "e.txt"), "e.txt: the extension must be one of .json, .html"),
            ((*small, "--out", "no/e.json"), "does not exist"),
            ((*small, "--out", "e.png"), "a picture goes to --plot"),
            ((*small, "--plot", "e.gif"), "must be one of .png, .svg, .pdf"),
            ((*small, "-m", "relief", "--set", "n_estimators=5"), "has no parameter 'n_estimators'"),
            ((*small, "--judge", "LogisticRegresion"), "did you mean 'LogisticRegression'"),
            ((*small, "--judge", "Ridge"), "the judge must be a classifier"),
            ((*small, "--neighbors", "3"), "--neighbors goes with --label-counts"),
            ((*small[:3], "--label-counts", "20", "--quick"), "--quick does not go with --label-counts"),
            (("data.csv", "-t", "y", "--folds", "40"), "too few for 40 folds"),
            (("data.csv", "-t", "y", "--folds", "many"), "--folds"),
        ],
    )
    def test_bad_input(self, call, words, sentence):
        code, out, err = call(*words)
        assert (code, out) == (2, "")
        assert err.splitlines()[-1].startswith("error: ")
        assert sentence in err.splitlines()[-1]
