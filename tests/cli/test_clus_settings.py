"""`semirank rank settings.s`: the settings that CLUS comes with, on small data of our own."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from semirank import Ranking

RNG = np.random.default_rng(0)
TREE = "hierarchical 1,1/2,1/3,4,4/5"


def arff(path, n_features, targets, cells, n_rows=40):
    """A file with numbers for features; `cells` makes the targets of a row from its first feature."""
    X = RNG.normal(size=(n_rows, n_features)).round(3)
    names = [f"@attribute a{j + 1} numeric" for j in range(n_features)]
    names += [f"@attribute t{j + 1} {kind}" for j, kind in enumerate(targets)]
    rows = [",".join([*map(str, row), *cells(i, row)]) for i, row in enumerate(X.tolist())]
    path.write_text("\n".join(["@relation r", *names, "@data", *rows]) + "\n")


def numbers(count, known=40):
    def cells(i, row):
        return [f"{row[0] + k * row[1]:.3f}" if i < known else "?" for k in range(count)]

    return cells


def bits(i, row):
    return [str(int(row[k % 7] > 0)) for k in range(53)]


def write_data(folder):
    """Under the names in the settings files."""
    arff(folder / "abalone_percL=25_0_SLTrain.arff", 8, ["numeric"], numbers(1))
    arff(folder / "abalone_percL=25_0_Unlabeled.arff", 8, ["numeric"], numbers(1))
    arff(folder / "example.arff", 3, ["numeric"] * 3, numbers(3))
    arff(folder / "example_ssl.arff", 3, ["numeric"] * 3, numbers(3, known=25))
    arff(folder / "soil_qualityTrain.arff", 142, ["numeric"] * 17, numbers(17))
    arff(folder / "sr_percL=100_0_SLTrain.arff", 16, [TREE], lambda i, row: ["1/2" if row[0] > 0 else "4"])
    arff(folder / "testMLC-RealWorld.arff", 1001, ["{0,1}"] * 53, bits)
    arff(folder / "testMTR.arff", 7, ["numeric"] * 4, numbers(4))
    arff(
        folder / "testSTC-RealWorld.arff", 4, ["{p,q}"], lambda i, row: ["p" if row[0] + row[1] > 0 else "q"]
    )
    arff(folder / "testTreeHMLC-RealWorld.arff", 6, [TREE], lambda i, row: ["1/3@4" if row[0] > 0 else "4/5"])
    head = "".join(f"@attribute a{j} numeric\n" for j in range(1, 6))
    rows = "".join(f"{{1 {i}, 3 {i % 5}, 5 {i % 7}}}\n" for i in range(1, 41))
    (folder / "sparse.arff").write_text(f"@relation r\n{head}@data\n{rows}")


# What becomes of each file: method, some parameters, words of the notes.
EXPECTED = {
    "abalone_SSL-RF": ("forest", {"ensemble": "random_forest", "n_estimators": 10, "supervision": "cv"},
                       "no equivalent here: [Tree] MissingClusteringAttrHandling"),
    "example": ("forest", {"max_features": "sqrt", "use_unlabeled": False, "n_estimators": 10}, "3 targets"),
    "exampleSSL": ("forest", {"supervision": "cv", "use_unlabeled": True}, "25 of 40 rows labelled"),
    "soil_qualityTrain": ("forest", {"use_unlabeled": False}, "a random forest ranks"),
    "sparse": ("forest", {"use_unlabeled": False}, "regression, 40 of 40 rows labelled"),
    "sr_SSL-RF": ("forest", {"supervision": "cv"}, "20 % of the labels, 8, were kept at random with seed 1"),
    "testMLC-RealWorldGenie3": ("forest", {"n_estimators": 4}, "[Relief] Neighbours = [1,5,10]"),
    "testMTR": ("relief", {"n_neighbors": 3, "n_iterations": None, "neighbor_weights": 0.5},
                "of [Relief] Neighbours = [3,1] only 3 was run"),
    "testSTC-RealWorld": ("relief", {"form": "per_class", "n_neighbors": 10, "neighbor_weights": 0.4},
                          "[Ensemble] SortRankingByRelevance = No"),
    "testTreeHMLC-RealWorldSymbolicRForest": ("forest", {"n_estimators": 4}, "only 4 was run"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", EXPECTED)
def test_settings_of_clus(name, oracle_folder, folder, call):
    write_data(folder)
    shutil.copy(oracle_folder / "clus-settings" / f"{name}.s", folder)
    method, params, said = EXPECTED[name]
    words = ("--set", "supervision_grid=[0.5, 1]") if params.get("supervision") == "cv" else ()
    code, out, err = call("rank", f"{name}.s", "--json", "-j", "1", *words)
    assert code == 0, err
    assert said in err
    values = json.loads(out)
    assert values["method"] == method
    assert {key: values["settings"][key] for key in params} == params
    again = Ranking.load(f"{name}.fimp")
    assert again.names == tuple(values["names"])


def test_every_settings_file_is_tried(oracle_folder):
    files = {path.stem for path in (oracle_folder / "clus-settings").glob("*.s")}
    assert files == set(EXPECTED)


SETTINGS = """\
[General]
RandomSeed = 3
[Data]
File = train.arff
[Attributes]
Disable = 2
Target = 5
[SemiSupervised]
SemiSupervisedMethod = PCT
PossibleWeights = 0.5
[Ensemble]
EnsembleMethod = ExtraTrees
Iterations = 5
FeatureRanking = [Symbolic, Genie3]
"""


class TestOurs:
    @pytest.fixture(autouse=True)
    def files(self, folder):
        arff(folder / "train.arff", 4, ["numeric"], numbers(1, known=20))
        (folder / "job.s").write_text(SETTINGS)

    def test_attributes_keep_their_numbers(self, folder, call):
        code, _, err = call("rank", "job.s", "--drop", "a3")
        assert code == 0, err
        lines = [line.split("\t") for line in (folder / "job.fimp").read_text().splitlines()]
        assert {line[1]: line[0] for line in lines if line[0].isdigit()} == {"a1": "1", "a4": "4"}
        ranking = Ranking.load("job.fimp")
        assert ranking.positions == (0, 3)
        ranking.save("again.fimp")
        assert Ranking.load("again.fimp").positions == (0, 3)

    def test_the_python_lines_do_the_same(self, call):
        code, out, err = call("rank", "job.s", "--json", "--out", "r.json")
        assert code == 0, err
        values = json.loads(out)
        assert (values["importance"], values["choice"]) == ("symbolic", {"supervision": 0.5})
        assert (values["seed"], values["settings"]["ensemble"]) == (3, "extra_trees")
        scope = {}
        exec(values["origin"]["python"], scope)
        assert scope["ranking"].scores.tolist() == values["scores"]

    def test_words_of_the_command_line_win(self, call):
        words = ("--method", "relief", "--seed", "7", "--set", "n_neighbors=4", "--target", "a4")
        values = json.loads(call("rank", "job.s", "--json", *words)[1])
        assert (values["method"], values["seed"]) == ("relief", 7)
        assert values["target_names"] == ["a4"]
        assert values["settings"]["n_neighbors"] == 4

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ("ExtraTrees", "RSubspaces", "EnsembleMethod = RSubspaces has no equivalent"),
            ("= 5\nFeature", "= many\nFeature", "Iterations = many' needs a number"),
            ("= 5\nFeature", "= []\nFeature", "Iterations = []' needs a number"),
            ("Target = 5", "Target = 9", "train.arff has 5 columns"),
            ("[General]\n", "", "outside of all sections"),
            ("train.arff", "none.arff", "which is not there"),
        ],
    )
    def test_one_line_for_what_cannot_be(self, folder, call, old, new, said):
        (folder / "job.s").write_text(SETTINGS.replace(old, new))
        code, _, err = call("rank", "job.s")
        assert code == 2
        assert said in err.splitlines()[-1]
        assert not (folder / "job.fimp").exists()

    def test_an_empty_list_of_weights_is_not_given(self, folder, call):
        (folder / "job.s").write_text(SETTINGS.replace("PossibleWeights = 0.5", "PossibleWeights ="))
        code, out, err = call("rank", "job.s", "--json")
        assert code == 0, err
        assert json.loads(out)["settings"]["supervision"] == "cv"

    def test_no_such_settings(self, call):
        code, _, err = call("rank", "none.s")
        assert (code, len(err.splitlines())) == (2, 1)

    def test_a_file_of_unlabelled_rows(self, folder, call):
        arff(folder / "more.arff", 4, ["numeric"], numbers(1), n_rows=30)
        (folder / "job.s").write_text(
            SETTINGS.replace("PossibleWeights", "UnlabeledData = more.arff\nPossibleWeights")
        )
        code, out, err = call("rank", "job.s", "--json")
        assert code == 0, err
        values = json.loads(out)
        assert (values["n_rows"], values["n_labeled"]) == (70, 20)
        scope = {}
        exec(values["origin"]["python"], scope)
        assert scope["ranking"].scores.tolist() == values["scores"]
