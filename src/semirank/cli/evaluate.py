"""`semirank evaluate`: which ranker suits a file; with --label-counts, the paper's curves over labels."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..rankers.methods import COMPARED
from . import options, terminal
from .results import PICTURES, check_outputs, compute, deliver, origin

if TYPE_CHECKING:
    from ..results.evaluation import Evaluation
    from ..results.label_curves import LabelCurves
    from .input import Input


def evaluate(
    files: options.Files,
    target: options.Targets = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", metavar="NAME", help=f"{', '.join(COMPARED)}; may repeat."),
    ] = None,
    features: options.Features = None,
    drop: options.Drop = None,
    numeric: options.Numeric = None,
    nominal: options.Nominal = None,
    missing: options.Missing = None,
    unlabeled: options.Unlabeled = None,
    decimal: options.Decimal = None,
    task: options.TaskOption = options.Task["auto"],
    labels: options.Labels = None,
    labels_from_column: options.LabelsFrom = None,
    hierarchy: options.HierarchyFile = None,
    set_: options.Set = None,
    repeats: Annotated[
        int | None, typer.Option(metavar="N", help="Repeats of the cross-validation; 5 by default.")
    ] = None,
    folds: Annotated[
        int | None, typer.Option(metavar="N", help="Folds; by default 5, with --label-counts 10.")
    ] = None,
    label_counts: Annotated[
        str | None,
        typer.Option(
            metavar="L,L,...", help="Only the paper's evaluation: scores over these numbers of labels."
        ),
    ] = None,
    neighbors: Annotated[
        str | None,
        typer.Option(metavar="K,K,...", help="Neighbours that judge, with --label-counts; 20,40 by default."),
    ] = None,
    preset: Annotated[
        options.Preset | None,
        typer.Option(
            "--preset",
            help="The paper's evaluation with its settings; alone, L is 50,100,200,350,500.",
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Keep finished rankings here; the same command goes on from them."
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the result as .png, .svg or .pdf.")
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write .json or .html, with --label-counts also .csv; may repeat.",
        ),
    ] = None,
    as_json: options.Json = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    quiet: options.Quiet = False,
) -> None:
    """Say which ranker suits a file, and whether its unlabelled rows help.

    Labels are hidden in turn and predicted by nearest neighbours in the space that a ranking weights,
    with and without the unlabelled rows.
    """
    from ..judging.splits import PAPER_LABELS
    from .input import read, split_commas

    if preset is not None and label_counts is None:
        label_counts = ",".join(map(str, PAPER_LABELS))
    params: dict[str, Any] = {"methods": split_commas(method) or None}
    params |= _protocol(label_counts, repeats, folds, neighbors, preset)
    params |= {"random_state": seed, "n_jobs": jobs}
    out = out or []
    _check_files(out, plot, over_labels=label_counts is not None)
    given = read(
        files, target=target, features=features, drop=drop, task=task.value, hierarchy=hierarchy,
        labels_from_column=labels_from_column, set_=set_, labels=labels, seed=seed, numeric=numeric,
        nominal=nominal, missing=missing, unlabeled=unlabeled, decimal=decimal,
    )  # fmt: skip
    found: Evaluation | LabelCurves
    if label_counts is None:
        found = _evaluate(given, params, cache, quiet)
    else:
        found = _label_curves(given, params, cache, quiet, use_test_part=folds is None)

    def as_text() -> str:
        return json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False)

    deliver(found, out, lambda: _show(found), as_json=as_text if as_json else None, quiet=quiet, plot=plot)


def _protocol(
    label_counts: str | None,
    repeats: int | None,
    folds: int | None,
    neighbors: str | None,
    preset: options.Preset | None,
) -> dict[str, Any]:
    """The parameters of the evaluation that was asked for."""
    from .input import whole_numbers

    if label_counts is None:
        if neighbors is not None:
            raise ValueError("--neighbors goes with --label-counts, the paper's evaluation.")
        return {"n_repeats": 5 if repeats is None else repeats, "n_folds": 5 if folds is None else folds}
    if repeats is not None:
        raise ValueError("--repeats does not go with --label-counts, which runs its folds once.")
    found: dict[str, Any] = {
        "n_labeled": whole_numbers(label_counts, "--label-counts"),
        "n_folds": 10 if folds is None else folds,
        "k": whole_numbers(neighbors or "20,40", "--neighbors"),
    }
    return found if preset is None else found | {"preset": preset.value}


def _check_files(out: list[Path], plot: Path | None, *, over_labels: bool) -> None:
    from ..results import evaluation, label_curves

    check_outputs(out, (label_curves if over_labels else evaluation).FORMATS)
    if plot is not None:
        from ..report.figures import figure_class

        check_outputs([plot], PICTURES)
        figure_class()


def _evaluate(given: Input, params: dict[str, Any], cache: Path | None, quiet: bool) -> Evaluation:
    from ..evaluation.evaluate import evaluate as judge
    from .input import READING

    if given.params:
        unknown = next(iter(given.params))
        raise ValueError(f"--set {unknown} is not known here; it takes {', '.join(READING)}.")
    found = compute(
        lambda progress: judge(given.X, given.target, cache=cache, progress=progress, **params),
        given.notes,
        quiet,
    )
    made = origin(given.lines, "found = sr.evaluate", params)
    made["python"] += "\nranking = found.ranking"
    ranking = replace(found.ranking, origin=made, columns=given.column_table())
    return replace(found, ranking=ranking)


def _label_curves(
    given: Input, params: dict[str, Any], cache: Path | None, quiet: bool, *, use_test_part: bool
) -> LabelCurves:
    from ..evaluation.label_curves import label_curves

    params |= given.params
    if given.n_train is not None and use_test_part:
        params["test"] = range(given.n_train, len(given.X))
    found = compute(
        lambda progress: label_curves(given.X, given.target, cache=cache, progress=progress, **params),
        given.notes,
        quiet,
    )
    return replace(found, origin=origin(given.lines, "found = sr.label_curves", params))


def _show(found: Any) -> None:
    terminal.show_warnings(found.warnings)
    print(f"{found.summary()}\n")
    terminal.show(found.table())
    print(f"\n{found.sentences()[-1]}")
