"""Loading executes nothing, writing leaves no half files, reports run nothing."""

from __future__ import annotations

import ast
import os
import pickle
import re
import stat
from pathlib import Path

import numpy as np
import pytest

import semirank
from semirank import Ranking, load
from semirank.cli.input import parameters
from semirank.runtime.atomic_write import atomic_write

from .optional import needs_pyarrow

SOURCES = sorted(Path(semirank.__file__).parent.rglob("*.py"))
# Messages between a study and the worker processes that it starts itself, over their pipes: no file.
PIPES = {"local_workers"}
FORBIDDEN = {"eval", "exec", "compile", "joblib.load", "joblib.dump", "os.system", "tempfile.mktemp"}
LOADERS = {"pickle", "cPickle", "cloudpickle", "dill", "marshal", "shelve", "yaml"}


def names_in(path: Path) -> tuple[set[str], set[str]]:
    """Modules that a source file imports, and names of the functions that it calls."""
    modules, calls = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Call):
            calls.add(ast.unparse(node.func))
    return modules, calls


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_format_of_ours_executes(path):
    modules, calls = names_in(path)
    assert not modules & LOADERS or path.stem in PIPES
    assert not calls & {
        "eval",
        "exec",
        "compile",
        "joblib.load",
        "joblib.dump",
        "os.system",
        "tempfile.mktemp",
    }
    text = path.read_text(encoding="utf-8")
    assert "shell=True" not in text
    assert not re.search(r"allow_pickle\s*=\s*True", text)


class Bomb:
    """Pickled, it would make a file when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("suffix", ["json", "csv", "fimp"])
def test_pickles_are_no_rankings(tmp_path, suffix):
    trace = tmp_path / "executed"
    path = tmp_path / f"r.{suffix}"
    path.write_bytes(pickle.dumps(Bomb(trace)))
    with pytest.raises(ValueError):
        Ranking.load(path)
    assert not trace.exists()


@pytest.mark.parametrize("suffix", ["arff", "csv", pytest.param("parquet", marks=needs_pyarrow)])
def test_pickles_are_no_data(tmp_path, suffix):
    trace = tmp_path / "executed"
    path = tmp_path / f"d.{suffix}"
    path.write_bytes(pickle.dumps(Bomb(trace)))
    with pytest.raises(ValueError):
        load(path, 0)
    assert not trace.exists()


CODE = "__import__('os').mkdir('executed')"


def test_text_that_looks_like_code_is_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text(f'a,"{CODE}",y\n1,"{CODE}",p\n2,b,q\n')
    data = load("d.csv", "y")
    assert data.X.names == ("a", CODE)
    ranking = Ranking(names=(CODE, "b"), scores=np.array([0.5, 0.25]), method="relief", importance="relief")
    for suffix in ("json", "csv", "fimp"):
        ranking.save(f"r.{suffix}")
        assert Ranking.load(f"r.{suffix}").names == (CODE, "b")
    assert parameters([f"n_estimators={CODE}"]) == {"n_estimators": CODE}
    assert parameters(["a=" + "(" * 100_000]) == {"a": "(" * 100_000}
    assert not Path("executed").exists()


class TestWriteWhole:
    def test_an_interruption_leaves_the_old_file(self, tmp_path, monkeypatch):
        path = tmp_path / "r.json"
        path.write_text("old")

        def no_disk(_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", no_disk)
        with pytest.raises(OSError, match="No space"):
            atomic_write(path, "new")
        assert path.read_text() == "old"
        assert [p.name for p in tmp_path.iterdir()] == ["r.json"]

    def test_the_draft_lies_beside_the_target_under_a_new_name(self, tmp_path, monkeypatch):
        seen = []
        replace = os.replace
        monkeypatch.setattr(os, "replace", lambda a, b: (seen.append(Path(a)), replace(a, b))[1])
        for _ in range(3):
            atomic_write(tmp_path / ("n" * 250), "x")  # as long as a name may be: the draft's is not longer
        assert len(set(seen)) == 3
        assert {draft.parent for draft in seen} == {tmp_path}

    @pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
    def test_permissions_are_the_usual_ones(self, tmp_path):
        old = os.umask(0o027)
        try:
            atomic_write(tmp_path / "r.json", "x")
        finally:
            os.umask(old)
        assert stat.S_IMODE((tmp_path / "r.json").stat().st_mode) == 0o640


def test_reports_are_inert(tmp_path):
    evil = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
    ranking = Ranking(
        names=(evil, "b"),
        scores=np.array([0.5, 0.25]),
        method="relief",
        importance="relief",
        target_names=(evil,),
        per_target=np.array([[0.5], [0.25]]),
        notes=[evil],
        origin={"command": evil, "python": evil},
        settings={"hierarchy": evil},
    )
    ranking.save(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page)
