"""`semirank compare`: how far two saved rankings agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from . import terminal
from .options import Json


def compare(
    first: Annotated[Path, typer.Argument(help="A saved ranking: .json, .csv or .fimp.")],
    second: Annotated[Path, typer.Argument(help="Another one of the same features.")],
    as_json: Json = False,
) -> None:
    """Say how far two saved rankings agree.

    Kendall's tau-b of the scores, overlap of the best k, and the area under the fuzzy Jaccard
    (FUJI) curve; 1 is full agreement.
    """
    from ..results.ranking import Ranking
    from ..results.text_table import printable

    one, two = Ranking.load(first), Ranking.load(second)
    found = one.compare(two)
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    size = len(one)
    rows = [["Kendall's tau-b", f"{found.kendall:.3f}"], ["FUJI area", f"{found.fuji_area:.3f}"]]
    for k in (k for k in (1, 5, 10, 20, 50, 100, 200, 500) if k < size):
        rows.append([f"overlap of top {k}", f"{found.overlap[k - 1]:.2f}"])
    print(f"{first.name} against {second.name}, {size} features\n")
    terminal.show_table(["measure", "value"], rows)
    first_ranks, second_ranks = (dict(zip(r.names, r.ranks.tolist())) for r in (one, two))
    rows = [[str(first_ranks[n]), str(second_ranks[n]), printable(n)] for n, _ in one.top(10)]
    print()
    terminal.show_table([first.name, second.name, "feature"], rows)
