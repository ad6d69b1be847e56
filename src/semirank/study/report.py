"""The study as one HTML file that opens offline, in light or dark."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from .. import __version__
from ..report.html import head, section, tiles
from ..report.svg_charts import text
from ..runtime.atomic_write import atomic_write
from .figures import Picture, drawn, pictures
from .job import Job
from .paper import paper_names
from .records import Record
from .results import Results, collect, levels_and_folds
from .table_format import StudyTable
from .tables import all_tables
from .tables_words import join

READING = (
    "Differences: each point is a data set and score, the dotted line is full agreement with the paper. "
    "Ranks: methods under one bar are not told apart by any pairwise Wilcoxon test with Holm's correction. "
    "Curves: solid semi-supervised, dashed supervised; the upper row is by the fair judge, the lower one by "
    "the paper's. Without a ranking every feature counts 1, and only the judge's pool differs."
)


def write_report(
    records: Iterable[Record],
    out: Path | str,
    *,
    jobs: Iterable[Job] = (),
    properties: Mapping[str, Mapping[str, float]] | None = None,
    stand_ins: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> list[Path]:
    """Write all tables and figures as one page, ``study.html``.

    Parameters
    ----------
    records : iterable of Record
        Finished ones of one run; it may be incomplete.
    out : path
        Folder, made if it is not there, or the name of an HTML file.
    jobs, properties, stand_ins : optional
        As in :func:`semirank.study.tables.write_tables`.
    notes : sequence of str
        Sentences for the top of the page: how the study was run, what failed.

    Returns
    -------
    list of Path
        The file.
    """
    path = page_path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    results = collect(records, stand_ins)
    shown = [table for table in all_tables(results, jobs, properties or {}) if table.title]
    atomic_write(path, _page(results, shown, list(pictures(results)), notes))
    return [path]


def page_path(out: Path | str) -> Path:
    """The file for the page: the HTML file that `out` names, or one in that folder."""
    path = Path(out)
    return path if path.suffix.lower() in (".html", ".htm") else path / "study.html"


def _page(results: Results, shown: list[StudyTable], found: list[Picture], notes: Sequence[str]) -> str:
    sections = (section(text(t.title), text(t.text), t.html(), f"t{i}") for i, t in enumerate(shown))
    images = [f'<section id="f{i}">{_figure(picture)}</section>' for i, picture in enumerate(found)]
    links = [f'<li><a href="#t{i}">{text(table.title)}</a></li>' for i, table in enumerate(shown)]
    links += [f'<li><a href="#f{i}">{text(picture.title)}</a></li>' for i, picture in enumerate(found)]
    said = "".join(f"<li>{text(note)}</li>" for note in notes)
    style = (files(__package__) / "report.css").read_text(encoding="utf-8")
    return f"""{head(f"Study of {len(results.about)} data sets", __version__, style=style)}
<body>
<main>
<header>
<p class="kind">Study</p><h1>Feature rankings from few labels, beside the paper's figures</h1>
</header>
{_tiles(results)}
{f'<section><h2>Notes</h2><ul class="notes">{said}</ul></section>' if said else ""}
<section><h2>Contents</h2><nav><ol>{"".join(links)}</ol></nav></section>
<div id="tables">{"".join(sections)}</div>
{section("Figures", text(READING), "")}
<div id="figures">{"".join(images)}</div>
<footer>semirank {text(__version__)}</footer>
</main>
</body>
</html>
"""


def _tiles(results: Results) -> str:
    own = len(results.names())
    cells = {(key.dataset, *cell) for key, curve in results.values.items() for cell in curve}
    levels, _ = levels_and_folds(cell[1:] for cell in cells)
    found = {
        "of the paper's data sets": f"{own} of {len(paper_names())}",
        "stand-ins and other data sets": len(results.about) - own,
        "numbers of labels L": join(levels) or "none",
        "data set x L x fold": len(cells),
        "judged values": sum(map(len, results.values.values())),
    }
    return tiles([(str(value), words, "") for words, value in found.items()])


def _figure(picture: Picture) -> str:
    data = base64.b64encode(drawn(picture, "svg")).decode()
    small = "" if picture.name == "differences" else ' class="small"'
    return (
        f'<figure{small}><img alt="{text(picture.title)}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{text(picture.title)}</figcaption></figure>"
    )
