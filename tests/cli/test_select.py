"""`semirank select`: a table reduced to the first features of a ranking."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from semirank import Ranking, load
from semirank.data.columns import Column
from semirank.data.write_table import write_table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A table with words, holes and quotation marks, and a ranking of it in every format."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(
        'age,"colour, name",size,y\n1,red,0.25,p\n,"a ""b""",1e-7,\n3,,NA,q\n4.5,red,12345678901,p\n'
    )
    ranking = Ranking(
        names=("age", "colour, name", "size"), scores=[0.1, 0.5, 0.3], method="relief", importance="relief",
        target_names=("y",),
    )  # fmt: skip
    for suffix in ("json", "csv", "fimp"):
        ranking.save(f"r.{suffix}")
    evaluation = {"n_keep": 1, "ranking": ranking.to_dict()}
    Path("e.json").write_text(json.dumps(evaluation))
    Path("none.json").write_text(json.dumps(evaluation | {"n_keep": None}))
    return tmp_path


@pytest.mark.parametrize("suffix", ["json", "csv", "fimp"])
def test_first_features_and_the_target(folder, call, suffix):
    words = ("select", "data.csv", "--ranking", f"r.{suffix}", "--top", "2", "-o", "small.csv")
    code, out, err = call(*words, *(() if suffix == "json" else ("--target", "y")))
    assert (code, out) == (0, "2 of 3 features: colour, name, size\n")
    assert err == "wrote small.csv: 4 rows, 2 features and the target y\n"
    assert Path("small.csv").read_text() == (
        '"colour, name",size,y\nred,0.25,p\n"a ""b""",1e-07,\n,,q\nred,12345678901,p\n'
    )


def test_the_same_data_are_read_back(folder, call):
    pytest.importorskip("pyarrow")
    whole = load("data.csv", "y")
    for name in ("small.csv", "small.tsv", "small.parquet"):
        assert call("select", "data.csv", "-r", "r.json", "-n", "3", "-o", name, "-q") == (0, "", "")
        small = load(name, "y")
        assert small.feature_names == ("colour, name", "size", "age")
        assert small.y.tolist() == whole.y.tolist()
        place = [whole.feature_names.index(column) for column in small.feature_names]
        np.testing.assert_array_equal(small.X.values, whole.X.values[:, place])


def test_number_of_features_of_an_evaluation(folder, call):
    assert call("select", "data.csv", "-r", "e.json", "-o", "small.csv", "-q")[0] == 0
    assert Path("small.csv").read_text().splitlines()[0] == '"colour, name",y'


def test_other_inputs(folder, call):
    Path("data.arff").write_text(
        "@relation r\n@attribute age numeric\n@attribute 'colour, name' {red,blue}\n@attribute size numeric\n"
        "@attribute y {p,q}\n@data\n1,red,2,p\n?,blue,3,?\n"
    )
    assert call("select", "data.arff", "-r", "e.json", "-o", "small.tsv", "-q")[0] == 0
    assert Path("small.tsv").read_text() == "colour, name\ty\nred\tp\nblue\t\n"


def test_no_target_in_the_table(folder, call):
    Path("new.csv").write_text('age,size,"colour, name"\n1,2,red\n')
    code, _, err = call("select", "new.csv", "-r", "e.json", "-o", "small.csv")
    assert code == 0
    assert "the ranking names no target column of this table; --target adds one" in err
    assert Path("small.csv").read_text() == '"colour, name"\nred\n'


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("-r", "r.json", "-o", "small.csv"),
            "r.json does not say how many features to keep; say it with --top",
        ),
        (("-r", "r.csv", "-o", "small.csv"), "r.csv does not say how many"),
        (("-r", "none.json", "-o", "small.csv"), "no number of features is better than a guess"),
        (("-r", "r.json", "-n", "4", "-o", "small.csv"), "--top 4 is more than the 3 features"),
        (("-r", "r.json", "-n", "0", "-o", "small.csv"), "--top"),
        (("-r", "r.json", "-n", "1", "-o", "small.xlsx"), "must be one of .csv, .tsv, .parquet"),
        (("-r", "r.json", "-n", "1", "-o", "data.csv"), "is the table itself"),
        (("-r", "no.json", "-n", "1", "-o", "small.csv"), "no.json"),
        (("-r", "data.csv", "-n", "1", "-o", "small.csv"), "does not hold a ranking"),
        (("-r", "r.json", "-n", "1", "-o", "small.csv", "-t", "z"), "z"),
        (("-r", "broken.json", "-n", "1", "-o", "small.csv"), "does not hold a ranking"),
    ],
)
def test_bad_input(folder, call, words, sentence):
    Path("broken.json").write_text('{"n_keep": 2')
    before = Path("data.csv").read_text()
    code, out, err = call("select", "data.csv", *words)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("error: ")
    assert sentence in err.splitlines()[-1]
    assert Path("data.csv").read_text() == before
    assert not Path("small.csv").exists()


def test_other_columns(folder, call):
    Path("other.csv").write_text("age,colour,size,y\n1,red,2,p\n")
    code, _, err = call("select", "other.csv", "-r", "e.json", "-o", "small.csv")
    assert code == 2
    assert "e.json ranks 'colour, name', which is no column of other.csv" in err


def test_whole_numbers_and_empty_columns_in_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    whole = Column("number", np.array([1.0, np.nan]), None, np.dtype(np.int64))
    empty = Column("text", np.array([np.nan, np.nan]), (), np.dtype(object))
    write_table(path, ["whole", "empty"], [whole, empty])
    assert pyarrow.read_table(path).to_pydict() == {"whole": [1, None], "empty": [None, None]}
