"""`semirank evaluate`: how good a ranking is; with --label-counts, the paper's curves over labels."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..rankers.methods import COMPARED, METHODS
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
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help=f"What to rank by, as in `rank`; further ones are compared with it: {', '.join(COMPARED)}.",
        ),
    ] = None,
    importance: options.Importance = None,
    preset: Annotated[
        options.Preset | None,
        typer.Option(help="The paper's evaluation with its settings; alone, L is 50,100,200,350,500."),
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
    judge: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="knn, or the name of a scikit-learn estimator such as LogisticRegression."
        ),
    ] = "knn",
    quick: Annotated[bool, typer.Option("--quick", help="Fewer folds and rows; it says which.")] = False,
    more_labels: Annotated[
        bool, typer.Option("--more-labels", help="Also say what two and four times the labels would bring.")
    ] = False,
    repeats: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Repeats of the cross-validation; 5 by default, fewer on large tables."
        ),
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
    """Say how good the ranking of a file is, whether its unlabelled rows help, how many features to keep.

    Labelled rows are taken away in turn and predicted in the space that a ranking of the others weights, with
    and without the unlabelled rows. The ranking is that of `semirank rank` with the same options.
    """
    from ..judging.splits import PAPER_LABELS
    from .input import read, split_commas

    if preset is not None and label_counts is None:
        label_counts = ",".join(map(str, PAPER_LABELS))
    own = {"--judge": judge != "knn", "--quick": quick, "--more-labels": more_labels}
    named, scores = split_commas(method, "--method"), split_commas(importance, "--importance")
    params: dict[str, Any]
    if label_counts is None:
        params = _asked(named, scores) | _protocol(judge, quick, more_labels, repeats, folds, neighbors)
    else:
        own |= {"--repeats": repeats is not None, "--importance": bool(scores)}
        params = {"methods": named or None}
        params |= _paper_protocol(
            label_counts, folds, neighbors, preset, [o for o, used in own.items() if used]
        )
    params |= {"random_state": seed, "n_jobs": jobs}
    out = out or []
    _check_files(out, plot, over_labels=label_counts is not None)
    given = read(
        files, features=features, drop=drop, numeric=numeric, nominal=nominal, missing=missing,
        targets=target, unlabeled=unlabeled, decimal=decimal, task=task.value, hierarchy=hierarchy,
        labels_from_column=labels_from_column, set_=set_, labels=labels, seed=seed,
    )  # fmt: skip
    params |= given.params
    found: Evaluation | LabelCurves
    if label_counts is None:
        found = _evaluate(given, params, cache, quiet)
    else:
        found = _label_curves(given, params, cache, quiet, use_test_part=folds is None)

    def as_text() -> str:
        return json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False)

    deliver(found, out, lambda: _show(found), as_json=as_text if as_json else None, quiet=quiet, plot=plot)


def _asked(named: list[str], scores: list[str]) -> dict[str, Any]:
    """What to rank by, as `rank` takes it, and what to compare it with."""
    found: dict[str, Any] = {"method": named[0] if named else "auto"}
    if found["method"] in COMPARED:  # which also has names for ensembles of the forest
        row = COMPARED[found["method"]]
        found = {"method": row.name, **(row.compared[found["method"]] if found["method"] != row.name else {})}
    if len(named) > 1:
        found["methods"] = named[1:]
    if scores:
        found["importance"] = scores if len(scores) > 1 else scores[0]
    return found


def _protocol(
    judge: str, quick: bool, more_labels: bool, repeats: int | None, folds: int | None, neighbors: str | None
) -> dict[str, Any]:
    if neighbors is not None:
        raise ValueError("--neighbors goes with --label-counts, the paper's evaluation.")
    found: dict[str, Any] = {} if judge == "knn" else {"judge": _estimator(judge)}
    found |= {"quick": quick or None, "more_labels": more_labels or None}
    found |= {"n_repeats": repeats, "n_folds": folds}
    return {name: value for name, value in found.items() if value is not None}


def _paper_protocol(
    label_counts: str,
    folds: int | None,
    neighbors: str | None,
    preset: options.Preset | None,
    others: list[str],
) -> dict[str, Any]:
    from .input import whole_numbers

    if others:
        raise ValueError(f"{others[0]} does not go with --label-counts, the paper's evaluation.")
    found: dict[str, Any] = {
        "n_labeled": whole_numbers(label_counts, "--label-counts"),
        "n_folds": 10 if folds is None else folds,
        "k": whole_numbers(neighbors or "20,40", "--neighbors"),
    }
    return found if preset is None else found | {"preset": preset.value}


def _estimator(name: str) -> Any:
    """A scikit-learn estimator by the name of its class, with its default parameters."""
    from sklearn.utils.discovery import all_estimators

    from ..runtime.messages import did_you_mean

    known = dict(all_estimators(type_filter=["classifier", "regressor"]))
    if name not in known:
        raise ValueError(
            f"--judge takes knn or the name of a scikit-learn estimator, and {name!r} is none"
            f"{did_you_mean(name, known)}."
        )
    return known[name]()


def _check_files(out: list[Path], plot: Path | None, *, over_labels: bool) -> None:
    from ..results import evaluation, label_curves

    check_outputs(out, (label_curves if over_labels else evaluation).FORMATS)
    if plot is not None:
        from ..report.figures import figure_class

        check_outputs([plot], PICTURES)
        figure_class()


def _evaluate(given: Input, params: dict[str, Any], cache: Path | None, quiet: bool) -> Evaluation:
    from ..evaluation.evaluate import evaluate as judge

    found = compute(
        lambda progress: judge(given.data.X, given.target, cache=cache, progress=progress, **params),
        given.notes,
        quiet,
        params["method"] if params["method"] in METHODS else "auto",
    )
    lines = list(given.lines)
    if "judge" in params:  # an estimator is imported first
        made_by = type(params["judge"])
        lines.insert(0, f"from {made_by.__module__.rsplit('._', 1)[0]} import {made_by.__name__}")
    made = origin(lines, "found = sr.evaluate", params)
    made["python"] += "\nranking = found.ranking"
    ranking = replace(found.ranking, origin=made, columns=given.column_table())
    return replace(found, ranking=ranking)


def _label_curves(
    given: Input, params: dict[str, Any], cache: Path | None, quiet: bool, *, use_test_part: bool
) -> LabelCurves:
    from ..evaluation.label_curves import label_curves

    if given.n_train is not None and use_test_part:
        params["test"] = range(given.n_train, len(given.data.X))
    found = compute(
        lambda progress: label_curves(given.data.X, given.target, cache=cache, progress=progress, **params),
        given.notes,
        quiet,
    )
    return replace(found, origin=origin(given.lines, "found = sr.label_curves", params))


def _show(found: Evaluation | LabelCurves) -> None:
    terminal.show_warnings(found.warnings)
    *answers, how = found.sentences()
    more = getattr(found, "more_labels", None)
    print("\n".join(answers) if hasattr(found, "asked") else found.summary(), end="\n\n")
    terminal.show(found.table())
    if more is not None:
        print()
        terminal.show(more.table(found.measure))
    print(f"\n{how}")
