"""ARFF dialects, and what a malformed file is told."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semirank.data import read_text as text
from semirank.data.read_arff import read_arff
from semirank.runtime import memory as _memory

HEADER = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="file.arff"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def cells(arff):
    return [[None if np.isnan(v) else v for v in column.values] for column in arff.columns]


def test_dense(write):
    arff = read_arff(write(HEADER + "1.5,y\n?,x\n-2e3,?\n"))
    assert arff.names == ("a", "b")
    assert [(c.kind, c.categories) for c in arff.columns] == [("number", None), ("category", ("x", "y"))]
    assert cells(arff) == [[1.5, None, -2000.0], [1.0, 0.0, None]]


def test_header_dialects(write):
    arff = read_arff(
        write(
            """% a comment
@RELATION 'two words'

@Attribute 'with space' REAL
@ATTRIBUTE "double \\"quoted\\"" Integer [1, 10]
@attribute\ttabbed\tnumeric % why
@attribute glued{no, yes,'may be' , "it's"}
@attribute don't {1,2}
@attribute text string
@attribute '{' numeric
@inputs whatever
@DATA
"""
        )
    )
    assert arff.names == ("with space", 'double "quoted"', "tabbed", "glued", "don't", "text", "{")
    assert arff.columns[3].categories == ("no", "yes", "may be", "it's")
    assert cells(arff) == [[]] * 7


def test_data_dialects(write):
    arff = read_arff(
        write(
            "@relation r\n@attribute n numeric\n@attribute c {'a b','c,d',\"it's\",e}\n@attribute s string\n"
            "@data\n% comment\n\n1, 'a b' , one\n2,'c,d','two, or \\'three\\''\n 3 ,\"it's\",\"o\"  \n"
            "4,e,? \n5,e,one % why\n"
        )
    )
    assert arff.columns[2].categories == ("o", "one", "two, or 'three'")
    assert cells(arff) == [[1, 2, 3, 4, 5], [0, 1, 2, 3, 3], [1, 2, 0, None, 1]]


def test_blanks_for_commas(write):
    assert cells(read_arff(write(HEADER + "1 y\n2\tx\n"))) == [[1, 2], [1, 0]]


@pytest.mark.parametrize(
    "data",
    [
        HEADER.encode() + b"1,y\n",
        b"\xef\xbb\xbf" + HEADER.encode() + b"1,y",
        HEADER.replace("\n", "\r\n").encode() + b"1,y\r\n",
        HEADER.replace("\n", "\r").encode() + b"1,y\r",
        gzip.compress(HEADER.encode() + b"1,y\n", mtime=0),
    ],
)
def test_encodings(write, data):
    assert cells(read_arff(write(data))) == [[1.0], [1.0]]


def test_latin_1(write):
    text = "@relation r\n@attribute größe {klein,groß}\n@data\ngroß\n"
    for encoding in ("utf-8", "latin-1"):
        arff = read_arff(write(text.encode(encoding)))
        assert arff.names == ("größe",)
        assert cells(arff) == [[1.0]]


def test_unicode_line_signs_do_not_break_lines(write):
    arff = read_arff(write("@relation r\n@attribute t string\n@data\n'a\u2028b'\nc\x85d\n"))
    assert arff.columns[0].categories == ("a\u2028b", "c\x85d")


def test_sparse(write):
    header = (
        "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute 'c d' {'u v',w}\n"
        "@attribute s string\n@data\n"
    )
    body = "{0 2.5,1 y}\n{}\n{ 2 w , 0 ? }\n{2 'u v',3 'some, text'}\n{1 ?}\n"
    expected = [[2.5, 0, None, 0, 0], [1, 0, 0, 0, None], [0, 0, 1, 0, 0], [None, None, None, 0, None]]
    assert cells(read_arff(write(header + body))) == expected
    shifted = body.replace("3 '", "4 '").replace("2 '", "3 '").replace("2 w", "3 w")
    shifted = (
        shifted.replace("1 y", "2 y")
        .replace("{1 ?", "{2 ?")
        .replace("{0 2.5", "{1 2.5")
        .replace("0 ?", "1 ?")
    )
    assert cells(read_arff(write(header + shifted), sparse_base=1)) == expected


def test_tree(write):
    arff = read_arff(
        write(
            "@relation r\n@attribute a real\n@attribute class hierarchical 1,1/2,3/4,1\n"
            "@data\n1,1/2@3/4\n2,?\n3,1\n"
        )
    )
    assert arff.hierarchies["class"].labels == ("1", "1/2", "3", "3/4")
    assert (arff.columns[1].kind, arff.columns[1].categories) == ("text", ("1", "1/2@3/4"))
    assert arff.skip == {1: "is a set of labels"}
    assert cells(arff)[1] == [1.0, None, 0.0]


def test_dag(write):
    arff = read_arff(
        write("@relation r\n@attribute class hierarchical root/a, root/b, a/c, b/c, c/d\n@data\nc\na@b\n")
    )
    tree = arff.hierarchies["class"]
    assert tree.labels == ("a", "b", "c", "d")
    assert tree.parents == ((), (), (0, 1), (2,))


def test_key(write):
    assert read_arff(write("@relation r\n@attribute id key\n@data\nq7\n")).skip == {0: "names the rows"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "1,y\n1,y,3\n", "file.arff, line 6: 3 values, 2 expected"),
        (HEADER + "\n% c\n1\n", "file.arff, line 7: 1 values, 2 expected"),
        (HEADER + "1,y\n2,z\n", "file.arff, line 6: 'z' is no declared value of the attribute 'b'"),
        (HEADER + "1,y\nabc,x\n", "file.arff, line 6: 'abc' is no number .attribute 'a'"),
        (HEADER + "1_2,x\n", "line 5: '1_2' is no number"),
        (HEADER + "1,'y\n", "file.arff, line 5: the quotes do not match up"),
        (HEADER + "{0 1,1 z}\n", "line 5: 'z' is no declared value"),
        (HEADER + "{0 abc}\n", "line 5: 'abc' is no number"),
        (HEADER + "{0 1_2}\n", "line 5: '1_2' is no number"),
        (HEADER + "{0 1}\n{2 1}\n", r"line 6: position 2 is outside 0\.\.1 .sparse_base=0"),
        (HEADER + "{0 1\n", "line 5: a sparse row is written as"),
        (HEADER + "{0 1}\n1,y\n", "line 6: a sparse row is written as"),
        (HEADER + "{zero 1}\n", "line 5: a sparse row"),
        (HEADER + "{0 1,}\n", "line 5: a sparse row"),
        (HEADER + "{0 'x}\n", "line 5: a sparse row"),
        ("@relation r\n@attribute a date\n@data\n", "line 2: the attribute 'a' is a date"),
        ("@relation r\n@attribute a relational\n@data\n", "'a' has the unknown type 'relational'"),
        ("@relation r\n@attribute a\n@data\n", "'a' has the unknown type ''"),
        ("@relation r\n@attribute 'a numeric\n@data\n", "is not '@attribute name type'"),
        ("@relation r\n@attribute a {x,y\n@data\n", "values of 'a' are not written as"),
        ("@relation r\n@attribute a {x,'y}\n@data\n", "values of 'a' are not written as"),
        (
            "@relation r\n@attribute a real\n@attribute a real\n@data\n",
            "line 3: the attribute 'a' is declared twice",
        ),
        ("@relation r\n@data\n1\n", "line 2: @data comes before any @attribute"),
        ("@relation r\n@attribute a real\n", "no @data line"),
        ("@relation r\n@attribute a real\n1,2\n", "line 3: '1,2' is no ARFF declaration"),
        ("@relation r\n@attribute c hierarchical root/a,b/c\n@data\n", "line 2: .*unknown parent 'b'"),
        ("@relation r\n@attribute c hierarchical\n@data\n", "line 2: The hierarchy has no labels"),
    ],
)
def test_malformed(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_arff(write(text))


def test_near_values_are_suggested(write):
    with pytest.raises(ValueError, match=r"'postive' is no declared value .* \(did you mean 'positive'\?\)"):
        read_arff(write("@relation r\n@attribute c {positive,negative}\n@data\npostive\n"))


def test_sparse_base_is_checked(write):
    with pytest.raises(ValueError, match=r"0 \(Weka\) or 1 \(CLUS\)"):
        read_arff(write(HEADER), sparse_base=2)
    with pytest.raises(ValueError, match=r"outside 1\.\.2"):
        read_arff(write(HEADER + "{0 1}\n"), sparse_base=1)


def test_too_large_a_sparse_file(write, monkeypatch):
    monkeypatch.setattr(_memory, "_ALWAYS", 0)
    monkeypatch.setattr(_memory, "free_memory", lambda: 10)
    monkeypatch.setattr(text, "_PER_BYTE", 0)
    with pytest.raises(MemoryError, match=r"file.arff of shape \(1, 2\), made dense, would need"):
        read_arff(write(HEADER + "{0 1}\n"))


values = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=6
)


def quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@settings(max_examples=80, deadline=None)
@given(
    st.lists(values.map(str.strip).filter(lambda v: v not in ("", "?")), min_size=1, max_size=5, unique=True),
    st.data(),
)
def test_quoted_values_survive(tmp_path_factory, declared, data):
    """Written by the rules of the format, any text comes back, dense or sparse."""
    rows = data.draw(st.lists(st.sampled_from([*declared, None]), max_size=6))
    nominal = f"@attribute {quote(declared[0])} {{{','.join(map(quote, declared))}}}"
    header = f"@relation r\n{nominal}\n@attribute number real\n@data\n"
    path = tmp_path_factory.mktemp("arff") / "f.arff"
    written = ["?" if v is None else quote(v) for v in rows]
    for body in ("".join(f"{v},1\n" for v in written), "".join(f"{{0 {v},1 1}}\n" for v in written)):
        path.write_text(header + body, encoding="utf-8")
        arff = read_arff(path)
        assert arff.names[0] == declared[0]
        assert arff.columns[0].categories == tuple(declared)
        back = [None if np.isnan(v) else declared[int(v)] for v in arff.columns[0].values]
        assert back == rows
        assert (arff.columns[1].values == 1).all()
