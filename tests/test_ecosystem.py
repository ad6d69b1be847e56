"""Every ranker among scikit-learn's tools: pipelines, selection, searches, and frames as output."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from semirank import ForestRanker, LaplaceRanker, ReliefRanker

from .optional import pd, pl

RANKERS = {
    "forest": ForestRanker(n_estimators=5, supervision=1.0, random_state=0),
    "relief": ReliefRanker(random_state=0),
    "laplace": LaplaceRanker(),
}


@pytest.fixture(params=RANKERS)
def ranker(request):
    return clone(RANKERS[request.param])


def mixed():
    """Numbers, whole numbers, text and a category; b and c make the target, of which 70 of 150 are known."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd"))
    X["count"] = rng.integers(0, 5, 150)
    X["word"] = np.where(rng.random(150) < 0.5, "yes", "no").astype(object)
    X["kind"] = pd.Categorical(np.where(rng.random(150) < 0.5, "p", "q"))
    y = (X.b + X.c).to_numpy().copy()
    y[70:] = np.nan
    return X, y


def numbers():
    X, y = mixed()
    return X[["a", "b", "c", "d"]], y


class TestOutput:
    """All features but one are kept, so that every dtype is among them."""

    def test_pandas_to_pandas(self, ranker):
        X, y = mixed()
        kept = ranker.set_params(n_features_to_select=6).set_output(transform="pandas").fit(X, y)
        found = kept.transform(X)
        pd.testing.assert_frame_equal(found, X[list(kept.get_feature_names_out())])

    def test_polars_to_polars(self, ranker):
        X, y = mixed()
        frame = pl.from_pandas(X)
        kept = ranker.set_params(n_features_to_select=6).set_output(transform="polars").fit(frame, y)
        assert kept.transform(frame).equals(frame.select(kept.get_feature_names_out().tolist()))
        assert kept.transform(frame).schema == frame.select(kept.get_feature_names_out().tolist()).schema

    def test_polars_to_pandas(self, ranker):
        X, y = mixed()
        frame = pl.from_pandas(X)
        kept = ranker.set_params(n_features_to_select=6).set_output(transform="pandas").fit(frame, y)
        found = kept.transform(frame)
        names = list(kept.get_feature_names_out())
        assert list(found.columns) == names
        numeric = [name for name in names if name not in ("word", "kind")]
        pd.testing.assert_frame_equal(found[numeric], X[numeric])
        for name in set(names) - set(numeric):
            assert found[name].astype(str).tolist() == X[name].astype(str).tolist()

    def test_pandas_to_polars(self, ranker):
        X, y = mixed()
        kept = ranker.set_params(n_features_to_select=6).set_output(transform="polars").fit(X, y)
        found = kept.transform(X)
        assert isinstance(found, pl.DataFrame)
        assert found.columns == list(kept.get_feature_names_out())
        assert found.select("b").to_series().to_list() == X["b"].tolist()


class TestTools:
    def test_pipeline(self, ranker):
        X, y = numbers()
        pipe = make_pipeline(StandardScaler(), ranker.set_params(n_features_to_select=2))
        found = pipe.set_output(transform="pandas").fit_transform(X, y)
        assert list(found.columns) == ["b", "c"]
        assert pipe.get_feature_names_out().tolist() == ["b", "c"]

    def test_pipeline_that_predicts(self, ranker):
        X, y = mixed()
        model = ForestRanker(n_estimators=10, supervision=1.0, random_state=0)
        pipe = Pipeline([("select", ranker.set_params(n_features_to_select=3)), ("model", model)])
        known = ~np.isnan(y)
        assert pipe.set_output(transform="pandas").fit(X, y).score(X[known], y[known]) > -1

    def test_select_from_model(self, ranker):
        X, y = numbers()
        selector = SelectFromModel(ranker, max_features=2, threshold=-np.inf).set_output(transform="pandas")
        assert list(selector.fit(X, y).transform(X).columns) == ["b", "c"]

    def test_search_through_a_pipeline(self, ranker):
        X, y = numbers()
        model = ForestRanker(n_estimators=10, supervision=1.0, random_state=0)
        pipe = Pipeline([("select", ranker), ("model", model)])
        folds = KFold(3, shuffle=True, random_state=0)
        search = GridSearchCV(pipe, {"select__n_features_to_select": [1, 2]}, cv=folds, error_score="raise")
        assert search.fit(X, y).best_params_ == {"select__n_features_to_select": 2}
