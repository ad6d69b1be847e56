"""The registry of data sets: names, folders with a manifest, and what is wrong with them."""

from __future__ import annotations

import csv
import gzip
import json
import pickle
import re
import sys
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from semirank.cli.datasets import _marked, _size, _split
from semirank.data.tasks import HEADINGS
from semirank.datasets import registry
from semirank.datasets.manifest import file_sha256
from semirank.datasets.registry import available, data_folder, entries, find, known, open_dataset

ROOT = Path(__file__).parents[2]
ARFF = """@relation {name}
@attribute size numeric
@attribute colour {{red,green,blue}}
{targets}
@data
{rows}
"""


def arff(path, targets, rows):
    """A small data file with two features."""
    attributes = "\n".join(f"@attribute {target}" for target in targets)
    path.write_text(ARFF.format(name=path.stem, targets=attributes, rows="\n".join(rows)))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a data set of every task; two of them have a train and a test part."""
    monkeypatch.delenv("SEMIRANK_DATA", raising=False)
    arff(tmp_path / "cls.arff", ["y {a,b,c}"], ["1,red,a", "2,?,b", "3,blue,a", "4,green,?"])
    arff(tmp_path / "num.arff", ["y numeric"], ["1,red,0.5", "2,green,1.5", "3,blue,2.5"])
    arff(tmp_path / "nums.arff", ["y1 numeric", "y2 numeric"], ["1,red,0,1", "2,green,1,2.5"])
    labels = ["l1 {0,1}", "l2 {0,1}"]
    arff(tmp_path / "sets.train.arff", labels, ["1,red,0,1", "2,blue,1,1", "3,blue,0,0"])
    arff(tmp_path / "sets.test.arff", labels, ["9,green,1,0", "8,?,0,1"])
    (tmp_path / "sets.labels.xml").write_text("<labels/>")
    tree = ["class hierarchical a,a/b,c"]
    arff(tmp_path / "tree.train.arff", tree, ["1,red,a/b", "2,red,c", "3,blue,a@c"])
    arff(tmp_path / "tree.test.arff", tree, ["7,green,a"])
    manifest = [
        {
            "name": "Own classes",
            "task": "stc",
            "files": ["cls.arff"],
            "target_attributes": ["y"],
            "examples": 4,
            "features": 2,
            "features_numeric": 1,
            "features_nominal": 1,
            "missing_feature_values": 1,
            "classes_declared": 3,
            "classes_present": 2,
            "sha256": {"cls.arff": file_sha256(tmp_path / "cls.arff")},
            "source": "made up",
        },
        {"name": "Own numbers", "task": "regression", "files": ["num.arff"], "targets": 1},
        {
            "name": "Own pairs",
            "task": "mtr",
            "files": ["nums.arff"],
            "target_attributes": ["y1", "y2"],
            "targets": 2,
            "stand_in_for": "Edm1",
        },
        {
            "name": "Own sets",
            "task": "mlc",
            "files": ["sets.train.arff", "sets.test.arff", "sets.labels.xml"],
            "target_attributes": ["l1", "l2"],
            "examples": 5,
            "examples_per_file": {"train": 3, "test": 2},
            "labels": 2,
        },
        {
            "name": "Own tree",
            "task": "hmlc",
            "files": ["tree.train.arff", "tree.test.arff"],
            "target_attributes": ["class"],
            "labels_in_hierarchy": 3,
        },
    ]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return tmp_path


@pytest.fixture
def change(folder):
    """Change the entry of a data set in the folder's manifest."""

    def edit(data_set, /, **values):
        path = folder / "manifest.json"
        content = json.loads(path.read_text())
        next(item for item in content if item["name"] == data_set).update(values)
        path.write_text(json.dumps(content))

    return edit


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """The user's cache as a folder that does not exist yet."""
    monkeypatch.delenv("SEMIRANK_DATA", raising=False)
    cache = tmp_path / "cache"
    monkeypatch.setattr(registry, "cache_folder", lambda: cache)
    return cache


class TestEntries:
    def test_the_papers_data_sets_and_their_stand_ins(self):
        own = [entry for entry in entries() if entry.stand_in_for is None]
        groups = [entry.group for entry in own]
        assert [groups.count(g) for g in ("classification", "MLC", "HMLC", "STR", "MTR")] == [13, 6, 6, 6, 7]
        stand_ins = [entry for entry in entries() if entry.stand_in_for is not None]
        assert len(stand_ins) == 9
        by_name = {entry.name: entry for entry in own}
        for entry in stand_ins:
            assert entry.printed == {}
            assert entry.group == by_name[entry.stand_in_for].group
        assert len({entry.name.lower() for entry in entries()}) == 47

    def test_what_is_not_available_has_a_stand_in_or_a_source(self):
        replaced = {entry.stand_in_for for entry in entries()}
        for entry in entries():
            assert entry.source.where
            if entry.source.kind == "unknown":
                assert entry.name in replaced

    def test_every_entry_is_complete(self):
        for entry in entries():
            assert HEADINGS[entry.group] == entry.task
            assert entry.predefined_split == (entry.group in ("MLC", "HMLC"))
            if entry.stand_in_for is None:
                assert {"examples", "features", "ch"} <= set(entry.printed)
                assert len({"classes", "labels", "targets"} & set(entry.printed)) == 1

    def test_addresses_come_with_checksums(self):
        kinds = {"bundled": 0, "recipe": 0, "folder": 0, "unknown": 0}
        for entry in entries():
            source = entry.source
            kinds[source.kind] += 1
            assert bool(source.recipe) == (source.kind == "recipe")
            assert bool(source.licence) == (source.kind != "unknown")
            for file in (*source.files, *source.unseen):
                assert re.fullmatch(
                    r"https://raw\.githubusercontent\.com/[^/]+/[^/]+/[0-9a-f]{40}/.+", file.url
                )
                assert re.fullmatch("[0-9a-f]{40}", file.git_blob)
            assert all(re.fullmatch("[0-9a-f]{64}", file.sha256) and file.n_bytes for file in source.files)
            assert all(file.sha256 is None for file in source.unseen)
            names = [file.name for file in (*source.files, *source.unseen)]
            assert len({*names}) == len(names)
        assert kinds == {"bundled": 1, "recipe": 37, "folder": 5, "unknown": 4}
        assert sum(entry.source.openml is not None for entry in entries()) == 10
        unseen = {entry.name: len(entry.source.unseen) for entry in entries() if entry.source.unseen}
        assert unseen == {"Gasdrift": 2, "Expr-yeast-FUN": 1, "QSAR": 1}

    def test_content_of_all_that_the_records_know(self):
        for entry in entries():
            assert (entry.content is None) == (entry.recorded is None)
            if entry.source.kind in ("bundled", "recipe"):
                assert entry.content is not None
        recorded: dict[str, set[str]] = {}
        for preset in ("quick", "paper"):
            with gzip.open(ROOT / "results" / preset / "records.csv.gz", "rt", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    recorded.setdefault(row["dataset"], set()).add(row["sha256"])
        assert recorded == {entry.name: {entry.recorded} for entry in entries() if entry.recorded}

    def test_printed_figures_are_those_of_the_tables(self):
        text = resources.files("semirank.study").joinpath("paper_tables.json").read_text(encoding="utf-8")
        printed = json.loads(text)["datasets"]
        own = [entry for entry in entries() if entry.stand_in_for is None]
        assert [entry.name for entry in own] == [name for group in printed.values() for name in group]
        for entry in own:
            assert dict(entry.printed) == printed[entry.group][entry.name]

    def test_entries_travel_between_processes(self):
        assert pickle.loads(pickle.dumps(entries())) == entries()


class TestFind:
    @pytest.mark.parametrize("name", ["Tic-tac-toe", "TIC-TAC-TOE", "tic-tac-toe"])
    def test_by_name(self, name):
        assert find(name).name == "Tic-tac-toe"

    @pytest.mark.parametrize("wrong", ["Gasch1", "gasch1-yeast", "Gasch1-yeast-FUM"])
    def test_unknown_names_get_suggestions(self, wrong):
        with pytest.raises(ValueError, match=r"There is no data set .* \(did you mean 'Gasch1-yeast-FUN'"):
            find(wrong)

    def test_nothing_near(self):
        with pytest.raises(ValueError, match=r"^There is no data set 'zzz'; `semirank datasets list` shows"):
            find("zzz")

    def test_in_a_folder(self, folder):
        entry = find("own pairs", folder)
        assert (entry.task, entry.group, entry.stand_in_for) == ("multi_target", "MTR", "Edm1")
        assert find("Own sets", folder).predefined_split
        assert find("Own classes", folder).source.where == "made up"
        with pytest.raises(ValueError, match="did you mean 'Own pairs'"):
            find("Own pair", folder)
        with pytest.raises(ValueError, match="There is no data set 'Own pairs'"):
            find("Own pairs")
        assert len(known(folder)) == 52


class TestDataFolder:
    def test_argument_then_variable_then_cache(self, tmp_path, monkeypatch):
        monkeypatch.setenv("SEMIRANK_DATA", str(tmp_path / "variable"))
        assert data_folder(tmp_path / "argument") == tmp_path / "argument"
        assert data_folder() == tmp_path / "variable"
        monkeypatch.delenv("SEMIRANK_DATA")
        monkeypatch.setattr(registry, "cache_folder", lambda: tmp_path / "cache")
        assert data_folder() == tmp_path / "cache"

    def test_wrong_folder(self, tmp_path, monkeypatch):
        with pytest.raises(ValueError, match=r"nowhere does not exist\.$"):
            open_dataset("Digits", tmp_path / "nowhere")
        with pytest.raises(ValueError, match=r"has no manifest\.json"):
            available(tmp_path)
        monkeypatch.setenv("SEMIRANK_DATA", str(tmp_path))
        with pytest.raises(ValueError, match=r"has no manifest\.json.* SEMIRANK_DATA names\.$"):
            open_dataset("Digits")

    def test_the_cache_is_where_the_system_keeps_such_things(self, tmp_path, monkeypatch):
        pooch = pytest.importorskip("pooch")
        monkeypatch.delenv("SEMIRANK_DATA", raising=False)
        monkeypatch.setenv("HOME", str(tmp_path))
        for value in (str(tmp_path / "own"), ""):
            monkeypatch.setenv("XDG_CACHE_HOME", value)
            if sys.platform != "win32":
                assert data_folder() == Path(pooch.os_cache("semirank"))
        monkeypatch.setattr(sys, "platform", "darwin")
        assert data_folder() == tmp_path / "Library" / "Caches" / "semirank"
        monkeypatch.setattr(sys, "platform", "win32")
        monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
        assert data_folder() == tmp_path / "local" / "semirank" / "Cache"


class TestOpen:
    def test_every_task(self, folder):
        shapes = {}
        for entry in known(folder)[47:]:
            opened = open_dataset(entry.name, folder)
            assert opened.entry == entry
            assert opened.dataset.task == entry.task
            shapes[entry.name] = (
                *opened.dataset.X.shape,
                opened.dataset.target.values.shape[1],
                opened.n_train,
            )
        assert shapes == {
            "Own classes": (4, 2, 1, None),
            "Own numbers": (3, 2, 1, None),
            "Own pairs": (2, 2, 2, None),
            "Own sets": (5, 2, 2, 3),
            "Own tree": (4, 2, 3, 3),
        }

    def test_train_rows_come_first_in_one_encoding(self, folder):
        dataset = open_dataset("Own sets", folder).dataset
        assert dataset.X.values[:, 0].tolist() == [1, 2, 3, 9, 8]
        assert dataset.X.categories == (None, ("red", "green", "blue"))
        np.testing.assert_array_equal(dataset.X.values[:, 1], [0, 2, 2, 1, np.nan])
        assert dataset.target.values.tolist() == [[0, 1], [1, 1], [0, 0], [1, 0], [0, 1]]

    def test_digest_changes_with_the_content_only(self, folder, change):
        def digest():
            return open_dataset("Own pairs", folder).sha256

        first = digest()
        assert re.fullmatch("[0-9a-f]{64}", first)
        path = folder / "nums.arff"
        text = path.read_text()
        path.write_text(text.replace("1,red,0,1", "1.00,red,-0,1") + "% more\n")
        assert digest() == first
        (folder / "nums.csv").write_text("size,colour,y1,y2\n1,red,0,1\n2,green,1,2.5\n")
        change("Own pairs", files=["nums.csv"])
        seen = {first, digest()}  # which does not declare the colour blue
        change("Own pairs", files=["nums.arff"])
        for there, then in [("1,red", "1,green"), ("2.5", "2.25"), ("1,red", "?,red"), ("size", "length")]:
            path.write_text(text.replace(there, then))
            seen.add(digest())
        path.write_text(text)
        change("Own pairs", target_attributes=["y2", "y1"])
        seen.add(digest())
        assert len(seen) == 7

    def test_digest_knows_the_parts_and_the_classes(self, folder, change):
        first = open_dataset("Own tree", folder).sha256
        lines = (folder / "tree.train.arff").read_text().splitlines(keepends=True)
        (folder / "tree.train.arff").write_text("".join(lines[:-1]))
        (folder / "tree.test.arff").write_text("".join([*lines[:-1][:5], lines[-1], "7,green,a\n"]))
        moved = open_dataset("Own tree", folder)
        assert moved.n_train == 2
        assert moved.sha256 != first
        seen = set()
        for name in ("a", "b"):
            (folder / "cls.csv").write_text(f"size,y\n1,{name}\n2,c\n")
            content = {"name": "C", "task": "stc", "files": ["cls.csv"], "target_attributes": ["y"]}
            (folder / "manifest.json").write_text(json.dumps([content]))
            seen.add(open_dataset("C", folder).sha256)
        assert len(seen) == 2

    def test_known_content_has_the_digest_of_the_records(self, folder, change, monkeypatch):
        own = open_dataset("Own numbers", folder)
        entry = replace(own.entry, content=own.sha256, recorded="f" * 64)
        monkeypatch.setattr(registry, "entries", lambda: (entry,))
        assert open_dataset("Own numbers", folder).sha256 == "f" * 64
        (folder / "num.arff").write_text((folder / "num.arff").read_text().replace("0.5", "0.6"))
        assert open_dataset("Own numbers", folder).sha256 not in ("f" * 64, own.sha256)

    def test_columns_to_leave_out(self, folder, change):
        change("Own classes", drop=["colour"], features=1, features_nominal=0, missing_feature_values=0)
        assert open_dataset("Own classes", folder).dataset.feature_names == ("size",)

    @pytest.mark.parametrize(
        ("name", "wrong", "message"),
        [
            ("Own classes", {"examples": 5}, "Own classes has 4 rows, but its manifest says 5."),
            ("Own classes", {"features": 3}, "Own classes has 2 features, but its manifest says 3."),
            ("Own classes", {"features_nominal": 2}, "has 1 nominal features, but its manifest says 2."),
            ("Own classes", {"missing_feature_values": 0}, "has 1 missing values in the features"),
            ("Own classes", {"classes_declared": 2}, "has 3 declared classes, but its manifest says 2."),
            ("Own classes", {"classes_present": 3}, "has 2 classes that occur, but its manifest says 3."),
            ("Own numbers", {"targets": 2}, "Own numbers has 1 targets, but its manifest says 2."),
            ("Own sets", {"labels": 7}, "Own sets has 2 labels, but its manifest says 7."),
            (
                "Own tree",
                {"labels_in_hierarchy": 4},
                "has 3 labels in the hierarchy, but its manifest says 4.",
            ),
            (
                "Own sets",
                {"examples_per_file": {"train": 2, "test": 3}},
                "sets.train.arff has 3 rows, but the manifest of Own sets says 2.",
            ),
            ("Own classes", {"sha256": {"cls.arff": "0" * 64}}, "the manifest says 000000000000."),
            ("Own classes", {"files": ["no.arff"]}, "no.arff does not exist."),
            ("Own classes", {"task": "stx"}, "has task 'stx', but it must be one of"),
            ("Own classes", {"task": ["stc"]}, "has task ['stc'], but it must be one of"),
            ("Own classes", {"files": []}, "must list one data file, or a train and a test file, not 0."),
            ("Own classes", {"files": "cls.arff"}, "must give 'files' as a list of texts."),
            ("Own classes", {"files": ["../cls.arff"]}, "'../cls.arff', which is not inside the folder."),
            ("Own classes", {"files": ["/cls.arff"]}, "'/cls.arff', which is not inside the folder."),
            ("Own classes", {"target_attributes": ["z"]}, "cls.arff has no column 'z'"),
            ("Own classes", {"sha256": ["x"]}, "must give 'sha256' as an object."),
            ("Own classes", {"examples": "4"}, "must give 'examples' as a number, not '4'."),
            ("Own classes", {"examples_per_file": {"all": "x"}}, "must give 'all' as a number, not 'x'."),
            ("Own numbers", {"name": "Own classes"}, "lists Own classes twice."),
            ("Own numbers", {"name": ""}, "data set 1 has no name."),
        ],
    )
    def test_data_that_are_not_as_the_manifest_says(self, folder, change, name, wrong, message):
        change(name, **wrong)
        with pytest.raises(ValueError) as error:
            open_dataset(name, folder)
        assert message in str(error.value)
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"[{", "cannot be read as JSON"),
            (b"\xff\xfe", "cannot be read as JSON"),
            (b"{}", "must be a JSON list"),
            (b"[3]", "must be a JSON list"),
            (b"[" * 200_000, "nested too deeply"),
            (b"\xef\xbb\xbf[]", "cannot be read as JSON .*BOM"),
            (b'[{"name": "a", "examples": ' + b"9" * 5000 + b"}]", "cannot be read as JSON .*digits"),
            (b'[{"name": "a\\ud800"}]', r"name 'a\\ud800', with characters that cannot be shown"),
            (b'[{"name": "a\\u001b[31m"}]', r"name 'a\\x1b\[31m', with characters that cannot be shown"),
            (b'[{"name": "a", "task": "stc", "files": ["a\\u0000"]}]', "characters that cannot be shown"),
            (b'[{"name": "a", "task": "stc", "files": ["a"], "examples": true}]', "as a number, not True"),
            (b'[{"name": "a", "task": "stc", "files": ["a"], "source": 5}]', "'source' as a text, not 5"),
            (b'[{"name": "a", "task": "stc", "files": ["a"], "sha256": {"a": 5}}]', "'a' as a text, not 5"),
        ],
    )
    def test_unreadable_manifests(self, folder, content, message):
        (folder / "manifest.json").write_bytes(content)
        with pytest.raises(ValueError, match=message) as error:
            open_dataset("Own classes", folder)
        assert str(error.value).isprintable()

    def test_links_out_of_the_folder(self, folder, change, tmp_path_factory):
        outside = tmp_path_factory.mktemp("outside") / "secret.arff"
        outside.write_text("@relation r\n@attribute a numeric\n@attribute y {p,q}\n@data\n1,p\n2,q\n")
        (folder / "link.arff").symlink_to(outside)
        change("Own classes", files=["link.arff"])
        with pytest.raises(ValueError, match=r"link\.arff is a link out of the folder of Own classes"):
            open_dataset("Own classes", folder)

    def test_a_name_of_the_registry_keeps_its_task_and_parts(self, folder, change):
        change("Own classes", name="Digits")
        assert open_dataset("digits", folder).entry is find("Digits")
        change("Digits", task="str")
        with pytest.raises(
            ValueError, match=r"Digits is a data set for classification, but .* says regression"
        ):
            open_dataset("Digits", folder)
        change("Own sets", name="Emotions", files=["sets.train.arff"], examples=3)
        with pytest.raises(
            ValueError, match="Emotions needs a train and a test file, but the manifest lists 1"
        ):
            open_dataset("Emotions", folder)
        change("Own numbers", name="Pol", files=["num.arff", "num.arff"])
        with pytest.raises(ValueError, match="Pol needs one file, but the manifest lists 2"):
            open_dataset("Pol", folder)

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("Chess", "get it with 'semirank datasets fetch Chess'"),
            ("Expr-yeast-FUN", "it has to be got by hand, .* Expr-yeast-FUN --raw' downloads the original"),
            ("Ecogen", "no public copy is known; Slovenian rivers .* can stand in"),
        ],
    )
    def test_data_sets_that_are_not_there(self, folder, name, why):
        with pytest.raises(ValueError, match=f"{name} is not in .*: {why}"):
            open_dataset(name, folder)

    def test_bundled_data_are_there_without_asking_unless_a_folder_is_named(self, folder, empty_cache):
        with pytest.raises(ValueError, match="Digits is not in"):
            open_dataset("Digits", folder)
        assert available().present == ["Digits"]
        assert not empty_cache.exists()
        opened = open_dataset("digits")
        assert opened.dataset.X.shape == (1797, 64)
        assert opened.sha256 == find("Digits").recorded
        assert not empty_cache.exists()
        from sklearn.datasets import load_digits

        digits = load_digits()
        np.testing.assert_array_equal(opened.dataset.X.values, digits.data)
        np.testing.assert_array_equal(opened.dataset.target.values[:, 0], digits.target)

    def test_a_folder_below_comes_first(self, folder):
        below = folder / "below"
        below.mkdir()
        arff(below / "num.arff", ["y numeric"], ["1,red,0.5"])
        content = [{"name": "Own numbers", "task": "str", "files": ["num.arff"]}]
        (below / "manifest.json").write_text(json.dumps(content))
        assert len(open_dataset("Own numbers", folder).dataset) == 1


class TestAvailable:
    def test_nothing_is_silently_skipped(self, folder):
        (folder / "num.arff").unlink()
        present, missing, broken = available(folder)
        assert present == ["Own classes", "Own pairs", "Own sets", "Own tree"]
        assert {*present, *dict(missing), "Own numbers"} == {entry.name for entry in known(folder)}
        why = dict(missing)
        assert broken == [("Own numbers", f"the file {folder / 'num.arff'} does not exist")]
        assert why["Pgp"].endswith(
            "P-gp substrates (MONSTROUS) or P-gp inhibition (Broccatelli 2011) can stand in"
        )
        assert why["analcatdata_authorship"].endswith("fetch analcatdata_authorship'")

    def test_names_with_spaces_are_quoted(self):
        entry = replace(find("Chess"), name="Two words")
        assert registry.how_to_get(entry) == "get it with 'semirank datasets fetch \"Two words\"'"


def table():
    """The table of docs/datasets.md."""
    hows = {"bundled": "fetch", "recipe": "fetch", "folder": "by hand", "unknown": "-"}
    lines = ["| data set | task | size | parts | how | where | licence |", "|---|---|---|---|---|---|---|"]
    for entry in entries():
        cells = [_marked(entry), entry.group, _size(entry), _split(entry), hows[entry.source.kind]]
        lines.append("| " + " | ".join([*cells, _where(entry), entry.source.licence or "-"]) + " |")
    return "\n".join(lines) + "\n"


def _where(entry):
    number = entry.source.openml
    link = "" if number is None else f"; [OpenML {number}](https://www.openml.org/d/{number})"
    return entry.source.where + link


def test_the_page_lists_the_registry():
    page = ROOT / "docs" / "datasets.md"
    assert page.read_text(encoding="utf-8").partition("<!-- data sets -->\n\n")[2] == table()


def check_real(name, folder):
    """A real data set is what its manifest and, where they agree, the paper say."""
    listed = {item["name"]: item for item in json.loads((folder / "manifest.json").read_text())}
    entry, dataset, n_train, sha256 = open_dataset(name, folder)
    assert sha256 == entry.recorded
    item = listed[name]
    assert dataset.X.shape == (item["examples"], item["features"])
    assert entry.stand_in_for == item["stand_in_for"]
    assert (n_train is not None) == entry.predefined_split
    if n_train is not None:
        assert n_train == item["examples_per_file"]["train"]
        assert (dataset.part[:n_train] == 0).all()
        assert (dataset.part[n_train:] == 1).all()
    if item["exact_match"]:
        assert dataset.X.shape == (entry.printed["examples"], entry.printed["features"])
    assert dataset.target.labeled.all()


class TestRealData:
    def test_what_is_there(self, data_folder):
        present, missing, broken = available(data_folder)
        assert (len(present), broken) == (42, [])
        assert [name for name, _ in missing] == ["Aapc", "Pgp", "Ecogen", "QSAR", "Forestry-LIDAR-IRS"]

    @pytest.mark.parametrize(
        "name", ["Tic-tac-toe", "Emotions", "Medical", "Pheno-yeast-FUN", "Mortgage", "CollembolaV2", "Edm1"]
    )
    def test_small_ones_open(self, data_folder, name):
        check_real(name, data_folder)

    @pytest.mark.slow
    def test_all_open(self, data_folder):
        for name in available(data_folder).present:  # one at a time: together they need much memory
            check_real(name, data_folder)
