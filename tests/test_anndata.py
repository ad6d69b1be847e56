"""AnnData objects as they are: features from .X, the target from .obs, the result to .var."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import semirank
from semirank import ForestRanker, rank
from semirank.data.columns import is_anndata

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")
# anndata of this pandas uses options that the next pandas will not have.
pytestmark = pytest.mark.filterwarnings("ignore:The .* option is deprecated")
QUICK = {"method": "forest", "n_estimators": 5, "supervision": 1.0, "random_state": 0}


@pytest.fixture
def cells():
    """80 cells with 6 genes; gene g2 makes the type, g4 the age; half of the cells are annotated."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(2.0, size=(80, 6)).astype(np.float32)
    kind = np.where(counts[:, 2] > 2, "T", "B").astype(object)
    kind[40:] = None
    age = counts[:, 4] + rng.normal(0, 0.1, 80)
    age[50:] = np.nan
    names = [f"cell{i}" for i in range(80)]
    obs = pd.DataFrame({"kind": kind, "age": age, "size": age * 2 + counts[:, 1]}, index=names)
    var = pd.DataFrame(index=[f"g{j}" for j in range(6)])
    return anndata.AnnData(counts, obs=obs, var=var)


def frame(cells):
    return pd.DataFrame(np.asarray(cells.X, dtype=float), list(cells.obs_names), list(cells.var_names))


class TestRank:
    def test_equals_the_frame(self, cells):
        ranking = rank(cells, target="kind", **QUICK)
        expected = rank(frame(cells), cells.obs["kind"], **QUICK)
        assert ranking.names == tuple(cells.var_names)
        assert ranking.task == "classification"
        assert (ranking.n_rows, ranking.n_labeled) == (80, 40)
        for name, scores in expected.all_scores.items():
            np.testing.assert_array_equal(ranking.all_scores[name], scores)
        assert ranking.notes == expected.notes
        assert ranking.select(1) == ["g2"]
        assert list(cells.var.columns) == []

    @pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
    def test_sparse(self, cells, form):
        expected = rank(cells, target="kind", **QUICK)
        cells.X = form(cells.X)
        np.testing.assert_array_equal(rank(cells, target="kind", **QUICK).scores, expected.scores)

    def test_category_with_holes(self, cells):
        expected = rank(cells, target="kind", **QUICK)
        # A category that no cell has is no class, and a hole is an unlabelled row.
        cells.obs["kind"] = pd.Categorical(cells.obs["kind"], categories=["B", "NK", "T"])
        ranking = rank(cells, target="kind", **QUICK)
        assert ranking.n_labeled == 40
        np.testing.assert_array_equal(ranking.scores, expected.scores)

    def test_number(self, cells):
        ranking = rank(cells, target="age", **QUICK)
        assert (ranking.task, ranking.n_labeled) == ("regression", 50)
        assert ranking.select(1) == ["g4"]

    def test_several_columns(self, cells):
        ranking = rank(cells, target=["age", "size"], **QUICK)
        assert ranking.task == "multi_target"
        assert ranking.target_names == ("age", "size")
        one = rank(cells, target=["age"], **QUICK)
        cells.obs[0] = cells.obs["age"]  # a name that is no text
        np.testing.assert_array_equal(rank(cells, target="0", **QUICK).scores, one.scores)
        assert one.task == "regression"

    def test_label_columns(self, cells):
        cells.obs["young"] = (cells.obs["age"] < 2).astype(float)
        cells.obs["large"] = (cells.obs["size"] > 6).astype(float)
        assert rank(cells, target=["young", "large"], **QUICK).task == "multi_label"

    def test_y_in_place_of_target(self, cells):
        y = cells.obs["age"].to_numpy()
        expected = rank(cells, target="age", **QUICK)
        np.testing.assert_array_equal(rank(cells, y, **QUICK).scores, expected.scores)

    @pytest.mark.parametrize("method", ["relief", "laplace"])
    def test_other_methods(self, cells, method):
        ranking = rank(cells, target="age", method=method, random_state=0, write_to_var="near")
        expected = rank(frame(cells), cells.obs["age"], method=method, random_state=0)
        np.testing.assert_array_equal(ranking.scores, expected.scores)
        assert f"near_{method}" in cells.var

    def test_nominal_features(self, cells):
        ranking = rank(cells, target="kind", categorical_features=["g2"], **QUICK)
        expected = rank(frame(cells), cells.obs["kind"], categorical_features=["g2"], **QUICK)
        np.testing.assert_array_equal(ranking.scores, expected.scores)

    def test_view(self, cells):
        part = cells[:, ["g2", "g3"]]
        ranking = rank(part, target="kind", **QUICK)
        assert part.is_view
        assert ranking.names == ("g2", "g3")

    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
    def test_in_a_file(self, cells, tmp_path, form):
        expected = rank(cells, target="age", **QUICK)
        # Numbers only, and plain indices: older anndata cannot write the text columns of pandas 3.
        del cells.obs["kind"]
        cells.X = form(cells.X)
        cells.obs_names = pd.Index(cells.obs_names.to_numpy(object), dtype=object)
        cells.var_names = pd.Index(cells.var_names.to_numpy(object), dtype=object)
        cells.write_h5ad(tmp_path / "cells.h5ad")
        backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
        np.testing.assert_array_equal(rank(backed, target="age", **QUICK).scores, expected.scores)
        backed.file.close()


class TestWritten:
    def test_columns(self, cells):
        ranking = rank(cells, target="kind", write_to_var="semirank", **QUICK)
        scores = ["genie3", "symbolic", "genie3_oob", "rforest"]
        expected = {"semirank_rank", *(f"semirank_{s}{end}" for s in scores for end in ("", "_se"))}
        assert set(cells.var.columns) == expected
        assert cells.var["semirank_rank"].tolist() == ranking.ranks.tolist()
        for name in scores:
            np.testing.assert_array_equal(cells.var[f"semirank_{name}"], ranking.all_scores[name])
            np.testing.assert_array_equal(cells.var[f"semirank_{name}_se"], ranking.all_standard_errors[name])

    def test_again_replaces(self, cells):
        rank(cells, target="kind", write_to_var="r", **QUICK)
        ranking = rank(cells, target="age", write_to_var="r", **QUICK)
        np.testing.assert_array_equal(cells.var["r_genie3"], ranking.scores)
        assert len(cells.var.columns) == 9

    def test_nothing_is_written_after_an_error(self, cells):
        with pytest.raises(TypeError, match="no parameter"):
            rank(cells, target="kind", write_to_var="r", trees=3)
        assert list(cells.var.columns) == []


class TestRefused:
    def test_unknown_column(self, cells):
        with pytest.raises(ValueError, match=r"no column 'kinds' in .obs.*'kind'"):
            rank(cells, target="kinds", **QUICK)
        with pytest.raises(ValueError, match="empty list"):
            rank(cells, target=[], **QUICK)

    def test_target_or_y(self, cells):
        with pytest.raises(TypeError, match="Either name the column"):
            rank(cells)
        with pytest.raises(TypeError, match="Either name the column"):
            rank(cells, cells.obs["kind"], target="kind")

    def test_write_to_var(self, cells):
        with pytest.raises(TypeError, match=r"write_to_var=True must be the word"):
            rank(cells, target="kind", write_to_var=True)

    def test_without_matrix(self, cells):
        empty = anndata.AnnData(obs=cells.obs, var=cells.var)
        with pytest.raises(ValueError, match="no X"):
            rank(empty, target="kind")

    def test_names_twice(self, cells):
        cells.var_names = ["g0", "g0", "g1", "g2", "g3", "g4"]
        with pytest.raises(ValueError, match="var_names_make_unique"):
            rank(cells, target="kind")

    @pytest.mark.parametrize("option", [{"write_to_var": "semirank"}])
    def test_other_data(self, cells, option):
        with pytest.raises(TypeError, match=f"{next(iter(option))}= is for AnnData .* type DataFrame"):
            rank(frame(cells), cells.obs["age"], **option)

    def test_estimators_say_where_to_go(self, cells):
        with pytest.raises(TypeError, match=r"use semirank.rank\(X, target=...\)"):
            ForestRanker().fit(cells, cells.obs["kind"])


def test_found_without_import():
    class Special(anndata.AnnData):
        pass

    assert is_anndata(Special(np.eye(2)))
    assert not is_anndata(pd.DataFrame())
    assert not is_anndata(semirank)
    code = (
        "import sys, semirank\n"
        "values = [float(i) for i in range(40)]\n"
        "semirank.rank([[v] for v in values], values, method='relief', random_state=0)\n"
        "assert 'anndata' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
