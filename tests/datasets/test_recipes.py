"""Recipes: every word on small files, what is written from them, and that the registry's are well formed."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from semirank.data.dataset import load
from semirank.datasets.recipes import WORDS, arff_text, cook, digits, write_arff
from semirank.datasets.registry import entries


@pytest.fixture
def file(tmp_path):
    """Write a file; gives its path."""

    def put(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def table(rows):
    """{name: cells as text} of all columns."""
    return {column.name: column.texts() for column in rows.columns}


def read(*files, format="arff", **more):
    return {"read": {"files": [*files], "format": format, **more}}


SMALL = "@relation r\n@attribute size numeric\n@attribute kind {a,b}\n@data\n1.50,b\n?,a\n"


class TestRead:
    def test_arff(self, file):
        rows = cook([read(0)], [file("small.arff", SMALL)])
        assert table(rows) == {"size": ["1.5", "?"], "kind": ["b", "a"]}
        assert [column.kind for column in rows.columns] == ["numeric", "nominal"]
        assert rows.part.tolist() == ["all", "all"]

    def test_gzip_is_undone(self, file):
        rows = cook([read(0)], [file("small.arff.gz", gzip.compress(SMALL.encode()))])
        assert table(rows)["size"] == ["1.5", "?"]

    def test_names_lose_quotes_and_blanks_and_repeat_with_a_number(self, file):
        head = "@relation r\n@attribute \"'a'\" real\n@attribute ' b ' real\n@attribute b real\n"
        head += "@ATTRIBUTE 'Swainson\\'s {x}' {0,1}\n@attribute b{1,2}\n"
        rows = cook([read(0)], [file("n.arff", head + "@data\n1,2,3,0,2\n")])
        assert list(table(rows)) == ["a", "b", "b__2", "Swainsons {x}", "b__3"]
        rows = cook([read(0, format="csv")], [file("n.csv", '"a"," b ",b\n1,2,3\n')])
        assert list(table(rows)) == ["a", "b", "b__2"]

    def test_keel_dialect(self, file):
        text = "@relation r\n@attribute a integer[1,9]\n@attribute b real [0.0,1.0]\n@attribute c {x, y}\n"
        text += "@inputs a,b\n@outputs c\n@data\n3,0.5,y\n"
        assert table(cook([read(0)], [file("k.dat", text)])) == {"a": ["3"], "b": ["0.5"], "c": ["y"]}

    def test_sparse_rows_count_from_0(self, file):
        text = "@relation r\n@attribute a numeric\n@attribute b {0,1}\n@attribute c numeric\n"
        text += "@data\n{1 1,2 7}\n{}\n"
        rows = cook([read(0)], [file("s.arff", text)])
        assert table(rows) == {"a": ["0", "0"], "b": ["1", "0"], "c": ["7", "0"]}

    def test_csv_is_numbers_until_a_step_says_otherwise(self, file):
        path = file("t.tsv", "x\ty\n1\tred\n?\tblue\n")
        rows = cook([read(0, format="csv", sep="\t")], [path])
        assert table(rows) == {"x": ["1", "?"], "y": ["red", "blue"]}
        assert [column.kind for column in rows.columns] == ["numeric", "string"]

    def test_svmlight(self, file):
        path = file("b.dat", "2 1:0.5 2:3 \n1 1:-1 2:0.25\n")
        assert table(cook([read(0, format="svmlight")], [path])) == {
            "V1": ["0.5", "-1"],
            "V2": ["3", "0.25"],
            "class": ["2", "1"],
        }

    def test_files_below_each_other_in_parts(self, file):
        """The lower file declares another order and one more value."""
        other = SMALL.replace("{a,b}", "{b,c,a}").replace("1.50,b", "4,c")
        paths = [file("1.arff", SMALL), file("2.arff", other), file("3.arff", SMALL)]
        rows = cook([read(0, 1, part="train"), read(2, part="test")], paths)
        assert rows.part.tolist() == ["train"] * 4 + ["test"] * 2
        assert table(rows)["kind"] == ["b", "a", "c", "a", "b", "a"]
        assert rows.columns[1].values == ("a", "b", "c")

    def test_other_columns_are_refused(self, file):
        paths = [file("1.arff", SMALL), file("2.arff", SMALL.replace("size", "length"))]
        with pytest.raises(ValueError, match=r"2\.arff has other columns than the files before it"):
            cook([read(0, 1)], paths)


class TestWords:
    def test_decode(self, file):
        """Codes are places among the distinct cells as they are written, sorted as text, "?" included."""
        text = "@relation r\n@attribute age numeric\n@attribute sex {M,F}\n@data\n9,F\n10,M\n?,?\n1.0,M\n"
        paths = [file("codes.csv", "age,sex,y\n0,1,1\n3,0,0\n2,2,1\n1,2,0\n"), file("plain.arff", text)]
        recipe = [read(0, format="csv"), {"decode": {"file": 1, "values": {"y": ["no", "yes"]}}}]
        rows = cook(recipe, paths)
        assert table(rows) == {
            "age": ["1", "?", "9", "10"],  # out of 1.0, 10, 9, ? in this order
            "sex": ["F", "?", "M", "M"],
            "y": ["yes", "no", "yes", "no"],
        }
        assert [column.values for column in rows.columns] == [(), ("M", "F"), ("no", "yes")]

    def test_nominal(self, file):
        path = file("t.csv", "x,y\n10,b\n9,?\n10,a\n")
        rows = cook([read(0, format="csv"), {"nominal": {"columns": ["x", "y"]}}], [path])
        assert [column.values for column in rows.columns] == [("10", "9"), ("a", "b")]
        assert table(rows) == {"x": ["10", "9", "10"], "y": ["b", "?", "a"]}

    def test_drop(self, file):
        rows = cook([read(0), {"drop": {"columns": ["size"]}}], [file("small.arff", SMALL)])
        assert list(table(rows)) == ["kind"]

    def test_rows(self, file):
        path = file("t.csv", "x\n" + "\n".join("012345") + "\n")
        take = {"train": [[0, 2], [4, 5]], "test": [[3, 4]]}
        rows = cook([read(0, format="csv"), {"rows": {"take": take}}], [path])
        assert table(rows) == {"x": ["0", "1", "4", "3"]}
        assert rows.part.tolist() == ["train", "train", "train", "test"]

    def test_closed_hierarchy(self, file):
        text = "@relation r\n@attribute c hierarchical b,a/x/y\n@data\nb@a/x/y@b\na/x/y\n?\n"
        rows = cook([read(0), {"closed_hierarchy": {"column": "c"}}], [file("h.arff", text)])
        assert rows.columns[0].nodes == ("a", "a/x", "a/x/y", "b")
        assert table(rows) == {"c": ["b@a/x/y", "a/x/y", "?"]}

    def test_targets(self, file):
        path = file("t.csv", "y2,x,y1,z\n1,2,3,4\n")
        recipe = [read(0, format="csv"), {"targets": {"columns": ["y1", "y2"], "names": ["one", "two"]}}]
        rows = cook(recipe, [path])
        assert table(rows) == {"x": ["2"], "z": ["4"], "two": ["1"], "one": ["3"]}
        assert rows.targets == ("two", "one")  # in the order of the file

    def test_targets_of_a_mulan_file(self, file):
        labels = '<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels">'
        labels += """<label name="it's"></label><label name="b"/></labels>"""
        paths = [file("t.csv", "its,x,b\n1,2,0\n"), file("t.xml", labels)]
        assert cook([read(0, format="csv"), {"targets": {"xml": 1}}], paths).targets == ("its", "b")

    @pytest.mark.parametrize("word", ["nominal", "drop", "targets"])
    def test_columns_that_are_not_there(self, file, word):
        recipe = [read(0), {word: {"columns": ["kind", "colour"]}}]
        with pytest.raises(ValueError, match=r"names columns that are not there: colour\."):
            cook(recipe, [file("small.arff", SMALL)])


class TestWritten:
    TEXT = """@relation r
@attribute "it is" numeric
@attribute colour {'light red',"o'range",%,'a,b'}
@attribute y {no,yes}
@data
0.1,'a,b',yes
-1e-300,"o'range",no
?,?,no
12345678901234567,'light red',yes
0,%,?
"""

    def test_reads_back_the_same(self, file, tmp_path):
        source = file("odd.arff", self.TEXT)
        [path] = write_arff(cook([read(0), {"targets": {"columns": ["y"]}}], [source]), tmp_path / "new")
        assert path.name == "new.arff.gz"
        before, after = load(source, "y"), load(path, "y")
        np.testing.assert_array_equal(before.X.values, after.X.values)
        np.testing.assert_array_equal(before.target.values, after.target.values)
        assert before.X.names == after.X.names
        assert before.X.categories == after.X.categories
        assert before.target_categories == after.target_categories

    def test_sparse_when_most_cells_are_zero(self, file, tmp_path):
        names = [f"a{j}" for j in range(9)]
        csv = ",".join([*names, "y"]) + "\n0,0,0,5,0,?,0,0,0,u\n" + "0," * 9 + "v\n"
        recipe = [read(0, format="csv"), {"nominal": {"columns": ["y"]}}, {"targets": {"columns": ["y"]}}]
        rows = cook(recipe, [file("t.csv", csv)])
        assert arff_text(rows, "all").endswith("@data\n{3 5,5 ?}\n{9 v}\n")
        [path] = write_arff(rows, tmp_path / "t")
        np.testing.assert_array_equal(load(path, "y").X.values[0], [0, 0, 0, 5, 0, np.nan, 0, 0, 0])

    def test_parts_are_files_and_bytes_are_the_same_again(self, file, tmp_path):
        path = file("small.arff", SMALL)
        recipe = [read(0, part="test"), read(0, part="train"), {"targets": {"columns": ["kind"]}}]
        files = write_arff(cook(recipe, [path, path]), tmp_path / "two")
        assert [path.name for path in files] == ["two.train.arff.gz", "two.test.arff.gz"]
        first = [path.read_bytes() for path in files]
        assert [path.read_bytes() for path in write_arff(cook(recipe, [path]), tmp_path / "two")] == first

    def test_digits(self):
        from sklearn.datasets import load_digits

        rows = digits()
        assert [int(text) for text in rows.columns[-1].texts()] == load_digits().target.tolist()
        assert rows.targets == ("class",)


def test_recipes_of_the_registry_are_well_formed():
    cooked = [entry.source for entry in entries() if entry.source.kind == "recipe"]
    assert len(cooked) == 37
    assert {word for source in cooked for step in source.recipe for word in step} == set(WORDS)
    for source in cooked:
        assert list(source.recipe[0]) == ["read"]
        assert list(source.recipe[-1]) == ["targets"]
        used = {n for step in source.recipe for n in step.get("read", {}).get("files", ())}
        assert used <= set(range(len(source.files)))
