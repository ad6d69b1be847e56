"""All tables and figures of the preset `worth`, and one page of them with the coverage first (Def. 2.6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from .job import Job
from .records import Record
from .table_format import StudyTable, save_tables
from .worth_comparisons import controls, ranks, subset_values, tasks
from .worth_methods import REFERENCES
from .worth_plan import FIRST_LEVELS, WORTH, is_current
from .worth_results import WorthResults, collect_worth
from .worth_tables import coverage, covered, fair_knn, long_table, losses, summary, worth_by_data_set
from .worth_when import Properties, when, when_by_data_set

PAGE = "quality.md"
# What the page shows, in its order: tables, and figures by the stem of their files.
_SHOWN = (
    "0_coverage_methods", "3_tasks", "worth", "losses", "curves", "5_controls", "2_summary", "6_ranks",
    "ranks_50", "4_fair_knn", "8_subset_value", "7_when", "when", "curves_data_sets", "1_worth",
)  # fmt: skip
_LONG = ("2_summary", "4_fair_knn", "6_ranks")  # of which the page has the first L only
_INTRODUCTION = """
Where all labels are known, a ranking made from L of them can be held against what models outside the family
find with all of them: *captured importance* is the share of that importance in the first features of the
ranking. Doubling the labels moves it by several points, so a gain can be told in labels. A ranking is *worth*
1.5 if rankings from labelled rows alone need 1.5 times the labels to capture as much; 1 means that the
unlabelled rows did nothing. How it is measured is in [definition 2.6](definitions.md#def-2.6), what is run in
[Running the study](run-study.md#what-unlabelled-rows-are-worth), and what it means in [The study](study.md).

This page is written by `python -m benchmarks.quality`; the files behind it are in the folder `results/worth`
of the repository.
"""


def worth_results(
    records: Iterable[Record], jobs: Iterable[Job] = (), seed: int = 0
) -> tuple[WorthResults, list[Record], list[Job]]:
    """What was found, without the jobs that an older version of their method did."""
    jobs = list(jobs)
    old = {job.place for job in jobs if not is_current(job, seed)}
    kept = [r for r in records if (r.dataset, r.fold, r.n_labeled, r.family) not in old]
    jobs = [job._replace(state="missing") if job.place in old else job for job in jobs]
    return collect_worth(kept, jobs, WORTH.n_labeled), kept, jobs


def write_worth_tables(
    records: Iterable[Record],
    out: Path | str,
    *,
    jobs: Iterable[Job] = (),
    properties: Properties | None = None,
    seed: int = 0,
) -> list[Path]:
    """Write every table as Markdown and CSV.

    Parameters
    ----------
    records : iterable of Record
        Finished ones of one run of the preset `worth`; it may be incomplete.
    out : path
        Folder, made if it is not there.
    jobs : iterable of Job, optional
        All that is planned, to say what is not finished.
    properties : dict of str to dict, optional
        Numbers about the data sets, from `dataset_properties`.
    seed : int, default=0
        Of the study.

    Returns
    -------
    list of Path
        The files.
    """
    return save_tables(worth_tables(*worth_results(records, jobs, seed), properties or {}), out)


def worth_tables(
    results: WorthResults, records: Iterable[Record], jobs: Iterable[Job], properties: Properties
) -> list[StudyTable]:
    """All tables; each says above it what has been run. The one for programs is the last."""
    records, jobs = list(records), list(jobs)
    about_all = coverage(results, records, jobs)
    said = covered(about_all)
    others = [
        worth_by_data_set(results),
        summary(results),
        tasks(results),
        fair_knn(results),
        controls(results),
        ranks(results),
        when(results, properties),
        when_by_data_set(results, properties),
        subset_values(results),
    ]
    by_method = coverage_by_method(records, jobs)
    return [about_all, by_method, *(replace(t, text=f"{t.text} {said}") for t in others), long_table(results)]


def coverage_by_method(records: Iterable[Record], jobs: Iterable[Job]) -> StudyTable:
    """How many jobs of every family are done, by number of labels; references have all training labels."""
    done = {(r.dataset, r.fold, r.n_labeled, r.family) for r in records}
    planned = done | {job.place for job in jobs}
    rows = []
    for family in sorted({place[3] for place in planned}):
        counts = []
        for level in (None, *WORTH.n_labeled):
            some = [p for p in planned if p[3] == family and (level is None or p[2] == level)]
            whole = level is not None and family in REFERENCES
            counts.append("" if whole or not some else f"{sum(p in done for p in some)} of {len(some)}")
        rows.append((family, *counts))
    n_sets = len({place[0] for place in planned})
    text = f"Jobs done, over {n_sets} data sets and {WORTH.n_folds} seeds, in all and by number of labels."
    notes = [f"{len(done)} of {len(planned)} jobs are done."]
    columns = ("method", "all", *(f"L = {level}" for level in WORTH.n_labeled))
    return StudyTable("0_coverage_methods", "What has been run, by method", text, columns, rows, notes)


def worth_page(
    tables: Iterable[StudyTable], results: WorthResults, pictures: dict[str, str], images: str
) -> str:
    """One page: how complete it is, what came out over data sets, then one by one.

    Parameters
    ----------
    pictures : dict of str to str
        Figures by the stem of their files, with their titles.
    images : str
        What stands before the stem in links to them.
    """
    by_name = {table.name: table for table in tables}
    parts = ["# What unlabelled rows are worth", _INTRODUCTION.strip()]
    for name in _SHOWN:
        if name in by_name:
            parts.append(_short(by_name[name]).markdown().replace("# ", "## ", 1).strip())
        elif name == "losses":
            parts += ["## Where the consensus loses", "\n".join(f"- {line}" for line in losses(results))]
        elif name in pictures:
            parts.append(f"![{pictures[name]}]({images}{name}.png)")
    return "\n\n".join(parts) + "\n"


def _short(table: StudyTable) -> StudyTable:
    if table.name not in _LONG:
        return table
    rows = [row for row in table.rows if row[0] <= FIRST_LEVELS]
    text = f"{table.text} L up to {FIRST_LEVELS}; `results/worth/{table.name}.md` has all."
    return replace(table, rows=rows, text=text)
