"""The table of methods, and that everything that names methods takes them from it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import semirank
from semirank import Ranking, rank
from semirank.rankers.methods import (
    COMPARED,
    DEFAULT,
    METHODS,
    RELIEF_INFLUENCE,
    RELIEF_INFLUENCES,
    RELIEF_NEIGHBORS,
    USUAL_COMPARISON,
)

PACKAGE = Path(semirank.__file__).parent


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).normal(size=(40, 3))
    return X, np.where(np.arange(40) < 25, X[:, 0], np.nan)


@pytest.mark.parametrize("name", METHODS)
def test_a_row_is_what_its_ranker_does(name, data):
    row = METHODS[name]
    assert row.name == name
    ranking = rank(*data, method=name, random_state=0, **({"n_estimators": 5} if name == "forest" else {}))
    assert ranking.method == name
    parts = [score for score in ranking.all_scores if score.startswith(("label", "taught", "sensitivity"))]
    assert (*row.scores, *parts) == tuple(ranking.all_scores)
    assert bool(parts) == (name == "consensus")
    assert getattr(semirank, row.load().__name__) is row.load()
    for params in row.compared.values():
        assert set(params) | set(row.quick) <= set(row.load()._get_param_names())
        row.load()(**row.quick | params)._check()


def test_the_default_is_a_method(data):
    assert DEFAULT in METHODS
    assert rank(*data, random_state=0).method == DEFAULT


def test_names_of_an_evaluation():
    assert list(COMPARED) == ["consensus", "forest", "extra_trees", "bagging", "relief", "laplace"]
    for name, (method, params) in USUAL_COMPARISON.items():
        assert name in COMPARED
        METHODS[method].load()(**params)._check()


@pytest.mark.parametrize("name", [name for name, row in METHODS.items() if row.label_only])
def test_one_fit_answers_for_labelled_rows_alone(name, data):
    """Bit by bit, so that an evaluation need not rank twice."""
    both, alone = (
        METHODS[name].load()(random_state=3, use_unlabeled=use).fit(*data) for use in (True, False)
    )
    np.testing.assert_array_equal(both.importances_[METHODS[name].label_only], alone.feature_importances_)
    assert (both.feature_importances_ != alone.feature_importances_).any()


def test_the_grid_of_relief():
    assert RELIEF_NEIGHBORS == (15, 20, 30)
    assert RELIEF_INFLUENCES[0] == RELIEF_INFLUENCE == (0.0, 1.0)
    assert len(RELIEF_INFLUENCES) == len(set(RELIEF_INFLUENCES)) == 15
    assert all(w0 <= w1 and {4 * w0, 4 * w1} <= {0, 1, 2, 3, 4} for w0, w1 in RELIEF_INFLUENCES)


@pytest.mark.parametrize("suffix", [".csv", ".fimp"])
@pytest.mark.parametrize("name", METHODS)
def test_files_without_a_place_for_the_method_still_tell_it(name, suffix, tmp_path):
    for score in METHODS[name].scores:
        ranking = Ranking(names=("a", "b"), scores=[0.1, 0.2], method=name, importance=score)
        ranking.save(tmp_path / f"r{suffix}")
        assert Ranking.load(tmp_path / f"r{suffix}").method == name


# The table itself; words by which file formats and settings files of CLUS tell a method; what is compiled in
# a second process; and the study, which runs the paper's methods and not those that came later.
MAY_NAME = {
    "rankers/methods.py",
    "results/files.py",
    "cli/precompile.py",
    "cli/clus_settings.py",
    "study/plan.py",
    "study/jobs.py",
    "study/figures.py",
    "study/worth_figures.py",
}


def test_no_other_room_lists_the_methods():
    """A list of two or more names of methods outside the table would have to be kept in step with it."""
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE).as_posix()
        if file in MAY_NAME:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
                parts = node.keys if isinstance(node, ast.Dict) else node.elts
                names = [part.value for part in parts if isinstance(part, ast.Constant)]
                assert len(set(METHODS) & {str(n) for n in names}) < 2, f"{file}:{node.lineno}"


def modules_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_the_table_and_the_folds_are_light():
    loaded = modules_after("import semirank.rankers.methods")
    assert not {"numpy", "numba", "sklearn"} & loaded
    loaded = modules_after(
        "import semirank.judging.splits, semirank.judging.knn_judge, semirank.rankers.relief_tuning"
    )
    assert not [name for name in loaded if re.match(r"semirank\.(trees|rankers\.forest)", name)]
    assert "numba" not in loaded
