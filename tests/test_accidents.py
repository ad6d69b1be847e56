"""Accidents of tables: none changes a ranking without a word, and every handler is needed for that."""

from __future__ import annotations

import re

import pytest
from tools import accidents

from semirank.base import estimator
from semirank.data import (
    cell_kinds,
    dataset,
    encode_features,
    given_target,
    odd_features,
    read_cells,
    read_csv,
    read_files,
    summary,
    word_columns,
)

NEVER = re.compile("(?!)")


def nothing(*_, **__):
    return []


def same(first, *_):
    return first


# What is switched off, what stands in for it, and the kind of accident that must then be noticed.
HANDLERS = {
    "the list of missing words": (read_files, "MISSING", frozenset([""]), "missing_words"),
    "further missing words": (dataset, "_words", lambda _: frozenset(), "further_missing_word"),
    "a few words among numbers": (word_columns, "MAX_WORDS", 0.0, "stray_words"),
    "saying which words": (word_columns, "_words_missing", lambda *_: "holds words", "stray_words"),
    "saying why a column stays text": (word_columns, "_why_text", lambda *_: (), "many_words"),
    "codes": (word_columns, "_why_text", lambda *_: (), "chromosomes"),
    "columns that are numeric": ((read_files, dataset), "find_columns", nothing, "forced_kinds"),
    "decimal commas": (word_columns, "_decimal_mark", lambda *_: (".", ()), "decimal_commas"),
    "digits in groups": (cell_kinds, "_SPACED", NEVER, "thousands"),
    "commas in groups": (cell_kinds, "_COMMA_GROUPS", NEVER, "thousands"),
    "dots in groups": (cell_kinds, "_DOT_GROUPS", NEVER, "thousands"),
    "minus signs": (cell_kinds, "_MINUS", NEVER, "odd_spellings"),
    "percent signs and currencies": (word_columns, "without_sign", lambda word: (word, ""), "signs"),
    "units": (odd_features, "holds_number", lambda word: False, "units"),
    "numbers beyond 2^53": (word_columns, "_rounded", lambda _: (), "long_integers"),
    "numbers for missing values": (odd_features, "_STAND_INS", (), "sentinels"),
    "dates": (word_columns, "date_reader", lambda _: (lambda word: None, False), "days"),
    "the delimiter": (read_csv, "_delimiter", lambda _: ",", "dialects"),
    "Excel's first line": (read_csv, "_EXCEL_DELIMITER", NEVER, "excel_line"),
    "comments": (read_csv, "COMMENT", "\0", "comments"),
    "rows that begin as comments": (read_cells, "COMMENT", "\0", "commented_rows"),
    "names in a comment": (read_csv, "_is_header", lambda *_: False, "header_in_comment"),
    "delimiters behind rows": (read_cells, "_fitted", lambda *_: None, "empty_ends"),
    "names of rows": (read_cells, "_has_row_names", lambda *_: False, "row_names"),
    "names that are numbers": (read_cells, "_looks_like_a_row", lambda *_: False, "no_header"),
    "quotation marks": (read_csv, "_quote_is_open", lambda *_: False, "broken_rows"),
    "identifiers": (odd_features, "_names_of_rows", nothing, "identifiers"),
    "values that look alike": (odd_features, "look_alikes", nothing, "alike_values"),
    "missing words in targets": (read_files, "MISSING", frozenset([""]), "missing_targets"),
    "words that may mean unlabelled": (summary, "doubtful", nothing, "doubtful_targets"),
    "unlabelled as text or number": (given_target, "same", lambda a, b: a is b, "doubtful_targets"),
    "unlabelled that never occurs": (dataset, "_hide_unlabeled", same, "unlabeled_that_never_occurs"),
    "classes that look alike": (summary, "look_alikes", nothing, "alike_classes"),
    "words among target numbers": (word_columns, "MAX_WORDS", 0.0, "words_in_number_targets"),
    "frames of other libraries": ((estimator, encode_features), "native_frame", same, "frames"),
    "the order of rows": (estimator, "align_rows", lambda X, y, notes=None: y, "orders"),
    "text in frames": (encode_features, "value_remarks", nothing, "words_in_frames"),
    "missing words in arrays": (given_target, "MISSING", frozenset(), "words_in_arrays"),
}  # fmt: skip


@pytest.mark.parametrize("kind", accidents.available())
def test_no_accident_is_silent(kind):
    assert accidents.run(7, range(4), [kind]) == {}


@pytest.mark.parametrize("handler", HANDLERS)
def test_without_a_handler_one_is(handler, monkeypatch):
    where, name, other, kind = HANDLERS[handler]
    if kind not in accidents.available():
        pytest.skip(f"{kind} needs a library")
    for module in where if isinstance(where, tuple) else (where,):
        monkeypatch.setattr(module, name, other)
    assert any(accidents.run(7, range(start, start + 5), [kind]) for start in range(0, 40, 5))


def test_every_kind_has_a_handler():
    # Excel files have a reader, and names that occur twice are refused in more than one place.
    assert {kind for *_, kind in HANDLERS.values()} | {"excel", "twin_names"} == {*accidents.KINDS}


def test_what_counts_as_silent(tmp_path):
    ranking = accidents.from_file("a,y\n1,p\n2,q\n3,p\n", target="y")
    other = accidents.from_file("a,y\n3,p\n2,q\n3,p\n", target="y")
    refused = accidents.from_file("a,y\n", target="y")
    make = accidents.Accident
    assert accidents.fault_of(make("", ranking, ranking), tmp_path) == ""
    assert "another ranking" in accidents.fault_of(make("", ranking, other), tmp_path)
    assert "not named" in accidents.fault_of(make("", ranking, other, same=False, named=("'b'",)), tmp_path)
    assert "refused" in accidents.fault_of(make("", refused, ranking), tmp_path)
    assert accidents.fault_of(make("", ranking, refused, same=False, named=("no rows",)), tmp_path) == ""
