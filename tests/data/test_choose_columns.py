"""Which columns are the target: by name, pattern, position or range, by a label file, or by default."""

from __future__ import annotations

import numpy as np
import pytest

from semirank import load
from semirank.data.choose_columns import find_columns, list_names

NAMES = ("a", "b", "2-3", "c d", "x,y", "7", "TAG_1", "TAG_2")


class TestFindColumns:
    @pytest.mark.parametrize(
        ("selection", "found"),
        [
            ("a", [0]),
            (1, [1]),
            ("1", [1]),
            (-1, [7]),
            ("-2", [6]),
            ("3-5", [3, 4, 5]),
            ("4-4", [4]),
            ("3-5,0", [3, 4, 5, 0]),
            ("3-5, 4, -1", [3, 4, 5, 7]),
            ("2-3", [2]),  # an exact name wins over the range,
            ("7", [5]),  # over the position,
            ("x,y", [4]),  # over the list,
            ("0,2-3", [0, 2]),  # and inside a list too
            ("a,b", [0, 1]),
            ("TAG_*", [6, 7]),
            (["b", "TAG_*", 0], [1, 6, 7, 0]),
            (np.int64(3), [3]),
            ([], []),
        ],
    )
    def test_found(self, selection, found):
        assert find_columns(selection, NAMES, "f.csv") == found

    @pytest.mark.parametrize(
        ("selection", "message"),
        [
            (8, "f.csv has 8 columns, so there is no position 8; they count from 0."),
            (-9, "there is no position -9"),
            ("3-8", "f.csv has 8 columns, 0 to 7, so 3-8 goes beyond them."),
            ("0-999999999999", "goes beyond them."),
            ("999999999", "there is no position 999999999"),
            ("9" * 5000, "f.csv has no column '999"),
            ("5-3", "The range 5-3 of columns runs backwards; write 3-5."),
            ("TAGS_*", "f.csv has no column 'TAGS_*'"),
            ("a,nothing", "f.csv has no column 'a,nothing'"),
            ("", "f.csv has no column ''"),
        ],
    )
    def test_refused(self, selection, message):
        with pytest.raises(ValueError, match="column") as error:
            find_columns(selection, NAMES, "f.csv")
        assert message in str(error.value)
        assert len(str(error.value)) < 200

    def test_long_lists_of_names_are_cut(self):
        assert list_names([f"x{i}" for i in range(9)]) == "x0, x1, x2, x3, x4, x5, x6, ..., x8"
        assert list_names([f"x{i}" for i in range(8)]) == "x0, x1, x2, x3, x4, x5, x6, x7"


@pytest.fixture
def arff(tmp_path):
    """Write an ARFF file with columns of declared kinds, filled at random, and return its path."""

    def write(kinds: dict[str, str], name: str = "music.arff"):
        rng = np.random.default_rng(0)
        head = [f"@attribute {column!r} {kind}" for column, kind in kinds.items()]
        cells = [rng.integers(0, 2, 30) if "1" in kind else rng.random(30) for kind in kinds.values()]
        rows = [",".join(map(str, row)) for row in zip(*cells)]
        path = tmp_path / name
        path.write_text("\n".join(["@relation r", *head, "@data", *rows]) + "\n")
        return path

    return write


BINARY = "{0,1}"
MUSIC = {"f1": "numeric", "f2": "numeric", "sad": BINARY, "calm": BINARY, "angry": BINARY}


class TestDefault:
    def test_the_last_column_is_said(self, arff):
        data = load(arff({"f1": "numeric", "f2": "numeric", "y": BINARY}))
        assert data.target_names == ("y",)
        assert "the last column, y, was taken as the target" in data.notes

    def test_several_zero_one_columns_at_the_end_stop(self, arff):
        with pytest.raises(ValueError, match="target is not clear") as error:
            load(arff(MUSIC))
        assert str(error.value) == (
            "music.arff ends with 3 columns of zeros and ones (sad, calm, angry), so its target is not "
            "clear; name it: 2-4 for all of them, 4 for the last alone."
        )

    def test_also_when_they_are_numbers(self, arff):
        path = arff(MUSIC | {"angry": "numeric 1"})
        path.write_text(path.read_text().replace("numeric 1", "numeric"))
        with pytest.raises(ValueError, match="3 columns of zeros and ones"):
            load(path)

    def test_of_a_csv_file_the_candidates_are_named(self, tmp_path):
        path = tmp_path / "music.csv"
        path.write_text("f1,f2,sad,calm\n0.5,3,1,0\n2.5,4,0,1\n1.5,5,,\n")
        with pytest.raises(ValueError, match=r"2 columns of zeros and ones \(sad, calm\).* name it: 2-3 for"):
            load(path)
        path.write_text(",".join(f"x{i}" for i in range(12)) + "\n" + ",".join("7" * 12) + "\n")
        with pytest.raises(ValueError, match=r"Name the target column .* x5, x6, \.\.\., x11\.$"):
            load(path)

    def test_unless_most_features_are_such(self, arff):
        kinds = {"f1": "numeric"} | {f"bit{i}": BINARY for i in range(5)} | {"active": BINARY}
        assert load(arff(kinds)).target_names == ("active",)

    @pytest.mark.parametrize("targets", ["2-4", [2, 3, 4], ["2-3", 4], "2,3,4"])
    def test_a_range_takes_and_names_them(self, arff, targets):
        data = load(arff(MUSIC), targets)
        assert data.target_names == ("sad", "calm", "angry")
        assert data.task == "multi_label"
        assert "the target is the 3 columns sad, calm, angry" in data.notes

    def test_names_are_not_said_back(self, arff):
        data = load(arff(MUSIC), ["sad", "calm"], drop="angry")
        assert not any("the target is" in note for note in data.notes)

    def test_ranges_of_features(self, arff):
        assert load(arff(MUSIC), "4", features="0-1").feature_names == ("f1", "f2")
        assert load(arff(MUSIC), "4", drop="2-3").feature_names == ("f1", "f2")


LABELS = (
    '<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'
)


class TestLabelFile:
    @pytest.mark.parametrize(
        ("file", "labels"),
        [
            ("music.arff", "music.xml"),
            ("music-train.arff", "music.xml"),
            ("music_test.arff", "music.xml"),
            ("music.train.arff", "music.labels.xml"),
            ("music.arff", "music.labels.xml"),
        ],
    )
    def test_gives_the_label_set(self, arff, file, labels):
        path = arff(MUSIC, file)
        path.with_name(labels).write_text(LABELS.format('<label name="calm"/><label name="sad"></label>'))
        data = load(path, drop="angry")
        assert data.target_names == ("calm", "sad")
        assert data.task == "multi_label"
        assert data.feature_names == ("f1", "f2")
        assert f"{labels} beside it gives the label set: calm, sad" in data.notes

    def test_nested_labels_are_a_hierarchy(self, arff):
        path = arff(MUSIC)
        text = path.read_text().replace("@data\n", "@data\n0.5,0.5,1,1,0\n")
        path.write_text(text)
        nested = '<label name="sad"><label name="calm"/></label><label name="angry"/>'
        path.with_suffix(".xml").write_text(LABELS.format(nested))
        data = load(path)
        assert data.task == "hierarchical"
        assert dict(zip(data.hierarchy.labels, data.hierarchy.parents)) == {
            "sad": (), "calm": (data.hierarchy.position["sad"],), "angry": (),
        }  # fmt: skip
        calm, sad = (data.target.values[:, data.hierarchy.position[name]] for name in ("calm", "sad"))
        assert (sad >= calm).all()  # a label comes with its ancestors
        assert any("gives a hierarchy of labels: sad, angry, calm" in note for note in data.notes)

    def test_a_named_target_comes_first(self, arff):
        path = arff(MUSIC)
        path.with_suffix(".xml").write_text("not even XML")
        assert load(path, "sad").target_names == ("sad",)

    def test_other_xml_is_not_read(self, arff):
        path = arff({"f1": "numeric", "y": BINARY})
        path.with_suffix(".xml").write_text("<PMML><label name='f1'/></PMML>")
        assert load(path).target_names == ("y",)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("<labels><label", "music.xml cannot be read as XML"),
            ("<labels></labels>", "music.xml lists no labels"),
            ("<labels><label/></labels>", "nothing but <label name=...> elements"),
            ("<labels><thing name='sad'/></labels>", "nothing but <label name=...> elements"),
            (
                "<labels><label name='sat'/></labels>",
                r"lists the label 'sat', but music.arff has no such column",
            ),
            ("<!DOCTYPE x [<!ENTITY a 'b'>]><labels/>", "has a DOCTYPE"),
        ],
    )
    def test_a_broken_one_is_one_sentence(self, arff, text, message):
        path = arff(MUSIC)
        path.with_suffix(".xml").write_text(text)
        with pytest.raises(ValueError, match=message) as error:
            load(path)
        assert "name the target" in str(error.value)

    def test_real_emotions(self, data_folder):
        data = load([data_folder / "mlc" / f"emotions.{part}.arff" for part in ("train", "test")])
        assert len(data.target_names) == 6
        assert data.X.shape == (593, 72)
        assert load(data_folder / "mlc" / "emotions.train.arff", "72-77").target_names == data.target_names
