"""Columns of words in CSV files and spreadsheets: numbers, spellings, dates, missing words, identifiers."""

from __future__ import annotations

import csv
import datetime
import io
import random

import numpy as np
import pytest

from semirank.data.column_summary import count_kinds
from semirank.data.dataset import load
from semirank.data.missing_words import MISSING
from semirank.data.read_cells import WIDE

from ..optional import needs_pandas, optional, pd

openpyxl = optional("openpyxl")


@pytest.fixture
def write(tmp_path):
    def write(text, name="f.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def rows_with(words, n=100):
    """A CSV file with a column of n numbers, some of which are replaced by words."""
    cells = [str(1000 + 7 * i) for i in range(n)]
    for place, word in words.items():
        cells[place] = f'"{word}"' if "," in word else word
    return "size,y\n" + "".join(f"{cell},{'ab'[i % 2]}\n" for i, cell in enumerate(cells))


def said(data, *parts):
    return [note for note in data.notes if all(part in note for part in parts)]


class TestNumbersWithWords:
    @pytest.mark.parametrize("word", ["-", "none", "<35", "see note", "#5", "1_0"])
    def test_a_few_words_are_missing_and_named(self, write, word):
        data = load(write(rows_with({3: word, 50: word})), "y")
        assert data.categories == (None,)
        assert np.flatnonzero(np.isnan(data.X.values[:, 0])).tolist() == [3, 50]
        assert said(data, "'size' is read as numbers; 2 of its 100", f"{word!r} (2 times, first in line 5)")
        assert "--nominal size" in said(data, "is read as numbers")[0]
        assert data.columns[0].missing == 2
        assert word in data.columns[0].odd

    @pytest.mark.parametrize("word", sorted(MISSING - {""}))
    def test_words_of_the_list_are_missing_without_a_word(self, write, word):
        data = load(write(rows_with({3: word})), "y")
        assert data.categories == (None,)
        assert np.isnan(data.X.values[3, 0])
        assert not said(data, "is read as numbers")

    @needs_pandas
    def test_the_list_holds_that_of_pandas(self):
        from pandas._libs.parsers import STR_NA_VALUES

        assert STR_NA_VALUES <= MISSING

    def test_fractions_need_not_be_many(self, write):
        cells = ["0.5", "1.5"] * 20 + ["-"]
        data = load(write("a,y\n" + "".join(f"{c},{'ab'[i % 2]}\n" for i, c in enumerate(cells))), "y")
        assert data.categories == (None,)

    def test_many_words_stay_text_and_why_is_said(self, write):
        chromosomes = [*map(str, range(1, 23)), "X", "Y"] * 3
        path = write("chr,y\n" + "".join(f"{c},{'ab'[i % 2]}\n" for i, c in enumerate(chromosomes)))
        data = load(path, "y")
        assert len(data.categories[0]) == 24
        assert said(data, "'chr' stays text", "6 of its 72 values (8.3 %)", "--numeric chr")
        numeric = load(path, "y", numeric="chr")
        assert numeric.categories == (None,)
        assert np.isnan(numeric.X.values).sum() == 6
        assert said(numeric, "'chr' is read as numbers", "'X' (3 times, first in line 24)")

    def test_few_codes_stay_text(self, write):
        cells = ["1", "2", "3"] * 30 + ["x"]
        data = load(write("a,y\n" + "".join(f"{c},{'ab'[i % 2]}\n" for i, c in enumerate(cells))), "y")
        assert data.categories == (("1", "2", "3", "x"),)
        assert said(data, "'a' stays text", "only 3 different whole numbers")

    def test_nominal_keeps_the_words(self, write):
        data = load(write(rows_with({3: "-"})), "y", nominal="size")
        assert "-" in data.categories[0]
        assert not said(data, "is read as numbers")

    def test_nominal_and_numeric_by_position_of_other_files(self, write):
        pytest.importorskip("pyarrow")
        pd.DataFrame({"a": ["1", "x"], "y": [0.5, 1.5]}).to_parquet(path := write("", "f.parquet"))
        data = load(path, "y", numeric=[0])
        assert data.categories == (None,)
        assert np.isnan(data.X.values[1, 0])
        with pytest.raises(ValueError, match="cannot be both numeric and nominal"):
            load(path, "y", numeric=[0], nominal=["a"])

    def test_no_number_at_all(self, write):
        with pytest.raises(ValueError, match="Column 'a' holds no number, so it cannot be numeric"):
            load(write("a,y\nx,p\nz,q\n"), "y", numeric="a")

    def test_further_missing_words(self, write):
        data = load(write(rows_with({3: "-9", 4: "gone"})), "y", missing=["-9", "gone"])
        assert np.flatnonzero(np.isnan(data.X.values[:, 0])).tolist() == [3, 4]
        assert not said(data, "is read as numbers")
        # also where the word is a number among numbers alone, written otherwise
        data = load(write("a,y\n-9.0,p\n1,q\n2,p\n"), "y", missing="-9")
        assert np.isnan(data.X.values[:, 0]).tolist() == [True, False, False]

    def test_files_that_differ(self, write):
        paths = [write("c,y\n1,p\n2,q\n", "a.csv"), write("c,y\n1,p\nX,q\n", "b.csv")]
        with pytest.raises(ValueError, match="settle it with --numeric or --nominal"):
            load(paths, "y")
        assert load(paths, "y", nominal="c").categories == (("1", "2", "X"),)
        assert load(paths, "y", numeric="c").categories == (None,)


class TestSpellings:
    def twin(self, write, delimiter, quote=""):
        rng = np.random.default_rng(0)
        numbers = rng.normal(50, 20, size=(60, 3)).round(2).tolist()
        plain = "a,b,c,y\n" + "".join(
            ",".join(map(str, row)) + f",{'pq'[i % 2]}\n" for i, row in enumerate(numbers)
        )
        cells = [[f"{quote}{v}{quote}".replace(".", ",") for v in row] for row in numbers]
        other = delimiter.join("abcy") + "\n"
        other += "".join(delimiter.join([*row, "pq"[i % 2]]) + "\n" for i, row in enumerate(cells))
        return load(write(plain), "y"), load(write(other, "g.csv"), "y"), write(other, "h.csv")

    @pytest.mark.parametrize(("delimiter", "quote"), [(";", ""), ("\t", ""), ("|", ""), (",", '"')])
    def test_decimal_commas_give_the_same_numbers(self, write, delimiter, quote):
        plain, other, path = self.twin(write, delimiter, quote)
        assert np.array_equal(plain.X.values, other.X.values)
        assert plain.categories == other.categories == (None,) * 3
        assert said(other, "each of 3 columns (a, b, c) has decimal commas")
        forced = load(path, "y", decimal=",")
        assert np.array_equal(plain.X.values, forced.X.values)

    def test_dots_that_group_digits(self, write):
        text = "a;b;y\n" + "".join(f"{i + 1}.234;{i},5;{'pq'[i % 2]}\n" for i in range(30))
        read = load(write(text), "y")
        assert read.X.values[:3, 0].tolist() == [1234.0, 2234.0, 3234.0]
        assert said(read, "'a' has digits in groups (1.234), read as numbers")

    def test_a_numeric_target_with_commas_is_a_number(self, write):
        text = "a;y\n" + "".join(f"{i};{i},5\n" for i in range(30))
        assert load(write(text), "y").task == "regression"

    @pytest.mark.parametrize("word", ["4,675", "4 675", "4'675", "4\u00a0675", "4\u202f675"])
    def test_groups_of_digits(self, write, word):
        data = load(write(rows_with({3: word})), "y")
        assert data.X.values[3, 0] == 4675
        assert not np.isnan(data.X.values).any()

    def test_dots_group_digits_beside_decimal_commas(self, write):
        text = "a;b;c;y\n1.234,5;1.234;0.125;p\n12,25;5.678;1.5;q\n"
        data = load(write(text), "y")
        assert data.X.values.tolist() == [[1234.5, 1234.0, 0.125], [12.25, 5678.0, 1.5]]
        assert load(write("b;y\n1.234;p\n5.678;q\n"), "y").X.values.ravel().tolist() == [1.234, 5.678]

    @pytest.mark.parametrize(("delimiter", "value", "other"), [(";", 1.234, "."), ("\t", 1234.0, ",")])
    def test_commas_that_may_be_either_are_said(self, write, delimiter, value, other):
        path = write("a;y\n1,234;p\n5,678;q\n".replace(";", delimiter))
        data = load(path, "y")
        assert data.X.values[0, 0] == value
        assert said(data, "'a' has commas that may be", f"--decimal {other} for the other")
        assert load(path, "y", decimal=other).X.values[0, 0] == (1234.0 if value < 2 else 1.234)

    def test_decimal_is_checked(self, write):
        with pytest.raises(ValueError, match=r"The decimal mark must be '\.' or ',', got ':'"):
            load(write("a,y\n1,p\n2,q\n"), "y", decimal=":")

    @pytest.mark.parametrize("form", ["{}%", "{} %", "${}", "€ {}", "{} £"])
    def test_signs_that_all_numbers_have(self, write, form):
        cells = [form.format(i + 0.5) for i in range(30)] + ["", "n.d."]
        data = load(write("a,y\n" + "".join(f"{c},{'pq'[i % 2]}\n" for i, c in enumerate(cells))), "y")
        assert data.X.values[:30, 0].tolist() == [i + 0.5 for i in range(30)]
        assert np.isnan(data.X.values[30:]).all()
        assert said(data, "'a' has", "with its numbers, which are read without it")
        assert said(data, "'n.d.' (1 time, first in line 33)")

    def test_numbers_with_and_without_a_sign_stay_text(self, write):
        cells = [f"{i}%" if i % 2 else f"{i / 100}" for i in range(60)]
        data = load(write("a,y\n" + "".join(f"{c},{'pq'[i % 2]}\n" for i, c in enumerate(cells))), "y")
        assert len(data.categories[0]) == 60
        assert "is text that holds numbers" in data.columns[0].odd

    @pytest.mark.parametrize("minus", "\u2212\u2012\u2013")
    def test_other_minus_signs(self, write, minus):
        data = load(write(f"a,y\n{minus}1.5,p\n2,q\n"), "y")
        assert data.X.values.ravel().tolist() == [-1.5, 2]

    def test_numbers_beyond_exactness_are_named(self, write):
        large = 2**53 + 1
        data = load(write(f"a,b,y\n{large},1e300,p\n5,2,q\n"), "y")
        assert said(data, "'a' holds whole numbers beyond 2^53", str(large))
        assert not said(data, "'b'")
        named = load(write(f"a,y\n{large},p\n{large + 1},q\n"), "y", nominal="a")
        assert named.categories == ((str(large), str(large + 1)),)


class TestDates:
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("2020-01-31", "2020-02-01"), ("31.01.2020", "01.02.2020"), ("31/1/2020", "1/2/2020"),
            ("1/31/2020", "2/1/2020"), ("2020/01/31", "2020/02/01"), ("31-01-2020", "01-02-2020"),
            ("2020-01-31 12:00", "2020-02-01T12:00:00Z"), ("31.01.2020 9:00", "01.02.2020 9:00:00"),
            ("31/1/20", "1/2/20"), ("31-Jan-20", "1-Feb-20"), ("31 January 2020", "1 February 2020"),
            ("Jan 31, 2020", "Feb 1, 2020"), ("31JAN2020", "01FEB2020"), ("January 31 2020", "Feb. 1 2020"),
        ],
    )  # fmt: skip
    def test_days(self, write, first, second):
        data = load(write(f'd,y\n"{first}",p\n"{second}",q\n,p\n'), "y")
        days = data.X.values[:, 0]
        assert np.floor(days[0]) == (datetime.date(2020, 1, 31) - datetime.date(1970, 1, 1)).days
        assert days[1] - days[0] == pytest.approx(1, abs=1e-9)
        assert np.isnan(days[2])
        assert said(data, "'d' holds dates, read as days since 1970-01-01")

    def test_order_of_day_and_month_is_said_where_it_is_a_guess(self, write):
        data = load(write("d,y\n1/2/2020,p\n3/4/2020,q\n"), "y")
        assert said(data, "'d' holds dates", "the month taken as the first number")

    def test_years_of_two_digits(self, write):
        data = load(write("d,y\n12/31/68,p\n1/1/69,q\n"), "y")
        years = [1970 + day / 365.25 for day in data.X.values[:, 0]]
        assert [round(year) for year in years] == [2069, 1969]

    def test_other_words_are_no_dates(self, write):
        data = load(write("d,y\n2020-13-01,p\n2020-02-01,q\nsoon,q\n"), "y")
        assert data.categories[0] == ("2020-02-01", "2020-13-01", "soon")

    def test_as_in_frames(self, write):
        frame = pd.DataFrame({"d": pd.to_datetime(["2020-01-31 06:00", "2021-02-01 00:00"]), "y": ["p", "q"]})
        frame.to_csv(path := write("", "f.csv"), index=False)
        from semirank.data.encode_features import encode_features

        notes: list[str] = []
        table = encode_features(frame[["d"]], notes=notes)
        assert np.array_equal(table.values, load(path, "y").X.values)
        assert any("'d' holds dates, read as days since 1970-01-01" in note for note in notes)


class TestDialects:
    def test_line_of_excel(self, write):
        data = load(write("sep=|\na|b|y\n1,5|2|p\n2,5|3|q\n"), "y")
        assert data.X.values.tolist() == [[1.5, 2], [2.5, 3]]

    def test_comments(self, write):
        data = load(write("# made on Monday\n#\n# by hand\na,b,y\n1,2,p\n# a later word\n3,-,q\n"), "y")
        assert data.feature_names == ("a", "b")
        assert data.X.values[:, 0].tolist() == [1, 3]
        assert said(data, "3 lines that begin with # were left out")
        assert said(data, "1 empty or comment line was left out")

    def test_rows_that_begin_as_comments_are_said(self, write):
        text = "a,b,y\nu,2,p\n#v,3,q\nu,5,q\nv,6,p\n"
        data = load(write(text), "y")
        assert len(data) == 4
        assert said(data, "1 row begins with # (first in line 3) and was read as the others")
        assert not said(load(write(text.replace("\nu", "\n#u")), "y"), "with #")

    def test_lines_are_counted_as_in_the_file(self, write):
        with pytest.raises(ValueError, match=r"f\.csv, line 5: 2 values, 3 expected"):
            load(write("#x\n#y\na,b,y\n1,2,p\n3,4\n"), "y")

    def test_header_in_a_comment(self, write):
        data = load(write("##source=x\n#CHROM\tPOS\ty\nchr1\t100\tp\nchr2\t200\tq\n", "f.tsv"), "y")
        assert data.feature_names == ("CHROM", "POS")
        assert len(data) == 2
        assert said(data, "the last line that begins with # was taken as column names")

    def test_a_comment_as_long_as_the_header_is_none(self, write):
        data = load(write("# made, on, monday\na,b,y\n1,2,p\n3,4,q\n"), "y")
        assert data.feature_names == ("a", "b")

    @pytest.mark.parametrize(
        "text",
        [
            "a,b,y,,\n1,2,p,,\n3,4,q,,\n,,,,\n,,,,\n",
            "a,b,y\n1,2,p,,\n3,4,q,\n,,\n",
            "a,b,y,\n1,2,p\n3,4,q\n",
        ],
    )
    def test_empty_rows_and_columns_at_the_end(self, write, text):
        data = load(write(text), "y")
        assert data.feature_names == ("a", "b")
        assert data.X.values.tolist() == [[1, 2], [3, 4]]

    def test_empty_rows_between_others_stay(self, write):
        assert load(write("a,b,y\n1,2,p\n,,\n3,4,q\n"), "y").y.tolist() == ["p", None, "q"]

    @pytest.mark.parametrize("names", [range(1, 5), ["r3", "r1", "r7", "r2"]])
    @pytest.mark.parametrize("above", ["", '"",'])
    def test_names_of_rows(self, write, names, above):
        """R and pandas write them before the first column, R without a name above them."""
        rows = "".join(f'"{name}",{i % 3},{"pq"[i % 2] if i else ""}\n' for i, name in enumerate(names))
        data = load(write(f"{above}a,y\n{rows}"), "y")
        assert data.feature_names == ("a",)
        assert data.X.values.ravel().tolist() == [0, 1, 2, 0]
        assert data.y.tolist() == [None, "q", "p", "q"]
        assert said(data, "'unnamed0'", "the rows and was left out")
        assert load(write(f"{above}a,y\n{rows}"), "y", features=["unnamed0", "a"]).X.shape == (4, 2)

    @pytest.mark.parametrize("index", [[5, 2, 9, 0], [1, 2, 5, 8]])
    def test_an_index_with_gaps_or_out_of_order(self, write, index):
        rows = "".join(f"{name},{i % 3},{'pq'[i % 2]}\n" for i, name in enumerate(index))
        assert load(write(f",a,y\n{rows}"), "y").feature_names == ("a",)
        assert load(write(f"n,a,y\n{rows}"), "y").feature_names == ("n", "a")
        assert load(write(f",a,y\n{rows}".replace("2,", "2.5,")), "y").feature_names == ("unnamed0", "a")

    def test_cells_that_blanks_separate(self, write):
        with pytest.raises(
            ValueError, match=r"no column 'y'; its only one is 'a b y', if cells are separated"
        ):
            load(write("a b y\n1 2 p\n"), "y")

    def test_a_first_line_of_numbers_is_said(self, write):
        taken = "the first line was taken as column names although it holds numbers"
        rows = "".join(f"{i % 5},{'uv'[i % 2]},{i % 7 / 4},{'pq'[i % 3 == 0]}\n" for i in range(2, 12))
        assert said(load(write(rows), -1), taken)
        assert said(load(write("1,2\n3,4\n5,6\n"), -1), taken)
        years = "country,2010,2011,y\n" + rows.replace(",u", ",3").replace(",v", ",4")
        assert not said(load(write(years), "y"), taken)

    def test_unnamed_columns_with_values_stay(self, write):
        assert load(write("a,y,\n1,p,5\n3,q,\n"), "y").feature_names == ("a", "unnamed2")

    @pytest.mark.parametrize("width", [5, WIDE + 1])
    def test_wide_lines_are_read_alike(self, write, width):
        rng = random.Random(0)

        def cell(j):
            kinds = (
                lambda: repr(rng.gauss(0, 10.0 ** rng.randint(-8, 8))), lambda: f"{rng.gauss(0, 9):.3f}",
                lambda: str(rng.randint(-(2**60), 2**60)), lambda: rng.choice(["", " ", "NA", "nan", " 5 "]),
                lambda: rng.choice(["1e5", "+3", ".5", "7.", "-0", "0.30000000000000004", "1" * 25]),
            )  # fmt: skip
            return rng.choice("pq") if j == 0 else f"id_{rng.random()}" if j == 1 else rng.choice(kinds)()

        rows = [[cell(j) for j in range(width)] for _ in range(30)]
        text = ",".join(f"x{j}" for j in range(width)) + "\n" + "\n".join(map(",".join, rows)) + "\n"
        data = load(write(text), "x0", drop="x1")
        expected = [[np.nan if v.strip() in MISSING else float(v) for v in row[2:]] for row in rows]
        assert np.array_equal(data.X.values, expected, equal_nan=True)

    @pytest.mark.parametrize(
        "cells",
        [
            ['"red"', '"dark blue"', "green"], ['"a, b"', '"c"', "d"], ['"say ""x"""', '"c"', "d"],
            ['"two\nlines"', '"c"', "d"], ['5" pipe', '"c"', "d"], ['""', '"c"', '" d "'],
            [' "a"', '"b"', "c"], ['"#1"', '"b"', "c"], ['a"b"', "b", "c"],
        ],
    )  # fmt: skip
    def test_quotation_marks_are_read_as_csv_has_them(self, write, cells):
        text = '"word","n",y\n' + "".join(f'{c},"{i}.5",{"pq"[i % 2]}\n' for i, c in enumerate(cells))
        expected = [row[0].strip() for row in csv.reader(io.StringIO(text), skipinitialspace=True)][1:]
        data = load(write(text), "y")
        codes = data.X.values[:, 0].tolist()
        found = [None if code != code else data.categories[0][int(code)] for code in codes]
        assert found == [word or None for word in expected]
        assert data.X.values[:, 1].tolist() == [0.5, 1.5, 2.5]

    def test_wide_lines_with_decimal_commas(self, write):
        """They are read as narrow ones are, whatever else the lines hold."""
        rng = random.Random(0)
        kinds = [
            lambda: f"{rng.gauss(0, 9):.2f}", lambda: f"{rng.gauss(0, 9):.3f}", lambda: str(rng.randrange(9)),
            lambda: rng.choice(["", "NA", f"{rng.random():.4f}"]), lambda: f"{rng.gauss(0, 1e-9)!r}",
            lambda: rng.choice(["red", "blue, or so"]), lambda: rng.choice(["-9", "1.5", "2.25"]),
        ]  # fmt: skip
        used = [kinds[j % len(kinds)] for j in range(70)]
        plain = [[make() for make in used] + ["pq"[i % 2]] for i in range(40)]
        plain[3][0] = plain[5][0] = "<35"
        names = [*(f"x{j}" for j in range(70)), "y"]
        commas = [
            [cell if "blue" in cell else cell.replace(".", ",") for cell in row] + ["1,5"] * WIDE
            for row in plain
        ]
        wide = "\n".join(map(";".join, [[*names, *(f"z{j}" for j in range(WIDE))], *commas]))
        narrow = "\n".join(map(";".join, [names, *(row[:71] for row in commas)]))
        options = {"missing": ["-9"], "nominal": ["x7"]}
        one = load(write(narrow, "n.csv"), "y", **options)
        two = load(write(wide, "w.csv"), "y", drop="z*", **options)
        assert np.array_equal(one.X.values, two.X.values, equal_nan=True)
        assert one.categories == two.categories
        assert [column.odd for column in one.columns] == [column.odd for column in two.columns[:71]]
        assert one.columns[0].missing == 2
        forced = load(write(wide, "w.csv"), "y", drop="z*", decimal=".", **options)
        assert len(forced.categories[4]) > 30

    def test_wide_lines_of_another_length(self, write):
        head = ",".join(f"x{j}" for j in range(WIDE + 2))
        row = ",".join("1" for _ in range(WIDE + 2))
        with pytest.raises(ValueError, match=rf"line 3: {WIDE + 3} values, {WIDE + 2} expected"):
            load(write(f"{head}\n{row}\n{row},7\n"), "x0")
        data = load(write(f"{head}\n{row},\n{row.replace('1', '2')}\n{',' * (WIDE + 1)}\n"), "x0")
        assert len(data) == 2


class TestExcel:
    def book(self, path, rows, more=()):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        for title in more:
            book.create_sheet(title)
        book.save(path)
        return path

    def test_kinds(self, tmp_path):
        day = datetime.datetime(1970, 1, 3)
        rows = [["a", "b", "d", "y", None], [1.5, "red", day, "p", None], [None, "blue", day, None, None]]
        data = load(self.book(tmp_path / "f.xlsx", rows, ["Notes"]), "y")
        assert data.feature_names == ("a", "b", "d")
        assert data.X.values[0].tolist() == [1.5, 1.0, 2.0]
        assert np.isnan(data.X.values[1, 0])
        assert data.y.tolist() == ["p", None]
        assert said(data, "the first of 2 sheets was read")

    def test_exact_numbers_and_odd_words(self, tmp_path):
        values = np.random.default_rng(0).normal(size=50).tolist()
        rows = [["a", "y"], *([v, "pq"[i % 2]] for i, v in enumerate(values)), ["#DIV/0!", "p"]]
        data = load(self.book(tmp_path / "f.xlsx", rows), "y")
        assert data.X.values[:50, 0].tolist() == pytest.approx(values, rel=1e-15)  # openpyxl writes 16 digits
        assert said(data, "'#DIV/0!' (1 time, first in line 52)")

    def test_broken(self, write):
        assert openpyxl.Workbook
        with pytest.raises(ValueError, match=r"f\.xlsx is no readable Excel file"):
            load(write("PK", "f.xlsx"), "y")


class TestColumns:
    def test_identifiers_and_free_text_are_named_with_the_drop_to_use(self, write):
        text = "name,size,kind,y\n"
        text += "".join(f"n{i % 20},{i * i % 7},{'uv'[i % 2]},{'pq'[i % 3 == 0]}\n" for i in range(40))
        data = load(write(text), "y")
        assert data.notes[1] == (
            "1 of 3 features has fewer than 3 rows for a value, as identifiers and free text have: "
            "leave it out (--drop name)"
        )
        assert [bool(column.odd) for column in data.columns] == [True, False, False, False]
        assert not said(load(write(text), "y", drop="name"), "--drop")

    def test_table(self, write):
        text = "a,c,e,y\n1.5,red,,p\n,blue,,q\n3,red,,\n"
        data = load(write(text), "y", drop="e")
        assert [column[:5] for column in data.columns] == [
            ("a", "feature", "numeric", "1.5 to 3", 1),
            ("c", "feature", "nominal", "2: blue, red", 0),
            ("y", "target", "nominal", "2: p, q", 1),
            ("e", "left out", "numeric", "", 3),
        ]
        assert count_kinds(data.columns) == "1 numeric and 1 nominal feature, 1 value missing"
