"""The command line: what it reads, prints, writes and refuses."""

from __future__ import annotations

import gzip
import html
import io
import json
import os
import re
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest

import semirank
from semirank import Ranking
from semirank.cli import doctor, precompile, terminal
from semirank.cli import main as cli
from semirank.cli.input import parameters, read, read_hierarchy
from semirank.runtime import jit

CSV = "size,colour,noise,fruit\n" + "".join(
    f"{i % 7},{'red' if i % 2 else 'blue'},{i * 37 % 11},{('cherry', 'lemon')[i % 2] if i < 12 else ''}\n"
    for i in range(40)
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a small table in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fruit.csv").write_text(CSV)
    return tmp_path


@pytest.fixture
def fake_rank(monkeypatch):
    """A stand-in for semirank.rank that scores columns by position and remembers its arguments."""
    calls = []

    def rank(X, y, *, progress=None, **params):
        calls.append({"X": X, "y": y, **params})
        warnings.warn("too few labels for folds: w = 1 was used", UserWarning, stacklevel=2)
        if progress is not None:
            for done in range(4):
                progress(done, 3, "trees")
        names = getattr(X, "names", None) or tuple(X.columns)
        scores = np.arange(len(names), 0, -1, dtype=float)
        return Ranking(
            names=names, scores=scores, method="forest", importance="genie3", notes=["said by the ranker"]
        )

    monkeypatch.setitem(vars(semirank), "rank", rank)
    return calls


class TestRank:
    def test_table_and_notes(self, folder, call, fake_rank):
        code, out, err = call("rank", "fruit.csv", "--target", "fruit")
        assert code == 0
        lines = out.splitlines()
        assert lines[0] == "Forest (genie3) ranked 3 features; first come size, colour, noise."
        assert lines[2].split() == ["rank", "feature", "genie3"]
        assert lines[3].split()[:3] == ["1", "size", "3"]
        said = err.splitlines()
        assert "classification, 2 classes, 12 of 40 rows labelled" in said
        assert "said by the ranker" in said
        assert "too few labels for folds: w = 1 was used" in said
        given = fake_rank[0]
        assert given["y"].task == "classification"
        assert (given["method"], given["random_state"], given["n_jobs"]) == ("auto", 0, -1)

    def test_options_reach_the_ranker(self, folder, call, fake_rank):
        words = "rank fruit.csv -t fruit -m relief -i relief --seed 5 --jobs 2 --drop noise"
        code, *_ = call(*words.split(), "--set", "n_neighbors=[10, 20]", "--set", "tune=true")
        assert code == 0
        given = fake_rank[0]
        assert given["X"].names == ("size", "colour")
        assert given["method"] == "relief"
        assert given["importance"] == "relief"
        assert given["random_state"] == 5
        assert given["n_jobs"] == 2
        assert given["n_neighbors"] == [10, 20]
        assert given["tune"] is True

    def test_preset(self, folder, call, fake_rank):
        call("rank", "fruit.csv", "-t", "fruit", "--preset", "paper")
        call("rank", "fruit.csv", "-t", "fruit", "--preset", "paper", "--method", "relief")
        assert [(c["method"], c["preset"]) for c in fake_rank] == [("forest", "paper"), ("relief", "paper")]
        code, out, err = call("rank", "fruit.csv", "-t", "fruit", "--preset", "papr")
        assert (code, out) == (2, "")
        assert "'papr' is not" in err

    def test_features_and_patterns(self, folder, call, fake_rank):
        code, *_ = call("rank", "fruit.csv", "-t", "fr*", "--features", "*i*e", "--task", "classification")
        assert code == 0
        assert fake_rank[0]["X"].names == ("size", "noise")

    def test_task(self, folder, call, fake_rank):
        assert call("rank", "fruit.csv", "-t", "size", "--task", "regression")[0] == 0
        assert fake_rank[0]["y"].task == "regression"

    def test_unlabeled_value(self, folder, call, fake_rank):
        (folder / "minus.csv").write_text("a,y\n" + "".join(f"{i},{i % 3 - 1}\n" for i in range(30)))
        assert call("rank", "minus.csv", "-t", "y", "--set", "unlabeled=-1")[0] == 0
        assert int(fake_rank[0]["y"].labeled.sum()) == 20

    def test_json_is_the_whole_ranking(self, folder, call, fake_rank):
        code, out, err = call("rank", "fruit.csv", "-t", "fruit", "--json", "--quiet")
        assert (code, err) == (0, "")
        values = json.loads(out)
        assert values["names"] == ["size", "colour", "noise"]
        assert "said by the ranker" in values["notes"]
        assert values["origin"]["command"] == "semirank rank fruit.csv -t fruit --json --quiet"

    def test_quiet(self, folder, call, fake_rank):
        code, out, err = call("rank", "fruit.csv", "-t", "fruit", "-q")
        assert (code, err) == (0, "")
        assert "size" in out
        code, out, err = call("rank", "fruit.csv", "-t", "fruit", "-q", "--out", "r.json")
        assert (code, out, err) == (0, "", "")
        assert Ranking.load("r.json").names == ("size", "colour", "noise")

    def test_out_may_repeat(self, folder, call, fake_rank):
        names = ["r.json", "r.csv", "r.fimp", "r.html"]
        code, _, err = call("rank", "fruit.csv", "-t", "fruit", *(w for n in names for w in ("--out", n)))
        assert code == 0
        assert [line for line in err.splitlines() if line.startswith("wrote")] == [
            f"wrote {n}" for n in names
        ]
        scores = [Ranking.load(n).scores.tolist() for n in names[:3]]
        assert scores == [[3.0, 2.0, 1.0]] * 3
        assert "semirank rank fruit.csv -t fruit" in (folder / "r.html").read_text()

    def test_pipe(self, folder, call, fake_rank):
        assert call("rank", "-", "-t", "fruit", pipe=CSV.encode())[0] == 0
        assert call("rank", "-", "-t", "fruit", pipe=gzip.compress(CSV.encode()))[0] == 0
        arff = "@RELATION r\n@attribute a numeric\n@attribute y {p,q}\n@data\n1,p\n2,q\n3,?\n"
        assert call("rank", "-", pipe=arff.encode())[0] == 0
        assert [given["X"].shape for given in fake_rank] == [(40, 3), (40, 3), (3, 1)]

    def test_parquet_through_a_pipe(self, folder, call, fake_rank):
        frame = pytest.importorskip("pandas").read_csv("fruit.csv")
        pytest.importorskip("pyarrow")
        assert call("rank", "-", "-t", "fruit", pipe=frame.to_parquet())[0] == 0
        assert fake_rank[0]["X"].shape == (40, 3)

    def test_empty_pipe(self, folder, call, fake_rank):
        code, _, err = call("rank", "-", "-t", "fruit", pipe=b"\n")
        assert (code, err) == (2, "error: Nothing came through the pipe.\n")

    def test_several_files(self, folder, call, fake_rank):
        (folder / "more.csv").write_text(CSV)
        assert call("rank", "fruit.csv", "more.csv", "-t", "fruit")[0] == 0
        assert fake_rank[0]["X"].shape == (80, 3)

    def test_label_sets_in_a_column(self, folder, call, fake_rank):
        (folder / "sets.csv").write_text("a,tags\n1,x;y\n2,y\n3,;\n4,\n5, x ; z \n")
        code, _, err = call("rank", "sets.csv", "--labels-from-column", "tags")
        assert code == 0
        target = fake_rank[0]["y"]
        assert target.task == "multi_label"
        assert target.names == ("x", "y", "z")
        known = [[1, 1, 0], [0, 1, 0], [0, 0, 0], [np.nan] * 3, [1, 0, 1]]
        assert np.array_equal(target.values, known, equal_nan=True)
        assert "multi-label classification, 3 labels, 4 of 5 rows labelled" in err
        assert "classes" not in err

    def test_label_sets_of_numbers(self, folder, call, fake_rank):
        (folder / "sets.csv").write_text("a,tags\n1,7\n2,8\n3,\n")
        assert call("rank", "sets.csv", "--labels-from-column", "tags")[0] == 0
        assert fake_rank[0]["y"].names == ("7", "8")

    def test_hierarchy_file(self, folder, call, fake_rank):
        (folder / "sets.csv").write_text("a,tags\n1,p/q;r\n2,r\n3,\n4,p\n")
        (folder / "tree.txt").write_text("p\np/q\n\nr\n")
        code, _, err = call("rank", "sets.csv", "--labels-from-column", "tags", "--hierarchy", "tree.txt")
        assert code == 0, err
        target = fake_rank[0]["y"]
        assert target.task == "hierarchical"
        assert target.values[0].tolist() == [1, 1, 1]
        (folder / "joined.csv").write_text("a,tags\n1,p/q@r\n2,r\n3,\n4,p\n")
        assert call("rank", "joined.csv", "-t", "tags", "--hierarchy", "tree.txt")[0] == 0
        assert np.array_equal(fake_rank[1]["y"].values, target.values, equal_nan=True)

    def test_python_lines_make_the_same(self, folder, call, fake_rank):
        (folder / "sets.csv").write_text("a,b,tags\n1,2,p/q;r\n2,2,r\n3,1,\n4,0,p\n")
        (folder / "pairs.txt").write_text("root,p\nroot,r\np,p/q\n")
        words = ["--labels-from-column", "tags", "--hierarchy", "pairs.txt", "--out", "r.json", "--drop", "b"]
        assert call("rank", "sets.csv", *words)[0] == 0
        assert call("rank", "fruit.csv", "-t", "fruit", "--task", "classification", "--out", "s.json")[0] == 0
        for name, given in zip(("r.json", "s.json"), fake_rank[:2]):
            with pytest.warns(UserWarning, match="too few labels"):
                exec(Ranking.load(name).origin["python"], {})
            again = fake_rank[-1]
            assert np.array_equal(again["X"].values, given["X"].values, equal_nan=True)
            assert np.array_equal(again["y"].values, given["y"].values, equal_nan=True)
            assert again["random_state"] == given["random_state"] == 0


class TestReal:
    """The commands with the real rankers; small forests keep it quick."""

    SMALL = ("--method", "forest", "--set", "n_estimators=8", "--set", "supervision=0.5", "--jobs", "1")

    def test_same_as_in_python(self, folder, call):
        words = ["rank", "fruit.csv", "-t", "fruit", "--seed", "3", *self.SMALL]
        code, out, err = call(*words, "--json", "--out", "r.html")
        assert code == 0, err
        data = semirank.load("fruit.csv", "fruit")
        options = {"method": "forest", "random_state": 3, "n_estimators": 8, "supervision": 0.5}
        expected = semirank.rank(data.X, data.y, **options)
        values = json.loads(out)
        assert values["scores"] == expected.scores.tolist()
        assert list(values["all_scores"]) == ["genie3", "symbolic", "genie3_oob", "rforest"]
        assert values["choice"] == {"supervision": 0.5}
        assert "classification, 2 classes, 12 of 40 rows labelled" in err.splitlines()
        scope = {}
        exec(values["origin"]["python"], scope)
        assert scope["ranking"].scores.tolist() == values["scores"]

    def test_default_is_the_consensus(self, folder, call):
        code, out, err = call("rank", "fruit.csv", "-t", "fruit", "--seed", "3", "--json")
        assert code == 0, err
        data = semirank.load("fruit.csv", "fruit")
        assert json.loads(out)["scores"] == semirank.rank(data.X, data.y, random_state=3).scores.tolist()
        assert json.loads(out)["method"] == "consensus"
        assert "the teacher predicts held-out labels" in err

    @pytest.mark.parametrize("words", [("-i", "genie3"), ("--set", "supervision=0.5")])
    def test_words_of_the_forest_name_it(self, folder, call, words):
        code, out, err = call("rank", "fruit.csv", "-t", "fruit", "-q", *words)
        assert (code, out) == (2, "")
        assert "method='forest'" in err
        assert err.count("\n") == 1

    def test_every_task_says_itself(self, folder, call):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 3))
        rows = [
            f"{a},{b},{c},{a + b},{b - c},{int(a > 0)},{int(b > 0)},{'p/q' if a > 0 else 'r'}" if i < 40
            else f"{a},{b},{c},,,,,"
            for i, (a, b, c) in enumerate(X)
        ]  # fmt: skip
        (folder / "all.csv").write_text("\n".join(["a,b,c,n1,n2,l1,l2,h", *rows]) + "\n")
        (folder / "tree.txt").write_text("p\np/q\nr\n")
        tasks = {
            "regression": ["-t", "n1"],
            "multi-target regression, 2 targets": ["-t", "n?"],
            "multi-label classification, 2 labels": ["-t", "l*"],
            "hierarchical multi-label classification, 3 labels": ["-t", "h", "--hierarchy", "tree.txt"],
        }
        for said, words in tasks.items():
            features = ["--features", "a", "--features", "b", "--features", "c"]
            code, out, err = call("rank", "all.csv", *words, *features, *self.SMALL)
            assert code == 0, err
            assert f"{said}, 40 of 60 rows labelled" in err.splitlines()
            assert out[out.index("rank  feature") :].splitlines()[1].split()[0] == "1"

    def test_too_few_labels_is_said_once(self, folder, call):
        (folder / "few.csv").write_text("\n".join(CSV.splitlines()[:6] + CSV.splitlines()[20:]) + "\n")
        code, _, err = call("rank", "few.csv", "-t", "fruit", "-m", "forest", "--set", "n_estimators=8")
        assert code == 0, err
        assert sum("too few for 4 folds" in line for line in err.splitlines()) == 1
        code, _, err = call("rank", "few.csv", "-t", "fruit")
        assert code == 0, err
        assert sum("a teacher needs 10" in line for line in err.splitlines()) == 1

    @pytest.mark.parametrize(
        ("setting", "words"),
        [
            (
                "supervision_grid=[0, 2]",
                "supervision_grid=[0, 2] must hold one or several numbers in [0, 1].",
            ),
            ("target_weights=[1, 1]", "target_weights has 2 numbers, not 1"),
            ("feature_weights=[1, -1, 1]", "position 1 (from 0) is -1.0."),
            ("n_folds=1", "n_folds=1 must be a whole number of at least 2."),
        ],
    )
    def test_settings_that_cannot_be_meant(self, folder, call, setting, words):
        code, out, err = call("rank", "fruit.csv", "-t", "fruit", "-m", "forest", "-q", "--set", setting)
        assert (code, out) == (2, "")
        assert words in err
        assert err.count("\n") == 1

    def test_unknown_parameter(self, folder, call):
        code, out, err = call("rank", "fruit.csv", "-t", "fruit", "--set", "trees=8", "--quiet")
        assert (code, out) == (2, "")
        assert "'trees'" in err
        assert err.count("\n") == 1


class TestRefusals:
    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ("rank", "Missing argument"),
            ("rank absent.csv -t y", "no file absent.csv"),
            ("rank fruit.csv", "Name the target column"),
            ("rank fruit.csv -t fruut", "fruit"),
            ("rank fruit.csv -t fruit --task regression", "regression"),
            ("rank fruit.csv -t fruit --task nonsense", "nonsense"),
            ("rank fruit.csv -t fruit --method forrest", "forrest"),
            ("rank fruit.csv -t fruit --seed -1", "--seed"),
            ("rank fruit.csv -t fruit --out r.xlsx", "extension must be one of"),
            ("rank fruit.csv -t fruit --out absent/r.json", "does not exist"),
            ("rank fruit.csv -t fruit --set nonsense", "NAME=VALUE"),
            ("rank fruit.csv -t fruit -m forest -i ,", "--importance names nothing, got ','."),
            ("evaluate fruit.csv -t fruit -i ,", "--importance names nothing, got ','."),
            ("evaluate fruit.csv -t fruit -m ,", "--method names nothing, got ','."),
            ("rank fruit.csv -t fruit --labels-from-column fruit", "not both"),
            ("rank fruit.csv --labels-from-column fruit --task regression", "do not fit"),
            ("rank fruit.csv -t fruit --hierarchy absent.txt", "absent.txt"),
            ("rank fruit.csv -t fruit --colour red", "--colour"),
            ("compare fruit.csv", "Missing argument"),
            ("compare fruit.csv fruit.csv", "does not hold a ranking"),
            ("nonsense", "nonsense"),
        ],
    )
    def test_one_line_and_exit_code_2(self, folder, call, fake_rank, words, message):
        code, out, err = call(*words.split())
        assert code == 2
        assert out == ""
        assert err.startswith("error: ")
        assert message in err
        assert err.count("\n") == 1
        assert fake_rank == []

    def test_interrupt_leaves_no_file(self, folder, call, monkeypatch):
        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setitem(vars(semirank), "rank", interrupted)
        code, out, err = call("rank", "fruit.csv", "-t", "fruit", "--out", "r.json")
        assert (code, out) == (130, "")
        assert err.splitlines()[-1].startswith("interrupted")
        assert sorted(p.name for p in folder.iterdir()) == ["fruit.csv"]

    def test_interrupt_does_not_wait_for_a_kernel(self, folder):
        """Compiled code does not listen to Ctrl-C; here a sleep in the ranker's place does not either."""
        code = (
            "import sys, time, semirank\n"
            "def rank(*args, **options):\n"
            "    print('at work', flush=True)\n"
            "    time.sleep(600)\n"
            "vars(semirank)['rank'] = rank\n"
            "sys.argv = ['semirank', 'rank', 'fruit.csv', '-t', 'fruit', '--out', 'r.json']\n"
            "from semirank.cli import main as cli\n"
            "cli.main()\n"
        )
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen([sys.executable, "-c", code], cwd=folder, **pipes) as process:
            assert process.stdout.readline() == "at work\n"
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=300)
        assert process.returncode == 130
        assert err.splitlines()[-1] == "interrupted; no file was left half written."
        assert sorted(p.name for p in folder.iterdir()) == ["fruit.csv"]

    def test_interrupt_passed_on_by_a_kernel(self, capsys):
        def kernel():
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

        assert terminal.run(kernel) == 130
        assert capsys.readouterr().err == "interrupted; no file was left half written.\n"

    def test_a_file_is_finished_before_leaving(self, folder):
        """A cache writes from the working thread; the process ends after the file, not in its middle."""
        code = (
            "import os, threading, time\n"
            "from semirank.cli import terminal\n"
            "from semirank.runtime import atomic_write\n"
            "begun, sync = threading.Event(), os.fsync\n"
            "def slow(file):\n"
            "    begun.set()\n"
            "    time.sleep(0.5)\n"
            "    sync(file)\n"
            "os.fsync = slow\n"
            "def work():\n"
            "    atomic_write.atomic_write('r.json', 'all of it')\n"
            "    time.sleep(600)\n"
            "threading.Thread(target=work, name=terminal.WORKER, daemon=True).start()\n"
            "begun.wait()\n"
            "terminal.leave(130)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, timeout=300)
        assert done.returncode == 130
        assert sorted(p.name for p in folder.iterdir()) == ["fruit.csv", "r.json"]
        assert (folder / "r.json").read_text() == "all of it"

    def test_a_fault_of_ours(self, folder, call, monkeypatch):
        def broken(*_, **__):
            raise KeyError("gone")

        monkeypatch.setitem(vars(semirank), "rank", broken)
        code, _, err = call("rank", "fruit.csv", "-t", "fruit", "-q")
        assert code == 1
        assert "SEMIRANK_DEBUG=1" in err
        monkeypatch.setenv("SEMIRANK_DEBUG", "1")
        monkeypatch.setattr(sys, "argv", ["semirank", "rank", "fruit.csv", "-t", "fruit", "-q"])
        with pytest.raises(KeyError):
            cli.main()

    def test_memory(self, folder, call, monkeypatch):
        def large(*_, **__):
            raise MemoryError

        monkeypatch.setitem(vars(semirank), "rank", large)
        assert call("rank", "fruit.csv", "-t", "fruit", "-q")[::2] == (
            2,
            "error: not enough memory; use fewer rows or features.\n",
        )


class TestDemo:
    def test_demo_writes_its_report(self, folder, call, fake_rank):
        code, out, err = call("demo")
        assert code == 0
        assert "pixel_0_0" in out
        assert err.splitlines()[-1] == "wrote demo-report.html"
        assert "semirank demo" in (folder / "demo-report.html").read_text()
        given = fake_rank[0]
        assert given["X"].shape == (1797, 64)
        assert int(given["y"].labeled.sum()) == 100
        page = (folder / "demo-report.html").read_text()
        code = html.unescape(re.search(r"<pre>(import semirank.*?)</pre>", page, re.DOTALL)[1])
        with pytest.warns(UserWarning, match="too few labels"):
            exec(code, {})
        again = fake_rank[1]
        assert np.array_equal(again["y"].values, given["y"].values, equal_nan=True)
        assert list(again["X"].columns) == list(given["X"].names)


class TestCompare:
    def rankings(self, folder):
        names = tuple(f"x{i}" for i in range(12))
        scores = np.arange(12.0)
        for name, values in (("a", scores), ("b", scores[::-1])):
            Ranking(names=names, scores=values, method="relief", importance="relief").save(
                folder / f"{name}.json"
            )

    def test_table(self, folder, call):
        self.rankings(folder)
        code, out, _ = call("compare", "a.json", "b.json")
        assert code == 0
        assert out.splitlines()[0] == "a.json against b.json, 12 features"
        assert ["Kendall's", "tau-b", "-1.000"] in [line.split() for line in out.splitlines()]
        assert ["1", "12", "x11"] in [line.split() for line in out.splitlines()]

    def test_json(self, folder, call):
        self.rankings(folder)
        code, out, _ = call("compare", "a.json", "a.json", "--json")
        assert code == 0
        assert json.loads(out)["fuji_area"] == 1.0

    def test_different_features(self, folder, call, fake_rank):
        self.rankings(folder)
        assert call("rank", "fruit.csv", "-t", "fruit", "--out", "c.json")[0] == 0
        code, _, err = call("compare", "a.json", "c.json")
        assert code == 2
        assert "different features" in err


class TestDoctor:
    def rank_by(self, best, monkeypatch):
        def rank(X, y, *, method, **_):
            assert np.isnan(y).sum() == 340
            scores = np.zeros(10)
            scores[best] = 1.0
            names = [f"x{i}" for i in range(10)]
            return Ranking(names=names, scores=scores, method=method, importance=method)

        monkeypatch.setitem(vars(semirank), "rank", rank)

    def test_healthy(self, call, monkeypatch):
        self.rank_by([3, 7], monkeypatch)
        code, out, _ = call("doctor")
        assert code == 0
        rows = [line.split() for line in out.splitlines()]
        assert ["numpy", np.__version__] in rows
        assert doctor._version("no-such-package-anywhere") is None
        assert [row[:2] for row in rows if row[-1:] == ["s"]] == [
            ["consensus", "ok"], ["forest", "ok"], ["relief", "ok"], ["laplace", "ok"],
        ]  # fmt: skip

    def test_sick(self, call, monkeypatch):
        self.rank_by([3, 4], monkeypatch)
        code, out, err = call("doctor")
        assert code == 1
        assert "WRONG" in out
        assert "self-test failed" in err


class TestStart:
    def test_help_and_version(self, call):
        code, out, _ = call("--help")
        assert code == 0
        for command in ("rank", "demo", "compare", "doctor", "evaluate", "datasets", "study"):
            assert f"\n  {command} " in out
        assert call()[1] == out
        assert call("--version")[1] == f"semirank {semirank.__version__}\n"
        assert "--labels-from-column" in call("rank", "-h")[1]

    @pytest.mark.parametrize("code", ["import semirank", "import semirank.cli.main"])
    def test_nothing_heavy_is_loaded(self, code):
        heavy = "{'numba', 'sklearn', 'scipy', 'pandas', 'polars', 'matplotlib', 'pyarrow'}"
        script = f"{code}\nimport sys\nprint(sorted({heavy} & set(sys.modules)))"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout == "[]\n"

    def test_help_loads_nothing_heavy(self):
        script = (
            "import sys\nfrom semirank.cli import main as cli\nsys.argv = ['semirank', '--help']\n"
            "try:\n    cli.main()\nexcept SystemExit:\n    pass\n"
            "print(sorted({'numba', 'sklearn', 'scipy', 'numpy'} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"

    def test_closed_pipe_is_no_error(self, folder):
        ranking = Ranking(
            names=[f"x{i}" for i in range(20000)],
            scores=np.arange(20000.0),
            method="relief",
            importance="relief",
        )
        ranking.save(folder / "a.json")
        code = "from semirank.cli.main import main; main()"
        command = f'"{sys.executable}" -c "{code}" compare a.json a.json --json | head -c 10'
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            capture_output=True,
            text=True,
            cwd=folder,
            env=os.environ,
        )
        assert "Traceback" not in done.stderr
        assert done.stdout == '{"kendall"'


class TestTerminal:
    def test_table_on_a_terminal_keeps_brackets(self, monkeypatch):
        stream = io.StringIO()
        stream.isatty = lambda: True
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "80")
        terminal.show_table(["rank", "feature"], [["1", "[bold]a[/bold]"]])
        assert "[bold]a[/bold]" in stream.getvalue()

    def test_says_when_it_compiles(self, monkeypatch, capsys):
        monkeypatch.setattr(jit, "compiled", lambda module: False)
        started = []
        monkeypatch.setattr(precompile, "start_precompiling", started.append)
        precompile.say_if_compiling("auto")
        precompile.say_if_compiling("forest")
        assert started == ["consensus", "forest"]
        assert capsys.readouterr().err == "compiling kernels, once per machine ...\n" * 2
        precompile.say_if_compiling("relief")
        assert len(started) == 2  # which has nothing that comes later
        assert capsys.readouterr().err == "compiling kernels, once per machine ...\n"
        monkeypatch.setattr(jit, "compiled", lambda module: True)
        precompile.say_if_compiling("relief")
        assert capsys.readouterr().err == ""


class TestInput:
    def test_parameters(self):
        assert parameters(["a=1", "b=x=y", "c-d= [1, 2] ", "e=None", "f=false", "g="]) == {
            "a": 1, "b": "x=y", "c_d": [1, 2], "e": None, "f": False, "g": "",
        }  # fmt: skip

    def test_hierarchy_file(self, tmp_path):
        path = tmp_path / "h.txt"
        path.write_text("root,a\na,b\n")
        assert read_hierarchy(path) == [["root", "a"], ["a", "b"]]
        path.write_text("root,a\na\n")
        with pytest.raises(ValueError, match="no parent,child pair"):
            read_hierarchy(path)

    def test_empty_hierarchy_file(self, folder):
        (folder / "h.txt").write_text("\n")
        with pytest.raises(ValueError, match="is empty"):
            read(["fruit.csv"], target=["fruit"], hierarchy=folder / "h.txt")
