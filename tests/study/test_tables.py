"""The study's tables, figures and page, on made-up records, against plain recomputation."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from semirank.data.encode_features import encode_features
from semirank.data.encode_target import encode_target
from semirank.rankers.methods import ENSEMBLES
from semirank.study.paper import known_stand_ins, paper_names, paper_tables
from semirank.study.plan import FOREST_SCORES
from semirank.study.properties import CH, paper_numbers
from semirank.study.results import DEFINITIONS, SCORES, collect
from semirank.study.statistics import compare, friedman, holm, rank_rows, signed_rank, spearman
from semirank.study.table_format import StudyTable
from semirank.study.tables import all_tables, write_tables

from ..conftest import shared
from .naive_study import (
    Twin,
    chosen,
    make_records,
    naive_areas,
    naive_mean_ranks,
    naive_ranks,
)

DATASETS = {
    "Digits": "classification",
    "Bank": "classification",
    "Chess": "classification",
    "Scene": "MLC",
    "Mortgage": "STR",
    "Pol": "STR",
    "Treasury": "STR",
    "Edm1": "MTR",
    "Scm20d": "MTR",
    "other <b>|set": "classification",
}
STAND_INS = {"other <b>|set": "Pgp"}
PROPERTIES = {
    "Digits": {"cluster hypothesis": 0.5, "examples": 7.0},
    "other <b>|set": {"cluster hypothesis": 0.25, "examples": 300.0, "majority share": 0.5},
}
JUDGES = {"SSL, fair": ("ssl", "labelled"), "SSL, paper's judge": ("ssl", "all"), "SL": ("sl", "labelled")}
OWN = {name: group for name, group in DATASETS.items() if name not in STAND_INS}


@pytest.fixture(scope="module", params=[1.0, 0.8], ids=["complete", "unfinished"])
def records(request):
    return make_records(DATASETS, seed=3, keep=request.param)


@pytest.fixture(scope="module")
def twin(records):
    return Twin(records, OWN)


@pytest.fixture(scope="module")
def tables(records):
    return {table.name: table for table in all_tables(collect(records, STAND_INS), (), PROPERTIES)}


def rows_of(table):
    """The rows as dictionaries; of two columns with one name the first is kept."""
    return [dict(reversed(list(zip(table.columns, row)))) for row in table.rows]


def members(label):
    """The data sets that a row of a table averages over."""
    if label.startswith("all"):
        return list(DATASETS if "stand-ins" in label else OWN)
    return [name for name, group in OWN.items() if group == label]


def groups():
    return list(dict.fromkeys(DATASETS.values()))


def test_differences_are_those_of_the_plain_recomputation(records, twin):
    results = collect(records, STAND_INS)
    for definition, k in product(DEFINITIONS, (20, 40)):
        found = {(d.dataset, d.score): d.value for d in results.differences(definition, k)}
        scores = ["equal"] if definition == "pool" else [*FOREST_SCORES, "relief", "laplace"]
        expected = {(n, s): twin.difference(n, s, definition, k) for n, s in product(DATASETS, scores)}
        expected = {key: value for key, value in expected.items() if value is not None}
        assert len(expected) >= len(DATASETS)
        assert found == pytest.approx(expected, abs=1e-12)


def test_more_than_zero_means_better_for_errors_and_for_gains():
    """The same values, once as a gain and once as an error, give differences of opposite signs."""
    gains = make_records({"Digits": "classification"}, seed=1)
    errors = [r._replace(greater_is_better=False) for r in gains]
    up, down = ([d.value for d in collect(r, {}).differences("pool", 40)] for r in (gains, errors))
    assert up == pytest.approx([-v for v in down])
    assert up[0] > 0


def test_ensembles_are_chosen_by_rank_and_then_by_time(records, twin, tables):
    results = collect(records, STAND_INS)
    for key in product(groups(), ("ssl", "sl"), ("labelled", "all"), FOREST_SCORES):
        assert results.ensembles[key] == twin.ensemble(*key)
    rows = rows_of(tables["2_best_ensembles"])
    assert {row["group"] for row in rows} == {*groups(), "all", "all with stand-ins"}
    for row in rows:
        side, pool = JUDGES[row["judge"]]
        areas = [twin.ensemble_areas(name, side, pool, row["score"]) for name in members(row["group"])]
        assert [row[f] for f in ENSEMBLES] == pytest.approx(naive_mean_ranks(areas))
        found = [a for a in areas if a is not None]
        assert row["data sets"] == len(found)
        assert row["Friedman p"] == pytest.approx(friedman(rank_rows(found)))
        printed = paper_tables()["ensemble_ranks"].get(row["group"], {}).get(row["score"], {}).get(side, {})
        assert [row[f"{f} (paper)"] for f in ENSEMBLES] == [printed.get(f) for f in ENSEMBLES]


def test_equal_ensembles_go_to_the_faster():
    records = make_records({"Digits": "classification", "Bank": "classification"}, seed=2)
    times = {"random_forest": 3.0, "extra_trees": 2.0, "bagging": 1.0}
    records = [r._replace(value=0.5, seconds=times[r.family]) if r.family in times else r for r in records]
    assert set(collect(records, {}).ensembles.values()) == {"bagging"}


def test_time_ranks(twin, tables):
    for row in rows_of(tables["3_ensemble_times"]):
        times = [twin.times(name, ENSEMBLES, row["side"].lower()) for name in members(row["group"])]
        assert [row[f] for f in ENSEMBLES] == pytest.approx(naive_mean_ranks(times))
    seen = []
    for row in rows_of(tables["7_times"]):
        end = "last" if row["group"] in seen else "first"
        seen.append(row["group"])
        families = [*ENSEMBLES, "relief", *(["laplace"] if row["group"] == "STR" else [])]
        times = [twin.times(name, families, "ssl", end) for name in members(row["group"])]
        assert [row[f] for f in families] == pytest.approx(naive_mean_ranks(times) or [None] * len(families))
        assert row["data sets"] == sum(t is not None for t in times)
        if row["group"] != "STR":
            assert row["laplace"] is None
    assert seen == [g for g in [*groups(), "all", "all with stand-ins"] for _ in range(2)]


def test_share_of_more_global_rankings(twin, tables):
    scores = [*FOREST_SCORES, "relief", "laplace"]
    for row in rows_of(tables["4_more_global"]):
        for definition, column in (("fair", "(a) fair judge"), ("paper", "(b) paper's judge")):
            larger = []
            for name, score in product(members(row["group"]), scores):
                near, far = (twin.difference(name, score, definition, k) for k in (20, 40))
                if near is not None:
                    larger.append(far > near)
            assert row[column] == pytest.approx(sum(larger) / len(larger))
        assert row["paper"] == paper_tables()["more_global_share"].get(row["group"])


def test_difference_tables_stand_beside_the_paper(twin, tables):
    for name, definition in (("5a_differences_fair", "fair"), ("5b_differences_paper_judge", "paper")):
        rows = rows_of(tables[name])
        for row in rows:
            dataset = row["data set"].split(" [stand-in for ")[0]
            printed = paper_tables()["difference"][DATASETS[dataset]].get(dataset, {})
            for score in SCORES:
                expected = twin.difference(dataset, score, definition)
                assert row[score] == (None if expected is None else pytest.approx(expected))
                assert row[f"{score} (paper)"] == printed.get(score)
        assert "other <b>|set [stand-in for Pgp]" in {row["data set"] for row in rows}


def test_agreement_with_the_paper(twin, tables):
    for row in rows_of(tables["5d_agreement"]):
        definition = {"a": "fair", "b": "paper", "c": "pool", "d": "all"}[row["difference"][1]]
        ours, printed = [], []
        for name, group in OWN.items():
            if row["group"] in (group, "all"):
                for score, value in paper_tables()["difference"][group][name].items():
                    ranked = "equal" if definition == "pool" else score
                    found = twin.difference(name, ranked, definition, row["neighbours"])
                    if found is not None:
                        ours.append(found)
                        printed.append(value)
        same = [(a > 0) == (b > 0) for a, b in zip(ours, printed)]
        assert row["pairs"] == len(ours)
        assert row["equal signs"] == pytest.approx(sum(same) / len(same))
        assert row["mean error"] == pytest.approx(sum(abs(a - b) for a, b in zip(ours, printed)) / len(ours))
        if row["group"] == "all":
            assert row["Spearman"] == pytest.approx(stats.spearmanr(ours, printed).statistic)
    assert {row["group"] for row in rows_of(tables["5d_agreement"])} == {*groups(), "all"}
    assert {row["neighbours"] for row in rows_of(tables["5d_agreement"])} == {20, 40}


def test_effect_counts_and_tests_the_differences(twin, tables):
    rows = [r for r in rows_of(tables["5e_effect"]) if r["difference"] == "(a) fair judge"]
    assert any(row["group"] == "all with stand-ins" for row in rows)
    for row in rows:
        k = row["neighbours"]
        values = [twin.difference(name, row["score"], "fair", k) for name in members(row["group"])]
        values = [v for v in values if v is not None]
        assert (row["data sets"], row["better"]) == (len(values), sum(v > 0 for v in values))
        assert row["median"] == pytest.approx(np.median(values))
        assert row["p"] == pytest.approx(stats.wilcoxon(values, method="exact").pvalue)


def areas_of_methods(twin, judge, group):
    """Names of the scores, and their areas on each data set of a group."""
    side, pool = JUDGES[judge]
    scores = [*FOREST_SCORES, "relief", *(["laplace"] if group == "STR" else [])]
    areas = [
        naive_areas([twin.chosen_curve(name, side, pool, score, 40) for score in scores])
        for name in members(group)
    ]
    return scores, areas


def test_quality_ranks_use_the_chosen_ensembles(twin, tables):
    for row in rows_of(tables["6_quality"]):
        scores, areas = areas_of_methods(twin, row["judge"], row["group"])
        assert [row[s] for s in scores] == pytest.approx(naive_mean_ranks(areas) or [None] * len(scores))
        assert row["data sets"] == sum(a is not None for a in areas)


def test_pairs_of_rankings_are_tested_with_holms_rule(twin, tables):
    ranks = {(row["judge"], row["group"]): row for row in rows_of(tables["6_quality"])}
    found = {}
    for row in rows_of(tables["6_quality_pairs"]):
        both = ranks[row["judge"], row["group"]]
        assert (row["rank"], row["rank (worse)"]) == (both[row["better"]], both[row["worse"]])
        assert row["rank"] <= row["rank (worse)"]
        assert row["data sets"] == both["data sets"]
        found.setdefault((row["judge"], row["group"]), []).append(row)
    assert {len(some) for some in found.values()} == {6, 10}  # with and without Laplace
    for (judge, group), some in found.items():
        scores, areas = areas_of_methods(twin, judge, group)
        values = np.array([a for a in areas if a is not None])
        raw = []
        for row in some:
            gains = values[:, scores.index(row["better"])] - values[:, scores.index(row["worse"])]
            raw.append(stats.wilcoxon(gains, method="exact").pvalue)
        order = sorted(range(len(raw)), key=raw.__getitem__)
        for place, i in enumerate(order):  # the largest of what the smaller ones were multiplied to
            stepped = [raw[j] * (len(raw) - step) for step, j in enumerate(order[: place + 1])]
            assert some[i]["p (Holm)"] == pytest.approx(min(1, max(stepped)))


def test_chosen_settings_are_counted_once_per_forest(records, tables):
    for row in rows_of(tables["8_supervision"]):
        some = chosen(records, family=row["family"], side="ssl", score="genie3", pool="all", k=20)
        some = [r for r in some if row["group"] in (r.group, "all")]
        assert row["cells"] == len(some)
        for level in (0.0, 0.25, 0.5, 0.75, 1.0):
            share = sum(json.loads(r.setting)["w"] == level for r in some) / len(some)
            assert row[f"w = {level:g}"] == pytest.approx(share)
    rows = rows_of(tables["8_relief_settings"])
    assert [r["parameter"] for r in rows if r["group"] == "all"] == ["w0", "w1", "k"]
    assert rows[0]["value: share"] == "0.25: 100 %"


def test_coverage_names_what_is_missing(records, tables):
    table = tables["0_coverage"]
    missing = [name for name in paper_names() if name not in DATASETS]
    assert f"for {len(missing)} of the paper's 38 data sets: " in table.notes[1]
    for name in missing:
        assert re.search(rf"\b{re.escape(name)}\b", table.notes[1])
    assert "Pgp (stand-in: other <b>|set)" in table.notes[1]
    for row in rows_of(table):
        some = chosen(records, dataset=row["data set"].split(" [")[0])
        cells = {(r.n_labeled, r.fold) for r in some}
        unfinished = []
        for family in [*ENSEMBLES, "relief", *(["laplace"] if row["group"] == "STR" else []), "equal"]:
            done = {(r.n_labeled, r.fold) for r in some if r.family == family}
            if len(done) < len(cells):
                unfinished.append(f"{family} {len(done)} of {len(cells)}")
        assert row["not finished"] == ", ".join(unfinished)


def test_families_that_were_not_begun_are_missing_too():
    records = make_records({"Digits": "classification", "Pol": "STR"})
    records = [r for r in records if r.dataset == "Pol" or r.family == "relief"]
    rows = rows_of(all_tables(collect(records, {}), (), {})[0])
    ensembles = "random_forest 0 of 9, extra_trees 0 of 9, bagging 0 of 9"
    assert rows[0]["not finished"] == f"{ensembles}, equal 0 of 9"
    assert rows[1]["not finished"] == ""


def test_every_table_says_above_it_what_has_been_run():
    records = make_records({"Digits": "classification", "Pol": "STR", "Mine": "STR"})
    unfinished = [r for r in records if r.dataset != "Pol" or r.family != "relief" or r.fold == 0]
    for some, state in ((records, "all complete"), (unfinished, "not complete: Pol")):
        first, *others = all_tables(collect(some, {}), (), {})
        assert "Coverage" not in first.text
        for table in others:
            if table.title:
                shown = table.markdown()
                said = shown.index(f"Coverage: 2 of the paper's 38 data sets and 1 other; {state}.")
                assert said < shown.index("| ")


def test_differences_have_signs_and_the_clustering_hypothesis_has_none():
    records = make_records({"Digits": "classification"}, seed=1)
    tables = {table.name: table for table in all_tables(collect(records, {}), (), {"Digits": {CH: 0.673}})}
    for name in ("5a_differences_fair", "5b_differences_paper_judge", "5c_pool_effect"):
        line = next(line for line in tables[name].markdown().splitlines() if line.startswith("| Digits"))
        cells = dict(zip(tables[name].columns, [cell.strip() for cell in line.split("|")[1:-1]]))
        assert (cells["CH (paper)"], cells["CH (ours)"]) == ("0.000", "0.673")
        ours = cells["pool effect" if name == "5c_pool_effect" else "relief"]
        assert ours[:1] in ("+", "-")


def test_an_L_that_a_data_set_lacks_is_missing_while_others_have_it():
    """Records made before every L counted: the tables say what is left, and compare over what is there."""
    records = make_records({"Digits": "classification", "Edm1": "MTR"}, seed=2)
    records = [r for r in records if r.dataset == "Digits" or r.n_labeled < 500]
    results = collect(records, {})
    rows = rows_of(all_tables(results, (), {})[0])
    assert rows[0]["not finished"] == ""
    assert rows[1]["not finished"] == ", ".join(f"{f} 6 of 9" for f in (*ENSEMBLES, "relief", "equal"))
    levels = {d.dataset: d.levels for d in results.differences("fair", 40)}
    assert levels == {"Digits": (50, 200, 500), "Edm1": (50, 200)}


def test_properties_hold_the_given_numbers(tables):
    rows = {row["data set"]: row for row in rows_of(tables["1_data_sets"])}
    for name in ("5a_differences_fair", "5b_differences_paper_judge", "5c_pool_effect"):
        found = {row["data set"]: (row["CH (paper)"], row["CH (ours)"]) for row in rows_of(tables[name])}
        assert found["Mortgage"] == (0.57, None)
        assert found["Digits"] == (0.0, 0.5)
        assert found["other <b>|set [stand-in for Pgp]"] == (None, 0.25)
    assert rows["Digits"]["CH (ours)"] == 0.5
    assert rows["Digits"]["examples"] == 1797  # as printed
    assert rows["Digits"]["our files"] == "7 examples"  # as given
    assert rows["Bank"]["our files"] == ""
    assert rows["Bank"]["CH (ours)"] is None
    other = rows["other <b>|set [stand-in for Pgp]"]
    assert (other["examples"], other["majority share"], other["depth"]) == (300, 0.5, None)
    assert (other["CH (paper)"], other["CH (ours)"]) == (None, 0.25)
    assert rows["Mortgage"]["CH (paper)"] == 0.57
    assert (rows["Aapc"]["run"], rows["Bank"]["run"]) == ("no", "yes")
    assert len(rows) == 39


def test_another_depth_than_the_printed_one_is_said():
    records = make_records({"Pheno-yeast-FUN": "HMLC", "Scene": "MLC"})
    sizes = {"Pheno-yeast-FUN": {"examples": 1591.0, "depth": 6.0}, "Scene": {"depth": 1.0}}
    rows = {row["data set"]: row for row in rows_of(all_tables(collect(records, {}), (), sizes)[1])}
    assert (rows["Pheno-yeast-FUN"]["depth"], rows["Scene"]["our files"]) == (4, "")
    assert rows["Pheno-yeast-FUN"]["our files"] == "1591 examples, depth 6"


def test_sizes_are_the_columns_of_the_paper():
    X = encode_features(np.arange(12.0).reshape(4, 3))
    classes = paper_numbers(X, encode_target(["a", "b", "b", None], task="classification"))
    assert classes == {
        "examples": 4, "features": 3, "classes, labels or targets": 2, "majority share": pytest.approx(2 / 3)
    }  # fmt: skip
    labels = paper_numbers(X, encode_target([[0, 1], [1, 1], [0, 0], [np.nan, 1]], task="multi_label"))
    assert (labels["labels per row"], labels["depth"]) == (1.0, 1)
    tree = encode_target([{"a/b"}, {"a"}, {"c"}, None], hierarchy=["a", "a/b", "c"])
    found = paper_numbers(X, tree)
    assert (found["classes, labels or targets"], found["depth"]) == (3, 2)
    assert found["labels per row"] == pytest.approx(4 / 3)  # ancestors count


def test_files_are_written_and_can_be_read_back(records, twin, tmp_path):
    files = write_tables(iter(records), tmp_path / "new" / "folder", stand_ins=STAND_INS)
    assert len(files) == len(set(files))
    assert all(path.stat().st_size > 0 for path in files)
    long = {p.stem for p in files if p.suffix == ".csv"} - {p.stem for p in files if p.suffix == ".md"}
    assert long == {"differences_20nn", "differences_40nn", "curves", "times"}
    with (tmp_path / "new" / "folder" / "differences_40nn.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        expected = twin.difference(row["dataset"], row["score"], row["definition"])
        assert float(row["difference"]) == pytest.approx(expected, abs=1e-5)
        assert row["stand_in_for"] == STAND_INS.get(row["dataset"], "")


def test_two_records_of_one_thing_are_refused():
    records = make_records({"Digits": "classification"})
    with pytest.raises(ValueError, match=r"two records of .* on Digits at L = .*one preset"):
        collect([*records, records[0]], {})


@pytest.mark.parametrize("n", [0, 1, 7, 40])
def test_very_little_gives_tables_too(n, tmp_path):
    """Even a handful of judged values, in which hardly anything can be compared."""
    records = make_records({"Digits": "classification", "Edm1": "MTR"}, seed=4)[:n]
    files = write_tables(records, tmp_path, stand_ins={})
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    assert "nan" not in text.lower().replace("nann", "")
    assert f"Data sets with records: {len({r.dataset for r in records})}." in text


# ---------------------------------------------------------------------------------------------- ranks


def test_ranks_are_those_of_the_plain_count():
    rng = np.random.default_rng(0)
    for _ in range(50):
        scores = rng.integers(0, 4, (5, rng.integers(1, 7))) / 3 + rng.normal(0, 1e-14, 1)
        expected = [naive_ranks(list(row)) for row in scores]
        np.testing.assert_allclose(rank_rows(scores), expected)


def test_signed_rank_is_exact():
    """All sign patterns are tried, with ties and zeros; scipy agrees where it is exact too."""
    rng = np.random.default_rng(1)
    for n in range(1, 9):
        values = rng.integers(-3, 4, n).astype(float)
        left = values[values != 0]
        ranks = stats.rankdata(np.abs(left)) if len(left) else np.zeros(0)
        observed = min(ranks[left > 0].sum(), ranks[left < 0].sum())
        sums = [sum(r for r, s in zip(ranks, signs) if s) for signs in product((0, 1), repeat=len(ranks))]
        expected = min(1.0, 2 * np.mean([s <= observed + 1e-9 for s in sums]))
        assert signed_rank(values) == pytest.approx(expected)
        continuous = rng.normal(size=n)
        assert signed_rank(continuous) == pytest.approx(stats.wilcoxon(continuous, method="exact").pvalue)


def test_friedman_is_scipys():
    rng = np.random.default_rng(2)
    for _ in range(10):
        scores = rng.integers(0, 6, (8, 4)).astype(float)
        expected = stats.friedmanchisquare(*scores.T).pvalue
        assert friedman(rank_rows(scores)) == pytest.approx(expected)
    assert friedman(rank_rows(np.ones((4, 3)))) == 1.0


def test_holm_by_hand():
    np.testing.assert_allclose(holm([0.02, 0.001, 0.5, 0.03]), [0.06, 0.004, 0.5, 0.06])
    assert holm([]).shape == (0,)


def test_groups_join_only_what_no_test_tells_apart():
    """a and b are alike, and so are c and d, but the pairs differ on all twelve data sets."""
    rng = np.random.default_rng(3)
    scores = np.array([3.0, 3.0, 1.0, 1.0]) + rng.normal(0, 0.1, (12, 4))
    found = compare(["c", "d", "a", "b"], scores[:, [2, 3, 0, 1]])
    assert set(found.names[:2]) == {"a", "b"}
    assert found.alike == ((0, 1), (2, 3))
    assert found.n == 12
    assert (np.diff(found.ranks) >= 0).all()
    assert found.p_values[0, 1] > 0.05 > found.p_values[1, 2]
    assert compare(["a", "b"], np.ones((3, 2))).alike == ((0, 1),)


def test_spearman_is_scipys():
    a, b = np.random.default_rng(4).integers(0, 5, (2, 20)).astype(float)
    assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic)
    assert spearman(a[:2], b[:2]) is None


# ---------------------------------------------------------------------------------------- the paper


def test_packaged_figures_are_the_printed_ones():
    folder = shared("paper")
    if folder is None:
        pytest.skip("no folder with the paper")
    printed = json.loads((folder / "tables.json").read_text(encoding="utf-8"))
    ours = paper_tables()
    assert ours["difference"] == printed["delta"]
    assert ours["quality_ranks"] == printed["quality_ranks"]
    assert ours["more_global_share"] == printed["more_global_share"]
    for group, some in printed["datasets"].items():
        assert [{"name": name} | sizes for name, sizes in ours["datasets"][group].items()] == some
    short = {"random_forest": "rf", "extra_trees": "et", "bagging": "bagging"}
    names = {"genie3": "Genie3", "rforest": "RandomForest", "symbolic": "Symbolic"}
    for row in printed["ensemble_ranks"]:
        (score,) = (ours_name for ours_name, theirs in names.items() if theirs == row["score"])
        for side, family in product(("ssl", "sl"), ENSEMBLES):
            value = ours["ensemble_ranks"][row["task"]][score][side][family]
            assert value == row[f"{side}_{short[family]}"]
    for row in printed["ensemble_time_ranks"]:
        assert ours["ensemble_time_ranks"][row["task"]] == {f: row[short[f]] for f in ENSEMBLES}
    for row in printed["time_ranks"]:
        found = ours["time_ranks"][row["task"]][str(row["L"])]
        assert {short.get(f, f): v for f, v in found.items()} == {
            f: v for f, v in row.items() if f not in ("task", "L")
        }


def test_stand_ins_come_from_the_registry():
    found = known_stand_ins()
    assert set(found.values()) <= set(paper_names())
    assert not set(found) & set(paper_names())
    assert found["CHEMBL2334"] == "QSAR"


# ------------------------------------------------------------------------------- tables, figures, page


def test_a_table_escapes_names():
    name = "<script>|a_b*c`[x]\n# d & e"
    table = StudyTable("s", "T", "t", ("name", "v"), ((name, 1.0), ("b", None)), notes=(name,))
    line = table.markdown().splitlines()[6]
    assert "<" not in line
    assert re.sub(r"\\.", "", line).count("|") == 3
    assert "<script>" not in table.html()
    assert list(csv.reader(io.StringIO(table.csv())))[1] == [name, "1"]


def test_small_chances_are_not_shown_as_nothing():
    rows = (("a", 0.0042), ("b", 0.006), ("c", 0.0))
    shown = StudyTable("x", "T", "", ("name", "p"), rows).markdown()
    assert [line.split(" | ")[1] for line in shown.splitlines()[-3:]] == ["0.004 |", "0.01 |", "0.00 |"]
    signed = StudyTable("x", "T", "", ("name", "p"), rows, signed=frozenset({"p"}))
    assert "| a | +0.00 |" in signed.markdown()


def test_a_table_without_rows_says_so():
    assert "**" not in StudyTable("s", "T", "t", ("a",), ((None,),), bold=frozenset({(0, 0)})).markdown()
    table = StudyTable("s", "T", "t", ("a",), ())
    assert "no records" in table.markdown()
    assert "no records" in table.html()


def test_figures_are_written_and_repeatable(tmp_path):
    pytest.importorskip("matplotlib")
    from semirank.study.figures import Picture, curves, drawn, write_figures

    records = make_records({"a$b <i>": "STR", "Treasury": "STR", "A B (I)": "STR"}, keep=0.9, seed=5)
    stand_ins = {"a$b <i>": "QSAR", "A B (I)": "QSAR"}
    files = write_figures(records, tmp_path, stand_ins=stand_ins)
    stems = {"differences", "curves_treasury", "curves_a-b-i", "curves_a-b-i-2"}
    stems |= {f"ranks_{kind}_all-with-stand-ins" for kind in ("methods", "sides")}
    assert {path.name for path in files} == {stem + suffix for stem in stems for suffix in (".png", ".svg")}
    assert all(path.stat().st_size > 1000 for path in files)
    again = Picture("again", "", curves(collect(records, stand_ins), "Treasury"))
    assert drawn(again, "svg") == (tmp_path / "curves_treasury.svg").read_bytes()


def test_curves_are_drawn_solid_and_dashed_at_the_means():
    pytest.importorskip("matplotlib")
    from semirank.study.figures import curves

    records = make_records({"Treasury": "STR"}, seed=6)
    results = collect(records, {})
    panels = curves(results, "Treasury").axes
    assert [ax.get_title() for ax in panels] == [
        "20NN, fair judge", "40NN, fair judge", "20NN, paper's judge", "40NN, paper's judge",
    ]  # fmt: skip
    drawn = {(line.get_color(), line.get_linestyle()): line.get_ydata() for line in panels[3].lines}
    assert len(drawn) == len(panels[3].lines) == 12
    from semirank.study.figures import STYLES

    for side, pool, dash in (("ssl", "all", "-"), ("sl", "labelled", "--")):
        some = chosen(records, family="relief", side=side, pool=pool, k=40)
        expected = [
            sum(r.value * r.n_test for r in some if r.n_labeled == level)
            / sum(r.n_test for r in some if r.n_labeled == level)
            for level in (50, 200, 500)
        ]
        np.testing.assert_allclose(drawn[STYLES["relief"][0], dash], expected)


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.open, self.links = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag not in ("meta", "link", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_page_is_whole_and_asks_for_nothing(tmp_path):
    pytest.importorskip("matplotlib")
    from semirank.study.report import write_report

    evil = "<img src=x onerror=alert(1)>"
    records = make_records({"Digits": "classification", evil: "MTR"}, keep=0.9, seed=7)
    (path,) = write_report(records, tmp_path, stand_ins={evil: "Edm1"}, notes=["run & <b>done</b>"])
    assert path.name == "study.html"
    content = path.read_text(encoding="utf-8")
    page = _Page()
    page.feed(content)
    assert page.open == []
    assert all(link.startswith(("data:", "#")) for link in page.links)
    assert "script" not in page.tags
    assert evil not in content
    assert "run &amp; &lt;b&gt;done" in content
    assert content.count("<figure") == page.tags.count("img")
    assert "prefers-color-scheme: dark" in content


def test_page_of_nothing(tmp_path):
    pytest.importorskip("matplotlib")
    from semirank.study.report import write_report

    (path,) = write_report([], tmp_path / "some.html", stand_ins={})
    assert "Data sets with records: 0." in path.read_text(encoding="utf-8")


def test_the_map_from_the_papers_tables_and_figures_is_whole():
    """Every table and figure of the paper has a line, and what the lines name has been written."""
    root = Path(__file__).parents[2]
    page = (root / "docs" / "run-study.md").read_text(encoding="utf-8")
    part = page.partition("## The paper's tables and figures")[2].partition("\n## ")[0]
    lines = [line.split("|")[1:3] for line in part.splitlines() if re.match(r"\| (Table|Figure)", line)]
    numbers: dict[str, list[int]] = {"Table": [], "Figure": []}
    for left, _ in lines:
        kind, first, last = re.match(r" (Table|Figure)s? (\d+)(?: to (\d+))?:", left).groups()
        numbers[kind] += range(int(first), int(last or first) + 1)
    assert numbers == {"Table": [*range(1, 13)], "Figure": [1, 2, 3]}
    named = re.findall(r"`([a-z0-9_.-]+)`", " ".join(right for _, right in lines))
    named += re.findall(r"`([a-z0-9_.-]+)`", part.rpartition("The paper does not have")[2])
    folder = root / "results" / "quick"
    written = {path.name for path in folder.iterdir()} | {path.stem for path in folder.rglob("*.*")}
    assert len(named) > 20
    assert set(named) - written == {"ranks_..."}
