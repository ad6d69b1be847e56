"""Targets as people write them: words for "not known", look-alikes, the value that means unlabelled."""

from __future__ import annotations

import numpy as np
import pytest

from semirank.data.dataset import load
from semirank.data.encode_target import encode_target
from semirank.data.missing_words import MISSING

from ..optional import pd, pl


@pytest.fixture
def write(tmp_path):
    def write(labels, name="f.csv"):
        path = tmp_path / name
        path.write_text("a,y\n" + "".join(f"{i % 7},{label}\n" for i, label in enumerate(labels)))
        return path

    return write


def notes_on(y, **options):
    notes: list[str] = []
    return encode_target(y, notes=notes, **options), notes


class TestMissingWords:
    @pytest.mark.parametrize(
        "make",
        [list, np.array, lambda y: np.array(y, dtype=object), pd.Series, pd.Categorical, pl.Series],
        ids=["list", "array", "objects", "pandas", "categories", "polars"],
    )
    @pytest.mark.parametrize("word", sorted(MISSING))
    def test_in_arrays(self, make, word):
        target, notes = notes_on(make(["p", word, "q", "p"]))
        assert target.classes.tolist() == ["p", "q"]
        assert target.labeled.tolist() == [True, False, True, True]
        assert (f"{word!r} counts as unlabelled (1 row)" in notes) == bool(word)

    def test_beside_numbers(self):
        target, _ = notes_on(np.array([1.5, "NA", 2.5], dtype=object))
        assert target.task == "regression"
        assert target.labeled.tolist() == [True, False, True]

    def test_in_label_sets(self):
        target, notes = notes_on([{"a"}, {"NA"}, {"b", "None"}, "n/a", {"a", "b"}, set()])
        assert target.names == ("a", "b")
        assert target.labeled.tolist() == [True, False, True, False, True, True]
        assert "'None' counts as no label, alone as unlabelled (1 row)" in notes

    def test_in_files(self, write):
        data = load(write(["p", "q", "None", "n/a", "p"]), "y")
        assert data.y.tolist() == ["p", "q", None, None, "p"]


class TestQuestions:
    @pytest.mark.parametrize(
        "word", ["unknown", "Unlabeled", "not determined", "not_determined", "none", "N/a", "-"]
    )
    def test_words_are_kept_and_asked_about(self, write, word):
        target, notes = notes_on(["p", word, "q", "p"])
        assert target.n_classes == 3
        asked = [note for note in notes if f"{word!r} was taken as a class" in note]
        assert f"unlabeled={word!r}" in asked[0]
        data = load(write(["p", word, "q", "p"]), "y")
        assert asked[0] in data.notes
        assert load(write(["p", word, "q", "p"]), "y", unlabeled=word).y.tolist() == ["p", None, "q", "p"]

    @pytest.mark.parametrize("number", [-1, -9, -999])
    def test_numbers(self, number):
        _, notes = notes_on([0, 1, number, 1])
        assert (
            f"{number} was taken as a class; use unlabeled={number} (--unlabeled {number}) "
            "if it marks unlabelled rows" in notes
        )
        _, notes = notes_on([0.5, 1.5, number, number])
        assert any(f"{number} was taken as a number; use unlabeled={number}" in note for note in notes)
        assert not any("was taken" in note for note in notes_on([0.5, -3.5, number, number])[1])

    def test_labels(self):
        _, notes = notes_on([{"a", "none"}, {"a"}, {"none"}])
        (asked,) = [note for note in notes if "'none' was taken as a label" in note]
        assert asked.endswith("or empty sets if it means that there is no label")

    def test_blanks_are_quoted(self):
        _, notes = notes_on(["p", "not determined", "q"])
        assert any("(--unlabeled 'not determined')" in note for note in notes)

    def test_classes_that_look_alike(self):
        _, notes = notes_on(["Setosa", "setosa", "virginica", "virgin ica", "x"])
        assert [note.partition(";")[0] for note in notes if "differ only" in note] == [
            "the classes 'Setosa', 'setosa' differ only in case or blanks",
            "the classes 'virgin ica', 'virginica' differ only in case or blanks",
        ]


class TestUnlabeled:
    @pytest.mark.parametrize("value", [-1, "-1", -1.0, "-1.0"])
    def test_text_or_number(self, write, value):
        assert load(write([0, -1, 1]), "y", unlabeled=value).y.tolist() == [0, None, 1]
        assert load(write(["p", -1, "q"]), "y", unlabeled=value).y.tolist() == ["p", None, "q"]
        for y in ([0, -1, 1], ["0", "-1", "1"], np.array([0.0, -1, 1])):
            assert encode_target(y, unlabeled=value).labeled.tolist() == [True, False, True]

    def test_in_label_sets(self):
        target = encode_target([{"a"}, {"unknown"}, "unknown", {"b"}], unlabeled="unknown")
        assert target.labeled.tolist() == [True, False, False, True]

    def test_one_that_never_occurs(self, write):
        with pytest.raises(
            ValueError, match=r"'unknwn' for unlabelled rows never occurs in the target 'y' \(did"
        ):
            load(write(["p", "unknown", "q"]), "y", unlabeled="unknwn")
        _, notes = notes_on([0, 1, 2], unlabeled=-1)
        assert "the value -1 for unlabelled rows never occurs in y" in notes
        assert not any("never" in note for note in notes_on([0, 1, -1], unlabeled=-1)[1])

    @pytest.mark.parametrize("several", [["?", "unknown"], {"?"}, np.array([-1, -2])], ids=type)
    def test_several_values(self, several):
        with pytest.raises(TypeError, match=r"^unlabeled=.* is not one value; give the value of y that"):
            encode_target(["a", "b", "?"], unlabeled=several)


def test_the_target_is_named_with_its_counts(write):
    data = load(write(["p", "q", "", "p"]), "y")
    assert data.notes[1] == "the target is y: p 2, q 1"
    _, notes = notes_on(np.array([[1, 0], [1, 1], [0, np.nan]]))
    assert "the labels are y0 2, y1 1" in notes
    _, notes = notes_on(np.array([[1.5, 0], [1, 1], [0, np.nan]]))
    assert "the targets are y0, y1" in notes
