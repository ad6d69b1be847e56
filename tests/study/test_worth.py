"""The preset `worth`: plan, jobs, resuming, export, and tables from planted records."""

from __future__ import annotations

import csv
import json
import re
from itertools import product

import numpy as np
import pytest

from semirank.data.encode_target import encode_target
from semirank.data.table import Table
from semirank.data.tasks import TASKS
from semirank.datasets.registry import open_dataset
from semirank.evaluation.captured import captured
from semirank.evaluation.cells import draw_cell, half, label_counts
from semirank.evaluation.ranking_judges import subset_value
from semirank.evaluation.references import foreign_reference
from semirank.evaluation.worth import worth
from semirank.rankers.redundancy import copies
from semirank.results.shares import as_shares
from semirank.study import Store, export_store, import_store, run_study, worth_peers
from semirank.study import run as module
from semirank.study.local_workers import perform
from semirank.study.plan import Job, Study, find_families, find_preset, stable_number
from semirank.study.records import Record
from semirank.study.run import plan_jobs
from semirank.study.worth_figures import mean_curves, worth_pictures, write_worth_figures
from semirank.study.worth_jobs import as_parts
from semirank.study.worth_methods import (
    FAMILIES,
    FAMILY,
    FOREIGN,
    LABEL_ONLY,
    REFERENCES,
    STUDENTS,
    SUBSETS,
    TEACHER,
    WORTH_FAMILIES,
)
from semirank.study.worth_page import worth_page, worth_results, worth_tables, write_worth_tables
from semirank.study.worth_peers import (
    missing_peers,
    rank_filters,
    rank_lightgbm,
    rank_permutation,
    rank_relieff,
)
from semirank.study.worth_plan import WORTH, due_counts, worth_jobs, worth_key, worth_order, worth_values
from semirank.study.worth_results import BASE, CONSENSUS, UNFINISHED, collect_worth
from semirank.teacher.teacher import Teacher

from ..evaluation.test_worth import mixed_table, target_of
from .study_folder import read_records, write_folder
from .test_run import Inline

NAME = "Tiny numbers"
N_ROWS = 300  # 200 training rows: L = 50 and 100
# Of the first commit of this preset, for seed 0 at the smallest number of labels.
SHA256 = "527b857d1f8b00945bba578e733335722a219771a7e648775ac96c6ee846cd0a"
KEYS = {
    FOREIGN: "93fae60a5f8e48e8e0896fa5f389a44d",
    FAMILY: "a66dc8297ec0f6189af25b7cbdae13ad",
    "forest": "287b9aeb6f65d88bca2a512f8dee6cc9",
    "relief": "671452aa0b8274681ac0590e8c68d065",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("data"), (NAME, "Tiny classes"), N_ROWS)


@pytest.fixture(scope="module")
def study(folder):
    return Study(find_preset("worth"), 0, folder)


@pytest.fixture
def inline(monkeypatch):
    monkeypatch.setattr(module, "LocalWorkers", Inline)


def test_the_plan_of_a_data_set(folder, study):
    jobs = worth_jobs(open_dataset(NAME, folder), study, find_families([], "worth"))
    counts = {}
    for job in jobs:
        counts.setdefault(job.family, set()).add(job.n_labeled)
        assert job.fold in range(5)
    absent = missing_peers()
    both = {50, 100}
    expected = {
        FOREIGN: {200},
        FAMILY: {200},
        LABEL_ONLY: {25, 50, 100, 200},
        "judge": {100},
        **dict.fromkeys(("consensus", "forest", "forest_symbolic", "extra_trees", "relief"), both),
        **dict.fromkeys(("taught_relief", "laplace", "teacher"), both),
        **dict.fromkeys(("peer_lightgbm", "peer_permutation", "peer_filters"), both),
        **dict.fromkeys(("control_invented", "control_shuffled", "control_fewer"), both),
    }
    assert counts == {family: found for family, found in expected.items() if family not in absent}
    assert len({job.key for job in jobs}) == len(jobs) == 5 * sum(map(len, counts.values()))
    classes = worth_jobs(open_dataset("Tiny classes", folder), study, WORTH_FAMILIES)
    assert not any(job.family == "laplace" for job in classes)
    assert {job.n_labeled for job in classes if job.family == "peer_relieff"} == both
    # More seeds or other L leave the keys as they are, other cells do not.
    again = worth_jobs(open_dataset(NAME, folder), study._replace(seed=1), [FOREIGN])
    assert not {job.key for job in again} & {job.key for job in jobs}


def test_keys_of_finished_jobs_stay(folder, study):
    jobs = worth_jobs(open_dataset(NAME, folder), study, list(KEYS))
    assert {job.sha256 for job in jobs} == {SHA256}  # a part of the keys
    assert {job.family: job.key for job in reversed(jobs)} == KEYS


def test_counts_are_those_of_the_curves():
    for n_train, levels in product((90, 100, 120, 399, 1000), ((50,), (50, 100, 200))):
        wanted = {n for level in levels for n in label_counts(n_train, level)}
        found = due_counts(n_train, levels)
        assert set(found) == wanted
        for n, level in found.items():
            assert n in label_counts(n_train, level)
            assert all(n not in label_counts(n_train, other) for other in levels if other < level)


def test_a_run_begins_with_what_a_worth_needs(study):
    jobs = plan_jobs(study, [], find_families([], "worth"), print).jobs
    n_main = next(i for i, job in enumerate(jobs) if job.family not in (FOREIGN, "consensus", LABEL_ONLY))
    first = jobs[:n_main]
    assert [job.family for job in first if job.dataset == first[0].dataset][:6] == [
        FOREIGN, "consensus", *[LABEL_ONLY] * 4,
    ]  # fmt: skip
    # Two seeds of everything at L = 50, then at 100, then the other seeds; the choosing half first.
    assert {job.fold for job in first} == {0, 1}
    assert all((job.family, job.n_labeled) != ("consensus", 100) for job in first)
    halves = [half(job.dataset) == "choosing" for job in first]
    assert halves == sorted(halves, reverse=True)
    places = [worth_order(job, study)[:4] for job in jobs]
    assert places == sorted(places)
    rounds = list(dict.fromkeys(place[:3] for place in places))
    assert rounds[:4] == [(False, seeds, level) for seeds in (False, True) for level in (50, 100)]
    # Random forests, Relief and the teacher, then the peers and the family reference, then the controls.
    stages = {place[3]: set() for place in places}
    for job, place in zip(jobs, places):
        stages[place[3]].add(job.family)
    assert stages[1] == {"forest", "relief", "teacher"}
    assert FAMILY in stages[2]
    assert stages[2] - {FAMILY} <= {name for name in FAMILIES if name.startswith("peer_")}
    assert stages[3] == {name for name, family in FAMILIES.items() if family.control}


def test_names_of_methods():
    assert set(find_families([], "worth")) == {*REFERENCES, *FAMILIES, TEACHER} - set(missing_peers())
    assert find_families(["control_invented"], "worth") == ("control_invented",)
    with pytest.raises(ValueError, match=r"There is no method 'consensu'.*'consensus'"):
        find_families(["consensu"], "worth")
    with pytest.raises(ValueError, match=r"There is no preset 'wort'.*'worth'"):
        find_preset("wort")


def test_peers_that_are_not_installed_are_named(folder, tmp_path, monkeypatch, inline):
    monkeypatch.setitem(worth_peers.PACKAGES, "peer_filters", "no_such_package")
    told = "peer_filters needs no-such-package, which is not installed (pip install 'semirank[peers]')"
    assert "peer_filters" not in find_families([], "worth")
    with pytest.raises(ValueError, match=re.escape(f"{told}.")):
        find_families(["relief", "peer_filters"], "worth")
    said = []
    monkeypatch.setattr(module, "jobs_of", lambda *about: [])
    with pytest.raises(ValueError, match="nothing to do"):
        run_study("worth", store=tmp_path / "worth.sqlite", data=folder, say=said.append)
    assert f"left out: {told}" in said


@pytest.mark.parametrize("task", TASKS)
def test_peers_find_what_was_planted(task):
    rng = np.random.default_rng(0)
    table = mixed_table(rng, 200)
    target = target_of(task, table, rng).hide(np.arange(150, 200))
    for rank in (rank_lightgbm, rank_permutation, rank_filters, rank_relieff):
        family = next(name for name, found in FAMILIES.items() if found.rank is rank)
        if not FAMILIES[family].fits(task) or family in missing_peers():
            continue
        for name, (importances, _) in rank(table, target, 3).items():
            assert importances.shape == (7,), name
            assert {0, 6} & set(np.argsort(-importances)[:2].tolist()), name
        # Rows without a target play no part.
        shown = rank(table.take(np.arange(150)), target.take(np.arange(150)), 3)
        for name, (importances, _) in rank(table, target, 3).items():
            np.testing.assert_array_equal(importances, shown[name][0])


def test_permutation_importance_is_that_of_scikit_learn():
    """Only features that no tree tests are left out, and they are worth nothing."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.inspection import permutation_importance

    rng = np.random.default_rng(1)
    values = rng.normal(size=(60, 4))
    values[:, 2] = 0.0
    table = Table(values, np.zeros(4, int), tuple("abcd"), (None,) * 4)
    y = values[:, 0] + 0.1 * rng.normal(size=60)
    found = rank_permutation(table, encode_target(y), 5)["sl", "permutation"][0]
    mixed = np.random.default_rng(5).permutation(60)
    test, train = mixed[:20], mixed[20:]
    scaled, kept = (y - y.mean()) / y.std(), [0, 1, 3]
    forest = RandomForestRegressor(n_estimators=100, random_state=5).fit(values[train], scaled[train])
    known = permutation_importance(
        forest, values[test], scaled[test], scoring="neg_mean_squared_error", n_repeats=30, random_state=0
    ).importances_mean
    assert found[2] == known[2] == 0
    np.testing.assert_allclose(found[kept], known[kept], rtol=0.35, atol=0.01)  # other permutations


def test_the_loss_of_the_teacher_and_the_value_of_subsets(folder, study):
    data = open_dataset(NAME, folder)
    cell = draw_cell(NAME, data.dataset.X, data.dataset.target, 0)
    (job, *_) = worth_jobs(data, study, [TEACHER])
    (record,) = perform(job, study).records
    seed = stable_number(0, NAME, 0, 50)
    teacher = Teacher(random_state=seed, n_jobs=1).fit(cell.train, cell.labeled(50))
    assert (record.score, record.value, record.measure) == ("stack", teacher.losses_["stack"], "loss")
    assert set(json.loads(record.setting)["weights"]) == set(teacher.weights_)
    (job, *_) = worth_jobs(data, study, [SUBSETS])
    rows = perform(job, study).records
    ranking = FAMILIES[LABEL_ONLY].rank(cell.train, cell.labeled(50), seed)["sl", "consensus"][0]
    wanted = subset_value(ranking, cell)
    assert {r.score: r.value for r in rows if r.side == "sl" and "label_only" in r.score} == {
        f"label_only {model}": r2 for model, r2 in wanted.items()
    }
    for some, of in ((rows, SUBSETS), ([record], TEACHER)):
        expected = worth_values(Job(NAME, 0, 50, of, "regression", "STR", "", "", 1.0))
        assert {(r.side, r.score, r.pool, r.k) for r in some} == expected


def test_a_reference_is_kept_with_its_importances(folder, study):
    job = worth_jobs(open_dataset(NAME, folder), study, [FOREIGN])[1]
    outcome = perform(job, study)
    assert outcome.error is None
    data = open_dataset(NAME, folder).dataset
    reference = foreign_reference(draw_cell(NAME, data.X, data.target, 1))
    for record, model in zip(outcome.records, ("boosting", "network", "kernel"), strict=True):
        assert (record.score, record.value, record.measure) == (model, reference.r2[model], "R2")
        kept = json.loads(record.setting)
        assert reference.digest.startswith(kept["cell"])
        np.testing.assert_allclose(kept["importances"], reference.importances[model], rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_method_ranks(folder, study, family):
    if family in missing_peers():
        pytest.skip(f"{missing_peers()[family]} is not installed")
    name = "Tiny classes" if family in ("consensus", "peer_relieff") else NAME
    job = worth_jobs(open_dataset(name, folder), study, [family])[0]
    outcome = perform(job, study)
    assert outcome.error is None
    assert {(r.side, r.score) for r in outcome.records} == set(FAMILIES[family].shown)
    for record in outcome.records:
        assert len(json.loads(record.setting)["importances"]) == 5
        assert np.isfinite(record.value)


def test_the_consensus_is_made_of_its_parts_and_the_label_only_one(folder, study):
    data = open_dataset(NAME, folder)
    found = {}
    for family in ("consensus", LABEL_ONLY):
        job = next(job for job in worth_jobs(data, study, [family]) if job.n_labeled == 50)
        found |= {
            (family, r.score): np.array(json.loads(r.setting)["importances"])
            for r in perform(job, study).records
        }
    on_all = (found["consensus", "taught"] + found["consensus", "sensitivity"]) / 2
    whole = found[LABEL_ONLY, "consensus"] / 3 + 2 * on_all / 3
    np.testing.assert_allclose(found["consensus", "consensus"], whole, atol=2)  # parts per million
    students = np.mean([found["consensus", name] for name in STUDENTS], axis=0)
    rankers = (
        2 * found["consensus", "both"] - students
    )  # on labelled rows, before they are divided among copies
    cell = draw_cell(NAME, data.dataset.X, data.dataset.target, 0)
    labeled = cell.train.take(np.flatnonzero(cell.labeled(50).labeled))
    divided = as_shares(rankers / copies(labeled))
    np.testing.assert_allclose(found[LABEL_ONLY, "labeled"], 1e6 * divided, atol=10)


def test_parts_keep_the_order():
    values = np.random.default_rng(0).normal(size=50)
    assert np.argsort(as_parts(values)).tolist() == np.argsort(values).tolist()
    assert as_parts(np.zeros(3)) == [0, 0, 0]


def test_store_resume_export_and_commands(folder, tmp_path, inline, call):
    path, copy = tmp_path / "worth.sqlite", tmp_path / "copy.sqlite"
    options = {"data": folder, "only": [NAME]}
    first = run_study("worth", store=path, methods=["relief"], **options)
    assert (first.done, first.failed) == (10, 0)
    second = run_study("worth", store=path, methods=["relief", FOREIGN], **options)
    assert (second.done, second.kept) == (5, 10)
    assert export_store(path, tmp_path / "records.csv.gz") == 15
    assert import_store(copy, tmp_path / "records.csv.gz") == (15, 15)
    assert read_records(copy) == read_records(path)
    code, _, _ = call("study", "tables", "--store", copy, "--out", tmp_path / "out")
    assert code == 0
    assert "15 of 15 jobs are done" in (tmp_path / "out" / "0_coverage.md").read_text()
    code, _, told = call("study", "report", "--store", copy, "--out", tmp_path / "out")
    assert code == 2
    assert told == (f"error: {copy} holds the preset 'worth', which has tables and figures, but no page.\n")


def test_the_short_form_of_records(folder, tmp_path, inline, call):
    """Importances are gone, what they captured is not; every job counts as done."""
    path, copy, file = (tmp_path / name for name in ("worth.sqlite", "copy.sqlite", "records.csv.gz"))
    run_study("worth", store=path, methods=["relief", FOREIGN, FAMILY], data=folder, only=[NAME])
    code, _, _ = call("study", "export", "--store", path, "--short", "--out", file)
    assert code == 0
    assert import_store(copy, file) == (20, 20)
    whole, short = (collect_worth(read_records(of), levels=(50, 100)) for of in (path, copy))
    for place, curve in whole.judged.items():
        for cell, judged in curve.items():
            np.testing.assert_allclose(short.judged[place][cell], judged, atol=2e-5)
    for place, reference in whole.references.items():
        np.testing.assert_allclose(short.references[place].mean, reference.mean, atol=2e-5)
    assert not any("importances" in r.setting for r in read_records(copy) if r.family == "relief")
    again = run_study("worth", store=copy, methods=["relief", FOREIGN], data=folder, only=[NAME])
    assert (again.done, again.kept, again.outdated) == (0, 15, 0)
    # A ranking that cannot be judged yet keeps its importances.
    run_study("worth", store=tmp_path / "other.sqlite", methods=["relief"], data=folder, only=[NAME])
    export_store(tmp_path / "other.sqlite", file, short=True)
    import_store(tmp_path / "third.sqlite", file)
    assert all("importances" in r.setting for r in read_records(tmp_path / "third.sqlite"))


def test_only_this_preset_has_a_short_form(folder, tmp_path, inline):
    run_study("quick", store=tmp_path / "quick.sqlite", methods=["equal"], data=folder, only=[NAME])
    with pytest.raises(ValueError, match="Only records of the preset 'worth' have a short form"):
        export_store(tmp_path / "quick.sqlite", tmp_path / "records.csv", short=True)


def test_jobs_of_older_versions_are_left_out(folder, tmp_path, inline, monkeypatch):
    path = tmp_path / "worth.sqlite"
    run_study("worth", store=path, methods=["relief", FOREIGN], data=folder, only=[NAME])
    monkeypatch.setitem(FAMILIES, "relief", FAMILIES["relief"]._replace(version=1000))
    with Store(path, read_only=True) as store:
        results, kept, jobs = worth_results(store.records(), store.jobs())
    assert {r.family for r in kept} == {FOREIGN}
    assert results.methods == ()
    assert sum(job.state == "missing" for job in jobs) == 10
    assert export_store(path, tmp_path / "records.csv", short=True) == 5


def test_half_a_job_is_refused(folder, tmp_path, inline):
    path, file = tmp_path / "worth.sqlite", tmp_path / "records.csv"
    run_study("worth", store=path, methods=["relief"], data=folder, only=[NAME])
    export_store(path, file)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1]))
    with pytest.raises(ValueError, match="has 1 of 2 values; export it again"):
        import_store(tmp_path / "copy.sqlite", file)


def planted(name: str, seed: int, n_labeled: int, family: str, side: str, score: str, importances, value=0.5):
    setting = json.dumps({"cell": f"{name} {seed}", "importances": importances})
    about = (name, "regression", "STR", seed, n_labeled, n_labeled, 100, family, side, score)
    return Record(*about, "labelled", 7, "RRMSE", False, value, 1.0, 0.0, setting)


def made_up(name: str, learned: bool = True) -> list[Record]:
    """Rankings that become better with labels, and a consensus as good as that of twice the labels."""
    rng = np.random.default_rng(0)
    truth = np.arange(20, 0, -1.0)
    found = []
    for seed in range(3):
        for model in ("boosting", "network", "kernel"):
            r2 = 0.5 if learned else 0.01
            found.append(planted(name, seed, 1000, FOREIGN, "sl", model, truth.tolist(), r2))
        found.append(planted(name, seed, 1000, FAMILY, "sl", "consensus", truth.tolist()))
        noise = {n: rng.normal(size=20) for n in (25, 50, 100, 200)}
        for n, error in noise.items():
            ranking = (truth + error * 200 / n).tolist()
            found.append(planted(name, seed, n, LABEL_ONLY, "sl", "consensus", ranking, 0.5))
            if n == 100:
                found.append(planted(name, seed, 50, "consensus", "ssl", "consensus", ranking, 0.4))
    return found


def test_worth_is_that_of_the_definition():
    rows = made_up("One")
    results = collect_worth(rows, levels=(50,))
    truth = np.arange(20, 0, -1.0)

    def score(seed, n, family):
        (row,) = [r for r in rows if (r.fold, r.n_labeled, r.family) == (seed, n, family)]
        return captured(np.array(json.loads(row.setting)["importances"]), truth)

    counts = (25, 50, 100, 200)
    curve = np.array([[score(seed, n, LABEL_ONLY) for n in counts] for seed in range(3)])
    method = np.array([score(seed, 50, "consensus") for seed in range(3)])
    for by in ("foreign", "family"):
        assert results.worth("One", CONSENSUS, 50, by) == worth(method, curve, counts, 50)
    assert results.worth("One", BASE, 50).factor == pytest.approx(1.0)
    assert results.worth("One", CONSENSUS, 50).factor == pytest.approx(2.0)
    assert results.worth("One", CONSENSUS, 600) is None
    assert results.knn_differences(CONSENSUS, 50, ["One"]) == {"One": pytest.approx(0.1)}  # less error


def test_data_sets_that_do_not_count_say_why():
    rows = [*made_up("One"), *made_up("Two", learned=False)]
    results = collect_worth(rows, levels=(50, 100))
    assert results.worth("Two", CONSENSUS, 50).reason == "no model learns it (R2 at most 0.01)"
    assert results.worth("Two", CONSENSUS, 50, "family").counted
    assert results.worth("One", CONSENSUS, 100).reason == UNFINISHED
    other = [
        r._replace(setting=r.setting.replace("One ", "Changed ")) if r.family == FOREIGN else r for r in rows
    ]
    assert collect_worth(other, levels=(50,)).worth("One", CONSENSUS, 50).reason == UNFINISHED


def test_tables(tmp_path):
    rows = [*made_up("One"), *made_up("Two", learned=False)]
    waiting = Job("One", 4, 50, "relief", "regression", "STR", "sha", "", 1.0)
    waiting = waiting._replace(key=worth_key("One", "sha", 4, 50, "relief", 0, WORTH))
    key = worth_key("One", "sha", 3, 50, "relief", 0, WORTH)
    failed = waiting._replace(fold=3, key=key, state="failed")
    files = write_worth_tables(rows, tmp_path, jobs=[waiting, failed])
    assert {path.name for path in files} >= {"0_coverage.md", "1_worth.csv", "methods.csv"}
    for path in files:
        if path.suffix == ".md":
            assert "jobs are done" in path.read_text(), path.name  # coverage with every table
    with (tmp_path / "0_coverage.csv").open(newline="") as file:
        one, two = csv.DictReader(file)
    assert one["not finished"] == (
        "consensus 3 of 20, label_only 12 of 35, reference_family 3 of 5, reference_foreign 3 of 5, "
        "relief 0 of 2, 1 failed"
    )
    assert (one["learnt"], two["learnt"]) == ("3 of 3", "0 of 3")
    references = [row for row in rows if row.family == FOREIGN]
    tables = worth_tables(*worth_results(references), {})
    assert tables[0].rows[0][5:7] == (0, "3 of 3")  # no ranking is needed to know
    with (tmp_path / "2_summary.csv").open(newline="") as file:
        found = {(row["L"], row["method"]): row for row in csv.DictReader(file)}
    both = found["50", "consensus"]
    assert (both["data sets"], both["worth"], both["data sets (family)"]) == ("1", "2", "2")
    assert both[f"worth ({half('One')})"] == "2"
    with (tmp_path / "1_worth.csv").open(newline="") as file:
        reasons = {(row["data set"], row["L"]): row["not counted because"] for row in csv.DictReader(file)}
    assert reasons["One", "50"] == ""
    assert reasons["Two", "50"].startswith("no model learns it")
    assert reasons["One", "200"] == UNFINISHED


def test_tables_of_a_run_that_just_began():
    jobs = [Job("One", 0, 1000, FOREIGN, "regression", "STR", "sha", "key", 1.0)]
    key = worth_key("One", "sha", 0, 1000, FOREIGN, 0, WORTH)
    results, rows, jobs = worth_results([], [jobs[0]._replace(key=key)])
    tables = {table.name: table for table in worth_tables(results, rows, jobs, {})}
    assert tables["0_coverage"].rows[0][-1] == "reference_foreign 0 of 1"
    for table in list(tables.values())[3:]:
        assert table.rows == []
    page = worth_page(tables.values(), results, {}, "")
    assert page.index("What has been run") < page.index("There are no records for this table yet.")
    assert list(worth_pictures(results, {})) == []
    assert WORTH.numbers() == {"name": "worth", "max_rows": 1500, "max_labels": 40}


@pytest.fixture(scope="module")
def several():
    """Five data sets; the consensus gains on four of them, a control on none, a random ranking never."""
    rng = np.random.default_rng(1)
    found = []
    for number, name in enumerate("ABCDE"):
        rows = made_up(name)
        for r in [r for r in rows if r.family == LABEL_ONLY and r.n_labeled == 50]:
            for control in ("control_invented", "control_shuffled"):
                rows.append(r._replace(family=control, side="ssl"))
            mixed = rng.permutation(20).tolist()
            rows += [
                planted(name, r.fold, 50, "relief", side, "relief", mixed, 0.6) for side in ("sl", "ssl")
            ]
            rows.append(planted(name, r.fold, 50, TEACHER, "ssl", "stack", [], 0.1 * number + 0.01 * r.fold))
            for family, r2 in (("consensus", 0.5), (LABEL_ONLY, 0.4), ("forest", 0.3)):
                for model in ("boosting", "kernel"):
                    side = "ssl" if family == "consensus" else "sl"
                    value = r2 + (0.1 * number if family == LABEL_ONLY else 0.0)
                    rows.append(planted(name, r.fold, 50, SUBSETS, side, f"{family} {model}", [], value))
        if name == "E":  # where the consensus has what half the labels give
            rows = [r for r in rows if r.family != "consensus"]
            for r in [r for r in rows if r.family == LABEL_ONLY and r.n_labeled == 25]:
                rows.append(r._replace(family="consensus", side="ssl", n_labeled=50))
        found += rows
    properties = {name: {"cluster hypothesis": 0.1 * i, "missing share": 0.0, "features": 20.0}
                  for i, name in enumerate("ABCDE")}  # fmt: skip
    results, rows, jobs = worth_results(found)
    tables = {table.name: table for table in worth_tables(results, rows, jobs, properties)}
    return results, tables, properties


def test_controls_ranks_tasks_and_subsets(several):
    results, tables, _ = several
    invented = dict(zip(tables["5_controls"].columns, tables["5_controls"].rows[0]))
    assert (invented["L"], invented["control"], invented["data sets"]) == (50, "invented rows", 5)
    assert invented["worth, control"] == pytest.approx(1.0)
    assert invented["worth, consensus"] == pytest.approx((2.0**4 * 0.5) ** 0.2)
    ((level, group, n, before, after, factor, *_, above, below),) = tables["3_tasks"].rows
    assert (level, group, n, above, below) == (50, "STR", 5, 4, 1)
    assert factor == pytest.approx((2.0**4 * 0.5) ** 0.2)
    assert before == pytest.approx(np.mean([results.mean(name, BASE, 50) for name in "ABCDE"]))
    assert after == pytest.approx(np.mean([results.mean(name, CONSENSUS, 50) for name in "ABCDE"]))
    ranked = {row[1]: row for row in tables["6_ranks"].rows}
    assert set(ranked) == {CONSENSUS, BASE, "Relief, labelled rows", "Relief, semi-supervised"}  # no control
    assert ranked[CONSENSUS][4] == pytest.approx((4 * 1 + 2) / 5)
    subset = dict(zip(tables["8_subset_value"].columns, tables["8_subset_value"].rows[0]))
    assert (subset["model"], subset["data sets"], subset["better"], subset["worse"]) == ("boosting", 5, 1, 3)
    assert "E (0.50)" in tables["1_worth"].notes[0]
    assert "Interval wholly below 0.9: E." in tables["1_worth"].notes[0]


def test_when_it_helps(several):
    _, tables, _ = several
    rows = {row[1]: dict(zip(tables["7_when"].columns, row)) for row in tables["7_when"].rows}
    # Nothing can be said of a number that is the same everywhere.
    assert set(rows) == {"cluster hypothesis", "teacher's loss"}
    found = rows["teacher's loss"]
    # Four data sets share a worth, and the last has a smaller one and the largest loss.
    assert found["Spearman"] == pytest.approx(-np.sqrt(0.5))
    assert found["worth there"] == pytest.approx(2.0)
    assert found["worth there (high)"] == pytest.approx(1.0)  # of 2 and 0.5
    losses = [row[-3] for row in tables["7_when_data_sets"].rows]
    assert sorted(losses) == pytest.approx([0.01, 0.11, 0.21, 0.31, 0.41])


def test_figures(several, tmp_path):
    results, tables, properties = several
    pytest.importorskip("matplotlib")
    drawn = {picture.name: picture for picture in worth_pictures(results, properties)}
    assert set(drawn) == {"worth", "curves", "curves_data_sets", "ranks_50", "when"}
    curves = mean_curves(results)
    assert curves.names == tuple("ABCDE")
    assert list(curves.lines) == [CONSENSUS, "Relief, labelled rows", "Relief, semi-supervised"]
    assert curves.base[100] == pytest.approx(np.mean([results.mean(name, BASE, 100) for name in "ABCDE"]))
    files = write_worth_figures(results, tmp_path, properties)
    assert {path.stem for path in files} == set(drawn)
    page = worth_page(tables.values(), results, dict.fromkeys(drawn, "words"), "images/worth-")
    assert "![words](images/worth-curves.png)" in page
    assert "worth below 1 on 1 of 5 data sets: E (0.50)" in page


def test_interrupted_jobs_are_planned_again(folder, tmp_path, inline):
    path = tmp_path / "worth.sqlite"
    run_study("worth", store=path, methods=["relief"], data=folder, only=[NAME])
    with Store(path) as store:
        before = {job.place: job.key for job in store.jobs()}
    again = run_study("worth", store=path, methods=["relief"], data=folder, only=[NAME])
    assert (again.done, again.kept, again.outdated) == (0, 10, 0)
    with Store(path) as store:
        assert {job.place: job.key for job in store.jobs()} == before
