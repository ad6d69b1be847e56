"""A ranking as one HTML file that opens offline, makes no request, and has a light and a dark look."""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import combinations
from typing import Any

import numpy as np

from ..data.tasks import TASKS
from ..rankers.methods import JUDGE_MARGIN
from ..results.agreement import agreement
from ..results.ranking import CHOICE_NAMES, Ranking
from ..results.text_table import visible
from ..runtime.messages import plural
from .svg_charts import Curve, framed, heat_map, line_chart, number, number_grid, table, text

HEAT_FEATURES, HEAT_TARGETS = 30, 60  # more would be a blur; the json and csv files hold them all
COLUMNS = 500  # rows of the table of columns
CURVE_POINTS = 200
Tiles = list[tuple[str, str, str]]  # value, what it is, more HTML
_COLUMN_PARTS = ("name", "role", "kind", "values", "missing", "odd")


def render(ranking: Ranking, evaluation: Mapping[str, Any] | None = None) -> str:
    """The report of a ranking as the text of a self-contained HTML page.

    Parameters
    ----------
    ranking : Ranking
    evaluation : mapping, optional
        What an evaluation found: "sentences" (list of str), "tables" (list of {"title", "rows"}, rows
        being dictionaries) and "curves" (list of {"title", "x_label", "y_label", "series"}, series being
        {"name", "x", "y"} with optional "low" and "high"). Every part may be left out.

    Returns
    -------
    str

    Examples
    --------
    >>> from semirank import Ranking
    >>> ranking = Ranking(names=("a", "b"), scores=[0.1, 0.4], method="relief", importance="relief")
    >>> render(ranking).splitlines()[0]
    '<!doctype html>'
    """
    script = _resource("page.js")
    middle = [part for part in (_choice(ranking), _teacher(ranking), _agreement(ranking)) if part]
    sections = [
        _features(),
        f'<div class="pair">{"".join(middle)}</div>' if middle else "",
        _targets(ranking),
        _evaluation(evaluation or {}),
        _columns(ranking),
        _missing(ranking),
        _reproduce(ranking),
    ]
    live = f"""<div id="tip" role="tooltip" hidden></div>
<script type="application/json" id="data">{_json(_table_data(ranking))}</script>
<script>{script}</script>
"""
    title = head(f"Ranking of {plural(len(ranking), 'feature')}", ranking.version, script=script)
    return page(title, "Feature ranking", ranking, _numbers(ranking), sections, live)


def page(title: str, kind: str, found: Any, numbers: Tiles, sections: Sequence[str], live: str = "") -> str:
    """A whole page: its `head`, what it is about, the most important numbers, sections, scripts."""
    return f"""{title}
<body>
<main>
<header><p class="kind">{kind}</p><h1>{text(found.summary())}</h1></header>
{_warnings(found.warnings)}
{tiles(numbers)}
{"".join(sections)}
<footer>semirank {text(found.version)}</footer>
</main>
{live}</body>
</html>
"""


def head(title: str, version: str, *, style: str = "", script: str = "") -> str:
    """A page as far as its body, with the common style and more `style`.

    The policy forbids every request and every script but the given one, whatever the data contain.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        + (f"script-src 'sha256-{digest}'; " if script else "")
        + "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="semirank {text(version)}">
<link rel="icon" href="data:,">
<title>{text(title)} - semirank</title>
<style>{_resource("page.css")}{style}</style>
</head>"""


def _resource(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    """JSON that cannot end the script element it stands in, nor start anything else."""
    raw = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        raw = raw.replace(character, f"\\u{ord(character):04x}")
    return raw


def section(title: str, hint: str, body: str, name: str = "") -> str:
    """A part of a page under its heading; the arguments are HTML, `name` is that of a link to it."""
    label = f' id="{name}"' if name else ""
    return f'<section{label}><h2>{title}</h2><p class="hint">{hint}</p>{body}</section>'


def _warnings(warnings: Sequence[Mapping[str, Any]]) -> str:
    """What to know of the data, above everything else; nothing where there is nothing."""
    if not warnings:
        return ""
    items = notes_list([warning["text"] for warning in warnings])
    return f'<section id="warnings"><h2>Before you believe it</h2>{items}</section>'


def notes_list(notes: Sequence[object]) -> str:
    """Sentences under each other."""
    return f'<ul class="notes">{"".join(f"<li>{text(note)}</li>" for note in notes)}</ul>'


def _numbers(ranking: Ranking) -> Tiles:
    found = [(str(len(ranking)), "features", "")]
    if ranking.task:
        words = TASKS[ranking.task].words if ranking.task in TASKS else ranking.task
        found.append((words.capitalize(), "task", ""))
    if ranking.n_rows is not None and ranking.n_labeled is not None:
        share = 100 * ranking.n_labeled / max(ranking.n_rows, 1)
        bar = f'<div class="share"><i style="width:{share:.2f}%"></i></div>'
        found.append((f"{ranking.n_labeled} of {ranking.n_rows}", f"rows labelled ({share:.3g}\u00a0%)", bar))
    found.append((ranking.method.capitalize(), f"method, ranked by {ranking.importance}", ""))
    if ranking.choice:
        values = ", ".join(number(value) for value in ranking.choice.values())
        label = ", ".join(map(_parameter, ranking.choice))
        found.append((values, f"{'chosen ' if ranking.choice_path else ''}{label}", ""))
    if ranking.timings:
        seconds = ranking.timings.get("total", sum(ranking.timings.values()))
        found.append((f"{seconds:.3g} s", "computing time", ""))
    return found


def tiles(found: Tiles) -> str:
    """(value, what it is, more HTML) side by side."""
    inner = "".join(
        f'<div class="tile"><b>{text(value)}</b><span>{text(label)}</span>{extra}</div>'
        for value, label, extra in found
    )
    return f'<div class="tiles">{inner}</div>'


def _features() -> str:
    tools = (
        '<div class="tools"><input type="search" id="search" placeholder="Search features" '
        'aria-label="Search features"><span id="count" aria-live="polite"></span></div>'
    )
    body = (
        f'{tools}<div class="scroll" tabindex="0">'
        "<table><thead><tr></tr></thead><tbody></tbody></table></div>"
        '<button type="button" class="plain" id="more" hidden></button>'
        "<noscript><p>The table needs JavaScript.</p></noscript>"
    )
    hint = "Click a column to sort. Bars show the score, whiskers one standard error to each side."
    return section("Ranked features", hint, body, "features")


def _table_data(ranking: Ranking) -> dict[str, Any]:
    """Columns of the table for the script; keys are ours, so a feature name can be anything."""
    order = ranking.order
    columns: list[dict[str, Any]] = [
        {"key": "rank", "title": "Rank", "kind": "int"},
        {"key": "name", "title": "Feature", "kind": "text"},
    ]
    values: dict[str, list[Any]] = {
        "rank": ranking.ranks[order].tolist(),
        "name": [visible(ranking.names[i]) for i in order],
    }
    for place, (name, scores) in enumerate(ranking.all_scores.items()):
        key, error = f"score{place}", f"error{place}"
        errors = ranking.all_standard_errors.get(name)
        values[key] = _digits(scores[order])
        column: dict[str, Any] = {"key": key, "title": visible(name), "kind": "number"}
        if errors is not None:
            values[error] = _digits(errors[order])
            column["error"] = error
        if place == 0:
            title = column["title"] if errors is None else f"{column['title']} ± standard error"
            columns.append(column | {"title": title, "bar": True})
        columns.append(column)
    if ranking.missing_share is not None and ranking.missing_share.any():
        columns.append({"key": "missing", "title": "Missing", "kind": "share"})
        values["missing"] = _digits(ranking.missing_share[order])
    return {"columns": columns, "values": values}


def _digits(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(v) else float(f"{v:.7g}") for v in values]


def _choice(ranking: Ranking) -> str:
    """The path or grid behind what was tuned."""
    path = [row for row in ranking.choice_path if isinstance(row.get("score"), int | float)]
    tuned = [name for name in ranking.choice if all(name in row for row in path)]
    if not path or not tuned:
        return ""
    chosen = [row for row in path if all(row[name] == ranking.choice[name] for name in tuned)]
    measure = TASKS[ranking.task].measure if ranking.task in TASKS else "score"
    if len(tuned) == 1 and all(isinstance(row[tuned[0]], int | float) for row in path):
        rows = sorted(path, key=lambda row: row[tuned[0]])
        curve = Curve("", [row[tuned[0]] for row in rows], [row["score"] for row in rows])
        ring = (chosen[0][tuned[0]], chosen[0]["score"]) if chosen else None
        picture = line_chart([curve], _parameter(tuned[0]), measure, ring)
    elif {"w0", "w1"} <= set(tuned):
        picture = _influence_grids(path, ranking.choice, [name for name in tuned if name not in ("w0", "w1")])
    else:
        picture = ""
    rows = [{_parameter(k): v for k, v in row.items()} for row in path]
    details = (
        f"<details{'' if picture else ' open'}><summary>All settings tried</summary>{table(rows)}</details>"
    )
    what = ", ".join(f"{text(_parameter(name))} = {number(ranking.choice[name])}" for name in tuned)
    hint = f"Settings tried and their score ({measure}{_direction(ranking.task)}); chosen: {what}."
    if ranking.settings.get("supervision") == "judge":
        hint += f" w = 1 is kept unless another w is better by {100 * JUDGE_MARGIN:g}\u00a0%."
    return section("How it was tuned", hint, picture + details, "choice")


def _direction(task: str) -> str:
    if task not in TASKS:
        return ""
    return ", larger is better" if TASKS[task].greater_is_better else ", smaller is better"


def _influence_grids(path: list[dict[str, Any]], choice: dict[str, Any], rest: list[str]) -> str:
    """One grid of w0 by w1 for every value of the remaining parameters (k)."""
    scores = [row["score"] for row in path]
    chosen_score = next(
        (r["score"] for r in path if all(r[n] == choice[n] for n in ("w0", "w1", *rest))), None
    )
    # The chosen setting is the best one: shade towards it, whether small or large is good.
    shades = (min(scores), max(scores))
    if chosen_score is not None and chosen_score - shades[0] < shades[1] - chosen_score:
        shades = shades[::-1]
    rows, columns = sorted({r["w0"] for r in path}), sorted({r["w1"] for r in path})
    grids = []
    for setting in dict.fromkeys(tuple(row[name] for name in rest) for row in path):
        cells = {(r["w0"], r["w1"]): r["score"] for r in path if tuple(r[n] for n in rest) == setting}
        values = [[cells.get((a, b)) for b in columns] for a in rows]
        here = all(choice[name] == value for name, value in zip(rest, setting))
        chosen = (choice["w0"], choice["w1"]) if here else None
        title = ", ".join(f"{text(_parameter(name))} = {number(value)}" for name, value in zip(rest, setting))
        heading = f"<h3>{title}</h3>" if title else ""
        grid = number_grid(rows, columns, values, "w0 \\ w1", shades, chosen)
        grids.append(f"<div>{heading}{grid}</div>")
    return f'<div class="grids">{"".join(grids)}</div>'


def _agreement(ranking: Ranking) -> str:
    """Pairwise agreement of the importances that one method computed."""
    names = list(ranking.all_scores)
    if len(names) < 2:
        return ""
    pairs = list(combinations(names[:4], 2))  # four scores make six curves, one per colour
    rows, curves = [], []
    for a, b in pairs:
        found = agreement(ranking.all_scores[a], ranking.all_scores[b])
        ten = min(10, len(ranking))
        rows.append(
            {
                "scores": f"{a} and {b}",
                "Kendall": found.kendall,
                "FUJI area": found.fuji_area,
                f"overlap of top {ten}": float(found.overlap[ten - 1]),
            }
        )
        points = np.unique(np.linspace(1, len(ranking), CURVE_POINTS).astype(int))
        curves.append(Curve(f"{a} and {b}", points.tolist(), found.fuji[points - 1].tolist(), dots=False))
    picture = line_chart(curves, "number of best features", "fuzzy Jaccard index") if len(ranking) > 1 else ""
    hint = "Where the method's scores agree, the order is no accident of one of them; 1 is full agreement."
    return section("Agreement of the scores", hint, table(rows) + picture, "agreement")


def _teacher(ranking: Ranking) -> str:
    """How much each member of the teacher counts, and how it does where labels were held out."""
    found = ranking.teacher
    if not found:
        return ""
    rows = [
        {"member": name, "weight": found["weights"][name], **_held_out(found, name)}
        for name in sorted(found["members"], key=lambda name: -found["weights"][name])
    ]
    rows.append({"member": "all together", "weight": 1.0, **_held_out(found, "stack")})
    hint = (
        "A teacher predicts the target where it is unknown. Each member also predicted labels that it had "
        "not seen: a loss of 1 knows nothing, 0 knows all; a larger score is better."
    )
    return section("What the teacher found", hint, table(rows), "teacher")


def _held_out(found: Mapping[str, Any], name: str) -> dict[str, float]:
    return {"held-out loss": found["losses"][name], "held-out score": found["scores"][name]}


def _targets(ranking: Ranking) -> str:
    scores, names, one, many = ranking.per_class, ranking.class_names, "class", "classes"
    if scores is None:
        scores, names, one, many = ranking.per_target, ranking.target_names, "target", "targets"
        if scores is None or len(names) < 2:
            return ""
    features = ranking.order[:HEAT_FEATURES]
    values = scores[features]
    # With many targets, those that the best features say most about; kept in their own order.
    strength = np.nan_to_num(np.abs(values)).sum(axis=0)
    shown = np.sort(np.argsort(-strength, kind="stable")[:HEAT_TARGETS])
    hint = (
        f"The best {len(features)} features (rows) for each {one} (columns); "
        "a stronger colour is a larger score."
    )
    if (values < 0).any():
        hint += " The second colour is a score below 0."
    if len(shown) < len(names):
        hint += f" Shown are the {len(shown)} of {len(names)} {many} with the largest scores."
    rows = [ranking.names[i] for i in features]
    columns = [names[j] for j in shown]
    return section(f"Scores per {one}", hint, heat_map(rows, columns, values[:, shown]), many)


def _columns(ranking: Ranking) -> str:
    """What was understood of every column; those with something odd are in sight."""
    found = [{name: column.get(name) or "" for name in _COLUMN_PARTS} for column in ranking.columns]
    if not found:
        return ""
    odd = [column for column in found if column["odd"]]
    verb = "has" if len(odd) == 1 else "have"
    hint = f"How the columns were read; {len(odd) or 'none'} of {len(found)} {verb} something odd."
    body = table(odd[:COLUMNS]) if odd else ""
    more = "" if len(found) <= COLUMNS else f" (the first {COLUMNS}; the json file holds them all)"
    body += f"<details><summary>All columns{more}</summary>{table(found[:COLUMNS])}</details>"
    return section("Columns", hint, body, "columns")


def _missing(ranking: Ranking) -> str:
    share = ranking.missing_share
    if share is None:
        return ""
    if not share.any():
        return section("Missing values", "No feature value is missing.", "", "missing")
    worst = [i for i in np.argsort(-share, kind="stable")[:12] if share[i] > 0]
    ranks = ranking.ranks
    rows = (
        f'<tr><td class="text">{text(ranking.names[i])}</td><td>{ranks[i]}</td>'
        f"<td>{100 * share[i]:.1f} %</td>"
        f'<td><div class="track"><i style="width:{100 * share[i]:.2f}%"></i></div></td></tr>'
        for i in worst
    )
    titles = '<th class="text">Feature</th><th>Rank</th><th>Missing</th><th></th>'
    body = f'<div class="scroll">{framed("plain missing", titles, rows)}</div>'
    hint = (
        f"{100 * share.mean():.3g} % of all feature values are missing; {int((share > 0).sum())} of "
        f"{len(ranking)} features have gaps. The emptiest:"
    )
    return section("Missing values", hint, body, "missing")


def _evaluation(evaluation: Mapping[str, Any]) -> str:
    if not evaluation:
        return ""
    parts = []
    for one in evaluation.get("tables", ()):
        parts.append(f"<h3>{text(one.get('title', ''))}</h3>{table(one['rows'])}")
    for one in evaluation.get("curves", ()):
        curves = [Curve(s["name"], s["x"], s["y"], s.get("low"), s.get("high")) for s in one["series"]]
        picture = line_chart(curves, one.get("x_label", ""), one.get("y_label", ""))
        parts.append(f"<h3>{text(one.get('title', ''))}</h3>{picture}")
    hint = " ".join(text(sentence) for sentence in evaluation.get("sentences", ()))
    return section("Evaluation", hint, "".join(parts), "evaluation")


def _reproduce(ranking: Ranking) -> str:
    origin = ranking.origin
    command = "" if ranking.method.startswith("taught ") else origin.get("command") or _command(ranking)
    python = origin.get("python") or _python(ranking)
    codes = "".join(
        f"<h3>{title}</h3><div class='code'><pre>{text(code)}</pre>"
        '<button type="button" class="plain">Copy</button></div>'
        for title, code in (("Command", command), ("Python", python))
        if code
    )
    rows = [{"parameter": k, "value": json.dumps(v, ensure_ascii=False)} for k, v in ranking.settings.items()]
    body = [f"<h3>Notes</h3>{notes_list(ranking.notes)}" if ranking.notes else "", codes]
    if rows:
        body.append(f"<details><summary>All parameters</summary>{table(rows)}</details>")
    if ranking.timings:
        times = [{"step": step, "seconds": float(seconds)} for step, seconds in ranking.timings.items()]
        body.append(f"<details><summary>Timings</summary>{table(times)}</details>")
    seed = _parameters(ranking).get("random_state")
    seed = "" if seed is None else f", seed {number(seed)}"
    hint = f"Made with semirank {text(ranking.version)}{seed}."
    return section("Reproduce", hint, "".join(body), "reproduce")


def _parameters(ranking: Ranking) -> dict[str, Any]:
    """What to pass to repeat the ranking: everything that was set, and a seed that was drawn."""
    given = {"method": ranking.method} | ranking.settings
    if given.get("random_state") is None:
        given["random_state"] = ranking.seed
    return {name: value for name, value in given.items() if value is not None}


def _python(ranking: Ranking) -> str:
    lines = ["import semirank as sr", "", "ranking = sr.rank(", "    X,", "    y,"]
    for name, value in _parameters(ranking).items():
        is_object = isinstance(value, str) and value.startswith("<")  # an object of the user's, not a value
        lines.append(f"    {name}={name if is_object else repr(value)},")
    return "\n".join([*lines, ")"])


def _command(ranking: Ranking) -> str:
    words = ["semirank", "rank", "DATA_FILE"]
    for target in ranking.target_names or ("TARGET",):
        words += ["--target", target]
    flags = {"method": "--method", "task": "--task", "random_state": "--seed", "n_jobs": "--jobs"}
    for name, value in _parameters(ranking).items():
        if name == "hierarchy":
            words += ["--hierarchy", "HIERARCHY_FILE"]
        elif name in flags:
            words += [flags[name], str(value)]
        else:
            words += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    return shlex.join(words)


def _parameter(name: str) -> str:
    return CHOICE_NAMES.get(name, name)
