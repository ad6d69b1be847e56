"""What more labels would bring: the extrapolation and its twin, and the answer of an evaluation."""

from __future__ import annotations

import json

import numpy as np
import pytest

from semirank import evaluate
from semirank.evaluation import more_labels
from semirank.evaluation.intervals import Estimate
from semirank.evaluation.more_labels import (
    correlation,
    extrapolated_score,
    extrapolated_stability,
    weights_at,
)

from . import naive_evaluation as naive


def correlations(table, target, use_unlabeled, seed):
    known = target.labeled
    return np.abs(np.corrcoef(table.values[known].T, target.values[known].T)[-1, :-1])


def problem(n_labeled=160, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_labeled + 60, 12))
    y = X[:, 0] + X[:, 1] + noise * rng.normal(size=len(X))
    y[n_labeled:] = np.nan
    return X, y


class TestScores:
    @pytest.mark.parametrize("exponent", more_labels.EXPONENTS)
    @pytest.mark.parametrize("sizes", [[80.0, 40.0, 20.0], [64.0, 32.0]])
    def test_equals_twin(self, exponent, sizes):
        scores = np.random.default_rng(0).random(len(sizes))
        for n in (100.0, 200.0, 400.0):
            found = weights_at(np.array(sizes), n, exponent) @ scores
            assert found == pytest.approx(naive.score_at(sizes, scores.tolist(), n, exponent))

    @pytest.mark.parametrize("exponent", more_labels.EXPONENTS)
    def test_a_curve_of_the_family_is_continued(self, exponent):
        def curve(n):
            return 0.7 + (0.05 * np.log(n / 80) if exponent == 0 else -0.2 * (n / 80) ** -exponent)

        sizes = np.array([80.0, 40.0, 20.0])
        assert weights_at(sizes, 400.0, exponent) @ curve(sizes) == pytest.approx(curve(400.0))

    def test_the_interval_covers_every_exponent(self):
        sizes, whole = np.array([80.0, 40.0, 20.0]), np.array([0.8, 0.7, 0.55])
        sure = extrapolated_score(sizes, Estimate(whole, np.tile(whole, (30, 1))), 400.0)
        each = [naive.score_at(sizes.tolist(), whole.tolist(), 400.0, c) for c in more_labels.EXPONENTS]
        assert sure == pytest.approx((each[more_labels.EXPONENTS.index(0.25)], min(each), max(each)))
        noise = 0.01 * np.random.default_rng(0).normal(size=(30, 3))
        unsure = extrapolated_score(sizes, Estimate(whole, whole + noise), 400.0)
        assert unsure.low < sure.low < sure.high < unsure.high
        gain = extrapolated_score(sizes, Estimate(whole, np.tile(whole, (30, 1))), 200.0, 100.0)
        now, twice = (
            [naive.score_at(sizes.tolist(), whole.tolist(), n, c) for c in more_labels.EXPONENTS]
            for n in (100.0, 200.0)
        )
        assert gain.low == pytest.approx(min(b - a for a, b in zip(now, twice)))


class TestStability:
    def test_exponent_one_is_the_formula_of_spearman_and_brown(self, monkeypatch):
        monkeypatch.setattr(more_labels, "STABILITY_EXPONENTS", (1.0, 1.0, 1.0))
        monkeypatch.setattr(more_labels, "STABILITY_SPREAD", 0.0)
        found = extrapolated_stability(np.array([40.0, 20.0]), [np.full(5, 0.6)], 160.0)
        assert found == pytest.approx([naive.spearman_brown(0.6, 4)] * 3)

    def test_it_grows_and_stays_below_one(self):
        found = [
            extrapolated_stability(np.array([40.0]), [np.array([0.5, 0.7])], n) for n in (80.0, 160.0, 320.0)
        ]
        assert 0.6 < found[0].value < found[1].value < found[2].value < 1
        assert all(one.low < one.value < one.high < 1 for one in found)
        for extreme in (-0.3, 1.0):
            assert 0 < extrapolated_stability(np.array([40.0]), [np.full(3, extreme)], 80.0).value < 1

    def test_correlation(self):
        rng = np.random.default_rng(0)
        a, b = rng.random((2, 9))
        assert correlation(a, b) == pytest.approx(np.corrcoef(a, b)[0, 1])
        assert correlation(a, np.ones(9)) == 0.0


class TestEvaluation:
    def test_parts_have_no_label_in_common_and_keep_the_unlabelled_rows(self):
        X, y = problem()
        seen = []

        def spy(table, target, use_unlabeled, seed):
            seen.append((table.values[target.labeled], int((~target.labeled).sum()), use_unlabeled))
            return np.ones(table.shape[1])

        found = evaluate(X, y, method=spy, methods=[], n_repeats=2, more_labels=True)
        parts = seen[20:-1]  # after ten splits with two sides each; the last ranks all rows
        assert len(parts) == 5 * more_labels.PARTS_PER_SPLIT
        assert all(rest == 60 and use for _, rest, use in parts)
        for first in range(0, 20, 4):
            halves, quarters = (
                [{row.tobytes() for row in rows} for rows, *_ in parts[first : first + 2]],
                [{row.tobytes() for row in rows} for rows, *_ in parts[first + 2 : first + 4]],
            )
            assert [len(rows) for rows in (*halves, *quarters)] == [64, 64, 32, 32]
            assert not halves[0] & halves[1]
            assert quarters[0] < halves[0]
            assert quarters[1] < halves[1]
        assert [m.n_labeled for m in found.more_labels.measured] == [32.0, 64.0, 128.0]

    def test_answer(self, tmp_path):
        X, y = problem(noise=0.1)
        steps = []
        found = evaluate(
            X, y, method=correlations, methods=[], n_repeats=1, more_labels=True,
            progress=lambda *step: steps.append(step),
        )  # fmt: skip
        more = found.more_labels
        assert more.measured[-1].score == pytest.approx(found.rankers[0].score)
        assert more.n_labeled == (160, 320, 640)
        assert more.pays
        values = [score.value for score in more.scores]
        assert values == sorted(values, reverse=True)  # RRMSE
        assert all(0 <= score.low <= score.value <= score.high for score in more.scores)
        assert found.sentences()[-2].startswith(
            "Labelling more rows pays: with 320 labels instead of 160, RRMSE"
        )
        assert "extrapolated" in repr(found)
        assert [step for step in steps if step[2] == "evaluation"][-1][:2] == (26, 26)
        found.save(tmp_path / "e.json")
        values = json.loads((tmp_path / "e.json").read_text())
        assert values["more_labels"] == json.loads(json.dumps(more.to_dict()))
        assert values["curves"][1]["title"] == "What would more labels bring?"
        found.save(tmp_path / "e.html")
        assert "What would more labels bring?" in (tmp_path / "e.html").read_text()
        pytest.importorskip("matplotlib")
        assert found.plot().axes[-1].get_title(loc="left") == "What would more labels bring?"

    def test_noise_does_not_pay(self):
        X, _ = problem()
        y = np.where(np.arange(220) < 160, np.random.default_rng(1).normal(size=220), np.nan)
        found = evaluate(X, y, method=correlations, methods=[], n_repeats=1, more_labels=True)
        assert not found.more_labels.pays
        assert "whether more labels pay cannot be told" in found.summary()

    @pytest.mark.parametrize(("n_labeled", "measured"), [(12, None), (24, 2), (60, 3)])
    def test_few_labels(self, n_labeled, measured):
        """Too few for quarters: halves alone. Too few for halves: nothing is said."""
        X, y = problem(n_labeled)
        found = evaluate(X, y, method=correlations, methods=[], n_repeats=1, more_labels=True)
        if measured is None:
            assert found.more_labels is None
            assert any("too few labels to rank from halves of them" in note for note in found.notes)
        else:
            assert len(found.more_labels.measured) == measured

    def test_judged_by_a_model(self):
        from sklearn.linear_model import Ridge

        X, y = problem()
        found = evaluate(X, y, method=correlations, methods=[], n_repeats=1, more_labels=True, judge=Ridge())
        full = found.more_labels.measured[-1]
        assert full.score == pytest.approx(found.rankers[0].score)
