"""Loading data sets: formats, choice of columns, targets, and the 42 real ones."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

import semirank as sr
from semirank.data.dataset import Dataset, load
from semirank.data.encode_features import encode_features
from semirank.data.encode_target import encode_target
from semirank.data.read_files import sniff_format
from semirank.data.tasks import TASKS

from ..optional import needs_pandas, needs_pyarrow, pa, parquet, pd

CSV = "size,colour,fruit\n3.5,red,cherry\n20,yellow,lemon\n?,red,\n"
ARFF = (
    "@relation r\n@attribute size real\n@attribute colour {yellow,green,red}\n"
    "@attribute fruit {lemon,plum,cherry}\n@data\n"
)


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def holes(array):
    return [[None if np.isnan(v) else v for v in row] for row in np.atleast_2d(array)]


class TestCsv:
    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("f.csv", CSV),
            ("f.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
            ("f.csv", CSV.replace(",", ";")),
            ("f.csv", CSV.replace(",", "|")),
            ("f.txt", CSV.replace(",", "\t")),
            ("f.tsv", CSV.replace(",", "\t")),
            ("f.csv", CSV.replace("\n", "\r\n")),
            ("f.csv", b"\xef\xbb\xbf" + CSV.encode()),
            ("f.csv", CSV.replace("red", '"red"').replace(",", ", ")),
            ("f.csv", CSV.replace("\n", "\n\n").strip()),
        ],
    )
    def test_dialects(self, write, name, text):
        data = load(write(name, text), "fruit")
        assert holes(data.X.values) == [[3.5, 0.0], [20.0, 1.0], [None, 0.0]]
        assert data.feature_names == ("size", "colour")
        assert data.categories == (None, ("red", "yellow"))
        assert data.y.tolist() == ["cherry", "lemon", None]
        assert (data.task, data.target_names, data.hierarchy) == ("classification", ("fruit",), None)
        assert data.target_categories == (("cherry", "lemon"),)
        assert data.part.tolist() == [0, 0, 0]
        assert len(data) == 3

    def test_delimiter_inside_quotes(self, write):
        data = load(write("f.csv", 'a;b;y\n"1,2,3";4;x\n"5,6,7";8;z\n'), "y")
        assert data.feature_names == ("a", "b")
        assert data.categories[0] == ("1,2,3", "5,6,7")

    def test_quotes_without_an_end_are_refused(self, write):
        """They would swallow the rows below without a word."""
        rows = "1,red,p\n" * 3
        text = f'size,colour,fruit\n{rows}2,red,"q\n{rows}'
        with pytest.raises(ValueError, match=r"f\.csv, line 5: a quotation mark lacks its other half"):
            load(write("f.csv", text), "fruit")
        inside = load(write("f.csv", text.replace('red,"q', '5" red,q')), "fruit")
        assert inside.categories[1] == ('5" red', "red")

    def test_line_breaks_inside_quotes(self, write):
        data = load(write("f.csv", 'a,b,y\n"two\nlines",4,x\nq,8,z\n'), "y")
        assert data.categories[0] == ("q", "two\nlines")
        with pytest.raises(ValueError, match=r"f\.csv, line 4: 2 values, 3 expected"):
            load(write("f.csv", 'a,b,y\n"two\nlines",4,x\nq,8\n'), "y")

    def test_missing_values(self, write):
        path = write("f.csv", "a,b,y\n,NA,1.5\nNaN,x,2.5\n-9,?,3\n")
        assert holes(load(path, "y").X.values) == [[None, None], [None, 0.0], [-9.0, None]]
        data = load(path, "y", missing=["-9", "x"])
        assert np.isnan(data.X.values).all()

    def test_numbers_that_python_alone_reads(self, write):
        assert load(write("f.csv", "a,y\n1_2,0.5\n3_4,1.5\n"), "y").categories == (("1_2", "3_4"),)

    def test_inferred_numbers(self, write):
        path = write("f.csv", "a,y\n1.5,0\n2.5,1\n3.5,\n")
        data = load(path, "y")
        assert data.task == "classification"
        assert data.y.tolist() == [0, 1, None]
        assert 'task="regression"' in data.notes[2]
        assert holes(load(path, "y", task="regression").y) == [[0.0, 1.0, None]]

    def test_index_column_is_left_out(self, write):
        data = load(write("f.csv", ",a,y\n0,5,x\n1,5,z\n2,7,x\n"), "y")
        assert data.feature_names == ("a",)
        assert "'unnamed0' counts the rows and was left out" in data.notes
        assert load(write("f.csv", ",a,y\n5,5,x\n5,5,z\n"), "y").feature_names == ("unnamed0", "a")

    def test_notes(self, write):
        data = load(write("f.csv", "5,1.5\n6,2.5\n7,3.5\n"), -1)
        assert "the first line was taken as column names although it holds numbers" in data.notes

    def test_nominal_numbers(self, write):
        data = load(write("f.csv", "a,b,y\n3,1,0.5\n1,2,1.5\n"), "y", nominal="a")
        assert data.categories == ((1, 3), None)

    def test_unlabeled(self, write):
        path = write("f.csv", "a,y\n3,-1\n1,0\n2,1\n")
        assert load(path, "y", unlabeled=-1).y.tolist() == [None, 0, 1]

    def test_hierarchy(self, write):
        data = load(write("f.csv", "a,y\n1,r/s@t\n2,t\n3,\n"), "y", hierarchy=["r/s", "t"])
        assert data.task == "hierarchical"
        assert holes(data.y) == [[1, 1, 1], [0, 0, 1], [None] * 3]
        assert data.target_names == ("y",)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "is empty"),
            ("a,y\n", "has no rows"),
            ("a,a,y\n1,2,3\n", "'a' appears more than once"),
            ("a,y\n1,2\n1,2,3\n", r"f\.csv, line 3: 3 values, 2 expected"),
            ("y\n1\n2\n", "no feature columns left"),
            ("a,y\ninf,1\n2,0\n", "'a' contains infinity"),
            ("a,y\n1,inf\n2,0\n", "y contains infinity"),
            ("a,y\n1,\n2,\n", "No row of y is labelled"),
        ],
    )
    def test_refused(self, write, text, message):
        with pytest.raises(ValueError, match=message):
            load(write("f.csv", text), "y")


class TestArff:
    def test_declared_values_count(self, write):
        data = load(write("f.arff", ARFF + "3.5,red,cherry\n20,yellow,lemon\n?,?,?\n"))
        assert data.categories == (None, ("yellow", "green", "red"))
        assert data.X.n_values.tolist() == [0, 3]
        assert holes(data.X.values) == [[3.5, 2.0], [20.0, 0.0], [None, None]]
        assert data.y.tolist() == ["cherry", "lemon", None]
        assert data.target.classes.tolist() == ["lemon", "cherry"]  # those that occur, in declared order
        assert data.target_categories == (("lemon", "plum", "cherry"),)
        assert data.notes == (
            "classification, 2 classes, 2 of 3 rows labelled",
            "the target is fruit: lemon 1, cherry 1",
            "the last column, fruit, was taken as the target",
        )
        assert repr(data) == (
            "<Dataset: 1 numeric and 1 nominal features; classification, 2 classes, 2 of 3 rows labelled>"
        )

    def test_declared_numbers_are_numbers(self, write):
        text = "@relation r\n@attribute a real\n@attribute y integer\n@data\n1,0\n2,1\n3,1\n"
        assert load(write("f.arff", text)).task == "regression"
        assert load(write("f.arff", text), task="classification").target.n_classes == 2

    def test_nominal_numbers_for_regression(self, write):
        text = "@relation r\n@attribute a real\n@attribute y {1,2,5}\n@data\n1,1\n2,5\n3,?\n"
        assert holes(load(write("f.arff", text), task="regression").y) == [[1.0, 5.0, None]]
        with pytest.raises(ValueError, match="task='regression' needs numbers, but 'fruit' holds text"):
            load(write("f.arff", ARFF + "1,red,plum\n2,red,lemon\n"), task="regression")

    @pytest.mark.parametrize(
        ("values", "present", "notes"),
        [
            ("0,1", "1", 0),
            ("1,0", "1", 0),
            ("YES,NO", "YES", 1),
            ("no,yes", "yes", 1),
            ("False,True", "True", 1),
            ("dead,alive", "alive", 1),
        ],
    )
    def test_two_valued_targets_are_labels(self, write, values, present, notes):
        absent = next(v for v in values.split(",") if v != present)
        text = (
            f"@relation r\n@attribute a real\n@attribute t1 {{{values}}}\n@attribute t2 {{{values}}}\n@data\n"
            f"1,{present},{absent}\n2,?,{present}\n3,{absent},{absent}\n"
        )
        data = load(write("f.arff", text), ["t1", "t2"])
        assert data.task == "multi_label"
        assert holes(data.y) == [[1, 0], [None, 1], [0, 0]]
        assert data.target_names == data.target.names == ("t1", "t2")
        assert sum("was taken as having the label" in note for note in data.notes) == notes
        one = load(write("f.arff", text), "t1", task="multi_label")
        assert holes(one.y) == [[1], [None], [0]]

    def test_many_valued_targets_cannot_stand_together(self, write):
        with pytest.raises(ValueError, match="several columns needs numbers, but 'colour' holds text"):
            load(write("f.arff", ARFF + "1,red,plum\n2,red,lemon\n"), ["colour", "fruit"])

    def test_several_numbers(self, write):
        text = "@relation r\n@attribute a real\n@attribute s real\n@attribute t real\n@data\n1,2,3\n2,?,5\n"
        data = load(write("f.arff", text), [-2, -1])
        assert data.task == "multi_target"
        assert holes(data.y) == [[2, 3], [None, 5]]

    def test_hierarchical_attribute(self, write):
        text = "@relation r\n@attribute k key\n@attribute a real\n@attribute c hierarchical 1,1/2,3\n@data\n"
        data = load(write("f.arff", text + "q,1,1/2@3\nr,2,?\ns,3,3\n"), hierarchy_decay=0.5)
        assert data.task == "hierarchical"
        assert data.feature_names == ("a",)
        assert data.hierarchy.labels == ("1", "1/2", "3")
        assert data.target.weights.tolist() == [1.0, 0.5, 1.0]
        assert holes(data.y) == [[1, 1, 1], [None] * 3, [0, 0, 1]]
        assert data.target_names == ("c",)
        assert "'k' names the rows and was left out" in data.notes
        other = load(write("f.arff", text + "q,1,1/2@3\nr,2,?\ns,3,3\n"), "a", features="k")
        assert "'c' is a set of labels and was left out" in other.notes
        with pytest.raises(ValueError, match="'c' must be the only target"):
            load(write("f.arff", text + "q,1,1/2@3\n"), ["a", "c"], features="k")

    def test_clus_sparse(self, write):
        text = "@relation r\n@attribute a real\n@attribute y {0,1}\n@data\n{1 5,2 1}\n{}\n"
        data = load(write("f.arff", text), sparse_base=1)
        assert (data.X.values.tolist(), data.y.tolist()) == ([[5.0], [0.0]], ["1", "0"])


class TestParquet:
    frame = pd.DataFrame(
        {
            "n": [1.5, np.nan, 2.0],
            "i": pd.array([1, None, 3], dtype="Int64"),
            "s": ["b", None, "a"],
            "c": pd.Categorical(["y", None, "x"], categories=["z", "y", "x"]),
            "b": pd.array([True, None, False], dtype="boolean"),
            "y": ["p", "q", None],
        }
    )

    def test_same_as_the_frame(self, tmp_path):
        for index in (None, ["k", "l", "m"]):
            path = tmp_path / "f.parquet"
            self.frame.set_axis(index or range(3)).to_parquet(path)
            data = load(path, "y")
            expected = encode_features(self.frame.drop(columns="y"))
            assert np.array_equal(data.X.values, expected.values, equal_nan=True)
            assert data.categories == expected.categories
            assert data.feature_names == expected.names
            assert data.y.tolist() == ["p", "q", None]

    def test_chunks_with_other_dictionaries(self, tmp_path):
        parts = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", None, "a"]).dictionary_encode()]
        table = pa.table({"c": pa.chunked_array(parts), "y": [1.5, 2, 3, 4, 5]})
        parquet.write_table(table, tmp_path / "f.pq", row_group_size=2)
        data = load(tmp_path / "f.pq", "y")
        values = [None if np.isnan(v) else data.categories[0][int(v)] for v in data.X.values[:, 0]]
        assert values == ["b", "a", "c", None, "a"]

    def test_odd_columns(self, tmp_path):
        path = tmp_path / "f.parquet"
        none = pa.table({"a": pa.array([None, None], pa.string()), "e": pa.nulls(2), "y": [1.5, 2.5]})
        parquet.write_table(none, path)
        assert np.isnan(load(path, "y").X.values).all()
        parquet.write_table(pa.table({"d": pa.array([1, 2], pa.date32()), "y": [1.5, 2.5]}), path)
        assert load(path, "y").X.values.tolist() == [[1.0], [2.0]]
        parquet.write_table(pa.table({"t": pa.array([1, 2], pa.time32("s")), "y": [1.5, 2.5]}), path)
        with pytest.raises(ValueError, match="'t' is of type time32"):
            load(path, "y")
        parquet.write_table(pa.table({"l": [[1], [2]], "y": [1.5, 2.5]}), path)
        with pytest.raises(ValueError, match="'l' is of type list"):
            load(path, "y")

    @needs_pyarrow
    def test_broken_file(self, write):
        with pytest.raises(ValueError, match=r"f\.parquet is no readable Parquet file"):
            load(write("f.parquet", "nothing of the kind"), "y")


class TestChoice:
    text = "a1,a2,b1,y\n1,2,3,4.5\n5,6,7,8.5\n"

    @pytest.mark.parametrize("targets", ["y", ["y"], -1, 3, [-1], "-1", "?", np.int64(3)])
    def test_targets(self, write, targets):
        data = load(write("f.csv", self.text), targets)
        assert (data.feature_names, data.target_names) == (("a1", "a2", "b1"), ("y",))

    def test_patterns_keep_the_order_of_the_file(self, write):
        data = load(write("f.csv", self.text), ["y", "a*"])
        assert data.target_names == ("y", "a1", "a2")

    def test_drop_and_features(self, write):
        path = write("f.csv", self.text)
        assert load(path, "y", drop="a*").feature_names == ("b1",)
        assert load(path, "y", drop=[0, "b1"]).feature_names == ("a2",)
        assert load(path, "y", features=["b1", "a1"]).feature_names == ("b1", "a1")
        assert load(path, "y", features="a*", drop="a1").feature_names == ("a2",)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"targets": "yy"}, r"f\.csv has no column 'yy' \(did you mean 'y'\?\)"),
            ({"targets": "q*"}, r"no column 'q\*'"),
            ({"targets": 4}, "4 columns, so there is no position 4"),
            ({"targets": -5}, "no position -5"),
            ({"targets": []}, "No target column was named"),
            ({"targets": None}, r"Name the target column of f\.csv, one of a1, a2, b1, y"),
            ({"targets": "y", "drop": "y"}, "target 'y' cannot also be dropped"),
            ({"targets": "y", "features": ["y", "a1"]}, "'y' cannot be a feature and the target"),
            ({"targets": "y", "drop": "*1", "features": "b1"}, "no feature columns left"),
            ({"targets": "y", "drop": "zz"}, "no column 'zz'"),
            ({"targets": "y", "task": "sorting"}, "task must be 'auto'"),
        ],
    )
    def test_refused(self, write, options, message):
        with pytest.raises(ValueError, match=message):
            load(write("f.csv", self.text), **options)


class TestSeveralFiles:
    def test_parts(self, write):
        paths = [
            write("a.arff", ARFF + "1,red,plum\n2,red,lemon\n"),
            write("b.arff", ARFF + "3,green,cherry\n"),
        ]
        data = load(paths)
        assert data.part.tolist() == [0, 0, 1]
        assert data.X.values.tolist() == [[1.0, 2.0], [2.0, 2.0], [3.0, 1.0]]
        assert data.y.tolist() == ["plum", "lemon", "cherry"]

    def test_text_is_joined(self, write):
        paths = [write("a.csv", "c,d,y\nb,,1.5\na,,2\n"), write("b.csv", "c,d,y\nc,u,1.5\nb,,3\n")]
        data = load(paths, "y")
        assert data.categories == (("a", "b", "c"), ("u",))
        assert holes(data.X.values.T) == [[1, 0, 2, 1], [None, None, 0, None]]

    @pytest.mark.parametrize(
        ("first", "second", "message"),
        [
            ("a,y\n1,2\n", "a,z\n1,2\n", r"b\.csv does not have the columns of a\.csv: 'z' stands where 'y'"),
            ("a,y\n1,2\n", "a\n1\n", "None stands where 'y'"),
            ("a,y\n1,2.5\n", "a,y\nx,3.5\n", r"'a' holds text in b\.csv, but numbers elsewhere"),
        ],
    )
    def test_refused(self, write, first, second, message):
        with pytest.raises(ValueError, match=message):
            load([write("a.csv", first), write("b.csv", second)], "y")

    def test_declarations_must_agree(self, write):
        other = ARFF.replace("{yellow,green,red}", "{yellow,red}")
        with pytest.raises(ValueError, match=r"b\.arff declares other values of 'colour' than a\.arff"):
            load([write("a.arff", ARFF + "1,red,plum\n"), write("b.arff", other + "1,red,plum\n")])
        tree = "@relation r\n@attribute a real\n@attribute c hierarchical {}\n@data\n1,1\n"
        none = "@relation r\n@attribute a real\n@attribute c string\n@data\n1,1\n"
        with pytest.raises(ValueError, match="different hierarchies for 'c'"):
            load([write("a.arff", tree.format("1,2")), write("b.arff", none)], "c")
        with pytest.raises(ValueError, match="different hierarchies for 'c'"):
            load([write("a.arff", tree.format("1,2")), write("b.arff", tree.format("1,3"))])
        assert len(load([write("a.arff", tree.format("1,2")), write("b.arff", tree.format("2,1"))])) == 2

    def test_nothing(self):
        with pytest.raises(ValueError, match="No file was named"):
            load([])


class TestFormat:
    def test_absent_file(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="There is no file"):
            load(tmp_path / "nothing.csv", "y")

    @pytest.mark.parametrize(
        ("content", "format"),
        [
            (b"PAR1....", "parquet"),
            (b"% comment\r\n  @Relation r\r\n", "arff"),
            ("@relation größe\n".encode("utf-16"), "arff"),
            (b"@relational,a\n1,2\n", None),
            (b"a,b\n@relation,2\n", "arff"),
            (b"", None),
        ],
    )
    def test_sniffed(self, content, format):
        assert sniff_format(content) == format

    def test_only_the_beginning_is_read(self, write):
        path = write("f.dat", gzip.compress(b"%" * 200_000 + b"\n" + ARFF.encode(), mtime=0))
        with pytest.raises(ValueError, match="Cannot tell the format"):
            load(path)

    def test_by_content(self, write, tmp_path):
        assert len(load(write("f.dat", ARFF + "1,red,plum\n2,red,lemon\n"))) == 2
        with pytest.raises(ValueError, match=r"Cannot tell the format of f\.xls"):
            load(write("f.xls", "PK"), "y")
        TestParquet.frame.to_parquet(tmp_path / "g.data")
        assert len(load(str(tmp_path / "g.data"), "y")) == 3


@needs_pandas
class TestToPandas:
    def test_classes(self, write):
        frame = load(write("f.arff", ARFF + "3.5,red,cherry\n?,?,?\n1,red,lemon\n")).to_pandas()
        assert frame.columns.tolist() == ["size", "colour", "fruit"]
        assert frame["colour"].cat.categories.tolist() == ["yellow", "green", "red"]
        assert frame["fruit"].cat.categories.tolist() == ["lemon", "plum", "cherry"]
        assert frame.isna().sum().tolist() == [1, 1, 1]
        again = encode_features(frame[["size", "colour"]])
        assert holes(again.values) == [[3.5, 2.0], [None, None], [1.0, 2.0]]
        assert encode_target(frame["fruit"]).classes.tolist() == ["lemon", "cherry"]

    def test_numbers_and_labels(self, write):
        frame = load(write("f.csv", "a,s,t\n1,0,1\n2,1,\n"), ["s", "t"]).to_pandas()
        assert holes(frame.to_numpy()) == [[1, 0, 1], [2, 1, None]]
        whole = load(write("f.csv", "a,y\n1,0\n2,1\n3,\n"), "y").to_pandas()
        assert whole["y"].cat.categories.tolist() == [0, 1]

    def test_hierarchy(self, write):
        data = load(write("f.csv", "a,y\n1,r/s@t\n2,t\n3,\n"), "y", hierarchy=["r/s", "t"])
        frame = data.to_pandas()
        again = encode_target(frame["y"], hierarchy=data.hierarchy)
        assert np.array_equal(again.values, data.target.values, equal_nan=True)


def test_dataset_goes_straight_into_encoding(write):
    data = sr.load(write("f.csv", CSV), "fruit")
    assert isinstance(data, Dataset)
    assert encode_features(data.X) is data.X
    again = encode_target(data.y, task=data.task)
    assert np.array_equal(again.values, data.target.values, equal_nan=True)
    assert encode_target(data.target) is data.target


def entries():
    from ..conftest import shared

    folder = shared("data")
    if folder is None or not (folder / "manifest.json").exists():
        return []
    return json.loads((folder / "manifest.json").read_text())


@pytest.mark.parametrize("entry", [pytest.param(e, id=e["name"]) for e in entries()])
def test_real_data(entry, data_folder):
    """Every count of the manifest."""
    files = [data_folder / f for f in entry["files"] if ".arff" in f]
    data = load(files, entry["target_attributes"])
    assert TASKS[data.task].abbreviation == entry["task"]
    assert len(data) == entry["examples"]
    assert np.bincount(data.part).tolist() == list(entry["examples_per_file"].values())
    nominal = int((data.X.n_values > 0).sum())
    assert (nominal, len(data.feature_names) - nominal) == (
        entry["features_nominal"],
        entry["features_numeric"],
    )
    assert len(data.feature_names) == entry["features"]
    assert np.isnan(data.X.values).sum() == entry["missing_feature_values"]
    assert data.target_names == tuple(entry["target_attributes"])
    target = data.target
    assert target.labeled.all()
    if data.task == "classification":
        assert len(data.target_categories[0]) == entry["classes_declared"]
        assert target.n_classes == entry["classes_present"]
        counts = {c: int(n) for c, n in zip(target.classes, np.bincount(target.values[:, 0].astype(int)))}
        assert counts == entry["class_counts"]
    elif data.task == "multi_target":
        assert len(target.names) == entry["targets"]
    elif data.task == "multi_label":
        assert len(target.names) == entry["labels"]
        assert target.values.sum(axis=1).mean() == pytest.approx(entry["label_cardinality"], abs=1e-4)
    elif data.task == "hierarchical":
        assert len(data.hierarchy) == entry["labels_in_hierarchy"]
        assert data.hierarchy.depth == entry["hierarchy_depth"]
        assert (target.values.sum(axis=0) > 0).sum() == entry["labels_used"]
        cardinality = target.values.sum(axis=1).mean()
        assert cardinality == pytest.approx(entry["label_cardinality_with_ancestors"], abs=1e-4)


def test_real_data_are_all_there(data_folder):
    assert len(entries()) == 42
