"""Files as people have them: a clean table, and the same one after an accident.

Every accident is of a kind that spoils rankings without a word: a file that is read wrongly, and ranked.
The ranking of the spoilt file must be that of the clean one, or a note or an error must name the accident, or
both; each kind says which. `python -m tools.fuzz --semantic` makes a thousand of them.
"""

from __future__ import annotations

import gzip
import importlib.util
import io
import random
import string
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from semirank.data.missing_words import MISSING
from tools.accidents_in_memory import frames, orders, words_in_arrays, words_in_frames
from tools.spoilt_tables import (
    CLASSES,
    Accident,
    Sheet,
    as_csv,
    fault_of,
    from_file,
    make_sheet,
    some_rows,
    with_cells,
    with_column,
)

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


# Words among numbers


def missing_words(sheet: Sheet, rng: random.Random) -> Accident:
    """A word for a missing value, as often as it likes."""
    column = rng.choice(("size", "weight", "change", "count", "colour", "day"))
    word = rng.choice(sorted(MISSING - {""}))
    rows = some_rows(sheet, rng, 0.4)
    clean = with_cells(sheet, column, lambda _: "", rows)
    return Accident(
        "", from_file(as_csv(clean)), from_file(as_csv(with_cells(sheet, column, lambda _: word, rows)))
    )


def further_missing_word(sheet: Sheet, rng: random.Random) -> Accident:
    """A word that the user says is missing."""
    column, word = (
        rng.choice(("size", "weight", "count", "colour")),
        rng.choice(("gone", "-9", "99999999", ".")),
    )
    rows = some_rows(sheet, rng, 0.4)
    clean, dirty = (with_cells(sheet, column, lambda _, w=w: w, rows) for w in ("", word))
    return Accident("", from_file(as_csv(clean)), from_file(as_csv(dirty), missing=[word]))


STRAY = ("-", "none", "<35", ">1000", "see note", "n.d.", ".", "#DIV/0!", "#REF!", "1_0", "12 or 13", "below")


def stray_words(sheet: Sheet, rng: random.Random) -> Accident:
    """Some other word among numbers or days."""
    column, word = rng.choice(("size", "weight", "change", "day")), rng.choice(STRAY)
    rows = some_rows(sheet, rng, 0.05)
    clean, dirty = (with_cells(sheet, column, lambda _, w=w: w, rows) for w in ("", word))
    return Accident(
        "", from_file(as_csv(clean)), from_file(as_csv(dirty)), named=(column, repr(word), "line")
    )


def many_words(sheet: Sheet, rng: random.Random) -> Accident:
    """So many other words that the numbers may be names."""
    column, word = rng.choice(("size", "weight", "change")), rng.choice(STRAY)
    rows = rng.sample(range(sheet.n_rows), rng.randrange(sheet.n_rows // 10, sheet.n_rows // 3))
    dirty = with_cells(sheet, column, lambda _: word, rows)
    return Accident(
        "",
        from_file(as_csv(sheet)),
        from_file(as_csv(dirty)),
        same=False,
        named=(column, "stays text", repr(word)),
    )


def chromosomes(sheet: Sheet, rng: random.Random) -> Accident:
    """Codes of whole numbers and letters."""
    cells = [str(1 + i % 20) for i in range(20)] + [
        str(rng.randrange(1, 23)) for _ in range(20, sheet.n_rows)
    ]
    clean = with_column(sheet, "chromosome", cells, rng)
    rows = rng.sample(range(20, sheet.n_rows), rng.randrange(1, 20))
    dirty = with_cells(clean, "chromosome", lambda _: rng.choice("XY"), rows)
    # With more than 20 different numbers a few letters are words among numbers.
    few = len(rows) <= 0.05 * sheet.n_rows and len({*dirty.columns["chromosome"]} - {"X", "Y"}) > 20
    said = ("chromosome", "count" if few else "stays text")
    return Accident("", from_file(as_csv(clean)), from_file(as_csv(dirty)), same=False, named=said)


def forced_kinds(sheet: Sheet, rng: random.Random) -> Accident:
    """Many words, but the user says that the column is numeric."""
    column, word = rng.choice(("size", "weight", "change", "count")), rng.choice(STRAY)
    rows = some_rows(sheet, rng, 0.4)
    clean, dirty = (with_cells(sheet, column, lambda _, w=w: w, rows) for w in ("", word))
    return Accident(
        "", from_file(as_csv(clean)), from_file(as_csv(dirty), numeric=[column]), named=(column, repr(word))
    )


# Spellings of numbers


def decimal_commas(sheet: Sheet, rng: random.Random) -> Accident:
    """The file of a country that writes 1,5."""
    dirty = sheet
    for column in ("size", "change", "fruit"):
        dirty = with_cells(dirty, column, lambda cell: cell.replace(".", ","))
    delimiter = rng.choice(";;\t|,")
    options = {"decimal": ","} if rng.random() < 0.2 else {}
    return Accident("", from_file(as_csv(sheet)), from_file(as_csv(dirty, delimiter), **options))


def thousands(sheet: Sheet, rng: random.Random) -> Accident:
    """Digits in groups of three."""
    sign = rng.choice((",", "'", " ", "\u00a0", "\u202f", "\u2019", "."))
    dirty = with_cells(sheet, "weight", lambda cell: f"{int(cell):,}".replace(",", sign))
    if sign != ".":
        return Accident("", from_file(as_csv(sheet)), from_file(as_csv(dirty)))
    dirty = with_cells(dirty, "size", lambda cell: cell.replace(".", ","))
    return Accident("", from_file(as_csv(sheet)), from_file(as_csv(dirty, ";")))


def odd_spellings(sheet: Sheet, rng: random.Random) -> Accident:
    """Other ways to write the same number."""
    ways: list[Callable[[str], str]] = [
        lambda cell: cell if cell.startswith("-") else f"+{cell}",
        lambda cell: f"{cell}0",
        lambda cell: f"{cell}e0",
        lambda cell: f"{cell}E+00",
        lambda cell: f" {cell}  ",
        lambda cell: f"\u00a0{cell}",
        lambda cell: cell.replace("-", "\u2212"),
        lambda cell: cell.replace("-", "\u2013"),
    ]
    dirty = with_cells(sheet, "change", rng.choice(ways))
    return Accident("", from_file(as_csv(sheet)), from_file(as_csv(dirty)))


def signs(sheet: Sheet, rng: random.Random) -> Accident:
    """Every number with its unit or currency."""
    column = rng.choice(("size", "weight"))
    form = rng.choice(("{}%", "{} %", "${}", "\u20ac {}", "{} \u20ac"))
    return Accident("", from_file(as_csv(sheet)), from_file(as_csv(with_cells(sheet, column, form.format))))


def units(sheet: Sheet, rng: random.Random) -> Accident:
    """Numbers with words or other signs, in most cells."""
    column, form = rng.choice(("size", "weight")), rng.choice(("{} mg", "{}kg", "<{}", "~{}", "{} (est.)"))
    rows = some_rows(sheet, rng, 1.0) if rng.random() < 0.5 else None
    rows = rows and sorted({*rows, *rng.sample(range(sheet.n_rows), sheet.n_rows // 2)})
    dirty = with_cells(sheet, column, form.format, rows)
    return Accident(
        "", from_file(as_csv(sheet)), from_file(as_csv(dirty)), same=False, named=(column, "text")
    )


def long_integers(sheet: Sheet, rng: random.Random) -> Accident:
    """Whole numbers that float64 cannot hold."""
    start = rng.randrange(2**54, 2**62)
    cells = [str(start + 2 * rng.randrange(50) + 1) for _ in range(sheet.n_rows)]
    rounded = [str(int(float(cell))) for cell in cells]
    clean, dirty = (with_column(sheet, "code", part, random.Random(1)) for part in (rounded, cells))
    return Accident("", from_file(as_csv(clean)), from_file(as_csv(dirty)), named=("code", "2^53"))


def sentinels(sheet: Sheet, rng: random.Random) -> Accident:
    """A number that stands for a missing one."""
    column, word = rng.choice(("size", "weight", "count")), rng.choice(("-9", "-99", "-999", "-9999"))
    rows = some_rows(sheet, rng, 0.2)
    clean, dirty = (with_cells(sheet, column, lambda _, w=w: w, rows) for w in ("", word))
    return Accident(
        "", from_file(as_csv(clean)), from_file(as_csv(dirty)), same=False, named=(column, word, "--missing")
    )


# Days


def days(sheet: Sheet, rng: random.Random) -> Accident:
    """Days written in another way."""
    forms: list[Callable[[date], str]] = [
        lambda d: f"{d.day:02}.{d.month:02}.{d.year}",
        lambda d: f"{d.day}.{d.month}.{d.year}",
        lambda d: f"{d.day}/{d.month}/{d.year}",
        lambda d: f"{d.month}/{d.day}/{d.year}",
        lambda d: f"{d.month:02}/{d.day:02}/{d.year % 100:02}",
        lambda d: f"{d.year}/{d.month:02}/{d.day:02}",
        lambda d: f"{d.day}-{MONTHS[d.month - 1]}-{d.year}",
        lambda d: f"{d.day} {MONTHS[d.month - 1]} {d.year % 100:02}",
        lambda d: f"{MONTHS[d.month - 1]} {d.day}, {d.year}",
        lambda d: f"{d.isoformat()} 00:00:00",
        lambda d: f"{d.isoformat()}T00:00:00Z",
    ]
    form = rng.choice(forms)
    dirty = with_cells(sheet, "day", lambda cell: form(date.fromisoformat(cell)))
    return Accident("", from_file(as_csv(sheet)), from_file(as_csv(dirty)), named=("day", "dates"))


# Dialects


def dialects(sheet: Sheet, rng: random.Random) -> Accident:
    """Another delimiter, quotes around everything, other line ends, another encoding."""
    sheet = with_cells(sheet, "colour", lambda cell: cell.replace("dark", "s\u00fc\u00df"))
    delimiter, newline = rng.choice(",;\t|"), rng.choice(("\n", "\r\n", "\r"))
    text = as_csv(sheet, delimiter, newline=newline, quote_all=rng.random() < 0.5)
    content = text.encode(rng.choice(("utf-8", "utf-8-sig", "utf-16", "latin-1")))
    packed = rng.random() < 0.2
    dirty = from_file(gzip.compress(content, mtime=0) if packed else content, "csv.gz" if packed else "csv")
    return Accident("", from_file(as_csv(sheet)), dirty)


def excel_line(sheet: Sheet, rng: random.Random) -> Accident:
    """The line by which Excel knows the delimiter."""
    delimiter = rng.choice(",;\t|")
    dirty = as_csv(sheet, delimiter, above=rng.choice(("sep=", "SEP=", '"sep=')) + delimiter + "\n")
    return Accident(
        "", from_file(as_csv(sheet)), from_file(dirty.replace(f'"sep={delimiter}\n', f'"sep={delimiter}"\n'))
    )


def comments(sheet: Sheet, rng: random.Random) -> Accident:
    """Lines that begin with #, above the header, between rows, and at the end."""
    lines = as_csv(sheet).splitlines(keepends=True)
    for _ in range(rng.randrange(1, 4)):
        where = rng.choice((0, 0, rng.randrange(1, len(lines)), len(lines)))
        lines.insert(where, rng.choice(("# made by hand\n", "#\n", "# a, b\n", "## source=x\n")))
    return Accident("", from_file(as_csv(sheet)), from_file("".join(lines)))


def commented_rows(sheet: Sheet, rng: random.Random) -> Accident:
    """Rows that somebody has taken out by a #."""
    lines = as_csv(sheet).splitlines()
    rows = some_rows(sheet, rng, 0.1)
    without = [line for i, line in enumerate(lines) if i - 1 not in rows]
    dirty = [f"#{line}" if i - 1 in rows else line for i, line in enumerate(lines)]
    return Accident(
        "",
        from_file("\n".join(without)),
        from_file("\n".join(dirty)),
        same=False,
        named=("#", "read as the others", f"line {min(rows) + 2}"),
    )


def header_in_comment(sheet: Sheet, rng: random.Random) -> Accident:
    """The column names in the last line that begins with #."""
    delimiter = rng.choice(",\t")
    above = rng.choice(("", "##source=x\n", "# a word\n"))
    text = above + rng.choice(("#", "# ")) + as_csv(sheet, delimiter)
    return Accident("", from_file(as_csv(sheet)), from_file(text))


def empty_ends(sheet: Sheet, rng: random.Random) -> Accident:
    """Empty rows and columns at the end, as Excel saves them, or delimiters behind some rows."""
    lines = as_csv(sheet).splitlines()
    more = rng.randrange(4)
    if rng.random() < 0.5:
        lines = [line + "," * more for line in lines]
    else:
        lines = [line + "," * rng.randrange(more + 1) * (i > 0) for i, line in enumerate(lines)]
    width = lines[0].count(",")
    lines += [rng.choice((",", "", " ")) * width] * rng.randrange(4)
    return Accident("", from_file(as_csv(sheet)), from_file("\n".join(lines) + "\n" * rng.randrange(3)))


def row_names(sheet: Sheet, rng: random.Random) -> Accident:
    """Row names without a name above them, as R and pandas write them."""
    lines = as_csv(sheet, quote_all=rng.random() < 0.5).splitlines()
    above = rng.choice(("", '"",', ","))
    rows = [f"{i},{line}" for i, line in enumerate(lines[1:], rng.choice((0, 1)))]
    return Accident("", from_file(as_csv(sheet)), from_file("\n".join([above + lines[0], *rows])))


def excel(sheet: Sheet, rng: random.Random) -> Accident:
    """The same table as an Excel file."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(list(sheet.columns))
    for row in zip(*sheet.columns.values()):
        book.active.append([_excel_value(cell) for cell in row])
    book.active.append([None] * len(sheet.columns))
    out = io.BytesIO()
    book.save(out)
    return Accident("", from_file(as_csv(sheet)), from_file(out.getvalue(), "xlsx"))


def _excel_value(cell: str) -> Any:
    try:
        return float(cell) if "." in cell else int(cell)
    except ValueError:
        return (date.fromisoformat(cell) if cell[:2] == "20" else cell) or None


# Tables that are not what they seem


def no_header(sheet: Sheet, rng: random.Random) -> Accident:
    """A file without column names."""
    names = list(sheet.columns)
    place = names.index("fruit")
    text = as_csv(sheet).partition("\n")[2]
    return Accident(
        "",
        from_file(as_csv(sheet)),
        from_file(text, target=place),
        same=False,
        named=("column names", "numbers"),
    )


def broken_rows(sheet: Sheet, rng: random.Random) -> Accident:
    """A row with a cell too many or too few, or quotes that do not end."""
    lines = as_csv(sheet).splitlines()
    i = rng.randrange(1, len(lines))
    damage = rng.randrange(3)
    if damage == 0:
        lines[i] = lines[i].partition(",")[2]
    elif damage == 1:
        lines[i] += ",7"
    else:
        cells = lines[i].split(",")
        j = rng.randrange(len(cells))
        cells[j] = f'"{cells[j]}'
        lines[i] = ",".join(cells)
    named = ("line",) if damage == 2 else ("line", str(i + 1))
    return Accident("", from_file(as_csv(sheet)), from_file("\n".join(lines)), same=False, named=named)


def twin_names(sheet: Sheet, rng: random.Random) -> Accident:
    """Two columns of one name."""
    old, new = rng.sample([name for name in sheet.columns if name != "fruit"], 2)
    head, _, rest = as_csv(sheet).partition("\n")
    cells = [new if cell == old else cell for cell in head.split(",")]
    return Accident(
        "", from_file(as_csv(sheet)), from_file(",".join(cells) + "\n" + rest), same=False, named=(new,)
    )


def identifiers(sheet: Sheet, rng: random.Random) -> Accident:
    """A column that names the rows."""
    n = sheet.n_rows
    letters = string.ascii_lowercase
    ways: list[Callable[[int], str]] = [
        lambda i: str(i + 1),
        lambda i: f"N{i // 2}A{i % 2}",
        lambda i: f"patient {i // 2}",
        lambda i: " ".join("".join(rng.choices(letters, k=4)) for _ in range(5)),
    ]
    way = rng.choice(ways)
    name = rng.choice(("id", "patient id", "Comments"))
    dirty = with_column(sheet, name, [way(i) for i in range(n)], rng)
    return Accident(
        "", from_file(as_csv(sheet)), from_file(as_csv(dirty)), same=False, named=(name, "--drop")
    )


def alike_values(sheet: Sheet, rng: random.Random) -> Accident:
    """A nominal feature with values in several spellings."""
    change = rng.choice((str.upper, str.title, lambda cell: cell.replace(" ", "  "), lambda cell: cell + " "))
    dirty = with_cells(sheet, "colour", change, some_rows(sheet, rng, 0.5))
    same = {cell.strip() for cell in dirty.columns["colour"]} == {*sheet.columns["colour"]}
    named = () if same else ("colour", "differ only in case or blanks")
    return Accident("", from_file(as_csv(sheet)), from_file(as_csv(dirty)), same=same, named=named)


# Targets


def _with_classes(sheet: Sheet, rng: random.Random) -> Sheet:
    return with_cells(sheet, "fruit", lambda _: rng.choice(CLASSES[:3]))


def missing_targets(sheet: Sheet, rng: random.Random) -> Accident:
    """A word for unlabelled rows."""
    word = rng.choice(sorted(MISSING - {""}))
    dirty = sheet.copy()
    dirty.columns["fruit"][:] = [cell or word for cell in sheet.columns["fruit"]]
    return Accident("", from_file(as_csv(sheet)), from_file(as_csv(dirty)))


def doubtful_targets(sheet: Sheet, rng: random.Random) -> Accident:
    """A word or a number that may mean "not labelled": asked about, or settled by the user."""
    words = (
        "unknown",
        "Unlabeled",
        "not determined",
        "none",
        "N/a",
        "TBD",
        "-",
        "missing",
        "-1",
        "-9",
        "-999",
    )
    word = rng.choice(words)
    number = word[1:].isdigit()
    if number and rng.random() < 0.5:
        sheet = with_cells(sheet, "fruit", lambda _: str(rng.randrange(3)))
    elif not number or any(cell in CLASSES for cell in sheet.columns["fruit"]):
        sheet = _with_classes(sheet, rng)
    else:
        sheet = with_cells(sheet, "fruit", lambda cell: cell.replace("-", ""))
    dirty = sheet.copy()
    dirty.columns["fruit"][:] = [cell or word for cell in sheet.columns["fruit"]]
    if rng.random() < 0.5:
        return Accident("", from_file(as_csv(sheet)), from_file(as_csv(dirty), unlabeled=word))
    named = (word, "--unlabeled")
    return Accident("", from_file(as_csv(sheet)), from_file(as_csv(dirty)), same=False, named=named)


def unlabeled_that_never_occurs(sheet: Sheet, rng: random.Random) -> Accident:
    """A word for unlabelled rows that is spelled otherwise in the file."""
    word = rng.choice(("unknwon", "-1", "Lemon", "nothing"))
    dirty = from_file(as_csv(sheet), unlabeled=word)
    return Accident("", from_file(as_csv(sheet)), dirty, same=False, named=(word, "never occurs"))


def alike_classes(sheet: Sheet, rng: random.Random) -> Accident:
    """Classes in several spellings."""
    sheet = with_cells(sheet, "fruit", lambda _: rng.choice(("lemon", "sour cherry")))
    change = rng.choice((str.upper, str.title, lambda cell: cell.replace(" ", "  "), lambda cell: cell + " "))
    dirty = with_cells(sheet, "fruit", change, some_rows(sheet, rng, 0.9))
    same = {cell.strip() for cell in dirty.columns["fruit"]} == {*sheet.columns["fruit"]}
    named = () if same else ("classes", "differ only in case or blanks")
    return Accident("", from_file(as_csv(sheet)), from_file(as_csv(dirty)), same=same, named=named)


def words_in_number_targets(sheet: Sheet, rng: random.Random) -> Accident:
    """Some other word in a target of numbers."""
    sheet = with_cells(sheet, "fruit", lambda _: f"{rng.gauss(50, 10):.2f}")
    word = rng.choice(STRAY)
    known = [i for i, cell in enumerate(sheet.columns["fruit"]) if cell]
    rows = rng.sample(known, 2)
    clean, dirty = (with_cells(sheet, "fruit", lambda _, w=w: w, rows) for w in ("", word))
    return Accident(
        "", from_file(as_csv(clean)), from_file(as_csv(dirty)), named=("fruit", repr(word), "line")
    )


KINDS: dict[str, Callable[[Sheet, random.Random], Accident]] = {
    make.__name__: make
    for make in (
        missing_words, further_missing_word, stray_words, many_words, chromosomes, forced_kinds,
        decimal_commas, thousands, odd_spellings, signs, units, long_integers, sentinels, days, dialects,
        excel_line, comments, commented_rows, header_in_comment, empty_ends, row_names, excel, no_header,
        broken_rows, twin_names, identifiers, alike_values, missing_targets, doubtful_targets,
        unlabeled_that_never_occurs, alike_classes, words_in_number_targets, frames, orders,
        words_in_frames, words_in_arrays,
    )
}  # fmt: skip
NEEDS = {
    "excel": "openpyxl",
    "frames": "pandas",
    "orders": "pandas",
    "words_in_frames": "pandas",
    "words_in_arrays": "pandas",
}


def available() -> list[str]:
    """The kinds whose libraries are installed."""
    return [kind for kind in KINDS if kind not in NEEDS or importlib.util.find_spec(NEEDS[kind])]


def make_accident(seed: int, number: int, kinds: Sequence[str]) -> Accident:
    """Accident `number` of the run with this seed."""
    rng = random.Random(f"{seed}-{number}")
    kind = rng.choice(kinds)
    return KINDS[kind](make_sheet(rng), rng)._replace(kind=kind)


def run(seed: int, numbers: Iterable[int], kinds: Sequence[str]) -> dict[int, str]:
    """Make accidents and return the faults by their numbers; the counts are printed."""
    counts: Counter[str] = Counter()
    faults: dict[int, str] = {}
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        for number in numbers:
            accident = make_accident(seed, number, kinds)
            counts[accident.kind] += 1
            if fault := fault_of(accident, Path(name)):
                faults[number] = f"{accident.kind}: {fault}"
                print(f"accident {number}, {faults[number]}"[:1000], flush=True)
    print(f"{counts.total()} accidents of {len(counts)} kinds, seed {seed}, {time.monotonic() - began:.0f} s")
    print("  " + ", ".join(f"{kind} {counts[kind]}" for kind in kinds if counts[kind]))
    print(f"{len(faults)} silent changes")
    return faults
