"""The study's plan: presets, splits, jobs and their keys."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from semirank.data.hierarchy import Hierarchy
from semirank.data.table import Table
from semirank.data.target import Target
from semirank.data.tasks import TASKS
from semirank.datasets.registry import open_dataset
from semirank.rankers.methods import ENSEMBLES, RELIEF_INFLUENCES, RELIEF_NEIGHBORS, SUPERVISION_LEVELS
from semirank.study import PRESETS
from semirank.study.changes import CONSTANTS_LEFT_OUT, changes_for_forests
from semirank.study.jobs import rank_both, run_job
from semirank.study.plan import (
    JOB_FAMILIES,
    Study,
    find_families,
    find_preset,
    folds_of,
    job_key,
    jobs_of,
    judged_values,
    stable_number,
)
from semirank.study.run import plan_jobs

from .study_folder import NAMES, write_folder

QUICK = PRESETS["quick"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def study(folder):
    return Study(QUICK, 0, folder)


def test_presets_have_the_numbers_of_the_definition():
    paper = PRESETS["paper"]
    assert (paper.n_folds, paper.n_labeled, paper.n_trees) == (10, (50, 100, 200, 350, 500), 100)
    assert (paper.rule, paper.levels) == ("cv", SUPERVISION_LEVELS)
    assert (paper.min_labeled, paper.tuning_trees) == (0, 100)
    assert (paper.normalize_weights, QUICK.normalize_weights) == (False, True)
    assert (QUICK.n_folds, QUICK.n_labeled, QUICK.rule) == (3, (50, 200, 500), "oob")
    assert (QUICK.levels, QUICK.tuning_trees, QUICK.min_labeled) == ((0, 0.25, 0.5, 0.75, 1), 25, 4)
    for preset in PRESETS.values():
        assert (preset.relief_influences, preset.relief_neighbors) == (RELIEF_INFLUENCES, RELIEF_NEIGHBORS)
        assert preset.judge_k == (20, 40)


def test_every_data_set_gets_its_jobs(study):
    for name in NAMES:
        data = open_dataset(name, study.folder)
        jobs = jobs_of(data, study)
        predefined = name in ("Tiny labels", "Tiny tree")
        n_folds = 1 if predefined else 3
        families = [f for f in JOB_FAMILIES if f != "laplace" or name == "Tiny numbers"]
        assert [job[:4] for job in jobs] == [
            (name, fold, n_labeled, family)  # 200 and 500 labels too, which are more than there are
            for family in families
            for fold in range(n_folds)
            for n_labeled in QUICK.n_labeled
        ]
        assert len({job.key for job in jobs}) == len(jobs)
        assert {job.group for job in jobs} == {data.entry.group}


def test_a_predefined_test_part_is_kept(study):
    data = open_dataset("Tiny labels", study.folder)
    (fold,) = folds_of(data, study)
    assert fold.train.tolist() == list(range(60))
    assert fold.test.tolist() == list(range(60, 90))
    assert len(fold.labeled[50]) == 50
    assert fold.labeled[200].tolist() == fold.labeled[500].tolist() == fold.train.tolist()


def test_nothing_is_hidden_where_L_exceeds_the_data(study):
    data = open_dataset("Tiny numbers", study.folder)
    for fold in folds_of(data, study):
        assert [len(rows) for rows in fold.labeled.values()] == [50, 60, 60]
        _, target, _, _ = fold.parts(data.dataset.X, data.dataset.target, 500)
        assert target.labeled.all()


def test_folds_depend_on_the_seed_and_the_data_set_alone(study):
    data = open_dataset("Tiny classes", study.folder)
    one, two = folds_of(data, study), folds_of(data, study)
    other = folds_of(data, study._replace(seed=1))
    assert all((a.test == b.test).all() for a, b in zip(one, two))
    assert any((a.test != b.test).any() for a, b in zip(one, other))


def test_keys_change_with_all_that_matters(study):
    base = ("Digits", "abc", 0, 50, "relief", study)
    changed = [
        ("Digit", "abc", 0, 50, "relief", study),
        ("Digits", "abd", 0, 50, "relief", study),
        ("Digits", "abc", 1, 50, "relief", study),
        ("Digits", "abc", 0, 100, "relief", study),
        ("Digits", "abc", 0, 50, "equal", study),
        ("Digits", "abc", 0, 50, "relief", study._replace(seed=1)),
        ("Digits", "abc", 0, 50, "relief", study._replace(preset=replace(QUICK, n_trees=51))),
    ]
    keys = {job_key(*args) for args in [base, *changed]}
    assert len(keys) == len(changed) + 1
    moved = study._replace(folder=None, preset=replace(QUICK, name="other"))
    assert job_key(*base[:5], moved) == job_key(*base)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_committed_records_have_the_keys_of_this_version(preset):
    """A key that changes would make everybody's finished jobs count as outdated.

    Where a definition changed, a job has its key from before or, done again, the one from after.
    """
    path = Path(__file__).parents[2] / "results" / preset / "records.csv.gz"
    if not path.exists():
        pytest.skip("no committed records here")
    with gzip.open(path, "rt", newline="") as file:
        rows = {row["key"]: row for row in csv.DictReader(file)}
    assert len(rows) > 1000
    for key, row in rows.items():
        study = Study(PRESETS[preset], int(row["seed"]), None)
        place = (row["dataset"], row["sha256"], int(row["fold"]), int(row["n_labeled"]), row["family"])
        changed = {"relief": (CONSTANTS_LEFT_OUT,)}.get(row["family"], ())
        if row["family"] in ENSEMBLES:
            changed = changes_for_forests(row["task"], study.preset.normalize_weights)
        assert key in (job_key(*place, study), job_key(*place, study, changed))


def test_the_paper_preset_is_the_one_of_the_rankers():
    """One definition: jobs give what `from_preset` gives, hierarchies and their weights included."""
    from semirank import ForestRanker, ReliefRanker

    rng = np.random.default_rng(2)
    table = Table(rng.random((60, 4)), np.zeros(4, int), tuple("abcd"), (None,) * 4)
    tree = Hierarchy.from_paths(["r", "r/s", "t"])
    y = tree.close((table.values[:, [0, 1, 2]] > [0.3, 0.6, 0.5]).astype(float))
    y[30:] = np.nan
    target = Target("hierarchical", y, tree.labels, tree.weights(0.75), None, tree)
    preset = replace(PRESETS["paper"], n_trees=4, tuning_trees=4)
    found = rank_both("random_forest", table, target, preset, 5)["ssl"]
    ranker = ForestRanker.from_preset("paper", n_estimators=4, random_state=5).fit(table, target)
    assert ranker.supervision_ == found.setting["w"]
    np.testing.assert_array_equal(ranker.importances_["genie3"], found.scores["genie3"])
    found = rank_both("relief", table, target, preset, 5)["ssl"]
    ranker = ReliefRanker.from_preset("paper", random_state=5).fit(table, target)
    assert (ranker.n_neighbors_, ranker.influence_) == (
        found.setting["k"],
        (found.setting["w0"], found.setting["w1"]),
    )
    np.testing.assert_array_equal(ranker.feature_importances_, found.scores["relief"])


def test_seeds_and_keys_are_the_same_in_another_process():
    code = "from semirank.study.plan import *; print(stable_number(3, 'Pol', 1), "
    code += "job_key('Pol', 'x', 1, 50, 'relief', Study(PRESETS['quick'], 3, None)))"
    # PYTHONHASHSEED differs from process to process.
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    key = job_key("Pol", "x", 1, 50, "relief", Study(QUICK, 3, None))
    assert shown.split() == [str(stable_number(3, "Pol", 1)), key]


def test_cheap_jobs_come_first_and_jobs_of_a_kind_stay_together(study):
    ordered = plan_jobs(study, NAMES, JOB_FAMILIES, print).jobs
    jobs = [j for name in NAMES for j in jobs_of(open_dataset(name, study.folder), study)]
    assert sorted(ordered) == sorted(jobs)
    assert [j.cost for j in ordered] == sorted(j.cost for j in jobs)
    assert ordered == plan_jobs(study, NAMES[::-1], JOB_FAMILIES, print).jobs
    kinds = [(j.dataset, j.family) for j in ordered]
    changes = sum(a != b for a, b in pairwise(kinds))
    assert changes == len(set(kinds)) - 1


def test_unknown_names_are_told_with_suggestions():
    with pytest.raises(
        ValueError, match=r"no preset 'quik' \(did you mean 'quick'\?\); there are paper, quick"
    ):
        find_preset("quik")
    with pytest.raises(ValueError, match=r"no method 'releif' \(did you mean 'relief'"):
        find_families(["releif"])
    assert find_families(["relief", "bagging"]) == ("bagging", "relief")
    assert find_families([]) == JOB_FAMILIES


@pytest.mark.parametrize("name", NAMES)
def test_a_job_judges_every_ranking_with_both_pools(name, study):
    data = open_dataset(name, study.folder)
    for job in jobs_of(data, study):
        if job.fold > 0 or job.n_labeled == 200:
            continue
        records, rankings = run_job(job, study)
        scores = ("genie3", "rforest", "symbolic") if job.family in ENSEMBLES else (job.family,)
        sides = ("ssl",) if job.family == "equal" else ("ssl", "sl")
        wanted = {(s, c, p, k) for s in sides for c in scores for p in ("labelled", "all") for k in (20, 40)}
        assert {(r.side, r.score, r.pool, r.k) for r in records} == wanted
        assert len(records) == len(wanted)
        assert judged_values(job.family, QUICK) == wanted  # what imports hold a finished job to
        for r in records:
            assert (r.dataset, r.task, r.group, r.fold, r.n_labeled, r.family) == (
                name, data.dataset.target.task, data.entry.group, 0, job.n_labeled, job.family
            )  # fmt: skip
            assert r.labels_used == (50 if job.n_labeled == 50 else 60)
            assert r.n_test == 30
            assert (r.measure, r.greater_is_better) == (
                TASKS[r.task].measure,
                TASKS[r.task].greater_is_better,
            )
            assert np.isfinite(r.value)
            setting = json.loads(r.setting)
            if job.family in ENSEMBLES:
                assert setting["w"] in (QUICK.levels if r.side == "ssl" else (1.0,))
            assert (r.tuning_seconds > 0) == (
                job.family == "relief" or (job.family in ENSEMBLES and r.side == "ssl")
            )
        again = run_job(job, study).records
        kept = {(r.side, r.score) for r in rankings}
        assert kept == (set() if job.family == "equal" else {(r.side, r.score) for r in records})
        assert {r.importances.shape for r in rankings} <= {(5,)}
        assert [r._replace(seconds=0, tuning_seconds=0) for r in again] == [
            r._replace(seconds=0, tuning_seconds=0) for r in records
        ]


def test_the_rankings_are_those_of_the_rankers():
    """Jobs call the functions below the rankers; the rankers must give the same scores."""
    from semirank import ForestRanker, LaplaceRanker, ReliefRanker

    rng = np.random.default_rng(1)
    table = Table(rng.random((80, 5)), np.zeros(5, int), tuple("abcde"), (None,) * 5)
    y = np.where(np.arange(80) < 40, table.values[:, 1] + 0.1 * rng.random(80), np.nan)
    target = Target("regression", y[:, None], ("y",), np.ones(1))
    preset = replace(QUICK, n_trees=8, tuning_trees=5)
    for family in JOB_FAMILIES[:-1]:
        for side, found in rank_both(family, table, target, preset, 7).items():
            common = {"use_unlabeled": side == "ssl", "random_state": 7}
            if family == "relief":
                k, w0, w1 = found.setting["k"], found.setting.get("w0", 0.0), found.setting.get("w1", 1.0)
                tuned = ReliefRanker(n_neighbors="auto", influence="auto", **common).fit(table, target)
                assert tuned.n_neighbors_ == k
                if side == "ssl":
                    assert tuned.influence_ == (w0, w1)
                ranker = tuned
            elif family == "laplace":
                ranker = LaplaceRanker(**common)
            else:
                ranker = ForestRanker(
                    ensemble=family,
                    importance=("genie3", "symbolic", "rforest"),
                    supervision=found.setting["w"],
                    n_estimators=8,
                    min_labeled=4,
                    **common,
                )
            importances = ranker.fit(table, target).importances_
            assert set(found.scores) == set(importances) - {"genie3_oob"}
            for name, scores in found.scores.items():
                np.testing.assert_array_equal(scores, importances[name])


def test_changed_files_are_noticed(tmp_path):
    from semirank.study import jobs

    study = Study(QUICK, 0, write_folder(tmp_path, NAMES[:1]))
    data = open_dataset(NAMES[0], tmp_path)
    job = jobs_of(data._replace(sha256="another"), study, ["equal"])[0]
    jobs.opened_data.cache_clear()
    with pytest.raises(ValueError, match="files of Tiny classes changed"):
        run_job(job, study)
