"""Settings files of CLUS: what is in them, and which data they mean."""

from __future__ import annotations

import pytest

from semirank.data.read_clus_settings import clus_data, read_clus_settings, values_of


@pytest.fixture
def settings(tmp_path):
    def write(text):
        path = tmp_path / "job.s"
        path.write_text(text)
        return read_clus_settings(path)

    return write


def test_sections_names_and_comments(settings):
    found = settings(
        "% by hand\n[Data]\nFile = a.arff % b.arff\n\n[SemiSupervised]\nSemiSupervisedMethod = PCT "
    )
    assert found.sections == {"data": {"file": "a.arff"}, "semisupervised": {"semisupervisedmethod": "PCT"}}
    assert found.get("DATA", "file") == "a.arff"
    assert found.get("Tree", "Heuristic") is None
    assert found.spelled["data", "file"] == "[Data] File = a.arff"


def test_a_name_twice_is_the_last_one(settings):
    assert settings("[Data]\nFile = a\n[Tree]\n[data]\nfile = b\n").get("Data", "File") == "b"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[Data]\nFile\n", "line 2: 'File' is neither"),
        ("File = a\n", "line 1: 'File = a' is outside of all sections"),
        ("[Data]\n= a\n", "line 2: '= a' is neither"),
    ],
)
def test_what_is_no_setting(settings, text, said):
    with pytest.raises(ValueError, match=said):
        settings(text)


def test_values():
    assert values_of("[1, 5,10]") == ["1", "5", "10"]
    assert values_of("[]") == []


class TestData:
    def test_attributes_count_from_one(self, settings, tmp_path):
        (tmp_path / "a.arff").touch()
        found = settings(
            "[Data]\nFile = a.arff\n[Attributes]\nTarget = 16-18,20\nDisable = 1,16-25\nDescriptive = 2-20\n"
        )
        files, options = clus_data(found)
        assert files == [tmp_path / "a.arff"]
        assert options["targets"] == [15, 16, 17, 19]
        assert options["drop"] == [0, 18, 20, 21, 22, 23, 24]  # what is the target stays the target
        assert options["features"] == [*range(1, 15), 18]
        assert options["sparse_base"] == 1

    def test_the_file_may_stand_beside_the_settings(self, settings, tmp_path):
        (tmp_path / "a.arff").touch()
        found = settings("[Data]\nFile = resources/tests/a.arff\n")
        assert clus_data(found)[0] == [tmp_path / "a.arff"]
        assert "targets" not in clus_data(found)[1]
        with pytest.raises(ValueError, match=r"job.s names the data file 'b.arff', which is not there"):
            clus_data(settings("[Data]\nFile = b.arff\n"))
        with pytest.raises(ValueError, match="names no data"):
            clus_data(settings("[Attributes]\nTarget = 3\n"))

    @pytest.mark.parametrize("word", ["0-3", "5-3", "a", "3-", "-3", "1;2", "1-99999999999"])
    def test_what_is_no_range(self, settings, tmp_path, word):
        (tmp_path / "a.arff").touch()
        with pytest.raises(ValueError, match="must number attributes from 1"):
            clus_data(settings(f"[Data]\nFile = a.arff\n[Attributes]\nTarget = {word}\n"))

    def test_weights_of_a_hierarchy(self, settings, tmp_path):
        (tmp_path / "a.arff").touch()
        text = "[Data]\nFile = a.arff\n[Hierarchical]\nWType = {}\nWParam = {}\n"
        assert clus_data(settings(text.format("ExpAvgParentWeight", 0.5)))[1]["hierarchy_decay"] == 0.5
        assert "hierarchy_decay" not in clus_data(settings(text.format("NoWeight", 0.5)))[1]
        with pytest.raises(ValueError, match="needs a number"):
            clus_data(settings(text.format("ExpAvgParentWeight", "x")))
