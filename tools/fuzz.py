"""A mutation fuzzer for everything that is read from a file: `make fuzz`, or python -m tools.fuzz --help.

Every input is a damaged copy of a small file of one of the dialects (and of the real data sets, where their
folder is there). Reading it must end soon and in one of two ways: a result that holds together, or an error
of ours with one line of text. One in a hundred goes through the command line, where an error means exit
code 2. The number of an input and the seed decide everything, so that a failure can be repeated:
python -m tools.fuzz --seed S --only N. Inputs that fail are written to the folder fuzz-failures.

With --semantic, tables are not damaged but spoilt as people spoil them, and the rankings are compared
(tools/accidents.py).
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tests.conftest import shared

from semirank import Hierarchy, Ranking, load
from semirank.cli.input import read_hierarchy
from semirank.data.tasks import TASKS
from tools import accidents

SECONDS = 10  # for a single input; the slowest of a run takes a small part of it
MEMORY = 4 << 30  # address space of the process; beyond it allocations fail
CLEAN = (ValueError, TypeError, OSError, MemoryError)

ARFF = """\
% a comment
@RELATION 'two words'
@attribute size numeric
@ATTRIBUTE "colour of it" {red, 'dark, blue', "it's"}
@attribute note string
@attribute row key
@attribute y {yes,no}
@data
1.5,red,one,r1,yes
?,'dark, blue',"two, or \\"three\\"",r2,no
-2e3,"it's",?,r3,?
4,red,one,r4,yes % why
5,red,one,r5,no
"""
SPARSE = """\
@relation s
@attribute a numeric
@attribute b {x,y}
@attribute c numeric
@attribute t {0,1}
@attribute u {0,1}
@data
{0 1.5, 1 y, 3 1}
{}
{2 -3, 4 1}
{ 0 ?, 2 7 , 3 '1'}
"""
TREE = """\
@relation h
@attribute a numeric
@attribute class hierarchical a,a/b,a/b/c,d,d/e
@data
1,a/b@d
2,a/b/c
3,d/e@a
4,?
"""
DAG = """\
@relation g
@attribute a numeric
@attribute class hierarchical root/a,root/b,a/c,b/c,c/d
@data
1,a@b
2,d
3,c
"""
TABLE = (
    'size,"colour, or so",y\n3.5,red,cherry\n20,"yellow ""x""",lemon\n'
    '?,red,\nNA,"a\nb",lemon\n1e3,red,cherry\n'
)
PATHS = "a\na/b\na/b/c\nd\nd/e\n"
EDGES = "root,a\nroot,b\na,c\nb,c\nc,d\n"
JSON = (
    '{"format": "semirank ranking 1", "names": ["a", "b"], "scores": [0.5, 0.25], "method": "relief", '
    '"importance": "relief", "all_scores": {"relief": [0.5, 0.25]}, "notes": ["n"]}'
)
FIMP = (
    "Ranking method: Genie3\nattributeDatasetIndex\tattributeName\t[r]\t[genie3, symbolic]\n--------\n"
    "1\ta\t[1, 1]\t[0.5, 2.0]\n2\tb\t[2, 2]\t[0.25, 1.0]\n"
)
SCORES = '"feature","rank","genie3","genie3_se"\n"a",1,0.5,0.1\n"b",2,0.25,0.2\n'

# What damages are made of; words are separated by blanks.
TOKENS = [
    *rb""", ' " { } \ \' ? % @ / ; | root root/ @relation 1e400 -1e308 1e-320 nan inf -Infinity 1_0 0x10 -0 NA
    18446744073709551616 <script> null true""".split(),
    *(b"@data\n", b"@attribute x {", b"@attribute x numeric\n", b"@attribute h hierarchical a,b/c\n", b" %"),
    *(b"\n", b"\r", b"\r\n", b"\t", b" ", b"\0", b"\x1b[2J", b"\xef\xbb\xbf", b"\xff\xfe", b"\xe9"),
    *(c.encode() for c in ("é", "𝔘", "\u2028", "\x85", "\xa0", "١٢")),
    *(
        b"9" * 400,
        b"9" * 5000,
        b"a" * 300,
        b" " * 3000,
        b"'" * 50,
        b"," * 500,
        b"{" * 50,
        b"[" * 3000,
        b"a/" * 1200,
    ),
]


class Seed(NamedTuple):
    kind: str  # "data", "hierarchy" or "ranking"
    suffix: str
    content: bytes


class Case(NamedTuple):
    kind: str
    suffix: str
    content: bytes
    options: dict
    through_cli: bool


class Hangs(BaseException):
    """Raised by the clock, where no `except Exception` catches it."""


def own_seeds() -> list[Seed]:
    """Small files of all dialects."""
    texts = [(ARFF, "arff"), (SPARSE, "arff"), (TREE, "arff"), (DAG, "arff"), (TABLE, "csv")]
    texts += [(TABLE.replace(",", ";"), "csv"), (TABLE.replace(",", "\t"), "tsv"), (ARFF, "unknown")]
    seeds = [Seed("data", suffix, text.encode()) for text, suffix in texts]
    seeds.append(Seed("data", "arff.gz", gzip.compress(ARFF.encode(), mtime=0)))
    seeds.append(Seed("data", "csv", TABLE.replace("\n", "\r\n").encode("utf-16")))
    seeds += [Seed("hierarchy", "txt", text.encode()) for text in (PATHS, EDGES)]
    rankings = ((JSON, "json"), (FIMP, "fimp"), (SCORES, "csv"))
    return seeds + [Seed("ranking", suffix, text.encode()) for text, suffix in rankings]


def real_seeds(lines: int = 200, size: int = 20_000) -> list[Seed]:
    """The beginnings of the real files."""
    folder = shared("data")
    seeds = []
    for path in sorted(folder.rglob("*.arff*")) if folder else []:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            start = b"".join(line for line, _ in zip(file, range(lines)))
        if b"@data" in start.lower() and len(start) <= 50 * size:
            head, keyword, rows = start.partition(b"@DATA" if b"@DATA" in start else b"@data")
            seeds.append(Seed("data", "arff", head + keyword + rows[: max(500, size - len(head))]))
    return [seed for seed in seeds if len(seed.content) <= size]


def mutated(content: bytes, rng: random.Random, others: list[Seed]) -> bytes:
    """The content with one to four damages."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice((1, 1, 2, 5, 20, 100)))
        action = rng.randrange(15)
        if action == 0:
            del data[at:end]
        elif action == 1:
            data[at:at] = data[at:end] * rng.choice((1, 2, 10, 50))
        elif action == 2:
            data[at:end] = rng.choice(TOKENS)
        elif action in (3, 4):
            data[at:at] = rng.choice(TOKENS)
        elif action == 5:
            data[at:at] = rng.randbytes(rng.choice((1, 2, 8)))
        elif action == 6 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif action == 7:
            del data[at:]
        elif action in (8, 9):
            lines = bytes(data).split(b"\n")
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            if action == 8:
                lines[i], lines[j] = lines[j], lines[i]
            else:
                lines[i : i + 1] = [lines[j]] * rng.choice((0, 2, 20))
            data[:] = b"\n".join(lines)
        elif action < 14:  # another cell: most of these can still be read
            lines = bytes(data).split(b"\n")
            i = rng.randrange(len(lines))
            cells = lines[i].split(b",")
            cells[rng.randrange(len(cells))] = rng.choice(TOKENS)
            lines[i] = b",".join(cells)
            data[:] = b"\n".join(lines)
        else:
            other = rng.choice(others).content
            start = rng.randrange(len(other))
            data[at:end] = other[start : start + rng.choice((10, 100, 1000))]
    return bytes(data)


def make_case(seed: int, number: int, seeds: list[Seed], real: list[Seed]) -> Case:
    """Input `number` of the run with this seed."""
    rng = random.Random(f"{seed}-{number}")
    base = rng.choice(real) if real and rng.random() < 0.2 else rng.choice(seeds)
    suffix, content = base.suffix, base.content
    if rng.random() > 0.02:
        content = mutated(content, rng, seeds)
    if base.kind == "data":
        change = rng.random()
        if change < 0.03:
            content = gzip.compress(content, mtime=0)
        elif change < 0.05:
            content = mutated(gzip.compress(content, mtime=0), rng, seeds)
        elif change < 0.08:
            suffix = rng.choice(("arff", "csv", "tsv", "txt", "unknown", "parquet"))
    options: dict = {}
    if base.kind == "data":
        usual = None if "arff" in suffix else -1
        unusual = ("y", 0, [0, 1], [-1, -2], ["t", "u"], "class", "*", "size", [])
        options["targets"] = usual if rng.random() < 0.7 else rng.choice(unusual)
        if rng.random() < 0.1:
            options["task"] = rng.choice(list(TASKS))
        if rng.random() < 0.1:
            options["nominal"] = rng.choice((0, -1, "*"))
        if rng.random() < 0.1:
            options["drop"] = rng.choice((0, "s*", [1, 2]))
        if rng.random() < 0.1:
            options["unlabeled"] = rng.choice(("no", 0, "lemon"))
        if rng.random() < 0.05:
            options["hierarchy"] = rng.choice((["a", "a/b"], ["cherry", "lemon"], [("x", "y")]))
        if rng.random() < 0.1:
            options["sparse_base"] = 1
    return Case(base.kind, suffix, content, options, rng.random() < 0.01)


def run_case(case: Case, folder: Path) -> str:
    """Read it; the name of what came out, or an exception that is a failure."""
    path = folder / f"input.{case.suffix}"
    path.write_bytes(case.content)
    if case.through_cli:
        return run_command(case, path)
    try:
        if case.kind == "data":
            check_data(load(path, **case.options))
        elif case.kind == "hierarchy":
            hierarchy = Hierarchy.coerce(read_hierarchy(path))
            assert np.isfinite(hierarchy.weights()).all()
            assert hierarchy.depth >= 1
        else:
            check_ranking(Ranking.load(path), folder)
    except ImportError as error:
        if case.suffix != "parquet":  # which needs pyarrow
            raise
        check_message(str(error))
        return f"{case.kind}: needs a library"
    except CLEAN as error:
        check_message(str(error))
        return f"{case.kind}: {'error' if isinstance(error, ValueError) else type(error).__name__}"
    return f"{case.kind}: read"


def check_message(message: str) -> None:
    assert message, "an error without words"
    assert len(message) <= 700, f"a message of {len(message)} characters"
    assert "\n" not in message, "a message of several lines"


def check_data(data) -> None:
    X, target = data.X, data.target
    assert X.values.shape == (len(data), len(X.names))
    assert X.values.dtype == np.float64
    assert not np.isinf(X.values).any()
    for j, categories in enumerate(X.categories):
        known = X.values[~np.isnan(X.values[:, j]), j]
        if categories is not None:
            assert ((known >= 0) & (known < len(categories)) & (known == np.floor(known))).all()
    assert len(set(X.names)) == len(X.names)
    assert target.values.shape == (len(data), len(target.names))
    assert not np.isinf(target.values).any()
    assert target.labeled.any()
    assert len(data.y) == len(data)
    for note in data.notes:
        check_message(note)


def check_ranking(ranking: Ranking, folder: Path) -> None:
    assert len(ranking.names) == len(ranking.scores) == len(ranking.ranks)
    ranking.save(folder / "again.json")
    again = Ranking.load(folder / "again.json")
    assert again.names == ranking.names
    assert np.array_equal(again.scores, ranking.scores, equal_nan=True)


def run_command(case: Case, path: Path) -> str:
    """The same through the command line: exit code 0, or 2 with one line that begins with error."""
    from semirank.cli import main as cli
    from semirank.cli import terminal as _terminal

    if case.kind == "ranking":
        words = ["compare", str(path), str(path)]
    elif case.kind == "hierarchy":
        table = path.with_name("table.csv")
        table.write_text("x,y\n1,a\n2,c\n3,b\n4,d\n")
        words = ["rank", str(table), "--labels-from-column", "y", "--hierarchy", str(path), "-m", "relief"]
    else:
        target = case.options.get("targets")
        method = ("relief", "laplace", "forest")[len(case.content) % 3]
        words = ["rank", str(path), "-m", method, "--jobs", "1"]
        words += ["-t", str(target)] if isinstance(target, str | int) else []
        words += ["--set", "n_estimators=2", "--set", "supervision=0.5"] if method == "forest" else []
    out, err = io.StringIO(), io.StringIO()
    argv, sys.argv = sys.argv, ["semirank", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = _terminal.run(cli._invoke)
    finally:
        sys.argv = argv
    last = err.getvalue().splitlines()[-1:]
    assert code in (0, 2), f"exit code {code}: {last}"
    assert code == 0 or last[0].startswith("error: "), f"no error at the end: {last}"
    assert code == 0 or len(last[0]) <= 700, "a long message"
    return f"command: exit code {code}"


def out_of_time(*_: object) -> None:
    raise Hangs(f"more than {SECONDS} seconds")


def main() -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=about)
    parser.add_argument("--count", type=int, help="number of inputs (100 000, or 1000 with --semantic)")
    parser.add_argument("--semantic", action="store_true", help="accidents of tables, rankings compared")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the number of one input")
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"))
    given = parser.parse_args()
    given.count = given.count or (1000 if given.semantic else 100_000)
    if given.semantic:
        numbers = range(given.count) if given.only is None else [given.only]
        warnings.simplefilter("error")
        return 1 if accidents.run(given.seed, numbers, accidents.available()) else 0
    seeds, real = own_seeds(), real_seeds()
    numbers = range(given.count) if given.only is None else [given.only]
    counts: Counter[str] = Counter()
    slowest, failed, began = (0.0, -1), [], time.monotonic()
    warnings.simplefilter("error")
    signal.signal(signal.SIGALRM, out_of_time)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    with tempfile.TemporaryDirectory() as name:
        for size in range(3):  # one ranking by every method, so that no input waits for the compiler
            run_case(Case("data", "csv", (TABLE + "\n" * size).encode(), {"targets": "y"}, True), Path(name))
        for number in numbers:
            case = make_case(given.seed, number, seeds, real)
            start = time.monotonic()
            signal.alarm(SECONDS)
            try:
                counts[run_case(case, Path(name))] += 1
            except (Exception, Hangs) as error:
                failed.append(number)
                if len(failed) <= 20:
                    given.failures.mkdir(exist_ok=True)
                    (given.failures / f"{given.seed}-{number}.{case.suffix}").write_bytes(case.content)
                    (given.failures / f"{given.seed}-{number}.traceback").write_text(traceback.format_exc())
                    print(f"input {number} ({case.kind}, {case.options}): {error!r}"[:300], flush=True)
            finally:
                signal.alarm(0)
            slowest = max(slowest, (time.monotonic() - start, number))
            if number and number % 20_000 == 0:
                print(f"{number} inputs, {time.monotonic() - began:.0f} s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(numbers)} inputs from {len(seeds)} own and {len(real)} real files, seed {given.seed}")
    for what, count in sorted(counts.items()):
        print(f"  {what}: {count}")
    print(f"slowest: input {slowest[1]}, {slowest[0]:.2f} s; peak memory {peak:.0f} MiB")
    print(f"{len(failed)} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
