"""What a command line reads: data sets by name, some of the labels, targets by position, label files."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from semirank.cli.input import read

LABELS = '<labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder, a data folder with a manifest, and an empty cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SEMIRANK_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def music(folder):
    """An ARFF file that ends with three labels."""
    rng = np.random.default_rng(0)
    head = [f"@attribute f{i} numeric" for i in range(4)]
    head += [f"@attribute {label} {{0,1}}" for label in ("sad", "calm", "angry")]
    rows = [",".join(map(str, [*rng.random(4).round(3), *rng.integers(0, 2, 3)])) for _ in range(40)]
    path = folder / "music.arff"
    path.write_text("\n".join(["@relation music", *head, "@data", *rows]) + "\n")
    return path


def own_data(folder):
    """A data folder with one data set of the user's own."""
    home = folder / "data"
    home.mkdir(exist_ok=True)
    rows = "".join(f"{i % 7},{i % 5},{'pq'[i % 2]}\n" for i in range(50))
    (home / "tiny.csv").write_text("a,b,y\n" + rows)
    item = {"name": "Tiny", "task": "classification", "files": ["tiny.csv"], "target_attributes": ["y"]}
    (home / "manifest.json").write_text(json.dumps([item]))
    return home


class TestNames:
    def test_bundled(self, folder):
        given = read(["digits"], labels=100, seed=1)
        assert given.data.X.shape == (1797, 64)
        assert int(given.target.labeled.sum()) == 100
        assert given.notes[:4] == [
            "classification, 10 classes, 100 of 1797 rows labelled",
            "100 of 1797 labels were kept at random with seed 1",
            "the target is class: 0 8, 1 15, 2 10, 3 9, 4 10, 5 11, 6 11, 7 6, and 2 more",
            "the data come from the registry: Digits",
        ]
        assert not any("last column" in note for note in given.notes)

    def test_of_the_data_folder(self, folder, monkeypatch):
        monkeypatch.setenv("SEMIRANK_DATA", str(own_data(folder)))
        assert read(["Tiny"]).data.X.names == ("a", "b")

    def test_fetched_ones_are_found_beside_a_data_folder(self, folder, monkeypatch):
        from semirank.datasets.download import fetch

        fetch("Digits")
        monkeypatch.setenv("SEMIRANK_DATA", str(own_data(folder)))
        given = read(["Digits"])
        assert given.data.X.shape == (1797, 64)
        scope = {}
        exec("\n".join(given.lines), scope)
        assert np.array_equal(scope["data"].X.values, given.data.X.values)

    def test_a_file_of_that_name_wins(self, folder):
        (folder / "Digits").write_text(
            "@relation r\n@attribute a numeric\n@attribute y {p,q}\n@data\n1,p\n2,q\n"
        )
        assert read(["Digits"]).data.X.names == ("a",)

    def test_a_folder_of_that_name_does_not(self, folder):
        (folder / "Digits").mkdir()
        assert len(read(["Digits"]).data) == 1797

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (
                "rank Digit",
                "There is no file 'Digit', so a data set was looked for. There is no data set 'Digit'",
            ),
            ("rank Digit", "did you mean 'Digits'?"),
            ("rank Chess", "get it with 'semirank datasets fetch Chess'"),
            ("rank Digits --target class", "leave out --target: it has its own target and columns"),
            ("rank Digits --drop pixel_0_0 --task regression", "leave out --drop, --task: it has"),
            ("rank mydata --hierarchy tree.txt", "There is no file mydata; if the data set"),
            ("rank absent.csv -t y", "There is no file absent.csv"),
            ("rank here/Digits", "There is no file here/Digits"),
            ("rank Digits --labels 1", "At least 2 labels must be kept"),
            ("rank Digits --labels 2000", "2000 labels cannot be kept, because only 1797 rows are labelled."),
            (
                "evaluate Digits --labels 9 --label-counts 0,5",
                "n_labeled must be whole numbers of at least 1",
            ),
        ],
    )
    def test_refused(self, folder, call, words, message):
        code, out, err = call(*words.split(), "-q")
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1


class TestLabels:
    def test_nested_and_repeatable_in_python(self, folder, music, call):
        words = ["rank", "music.arff", "-t", "4-6", "--seed", "3", "-m", "relief", "--jobs", "1"]
        few, more = (read(["music.arff"], targets=["4-6"], labels=n, seed=3).target.labeled for n in (5, 20))
        assert (few <= more).all()
        code, out, err = call(*words, "--labels", "20", "--json")
        assert code == 0, err
        assert "20 of 40 labels were kept at random with seed 3" in err.splitlines()
        assert "the target is the 3 columns sad, calm, angry" in err.splitlines()
        found = json.loads(out)
        assert found["n_labeled"] == 20
        scope = {}
        exec(found["origin"]["python"], scope)
        assert scope["ranking"].scores.tolist() == found["scores"]

    def test_label_sets_of_a_column(self, folder):
        rows = "".join(f"{i},{'x;y' if i % 2 else 'y'}\n" for i in range(30))
        (folder / "sets.csv").write_text("a,tags\n" + rows)
        given = read(["sets.csv"], labels_from_column="tags", labels=10)
        scope = {}
        exec("\n".join(given.lines), scope)
        assert np.array_equal(scope["y"].values, given.target.values, equal_nan=True)


class TestTargets:
    def test_unclear_targets_stop(self, music, call):
        code, out, err = call("rank", "music.arff")
        assert (code, out) == (2, "")
        assert err == (
            "error: music.arff ends with 3 columns of zeros and ones (sad, calm, angry), so its target is "
            "not clear; name it: 4-6 for all of them, 6 for the last alone.\n"
        )

    def test_a_label_file_beside_it(self, music):
        music.with_suffix(".xml").write_text(LABELS.format('<label name="sad"/><label name="angry"/>'))
        given = read(["music.arff"], drop=["calm"])
        assert given.target.names == ("sad", "angry")
        assert "music.xml beside it gives the label set: sad, angry" in given.notes

    def test_a_range_beyond_the_columns(self, music, call):
        code, _, err = call("rank", "music.arff", "-t", "4-9")
        assert (code, err) == (2, "error: music.arff has 7 columns, 0 to 6, so 4-9 goes beyond them.\n")

    def test_a_file_called_like_a_registered_data_set(self, folder, call):
        rows = "".join(f"{i % 5},{i % 3},{i / 7:.3f},{i / 9:.3f}\n" for i in range(40))
        head = "".join(f"@attribute {name} numeric\n" for name in ("a", "b", "DFlow", "DGap"))
        (folder / "edm1.arff").write_text(f"@relation edm1\n{head}@data\n{rows}")
        code, _, err = call("rank", "edm1.arff", "-q")
        assert code == 2
        assert "looks like the data set Edm1, whose target is DFlow, DGap; name the target" in err
        given = read(["edm1.arff"], targets=["2-3"])
        assert given.target.task == "multi_target"
        assert read(["edm1.arff"], targets=["DGap"]).target.task == "regression"

    def test_a_file_called_like_an_original_one(self, folder, call):
        rows = "".join(f"{i % 5},{i % 3},{i / 7:.3f},{i / 9:.3f}\n" for i in range(40))
        head = "".join("@attribute {} numeric\n" for _ in range(4))
        names = {
            "edm.arff": ("a", "b", "DFlow", "DGap"),
            "soil_qualityTrain.arff": ("acari", "coll", "H", "EU"),
        }
        for file, columns in names.items():
            (folder / file).write_text(f"@relation r\n{head.format(*columns)}@data\n{rows}")
        code, _, err = call("rank", "edm.arff", "-q")
        assert code == 2
        assert "looks like the data set Edm1, whose target is DFlow, DGap; name the target" in err
        code, _, err = call("rank", "soil_qualityTrain.arff", "-q")
        assert code == 2
        assert "looks like the data set Soil-quality, whose target is acari, coll, H; name the target" in err
        other = (folder / "edm.arff").read_text().replace("DFlow", "tempo")
        (folder / "edm.arff").write_text(other)  # another file of that name
        assert read(["edm.arff"]).target.names == ("DGap",)

    def test_real_files(self, data_folder, monkeypatch, call):
        monkeypatch.setenv("SEMIRANK_DATA", str(data_folder))
        given = read([str(data_folder / "mlc" / "emotions.train.arff")])
        assert len(given.target.names) == 6
        code, _, err = call("rank", data_folder / "mtr" / "atp1d.arff", "-q")
        assert code == 2
        assert "Atp1d" in err
        assert read(["emotions"]).target.names == given.target.names


class TestImportance:
    @pytest.mark.parametrize("words", [["-i", "symbolic", "-i", "rforest"], ["-i", "symbolic,rforest"]])
    def test_both_ways_of_naming_several(self, folder, music, call, words):
        small = ["-m", "forest", "--set", "n_estimators=5", "--jobs", "1", "--json", "-q"]
        command = ["rank", "music.arff", "-t", "sad", *small]
        code, out, err = call(*command, *words)
        assert code == 0, err
        found = json.loads(out)
        assert "importance=['symbolic', 'rforest']" in found["origin"]["python"]
        assert set(found["all_scores"]) == {"symbolic", "rforest", "genie3", "genie3_oob"}
        assert found["importance"] == "symbolic"

    def test_an_unknown_one(self, folder, music, call):
        code, _, err = call("rank", "music.arff", "-t", "sad", "-i", "genie3,genie4", "-q")
        assert code == 2
        assert "genie4" in err


class TestLabelCounts:
    WORDS = ("evaluate", "music.arff", "-t", "4-6", "--folds", "3", "--neighbors", "3,5", "--jobs", "1")

    def test_table_json_files_and_picture(self, folder, music, call):
        pytest.importorskip("matplotlib")
        words = [*self.WORDS, "--label-counts", "8,16,400", "-m", "relief"]
        files = [word for name in ("c.html", "c.csv", "c.json") for word in ("--out", name)]
        code, out, err = call(*words, *files, "--plot", "c.png")
        assert code == 0, err
        lines = out.splitlines()
        assert lines[2].split() == ["ranker", "side", "pool", "L=8", "L=16", "L=400", "area"]
        assert lines[3].split()[:3] == ["relief", "semi-supervised", "labelled"]
        assert len([line for line in lines if line.startswith(("relief", "no ranking"))]) == 6
        assert any("L = 400 keeps all they have" in line for line in err.splitlines())
        assert [line for line in err.splitlines() if line.startswith("wrote")] == [
            f"wrote c.{ending}" for ending in ("html", "csv", "json", "png")
        ]
        table = (folder / "c.csv").read_text().splitlines()
        assert table[0] == "ranker,side,pool,k,L=8,L=16,L=400,area"
        assert len(table) == 1 + 6 * 2
        saved = json.loads((folder / "c.json").read_text())
        page = (folder / "c.html").read_text()
        assert "<svg" in page
        assert "semirank evaluate music.arff" in page
        code, out, _ = call(*words, "--json", "-q")
        found = json.loads(out)
        assert found["curves"] == saved["curves"]
        scope = {}
        exec(found["origin"]["python"], scope)
        assert scope["found"].to_dict()["curves"] == saved["curves"]

    def test_the_preset_alone_is_the_papers_evaluation(self, folder, music, call):
        words = ["evaluate", "music.arff", "-t", "4-6", "-q", "-m", "relief", "--json", "--preset", "paper"]
        alone, named = (json.loads(call(*words, *more)[1]) for more in ((), self.PAPERS))
        assert alone["n_labeled"] == [50, 100, 200, 350, 500]
        assert {curve["k"] for curve in alone["curves"]} == {20, 40}
        assert alone["n_folds"] == 10
        assert alone["curves"] == named["curves"]
        assert "preset='paper'" in alone["origin"]["python"]

    PAPERS = ("--label-counts", "50,100,200,350,500", "--folds", "10", "--neighbors", "20,40")

    def test_parameters_of_the_rankers(self, folder, music, call):
        words = [
            *self.WORDS,
            "--label-counts",
            "12",
            "-m",
            "forest,relief",
            "--set",
            "n_estimators=4",
            "--json",
        ]
        code, out, err = call(*words, "-q")
        assert code == 0, err
        found = json.loads(out)
        assert {curve["ranker"] for curve in found["curves"]} >= {"forest genie3", "relief"}
        assert "n_estimators=4" in found["origin"]["python"]

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ("--label-counts many", "--label-counts takes whole numbers such as 50,100,200, got 'many'."),
            ("--label-counts ,", "--label-counts takes whole numbers"),
            ("--label-counts 8 --repeats 2", "--repeats does not go with --label-counts"),
            ("--neighbors 5", "--neighbors goes with --label-counts"),
            ("--preset paper --repeats 2", "--repeats does not go with --label-counts"),
            ("--label-counts 8 --set trees=3", "None of the methods has a parameter 'trees'"),
            ("--label-counts 8 --out c.fimp", "must be one of .json, .csv, .html"),
            ("--label-counts 1", "L = 1 leaves too little to rank by in fold 1"),
            ("--label-counts 8 --folds 60", "too few for 60 folds"),
            ("--out c.csv", "must be one of .json, .html"),
        ],
    )
    def test_refused(self, folder, music, call, words, message):
        base = ["evaluate", "music.arff", "-t", "4-6", "-q", "-m", "relief"]
        code, out, err = call(*base, *words.split())
        assert (code, out) == (2, "")
        assert message in err
        assert re.fullmatch(r"error: [^\n]+\n", err)

    def test_neighbors_alone(self, folder, music, call):
        code, _, err = call(*self.WORDS, "-q")
        assert code == 2
        assert "--neighbors goes with --label-counts" in err


def test_method_names_come_from_the_table_of_methods(call):
    from semirank.rankers.methods import COMPARED, METHODS

    shown = call("rank", "-h")[1]
    assert all(name in shown for name in ("auto", *METHODS))
    shown = call("evaluate", "-h")[1]
    assert all(name in shown for name in COMPARED)
