"""`semirank rank settings.s`: a settings file of CLUS as data and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..data.read_clus_settings import ClusSettings, clus_data, read_clus_settings, values_of
from ..data.summary import describe_target
from ..data.tasks import CLASSES, TASKS
from ..trees.scores import IMPORTANCES
from .input import Input, load_files, with_columns

_FOREST, _RELIEF = "forest", "relief"
_ENSEMBLES = {
    "rforest": "random_forest", "extratrees": "extra_trees", "bagging": "bagging", "bag": "bagging",
}  # fmt: skip
# Settings that say nothing about a ranking, by section; and those that hold here anyway.
_NO_PART = {
    "general": ("verbose", "resourceinfoloaded", "compatibility"),
    "data": ("testset",),
    "output": ("*",),
    "tree": ("converttorules",),
    "hierarchical": ("type",),
}
_ALWAYS = {
    ("tree", "heuristic"): ("variancereduction",),
    ("hierarchical", "hseparator"): ("/",),
    ("hierarchical", "emptysetindicator"): ("?",),
    ("hierarchical", "wtype"): ("expavgparentweight",),
    ("ensemble", "featurerankingpertarget"): ("yes", "true"),
    ("ensemble", "sortrankingbyrelevance"): ("yes", "true"),
    ("relief", "multilabeldistance"): ("hammingloss",),
    ("semisupervised", "semisupervisedmethod"): ("pct",),
}


def is_settings(files: Sequence[str]) -> bool:
    """Whether the one file of a command line is a settings file of CLUS."""
    return len(files) == 1 and files[0].lower().endswith(".s")


def read_settings(path: Path, method: str, seed: int, more: dict[str, Any]) -> Input:
    """The data and the parameters of a settings file.

    `method` is that of the command line, "auto" for what the file asks for; `more` are options of `load`
    from there, which win.
    """
    settings = read_clus_settings(path)
    settings.used.add(("attributes", "clustering"))
    files, options = clus_data(settings)
    if drop := [*options.pop("drop", []), *more.pop("drop", [])]:
        options["drop"] = drop
    data, line = load_files([str(file) for file in files], options | more)
    lines = ["import semirank as sr", "", line, "y = data.target"]
    target, notes = data.target, []
    if len(files) > 1:
        target = target.hide(data.part == 1)
        lines[-1] = "y = data.target.hide(data.part == 1)"
        notes.append(f"the target of {files[1].name} does not count: its rows are the unlabelled ones")
    wanted = _method(settings, method)
    kept = _labels_to_keep(settings, target)
    drawn = _seed(settings, seed)
    if kept is not None:
        from ..data.keep_labels import keep_labels

        target = keep_labels(target, kept, random_state=drawn)
        lines.append(f"y = sr.keep_labels(y, {kept}, random_state={drawn})")
        share = settings.get("SemiSupervised", "PercentageLabeled")
        notes.append(f"{share} % of the labels, {kept}, were kept at random with seed {drawn}")
    params: dict[str, Any] = {"method": wanted, "random_state": drawn}
    if (threads := settings.number("Ensemble", "NumberOfThreads")) is not None:
        params["n_jobs"] = max(1, int(threads))
    if wanted == _RELIEF:
        _relief(settings, data.task, len(data), params, notes)
    elif wanted == _FOREST:
        _forest(settings, params, notes)
    before = describe_target(data.target)
    rest = [note for note in with_columns(data, data.notes) if note not in before]
    notes = [*describe_target(target), *notes, *rest, *_left(settings)]
    return Input(data, target, notes, lines, params)


def _method(settings: ClusSettings, method: str) -> str:
    """What the file asks for: Relief where it has a section of that name and no ensemble."""
    if method != "auto":
        return method
    asked = settings.get("Ensemble", "EnsembleMethod") or settings.get("Ensemble", "FeatureRanking")
    return _RELIEF if "relief" in settings.sections and asked is None else _FOREST


def _seed(settings: ClusSettings, seed: int) -> int:
    """The seed of the command line, or that of the file where none was given there."""
    given = settings.get("General", "RandomSeed")
    if seed or given is None:
        return seed
    return int(settings.as_number(given, "General", "RandomSeed")) % 2**31


def _labels_to_keep(settings: ClusSettings, target: Any) -> int | None:
    """How many labels to keep; like CLUS, only where no row is unlabelled as it is."""
    share = settings.get("SemiSupervised", "PercentageLabeled")
    if share is None or not target.labeled.all():
        return None
    part = settings.as_number(share, "SemiSupervised", "PercentageLabeled") / 100
    if not 0 < part <= 1:
        raise ValueError(f"{settings.path.name}: PercentageLabeled = {share} is no share of 100.")
    return max(2, round(part * len(target)))


def _largest(settings: ClusSettings, section: str, name: str, notes: list[str]) -> float | None:
    """The largest number of a list; a share of 1, or -1, is all."""
    if settings.get(section, name) is None:
        return None
    each = settings.numbers(section, name) or [
        settings.as_number("", section, name)
    ]  # an empty list is refused
    best = -1.0 if min(each) < 0 else max(each)
    if len(each) > 1:
        notes.append(f"of {settings.spelled[section.lower(), name.lower()]} only {best:g} was run")
    return best


def _relief(settings: ClusSettings, task: str, n_rows: int, params: dict[str, Any], notes: list[str]) -> None:
    if (k := _largest(settings, "Relief", "Neighbours", notes)) is not None:
        params["n_neighbors"] = max(1, int(k))
    m = _largest(settings, "Relief", "Iterations", notes)
    if m is not None and m > 0 and m != 1:
        params["n_iterations"] = max(1, round(m * n_rows)) if m < 1 else min(n_rows, int(m))
    weighted, sigma = settings.get("Relief", "WeightNeighbours"), settings.get("Relief", "WeightingSigma")
    if weighted is not None and weighted.lower() in ("yes", "true"):
        params["neighbor_weights"] = settings.as_number(sigma or "0.5", "Relief", "WeightingSigma")
    if TASKS[task].kind == CLASSES:
        params["form"] = "per_class"
    _supervised(settings, params)


def _forest(settings: ClusSettings, params: dict[str, Any], notes: list[str]) -> None:
    ensemble = settings.get("Ensemble", "EnsembleMethod")
    if ensemble is None:
        notes.append("the settings name no ensemble; a single tree has no ranking, so a random forest ranks")
    elif ensemble.lower() in _ENSEMBLES:
        params["ensemble"] = _ENSEMBLES[ensemble.lower()]
    else:
        raise ValueError(
            f"{settings.path.name}: {settings.spelled['ensemble', 'ensemblemethod']} has no equivalent; "
            "there are RForest, ExtraTrees and Bagging."
        )
    if (trees := _largest(settings, "Ensemble", "Iterations", notes)) is not None:
        params["n_estimators"] = max(1, int(trees))
    subspaces = settings.get("Ensemble", "SelectRandomSubspaces")
    if subspaces is not None and subspaces.lower() == "sqrt":
        params["max_features"] = "sqrt"
    elif (count := settings.number("Ensemble", "SelectRandomSubspaces")) is not None:
        params["max_features"] = int(count) if count >= 1 else (count or None)
    names = [name.lower() for name in values_of(settings.get("Ensemble", "FeatureRanking") or "")]
    known = [name for name in names if name in IMPORTANCES]
    if known:
        params["importance"] = known[0] if len(known) == 1 else known
    if lost := [name for name in names if name not in IMPORTANCES and name != "none"]:
        notes.append(f"[Ensemble] FeatureRanking: {', '.join(lost)} has no equivalent")
    if (leaf := settings.number("Model", "MinimalWeight")) is not None:
        params["min_samples_leaf"] = max(1, round(leaf))
    depth = settings.get("Constraints", "MaxDepth")
    if depth is not None and depth.lower() not in ("infinity", "-1"):
        params["max_depth"] = int(settings.as_number(depth, "Constraints", "MaxDepth"))
    if _supervised(settings, params):
        return
    weights = settings.numbers("SemiSupervised", "PossibleWeights")
    if len(weights) == 1:
        params["supervision"] = weights[0]
        return
    params["supervision"] = "cv"
    if weights:
        params["supervision_grid"] = weights
    if (folds := settings.number("SemiSupervised", "InternalFolds")) is not None:
        params["n_folds"] = int(folds)


def _supervised(settings: ClusSettings, params: dict[str, Any]) -> bool:
    """Without its section, learning is supervised: labelled rows alone."""
    if "semisupervised" in settings.sections:
        return False
    params["use_unlabeled"] = False
    return True


def _left(settings: ClusSettings) -> list[str]:
    """What has no equivalent, and what plays no part in a ranking."""
    lost: list[str] = []
    idle: list[str] = []
    for place, words in settings.spelled.items():
        section, name = place
        if place in settings.used or settings.sections[section][name].lower() in _ALWAYS.get(place, ()):
            continue
        parts = _NO_PART.get(section, ())
        (idle if name in parts or "*" in parts else lost).append(words)
    notes = [f"these settings have no equivalent here: {'; '.join(lost)}"] if lost else []
    return notes + ([f"these settings play no part in a ranking: {'; '.join(idle)}"] if idle else [])
