"""`semirank describe`, and what rankings keep of the columns they were made from."""

from __future__ import annotations

import json

import pytest

import semirank as sr

from ..optional import needs_pandas, pd

ROWS = [
    (
        f"n{i}",
        str(1000 + 7 * i),
        f"{i % 5},5",
        ("red", "Red", "blue")[i % 3],
        str(i % 3),
        ("p", "q", "")[i % 3],
    )
    for i in range(60)
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A file with decimal commas, a word among numbers, an identifier, and look-alikes."""
    monkeypatch.chdir(tmp_path)
    rows = [list(row) for row in ROWS]
    rows[4][1] = "<35"
    rows[7][4] = "-9"
    text = "\n".join(map(";".join, [["id", "mass", "size", "colour", "count", "y"], *rows]))
    (tmp_path / "f.csv").write_text(text + "\n")
    return tmp_path


def odd(out):
    return {row["name"]: row["odd"] for row in json.loads(out)}


@pytest.mark.parametrize("target", [(), ("--target", "y")])
def test_every_column(folder, call, target):
    code, out, err = call("describe", "f.csv", *target)
    assert code == 0
    assert out.startswith("Warning: ") == bool(target)  # the colour and the count tell the class
    lines = out[out.index("column  ") :].splitlines()
    assert lines[0].split() == ["column", "role", "kind", "values", "missing", "odd"]
    assert len(lines) == 7
    assert "'mass' is read as numbers; 1 of its 60 values is no number" in err
    assert "'<35' (1 time, first in line 6)" in err
    code, out, _ = call("describe", "f.csv", *target, "--json")
    said = odd(out)
    assert "tells every row from all others" in said["id"]
    assert "--nominal mass" in said["mass"]
    assert "decimal commas" in said["size"]
    assert "'Red', 'red'" in said["colour"]
    assert "use --missing -9" in said["count"]
    rows = {row["name"]: row for row in json.loads(out)}
    assert (rows["y"]["role"], rows["y"]["missing"]) == ("target" if target else "", 20)
    assert rows["mass"]["missing"] == 1


def test_options_settle_it(folder, call):
    options = ("--nominal", "mass", "--missing", "-9", "--decimal", ",", "--drop", "id", "--unlabeled", "q")
    code, out, _ = call("describe", "f.csv", "--target", "y", "--json", *options)
    rows = {row["name"]: row for row in json.loads(out)}
    assert (rows["mass"]["kind"], rows["count"]["missing"], rows["id"]["role"]) == ("nominal", 1, "left out")
    assert rows["y"]["missing"] == 40
    code, out, _ = call("describe", "f.csv", "--numeric", "colour")
    assert code == 2
    code, _, err = call("describe", "f.csv", "--drop", "id")
    assert (code, err.splitlines()[-1][:40]) == (2, "error: --drop goes with --target; withou")


def test_only_odd_ones_and_quiet(folder, call):
    (folder / "g.csv").write_text("a,b,y\n1,u,p\n1,v,q\n")
    code, out, err = call("describe", "g.csv", "--odd", "--quiet")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == ["column", "a"]
    assert "is constant and cannot matter" in out


def test_infinity_is_shown_and_refused_later(folder, call):
    (folder / "g.csv").write_text("a,y\n1,p\ninf,q\n")
    _, out, _ = call("describe", "g.csv")
    assert "holds infinity, which is refused" in out
    code, _, err = call("describe", "g.csv", "--target", "y")
    assert code == 2
    assert "Column 'a' contains infinity" in err


def test_rank_says_it_in_a_line_and_in_the_report(folder, call):
    code, _, err = call("rank", "f.csv", "-t", "y", "-m", "relief", "-o", "r.html", "-o", "r.json")
    assert code == 0
    assert "2 numeric and 2 nominal features" not in err
    assert "3 numeric and 2 nominal features, 1 value missing, 5 columns with something odd" in err
    page = (folder / "r.html").read_text()
    assert "<h2>Columns</h2>" in page
    assert "&#x27;&lt;35&#x27; (1 time, first in line 6)" in page or "&lt;35" in page
    kept = sr.Ranking.load("r.json")
    assert [column["name"] for column in kept.columns][-1] == "y"
    assert "for y (classification: p 20, q 20)" in kept.summary()


@needs_pandas
def test_frames_have_columns_too():
    frame = pd.DataFrame(ROWS, columns=["id", "mass", "size", "colour", "count", "y"])
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(range(60), unit="D")
    ranking = sr.rank(frame, target="y", method="relief")
    found = {column["name"]: column for column in ranking.columns}
    assert found["day"]["odd"].startswith("holds dates, read as days since 1970-01-01")
    assert found["mass"]["odd"].endswith("if they are quantities")
    assert found["y"] == {
        "name": "y", "role": "target", "kind": "nominal", "values": "2: p, q", "missing": 20, "odd": "",
    }  # fmt: skip
    numbers = sr.rank(frame[["day"]], frame["mass"].astype(float), method="relief")
    assert numbers.columns[-1]["values"] == "1000 to 1413"
    labels = sr.rank(frame[["day"]], [{"u", "v"} if i % 2 else {"v"} for i in range(60)], method="relief")
    assert labels.columns[-1]["values"] == "2: u, v"
