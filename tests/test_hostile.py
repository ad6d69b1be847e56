"""Files from everywhere: whatever is in them, reading ends soon with a result or one clear line.

No test here looks at a clock. The sizes are such that work which grows with the square of the size would
not end; `make fuzz` (tools/fuzz.py) does the same for a hundred thousand damaged files.
"""

from __future__ import annotations

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tools import fuzz

from semirank import ForestRanker, Hierarchy, LaplaceRanker, Ranking, ReliefRanker, load
from semirank.runtime import memory as _memory

from .optional import pd

HEADER = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"
TREE = "@relation r\n@attribute a numeric\n@attribute c hierarchical "


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# ---------------------------------------------------------------- long lines, many things

N = 400_000  # characters


def words(n, form="v{}"):
    return ",".join(form.format(i) for i in range(n))


REFUSED = {
    "blanks before a quote": (HEADER + "1," + " " * N + "'x\n", "quotes do not match up"),
    "a quote without an end": (HEADER + "1,'" + "a" * N + "\n", "quotes do not match up"),
    "quotes": (HEADER + "1," + "'" * N + "\n", "quotes do not match up"),
    "backslashes": (HEADER + "1,'" + "\\" * N + "'\n", "no declared value of the attribute 'b'"),
    "quoted cells": (HEADER + "'1'," * (N // 4) + "\n", "100001 values, 2 expected"),
    "blanks between cells": (HEADER + "1 , " * (N // 4) + "\n", "100001 values, 2 expected"),
    "blanks in a sparse row": (HEADER + "{0 '1', " + " " * N + "}\n", "a sparse row is written as"),
    "digits in a sparse row": (HEADER + "{" + "9" * N + " '1'}\n", "a sparse row is written as|outside 0..1"),
    "blanks in a declaration": ("@relation r\n@attribute" + " " * N + "'\n@data\n1\n", "is not '@attribute"),
    "a declared quote": ("@relation r\n@attribute '" + "a" * N + "\n@data\n1\n", "is not '@attribute"),
    "braces": ("@relation r\n@attribute a " + "{" * N + "\n@data\n1\n", "not written as {a,b,c}"),
    "a wrong value among many": (
        f"@relation r\n@attribute a numeric\n@attribute b {{{words(50_000)}}}\n@data\n"
        + "1,v49999\n" * 50_000
        + "1,v\n",
        r"line 50005: 'v' is no declared value",
    ),
    "a wrong number": (HEADER + "1,x\n" * 50_000 + "y,x\n", r"line 50005: 'y' is no number"),
    "a long wrong value": (HEADER + "1," + "z" * N + "\n", r"'z{59}\.\.\. is no declared value"),
    "a deep path": (TREE + "/".join("a" * 100_000) + "\n@data\n1,a\n", "has 100000 parts, more than 1000"),
    "a cycle": (
        TREE + "root/z," + ",".join(f"{i}/{i + 1}" for i in range(20_000)) + ",20000/0\n@data\n1,z\n",
        r"has a cycle, 1 -> 2 -> \.\.\. -> 19999",
    ),
    "names twice": ("@relation r\n" + "@attribute a numeric\n" * 20_000 + "@data\n1\n", "declared twice"),
    "an unknown parent": (
        TREE + "root/a," + words(20_000, "q{0}/c{0}") + "\n@data\n1,a\n",
        "'c0' has the unknown parent 'q0'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, write):
    text, message = REFUSED[case]
    with pytest.raises(ValueError, match=message) as caught:
        load(write("file.arff", text))
    fuzz.check_message(str(caught.value))


REFUSED_TABLES = {
    "one line": ("a," * (N // 2) + "\n", "'a', '' appear|'a' appears more than once"),
    "many cells": ("a,b\n" + "1," * (N // 2) + "\n", "200001 values, 2 expected"),
    "a quote without an end": ('a,b\n1,"' + "x,\n" * (N // 3), "line 2: a cell has more than"),
    "quotes": ("a,b\n" + '"' * N + "\n", "line 2: a cell has more than 131072 characters"),
}


@pytest.mark.parametrize("case", REFUSED_TABLES)
def test_refused_tables(case, write):
    text, message = REFUSED_TABLES[case]
    with pytest.raises(ValueError, match=message) as caught:
        load(write("file.csv", text), -1)
    fuzz.check_message(str(caught.value))


def test_one_long_cell(write):
    data = load(write("file.csv", "a,b\n" + "x" * N + ",p\ny,q\n"), "b")
    assert data.categories == (("x" * N, "y"),)
    for note in (*data.notes, *(column.values for column in data.columns)):
        fuzz.check_message(note)


def test_many_columns(write):
    n = 20_000
    header = "@relation r\n" + "".join(
        f"@attribute k{i} key\n@attribute a{i} numeric\n" for i in range(n // 2)
    )
    data = load(write("wide.arff", header + "@data\n" + ",".join("1" * n) + "\n" + ",".join("2" * n) + "\n"))
    assert data.X.shape == (2, n // 2 - 1)
    table = write("wide.csv", words(n) + "\n" + ",".join("1" * n) + "\n" + ",".join("2" * n) + "\n")
    kept = load(table, "v9", drop="v*8", features="v*[0-8]")
    assert kept.X.shape == (2, n - 2 * n // 10)


def test_many_rows(write):
    data = load(write("long.arff", "% c\n" * 50_000 + HEADER + "\n" * 50_000 + "1,x\n?,y\n" * 30_000))
    assert data.X.shape == (60_000, 1)


def test_deep_hierarchies():
    chain = Hierarchy.from_edges([(None, "0"), *((str(i), str(i + 1)) for i in range(99_999))])
    assert chain.depth == 100_000
    assert chain.weights().min() >= 0
    assert chain.close(np.eye(1, 100_000, 99_999)).sum() == 100_000
    with pytest.raises(ValueError, match=r"cycle, 0 -> 1 -> \.\.\. -> 99997 -> 99998 -> 99999 -> 0"):
        Hierarchy.from_edges([("99999", "0"), *((str(i), str(i + 1)) for i in range(99_999))])


def test_paths_that_imply_too_much(monkeypatch):
    """Many deep paths imply labels whose sizes add up to the square of theirs."""
    monkeypatch.setattr(_memory, "free_memory", lambda: 256 << 20)
    paths = ["/".join(f"{i}x{j}" for j in range(900)) for i in range(200)]
    with pytest.raises(MemoryError, match="The hierarchy's labels would need"):
        Hierarchy.from_paths(paths)


def test_declared_values_cost_nothing():
    """Values that are declared but do not occur change neither the ranking nor much of the time."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, size=60)
    few = pd.Categorical.from_codes(codes, [f"v{i}" for i in range(0, 100_000, 25_000)])
    many = pd.Categorical.from_codes(codes * 25_000, [f"v{i}" for i in range(100_000)])
    y = codes + rng.normal(size=60)
    number = rng.normal(size=60)
    for ranker in (
        ForestRanker(n_estimators=3, supervision=0.5, random_state=0),
        ReliefRanker(),
        LaplaceRanker(),
    ):
        first = ranker.fit(pd.DataFrame({"c": few, "x": number}), y).feature_importances_
        second = ranker.fit(pd.DataFrame({"c": many, "x": number}), y).feature_importances_
        np.testing.assert_allclose(first, second, rtol=1e-12)


# ---------------------------------------------------------------- compressed


def test_gzip_bomb(write, monkeypatch):
    """13 GB of zeros in 13 MB: reading stops at what memory can hold."""
    monkeypatch.setattr(_memory, "free_memory", lambda: 512 << 20)
    bomb = gzip.compress(bytes(64 << 20)) * 200
    for name in ("bomb.arff.gz", "bomb.csv.gz", "bomb.csv"):
        with pytest.raises(
            MemoryError, match=rf"^Reading {name} \(48 MiB of it so far\) would need about 720.0 MiB"
        ):
            load(write(name, bomb), -1)
    # Where the name does not tell the format, the beginning does, and no more is unpacked.
    with pytest.raises(ValueError, match=r"^Cannot tell the format of bomb;"):
        load(write("bomb", bomb), -1)


@pytest.mark.parametrize(
    "damage", [lambda d: d[:-9], lambda d: d[:15] + b"xxxx" + d[19:], lambda d: d[:2] + b"junk"]
)
def test_damaged_gzip(write, damage):
    with pytest.raises(ValueError, match="is a damaged gzip file"):
        load(write("a.arff.gz", damage(gzip.compress((HEADER + "1,x\n2,y\n").encode()))))


# ---------------------------------------------------------------- encodings and line ends

TEXT = "size,farbe,y\n1,grün,a\n2,'rot',b\n"


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(write, encoding, ends):
    path = write("t.csv", TEXT.replace("\n", ends).encode(encoding))
    data = load(path, "y")
    assert data.X.categories[1] == ("'rot'", "grün")
    assert data.X.names == ("size", "farbe")
    path = write("t.arff", (HEADER.replace("x", "ü") + "1,ü\n2,y\n").replace("\n", ends).encode(encoding))
    assert load(path).target.classes.tolist() == ["ü", "y"]


def test_big_endian(write):
    assert load(write("t.csv", b"\xfe\xff" + TEXT.encode("utf-16-be")), "y").X.categories[1] == (
        "'rot'",
        "grün",
    )


def test_nul_bytes(write):
    data = load(write("t.csv", "a,b,y\n1,x\0,p\n2,\0,q\n"), "y")
    assert data.X.categories[1] == ("\0", "x\0")
    with pytest.raises(ValueError, match=r"line 5: '1\\x00' is no number"):
        load(write("t.arff", HEADER + "1\0,x\n"))


def test_mixed_quoting(write):
    rows = """1,'a b'\n2,"a b"\n3,a b\n4,'a\\' b'\n"""
    text = "@relation r\n@attribute n numeric\n@attribute \"a'b\" {'a b',\"a' b\"}\n@data\n" + rows
    assert load(write("t.arff", text), 0).X.values.ravel().tolist() == [0, 0, 0, 1]


# ---------------------------------------------------------------- anything at all

some_text = st.text(st.sampled_from("ab1.,;'\"{}?%@/\\ \t\n\r\0é-e_"), max_size=200)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    some_text,
    st.sampled_from(["arff", "csv", "tsv", "rows", "txt", "json", "fimp", "scores"]),
    st.integers(0, 2),
)
@example("", "csv", 0)
@example("\ufeff", "csv", 0)
def test_any_text(tmp_path, text, form, target):
    """Plain text, or text as the rows below a good header."""
    if form == "rows":
        case = fuzz.Case("data", "arff", (HEADER + text).encode(), {"targets": target % 2}, False)
    elif form == "txt":
        case = fuzz.Case("hierarchy", form, text.encode(), {}, False)
    elif form in ("json", "fimp", "scores"):
        case = fuzz.Case("ranking", form.replace("scores", "csv"), text.encode(), {}, False)
    else:
        case = fuzz.Case("data", form, text.encode(), {"targets": target}, False)
    assert fuzz.run_case(case, tmp_path).startswith(case.kind)


labels = st.sampled_from("abcdef") | st.none()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(labels, labels))
    | st.dictionaries(st.sampled_from("abcdef"), labels | st.lists(labels))
)
def test_any_hierarchy(given_as):
    try:
        tree = Hierarchy.coerce(given_as)
    except (ValueError, TypeError) as error:
        fuzz.check_message(str(error))
        return
    for label, above in enumerate(tree.parents):
        assert all(tree.levels[p] < tree.levels[label] for p in above)


cells = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Z"]), min_size=1, max_size=5)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(cells, st.floats(allow_nan=False, allow_infinity=False)), min_size=2, max_size=8),
    st.sampled_from(",;\t|"),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_tables_come_back(tmp_path, rows, delimiter, quoting, ends):
    """A table that Python's csv module writes, in any dialect, is the one that is read."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, quoting=quoting, lineterminator=ends)
    writer.writerow(["word", "number", "y"])
    writer.writerows([f"w{word}", number, i] for i, (word, number) in enumerate(rows))
    path = tmp_path / "table.csv"
    path.write_bytes(buffer.getvalue().encode())
    data = load(path, "y", task="regression")
    assert data.X.values[:, 1].tolist() == [number for _, number in rows]
    assert [data.X.categories[0][int(code)] for code in data.X.values[:, 0]] == [
        f"w{word}" for word, _ in rows
    ]


@pytest.mark.parametrize("block", range(4))
def test_the_fuzzer_itself(block, tmp_path):
    """The first inputs of a run; what comes out depends on the seed alone."""
    seeds = fuzz.own_seeds()
    found = []
    for number in range(100 * block, 100 * (block + 1)):
        case = fuzz.make_case(1, number, seeds, [])
        assert case == fuzz.make_case(1, number, seeds, [])
        found.append(fuzz.run_case(case._replace(through_cli=False), tmp_path))
    assert len(set(found)) >= 4


# ---------------------------------------------------------------- the largest ones


@pytest.mark.slow
def test_50_megabytes_in_a_line(write):
    million = 10**6
    with pytest.raises(ValueError, match="25000001 values, 2 expected"):
        load(write("line.arff", HEADER + "1," * (25 * million) + "\n"))
    with pytest.raises(ValueError, match="quotes do not match up"):
        load(write("line.arff", HEADER + "1," + " " * (50 * million) + "'\n"))
    with pytest.raises(ValueError, match="more than once"):
        load(write("line.csv", "a," * (25 * million)), 0)


@pytest.mark.slow
def test_100_000_attributes(write):
    n = 100_000
    header = "@relation r\n" + "".join(f"@attribute a{i} numeric\n" for i in range(n))
    data = load(write("wide.arff", header + "@data\n" + ",".join("1" * n) + "\n" + ",".join("2" * n) + "\n"))
    assert data.X.shape == (2, n - 1)
    assert load(write("sparse.arff", header + "@data\n" + "{0 1, 5 2}\n" * 50)).X.shape == (50, n - 1)


@pytest.mark.slow
def test_1_000_000_values(write):
    header = (
        f"@relation r\n@attribute a numeric\n@attribute b {{{words(10**6)}}}\n@attribute y numeric\n@data\n"
    )
    rows = "".join(f"{i},v{i * 7919 % 10**6},{i % 13}\n" for i in range(2000))
    data = load(write("values.arff", header + rows))
    assert data.X.n_values.tolist() == [0, 10**6]
    for ranker in (ReliefRanker(), LaplaceRanker()):
        assert np.isfinite(ranker.fit(data.X, data.target).feature_importances_).all()


def test_saved_rankings_of_any_depth(tmp_path):
    path = tmp_path / "deep.json"
    path.write_text("[" * 200_000)
    with pytest.raises(ValueError, match="nested too deeply"):
        Ranking.load(path)
