"""`semirank rank`: from a file to a ranking in the terminal and in files."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..rankers.presets import PRESET_METHOD
from . import options, terminal
from .results import check_outputs, compute, deliver, origin

if TYPE_CHECKING:
    from ..results.ranking import Ranking


def rank(
    files: options.Files,
    target: options.Targets = None,
    features: options.Features = None,
    drop: options.Drop = None,
    numeric: options.Numeric = None,
    nominal: options.Nominal = None,
    missing: options.Missing = None,
    unlabeled: options.Unlabeled = None,
    decimal: options.Decimal = None,
    task: options.TaskOption = options.Task["auto"],
    labels: options.Labels = None,
    method: options.MethodOption = options.Method["auto"],
    importance: options.Importance = None,
    preset: options.PresetOption = None,
    labels_from_column: options.LabelsFrom = None,
    hierarchy: options.HierarchyFile = None,
    set_: options.Set = None,
    out: options.Out = None,
    plain_csv: options.PlainCsv = False,
    as_json: options.Json = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    quiet: options.Quiet = False,
) -> None:
    """Rank the features of a file, or of a data set by its name.

    Rows whose target is empty are the unlabelled ones.
    """
    from ..results.files import FORMATS
    from .clus_settings import is_settings, read_settings
    from .input import read, split_commas

    settings = None
    if is_settings(files):
        settings = partial(read_settings, Path(files[0]), method.value, seed)
        out = out or [Path(files[0]).with_suffix(".fimp")]  # as CLUS does
    check_outputs(out or [], FORMATS)
    given = read(
        files, features=features, drop=drop, numeric=numeric, nominal=nominal, missing=missing,
        targets=target, unlabeled=unlabeled, decimal=decimal, task=task.value, hierarchy=hierarchy,
        labels_from_column=labels_from_column, set_=set_, labels=labels, seed=seed, settings=settings,
    )  # fmt: skip
    chosen = {"method": method.value}
    if preset is not None:
        chosen = {"method": PRESET_METHOD if method == "auto" else method.value, "preset": preset.value}
    params = chosen | {"random_state": seed, "n_jobs": jobs} | given.params
    if names := split_commas(importance, "--importance"):
        params["importance"] = names if len(names) > 1 else names[0]
    ranking = rank_with_progress(given.data.X, given.target, params, given.notes, quiet)
    made = origin(given.lines, "ranking = sr.rank", params)
    ranking = replace(ranking, origin=made, columns=given.column_table(), positions=given.file_positions())
    deliver_ranking(ranking, out or [], as_json=as_json, quiet=quiet, safe_csv=not plain_csv)


def rank_with_progress(X: Any, y: Any, params: dict[str, Any], notes: list[str], quiet: bool) -> Ranking:
    """Rank, saying what happens."""

    def work(progress: Any) -> Ranking:
        from .. import rank as rank_features

        return rank_features(X, y, progress=progress, **params)

    return compute(work, notes, quiet, params.get("method", "auto"))


def deliver_ranking(
    ranking: Ranking, out: list[Path], *, as_json: bool, quiet: bool, safe_csv: bool = True
) -> None:
    """Write a ranking to its files and print its best features."""
    from ..results.files import to_json

    def show() -> None:
        terminal.show_warnings(ranking.warnings)
        print(f"{ranking.summary()}\n")
        terminal.show(repr(ranking.top(20)))
        if len(ranking) > 20:
            print(f"   … and {len(ranking) - 20} more")

    json = (lambda: to_json(ranking)) if as_json else None
    deliver(ranking, out, show, as_json=json, quiet=quiet, save=partial(ranking.save, safe_csv=safe_csv))
