"""Text tables: widths, sides, and what is safe to print."""

from __future__ import annotations

import numpy as np

from semirank.results.text_table import aligned, bar, clipped, four_digits, printable, text_table


def test_columns_are_as_wide_as_their_widest_cell_and_lines_end_with_text():
    found = text_table(["n", "name", ""], [["1", "a", "x"], ["100", "long name", ""]], right={0})
    assert found.split("\n") == ["  n  name", "  1  a          x", "100  long name"]


def test_a_table_without_rows_is_its_header():
    assert text_table(["a", "b"], []) == "a  b"


def test_numbers_have_point_under_point():
    texts = aligned(np.array([1.5, 22.25, 3.0, np.nan]))
    assert [text.rstrip() for text in texts] == ["1.5", "22.25", "3", ""]
    width = max(map(len, texts))
    places = [text.rjust(width).find(".") for text in texts if "." in text]
    assert len(set(places)) == 1


def test_cells():
    assert four_digits(0.123456) == "0.1235"
    assert four_digits(np.float64("nan")) == ""
    assert four_digits(15) == "15"
    assert clipped("x" * 50) == "x" * 47 + "…"
    assert clipped("x" * 48) == "x" * 48
    assert printable("a\x1b[31m\n") == "a\N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}"
    assert [bar(share) for share in (-1.0, 0.0, 0.5, 1.0)] == ["", "", "█" * 10, "█" * 20]
    assert bar(1 / 160) == "▏"
