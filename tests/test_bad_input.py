"""Bad input gets one clear sentence, in Python and on the command line, and nothing is lost."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import semirank
from semirank import ForestRanker, Hierarchy
from semirank.runtime import memory as _memory

from .optional import pd

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
NUMBERS = np.where(np.arange(40) < 20, X[:, 0], np.nan)
CLASSES = np.array(["a", "b"] * 10 + [None] * 20, dtype=object)
TWO = np.column_stack([NUMBERS, NUMBERS])


def fit(X, y, **params) -> ForestRanker:
    return ForestRanker(**({"n_estimators": 2, "supervision": 1.0, "random_state": 0} | params)).fit(X, y)


def assert_one_sentence(message: str) -> None:
    assert "\n" not in message
    assert re.search(r"[.?)]$", message), message
    assert len(message) < 400


# ---------------------------------------------------------------- data

DATA = {
    "no labelled row": (X, np.full(40, np.nan), {}, r"^No row of y is labelled; at least two"),
    "no label at all": (X, [None] * 40, {}, r"^No row of y is labelled"),
    "no known cell": (X, np.full((40, 2), np.nan), {}, r"^No row of y is labelled"),
    "one class": (X, ["a"] * 30 + [None] * 10, {}, r"^y has only one class, 'a', in its labelled rows"),
    "one row": (X, [1.5] + [None] * 39, {}, r"^y is constant among the labelled rows"),
    "constant target": (X, np.full(40, 2.5), {}, r"^y is constant .* no feature can matter"),
    "constant targets": (X, np.full((40, 2), 2.5), {}, r"^All targets are constant .* no feature can matter"),
    "infinite feature": (
        np.where(X > 1.5, np.inf, X),
        NUMBERS,
        {},
        r"^Column 'x\d' contains infinity; replace",
    ),
    "infinite named": (
        pd.DataFrame({"size": X[:, 0], "mass": [-np.inf, *X[1:, 1]]}),
        NUMBERS,
        {},
        r"^Column 'mass' contains infinity; replace",
    ),
    "infinite target": (X, np.where(NUMBERS > 1, np.inf, NUMBERS), {}, r"^y contains infinity; replace"),
    "short target": (X, NUMBERS[:30], {}, r"inconsistent numbers of samples: \[40, 30\] in X and y"),
    "no target": (X, None, {}, r"the target y is None"),
    "no rows": (np.empty((0, 3)), [], {}, r"0 sample\(s\)"),
    "no columns": (np.empty((40, 0)), NUMBERS, {}, r"0 feature\(s\)"),
    "one column as a row": (X[:, 0], NUMBERS, {}, r"Reshape your data"),
    "duplicate names": (
        pd.DataFrame(X, columns=["a", "b", "a"]),
        NUMBERS,
        {},
        r"^Column names must be unique, but 'a' appears more than once; rename",
    ),
    "text and numbers": (
        np.array([["a"], [1.5]] * 20, dtype=object),
        NUMBERS,
        {},
        r"^Column 'x0' mixes text",
    ),
    "cycle": (X, CLASSES, {"hierarchy": [("a", "b"), ("b", "a")]}, r"has a cycle, \w -> \w -> \w; a label"),
    "unknown parent": (
        X,
        CLASSES,
        {"hierarchy": {"a": None, "b": "z"}},
        r"^Label 'b' has the unknown parent 'z'; add that parent",
    ),
    "label outside": (X, CLASSES, {"hierarchy": ["a", "a/b"]}, r"^Not in the hierarchy: 'b'; add"),
    "decay": (
        X,
        CLASSES,
        {"hierarchy": ["a", "b"], "hierarchy_decay": 1.5},
        r"decay must lie between 0 and 1",
    ),
    "text for numbers": (
        X,
        CLASSES,
        {"task": "regression"},
        r"needs numbers, but 'y' holds text such as 'a'",
    ),
    "numbers for classes": (X, NUMBERS, {"task": "classification"}, r"no classes; use task='regression'"),
    "numbers for labels": (X, TWO, {"task": "multi_label"}, r"needs zeros, ones and holes, but 'y0' holds"),
    "one for several": (X, NUMBERS, {"task": "multi_target"}, r"use task='regression' for one target"),
    "several for one": (X, TWO, {"task": "regression"}, r"needs one target, but y has 2 columns"),
    "no hierarchy": (X, CLASSES, {"task": "hierarchical"}, r"needs hierarchy="),
    "hierarchy for numbers": (
        X,
        NUMBERS,
        {"task": "regression", "hierarchy": ["a"]},
        r"hierarchical task only",
    ),
    "unknown task": (X, NUMBERS, {"task": "regresion"}, r"did you mean 'regression'\?"),
    "sparse": (
        sparse.csr_array((10**6, 10**6)),
        np.arange(10**6),
        {},
        r"made dense, would need about .* GiB",
    ),
}


@pytest.mark.parametrize("case", DATA)
def test_data(case):
    features, target, params, message = DATA[case]
    with pytest.raises((ValueError, TypeError, MemoryError), match=message) as caught:
        fit(features, target, **params)
    assert_one_sentence(str(caught.value))
    with pytest.raises(type(caught.value), match=message):
        semirank.rank(features, target, **params)


# ---------------------------------------------------------------- parameters

PARAMETERS = {
    "ensemble": ("forest", r"ensemble='forest' is not one of random_forest, extra_trees, bagging"),
    "importance": ("gini", r"importance='gini' is not one of genie3, symbolic, genie3_oob, rforest"),
    "missing_weight": ("none", r"missing_weight='none' is not one of all, known"),
    "n_estimators": (0, r"n_estimators=0 must be a whole number of at least 1"),
    "max_features": ("log2", r"max_features='log2' is neither a count .*, 'sqrt' nor None"),
    "min_samples_leaf": (0, r"min_samples_leaf=0 must be a whole number of at least 1"),
    "min_labeled": (-1, r"min_labeled=-1 must be a whole number of at least 0"),
    "max_depth": (0, r"max_depth=0 is neither a whole number of at least 1 nor None"),
    "bootstrap": ("no", r"bootstrap='no' is neither True nor False"),
    "use_unlabeled": (None, r"use_unlabeled=None is neither True nor False"),
    "n_jobs": (0, r"n_jobs=0 is neither None nor a whole number other than 0"),
    "categorical_features": (["x9"], r"categorical_features can hold names only if X has column names"),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters(name):
    value, message = PARAMETERS[name]
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        fit(X, NUMBERS, **{name: value})
    assert_one_sentence(str(caught.value))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"importance": []}, "importance is empty; name at least one of genie3"),
        ({"importance": None}, "importance=None is neither a name nor a list of names out of genie3"),
        ({"importance": ["genie3", "shap"]}, "importance='shap' is not one of"),
        ({"supervision": 1.5}, r"supervision=1.5 is neither a number in \[0, 1\] nor one of judge, cv, oob"),
        ({"supervision": float("nan")}, "supervision=nan is neither"),
        ({"supervision": True}, "supervision=True is neither"),
        ({"supervision": "best"}, "supervision='best' is not one of judge, cv, oob"),
        ({"supervision": "oob", "bootstrap": False}, "supervision='oob' needs out-of-bag rows"),
        ({"n_estimators": 2.5}, "n_estimators=2.5 must be a whole number"),
        ({"n_estimators": True}, "n_estimators=True must be a whole number"),
        ({"max_features": 0}, "max_features=0 is neither a count"),
        ({"max_features": 1.5}, "max_features=1.5 is neither a count"),
        ({"max_features": True}, "max_features=True is neither a count"),
        ({"n_features_to_select": 0}, "n_features_to_select=0 is neither a count"),
        ({"n_features_to_select": 0.0}, "n_features_to_select=0.0 is neither a count"),
        ({"n_features_to_select": 1.5}, "n_features_to_select=1.5 is neither a count"),
        ({"n_features_to_select": True}, "n_features_to_select=True is neither a count"),
        ({"n_features_to_select": "all"}, "n_features_to_select='all' is neither a count"),
        ({"n_jobs": "two"}, "n_jobs='two' is neither None"),
    ],
)
def test_values_of_parameters(params, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        fit(X, NUMBERS, **params)
    assert_one_sentence(str(caught.value))


# ---------------------------------------------------------------- after fit, and what is no error


class TestAfterFit:
    def test_other_features(self):
        ranker = fit(X, NUMBERS)
        with pytest.raises(ValueError, match="X has 2 features, but ForestRanker is expecting 3"):
            ranker.predict(X[:, :2])
        with pytest.raises(ValueError, match="contains infinity"):
            ranker.predict(X * np.inf)
        with pytest.raises(ValueError, match="Reshape your data"):
            ranker.predict(X[0])

    def test_other_targets(self):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[40, 3\]"):
            fit(X, NUMBERS).score(X, NUMBERS[:3])
        with pytest.raises(ValueError, match="y has 3 targets, but 2 were fitted"):
            fit(X, TWO).score(X, X)

    def test_no_shares_of_numbers(self):
        with pytest.raises(AttributeError, match="predict_proba") as caught:
            fit(X, NUMBERS).predict_proba(X)
        assert "not for task='regression'" in str(caught.value.__cause__)

    def test_a_failed_fit_changes_nothing_that_was_given(self):
        features, target = X.copy(), NUMBERS.copy()
        with pytest.raises(ValueError, match="inconsistent"):
            fit(features, target[:-1])
        fit(features, target)
        np.testing.assert_array_equal(features, X)
        np.testing.assert_array_equal(target, NUMBERS)


class TestSaidNotRefused:
    def test_constant_and_missing_features(self):
        features = np.column_stack([X, np.ones(40), np.full(40, np.nan)])
        ranker = fit(features, NUMBERS, importance=("genie3", "rforest"))
        for scores in ranker.importances_.values():
            assert scores[3:].tolist() == [0, 0]
        assert "1 of 5 features is constant and cannot matter (x3)" in ranker.notes_
        assert "1 of 5 features is always missing and cannot matter (x4)" in ranker.notes_

    def test_constant_and_missing_targets(self):
        target = np.column_stack([NUMBERS, np.full(40, 2.5), np.full(40, np.nan)])
        ranker = fit(X, target, task="multi_target")
        assert "1 of 3 targets is constant among the labelled rows and plays no part" in ranker.notes_
        assert "1 of 3 targets is never known and plays no part" in ranker.notes_
        assert (ranker.importances_per_target_[:, 1:] == 0).all()
        assert np.isfinite(ranker.predict(X)).all()
        assert (ranker.predict(X)[:, 1] == 2.5).all()
        assert np.isfinite(ranker.score(X, target))

    def test_fewer_labelled_rows_than_folds(self):
        few = np.where(np.arange(40) < 5, X[:, 0], np.nan)
        with pytest.warns(UserWarning, match="only 5 labelled rows, too few for 4 folds"):
            assert fit(X, few, supervision="judge").supervision_ == 1.0

    def test_all_missing_row(self):
        features = X.copy()
        features[[0, 30]] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isfinite(fit(features, NUMBERS, supervision=0.5).feature_importances_).all()


def test_sparse_matrices_that_fit_are_taken(monkeypatch):
    assert fit(sparse.csr_array(X), NUMBERS).n_features_in_ == 3
    monkeypatch.setattr(_memory, "_ALWAYS", 0)
    monkeypatch.setattr(_memory, "free_memory", lambda: 24 * X.size - 1)
    with pytest.raises(MemoryError, match=r"sparse matrix of shape \(40, 3\), made dense, would need"):
        fit(sparse.csr_array(X), NUMBERS)


def test_hierarchies_say_what_is_wrong_when_made():
    with pytest.raises(ValueError, match="cycle"):
        Hierarchy.from_parents({"a": "b", "b": "a"})
    with pytest.raises(ValueError, match="unknown parent 'q'"):
        Hierarchy.from_edges([(None, "a"), ("q", "b")])


# ---------------------------------------------------------------- the command line


@pytest.fixture
def call(tmp_path, monkeypatch, call):
    """Run `semirank WORDS` in a folder of its own: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    return call


def rows(*columns) -> str:
    return "".join(",".join(str(cell) for cell in row) + "\n" for row in zip(*columns))


A = [f"{v:.3f}" for v in X[:, 0]]
B = [f"{v:.3f}" for v in X[:, 1]]
LABELS = ["p", "q"] * 10 + [""] * 20
ARFF = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute y {p,q}\n@data\n"
ARFF_ROWS = rows(A, B, [label or "?" for label in LABELS])

# name -> (files, words after "rank", what the error says)
COMMANDS = {
    "no labelled row": ({"d.csv": "a,b,y\n" + rows(A, B, [""] * 40)}, "-t y", r"No row of y is labelled"),
    "one class": ({"d.csv": "a,b,y\n" + rows(A, B, ["p"] * 40)}, "-t y", r"only one class, 'p'"),
    "constant target": (
        {"d.csv": "a,b,y\n" + rows(A, B, [1.5] * 40)},
        "-t y",
        r"constant among the labelled",
    ),
    "infinite feature": ({"d.csv": "a,b,y\n" + rows(["inf", *A[1:]], B, LABELS)}, "-t y", r"'a' .*infinity"),
    "infinite target": (
        {"d.csv": "a,b,y\n" + rows(A, B, ["inf", *B[1:]])},
        "-t y --task regression",
        r"infinity",
    ),
    "wrong lengths": (
        {"d.csv": "a,b,y\n" + rows(A, B, LABELS) + "1,2\n"},
        "-t y",
        r"d\.csv, line 42: 2 values",
    ),
    "unknown target": (
        {"d.csv": "size,b,fruit\n" + rows(A, B, LABELS)},
        "-t friut",
        r"'friut'.*did you mean 'fruit'",
    ),
    "duplicate names": ({"d.csv": "a,a,y\n" + rows(A, B, LABELS)}, "-t y", r"'a' .*more than once"),
    "cycle": (
        {"d.csv": "a,b,y\n" + rows(A, B, LABELS), "h.txt": "p,q\nq,p\n"},
        "-t y --hierarchy h.txt",
        r"cycle",
    ),
    "unknown parent": (
        {"d.csv": "a,b,y\n" + rows(A, B, LABELS), "h.txt": "root,p\nz,q\n"},
        "-t y --hierarchy h.txt",
        r"'q' has the unknown parent 'z'",
    ),
    "label outside": (
        {"d.csv": "a,b,y\n" + rows(A, B, LABELS), "h.txt": "p\np/q\n"},
        "-t y --hierarchy h.txt",
        r"Not in the hierarchy: 'q'",
    ),
    "task that does not fit": (
        {"d.csv": "a,b,y\n" + rows(A, B, LABELS)},
        "-t y --task regression",
        r"needs numbers, but 'y' holds text such as 'p'",
    ),
    "malformed line": ({"d.arff": ARFF + ARFF_ROWS + "1,2\n"}, "-t y", r"d\.arff, line 46: "),
    "undeclared value": ({"d.arff": ARFF + ARFF_ROWS + "1,2,r\n"}, "-t y", r"d\.arff, line 46: .*'r'"),
    "no such file": ({}, "-t y", r"There is no file|No such file"),
    "bad parameter": (
        {"d.csv": "a,b,y\n" + rows(A, B, LABELS)},
        "-t y -m forest --set n_estimators=0",
        r"n_estimators=0 must be a whole number of at least 1",
    ),
    "unknown parameter": (
        {"d.csv": "a,b,y\n" + rows(A, B, LABELS)},
        "-t y -m forest --set n_estimatros=3",
        r"no parameter 'n_estimatros' \(did you mean 'n_estimators'\?\)",
    ),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_commands(case, call, tmp_path):
    files, words, message = COMMANDS[case]
    for name, text in files.items():
        Path(name).write_text(text)
    Path("kept.json").write_text("an older result")
    data = next(iter(files), "d.csv")
    code, out, err = call("rank", data, *words.split(), "--out", "kept.json")
    assert code == 2
    assert out == ""
    last = err.splitlines()[-1]
    assert re.search(message, last), err
    assert last.startswith("error: ")
    assert sum(line.startswith("error: ") for line in err.splitlines()) == 1
    assert "Traceback" not in err
    assert Path("kept.json").read_text() == "an older result"
    assert {path.name for path in tmp_path.iterdir()} == {*files, "kept.json"}


def test_sparse_file_too_large_to_hold(call, monkeypatch):
    header = (
        "@relation r\n" + "".join(f"@attribute a{j} numeric\n" for j in range(50)) + "@attribute y {p,q}\n"
    )
    Path("s.arff").write_text(header + "@data\n" + "{0 1, 50 q}\n{1 2}\n" * 20)
    monkeypatch.setattr(_memory, "_ALWAYS", 0)
    monkeypatch.setattr(_memory, "free_memory", lambda: 30_000)
    code, _, err = call("rank", "s.arff", "-t", "y")
    assert code == 2
    assert re.search(r"^error: .*s\.arff .*made dense, would need about .* KiB", err.splitlines()[-1])


def test_too_few_labels_are_said_on_the_call(call):
    few = [label if i < 5 else "" for i, label in enumerate(LABELS)]
    Path("d.csv").write_text("a,b,y\n" + rows(A, B, few))
    code, out, err = call("rank", "d.csv", "-t", "y", "-m", "forest", "--set", "n_estimators=3")
    assert code == 0
    assert "ranked 2 features" in out
    assert sum("only 5 labelled rows, too few for 4 folds" in line for line in err.splitlines()) == 1
