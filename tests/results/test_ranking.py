"""The Ranking object, its files, and the agreement of rankings."""

from __future__ import annotations

import csv
import json
import os
import pickle
import struct
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semirank import Ranking
from semirank.results.agreement import agreement, fuji_curve, kendall_tau, overlap_curve, rank_numbers
from semirank.results.ranking import plain

from . import naive_agreement as naive


def make(**changes):
    """A ranking with every field filled."""
    rng = np.random.default_rng(7)
    values = {
        "names": ("a", "b", "c", "d"),
        "scores": np.array([0.1, 1 / 3, 0.1, -2e-17]),
        "standard_errors": np.array([0.01, 0.02, np.nan, 0.0]),
        "method": "forest",
        "importance": "genie3",
        "all_scores": {
            "genie3": np.array([0.1, 1 / 3, 0.1, -2e-17]),
            "symbolic": rng.random(4),
            "rforest": rng.normal(size=4),
        },
        "all_standard_errors": {"symbolic": rng.random(4)},
        "per_target": rng.random((4, 2)),
        "target_names": ("t1", "t2"),
        "task": "multi_target",
        "n_rows": 50,
        "n_labeled": 10,
        "settings": {"n_estimators": 100, "ensemble": "random_forest", "random_state": 0},
        "choice": {"supervision": 0.75},
        "choice_path": [{"supervision": w, "score": s} for w, s in ((0.75, 0.5), (1.0, 0.6))],
        "missing_share": np.array([0.0, 0.5, 0.0, 0.25]),
        "timings": {"fit": 1.25},
        "seed": 0,
        "notes": ["multi-target regression, 2 targets, 10 of 50 rows labelled"],
        "origin": {"command": "semirank rank x.csv --target t1 --target t2"},
    }
    return Ranking(**{**values, **changes})


def bits(array):
    return None if array is None else np.asarray(array).tobytes()


def same_bits(one, two):
    assert one == two
    assert bits(one.scores) == bits(two.scores)
    assert bits(one.standard_errors) == bits(two.standard_errors)
    assert bits(one.per_target) == bits(two.per_target)
    assert list(one.all_scores) == list(two.all_scores)
    for name in one.all_scores:
        assert bits(one.all_scores[name]) == bits(two.all_scores[name])


class TestRanking:
    def test_order_and_ranks(self):
        ranking = make()
        assert ranking.order.tolist() == [1, 0, 2, 3]
        assert ranking.ranks.tolist() == [2, 1, 2, 4]
        assert len(ranking) == 4

    def test_ranks_equal_counting(self):
        rng = np.random.default_rng(0)
        for _ in range(20):
            scores = rng.integers(-3, 4, rng.integers(1, 12)).astype(float)
            assert rank_numbers(scores).tolist() == [1 + int((scores > s).sum()) for s in scores]

    def test_top_is_a_list_of_pairs_that_prints(self):
        top = make().top(2)
        assert top == [("b", 1 / 3), ("a", 0.1)]
        assert dict(top) == {"b": 1 / 3, "a": 0.1}
        lines = repr(top).splitlines()
        assert lines[0].split() == ["rank", "feature", "genie3", "±", "s.e."]
        assert lines[1].split()[:4] == ["1", "b", "0.3333", "0.02"]
        assert len(lines) == 3
        assert len(make().top(100)) == 4

    def test_points_stand_under_points(self):
        scores = [12.5, 3.0, 0.0123456, 1e-9]
        ranking = Ranking(names="abcd", scores=scores, method="relief", importance="relief")
        lines = repr(ranking.top()).splitlines()[1:]
        assert [line.split()[2] for line in lines] == ["12.5", "3", "0.01235", "1e-09"]
        assert lines[0].index(".") == lines[2].index(".")

    def test_select(self):
        ranking = make()
        assert ranking.select() == ["b", "a", "c"]
        assert ranking.select(1) == ["b"]
        assert ranking.select(share=0.5) == ["b", "a"]
        assert ranking.select(share=0.01) == ["b"]
        assert ranking.select(threshold=0.1) == ["b"]
        assert ranking.select(threshold=-1) == ["b", "a", "c", "d"]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n": 2, "share": 0.5}, "only one"),
            ({"n": 0}, "at least 1"),
            ({"n": 1.5}, "whole number"),
            ({"n": True}, "whole number"),
            ({"share": 0.0}, "share"),
            ({"share": 1.5}, "share"),
        ],
    )
    def test_select_errors(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            make().select(**arguments)

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_frame(self, library):
        pytest.importorskip(library)
        frame = make().to_frame(library)
        assert list(frame.columns) == [
            "rank", "feature", "column", "genie3", "genie3_se", "symbolic", "symbolic_se", "rforest",
            "target:t1", "target:t2", "missing_share",
        ]  # fmt: skip
        assert list(frame["feature"]) == ["b", "a", "c", "d"]
        assert list(frame["rank"]) == [1, 2, 2, 4]
        assert list(frame["missing_share"]) == [0.5, 0.0, 0.0, 0.25]

    def test_frame_library_unknown(self):
        with pytest.raises(ValueError, match="pandas"):
            make().to_frame("excel")

    def test_summary_says_what_was_done(self):
        text = make().summary()
        for part in (
            "forest",
            "genie3",
            "w = 0.75",
            "4 features",
            "multi-target",
            "10 labelled rows of 50",
            "b, a, c",
        ):
            assert part.lower() in text.lower()
        assert "\n" not in text

    def test_repr_fits_one_screen(self):
        names = [f"x{i}" for i in range(500)]
        ranking = Ranking(names=names, scores=np.arange(500.0), method="relief", importance="relief")
        assert len(repr(ranking).splitlines()) <= 24
        assert "485 more" in repr(ranking)

    def test_html_is_escaped(self):
        ranking = make(names=("<script>alert(1)</script>", "b&b", 'c"', "d"))
        text = ranking._repr_html_()
        assert "<script>" not in text
        assert "&lt;script&gt;" in text
        assert "b&amp;b" in text
        assert "&lt;script&gt;" in ranking.top(3)._repr_html_()

    def test_control_characters_do_not_reach_the_terminal(self):
        ranking = make(names=("\x1b[31mred", "b\nb", "c", "d"))
        assert "\x1b" not in repr(ranking)
        assert "b\nb" not in repr(ranking.top())

    def test_scores_all_zero_or_negative_print(self):
        ranking = Ranking(names=("a", "b"), scores=[0.0, -1.0], method="relief", importance="relief")
        assert ranking.select() == []
        assert "█" not in repr(ranking)

    def test_arrays_are_copies_and_read_only(self):
        scores = np.array([1.0, 2.0])
        ranking = Ranking(names=("a", "b"), scores=scores, method="relief", importance="relief")
        scores[0] = 9
        assert ranking.scores[0] == 1
        with pytest.raises(ValueError):
            ranking.scores[0] = 3

    def test_pickle(self):
        same_bits(make(), pickle.loads(pickle.dumps(make())))

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"names": ()}, "at least one feature"),
            ({"names": ("a", "a", "b", "c")}, "unique; more than once: a"),
            ({"scores": [1.0, 2.0]}, r"scores must have shape \(4,\)"),
            ({"scores": [1.0, 2.0, np.nan, 1.0]}, "scores must be finite"),
            ({"standard_errors": [1.0, 2.0, np.inf, 1.0]}, "standard_errors must be finite"),
            ({"per_target": np.zeros((4, 3))}, "per_target must have shape"),
            ({"all_standard_errors": {"other": np.zeros(4)}}, "without scores: other"),
            ({"all_scores": {"genie3": np.zeros(4)}}, "differs from scores"),
            ({"teacher": 5}, "teacher must be a dictionary"),
            ({"columns": ["a"]}, "columns must be a list of dictionaries"),
        ],
    )
    def test_constructor_errors(self, changes, message):
        with pytest.raises(ValueError, match=message):
            make(**changes)

    def test_plain_values(self):
        assert plain({1: np.bool_(True), "x": {3, 1}, "o": object(), "i": float("inf")}) == {
            "1": True, "x": [1, 3], "o": "<object>", "i": "inf",
        }  # fmt: skip


class TestPlot:
    def test_bars(self):
        pytest.importorskip("matplotlib").use("Agg")
        from matplotlib import pyplot

        ax = make(names=("a", "$b$", "c", "d")).plot(3)
        assert [label.get_text() for label in ax.get_yticklabels()] == [r"\$b\$", "a", "c"]
        assert [bar.get_width() for bar in ax.patches] == [1 / 3, 0.1, 0.1]
        ax.figure.canvas.draw()
        pyplot.close("all")

    def test_bars_without_standard_errors(self):
        pytest.importorskip("matplotlib").use("Agg")
        from matplotlib import pyplot

        plain = make(standard_errors=None, all_standard_errors={}).plot(3)
        assert plain.get_xlabel() + " (± standard error)" == make().plot(3).get_xlabel()
        assert not plain.collections  # no whiskers
        pyplot.close("all")

    def test_targets(self):
        pytest.importorskip("matplotlib").use("Agg")
        from matplotlib import pyplot

        ranking = make()
        ax = ranking.plot(2, kind="targets")
        assert np.array_equal(ax.images[0].get_array(), ranking.per_target[[1, 0]])
        assert [label.get_text() for label in ax.get_xticklabels()] == ["t1", "t2"]
        pyplot.close("all")

    def test_errors(self):
        with pytest.raises(ValueError, match="kind"):
            make().plot(kind="pie")
        with pytest.raises(ValueError, match="no scores per target"):
            make(per_target=None).plot(kind="targets")


class TestFiles:
    def test_json_keeps_every_bit(self, tmp_path):
        ranking = make()
        ranking.save(tmp_path / "r.json")
        same_bits(ranking, Ranking.load(tmp_path / "r.json"))

    @settings(max_examples=40, deadline=None)
    @given(
        st.lists(
            st.tuples(
                st.text(alphabet=st.characters(exclude_categories=["Cs"])),
                st.floats(allow_nan=False, allow_infinity=False),
            ),
            min_size=1,
            max_size=6,
            unique_by=lambda pair: pair[0],
        )
    )
    def test_json_and_csv_round_trip(self, tmp_path_factory, pairs):
        names, scores = zip(*pairs)
        ranking = Ranking(names=names, scores=scores, method="relief", importance="relief")
        folder = tmp_path_factory.mktemp("round")
        for suffix in ("json", "csv"):
            ranking.save(folder / f"r.{suffix}")
            back = Ranking.load(folder / f"r.{suffix}")
            assert back.names == ranking.names
            assert [struct.pack("d", s) for s in back.scores] == [struct.pack("d", s) for s in scores]

    def test_csv_round_trip(self, tmp_path):
        ranking = make(names=("a,1", 'b"', "c\nc", "ü"))
        ranking.save(tmp_path / "r.csv")
        back = Ranking.load(tmp_path / "r.csv")
        assert back.names == ranking.names
        assert back.target_names == ranking.target_names
        assert (back.method, back.importance) == ("forest", "genie3")
        assert bits(back.scores) == bits(ranking.scores)
        assert bits(back.per_target) == bits(ranking.per_target)
        assert bits(back.missing_share) == bits(ranking.missing_share)
        assert back.standard_errors.tolist()[:2] == [0.01, 0.02]
        assert np.isnan(back.standard_errors[2])
        assert back.all_scores.keys() == ranking.all_scores.keys()

    def test_fimp_round_trip(self, tmp_path):
        ranking = make(target_names=("t1", "a, [b]"))
        ranking.save(tmp_path / "r.fimp")
        text = (tmp_path / "r.fimp").read_text().splitlines()
        assert text[1].startswith("attributeDatasetIndex\tattributeName\t[genie3Rank, symbolicRank")
        assert set(text[2]) == {"-"}
        assert text[3].startswith("2\tb\t[1, ")
        back = Ranking.load(tmp_path / "r.fimp")
        assert back.names == ranking.names
        assert (back.method, back.importance) == ("forest", "genie3")
        assert bits(back.scores) == bits(ranking.scores)
        assert bits(back.per_target) == bits(ranking.per_target)
        assert back.target_names == ("t1", "a_ _b_")

    def test_fimp_of_clus(self, tmp_path):
        lines = [
            "Ranking method: Relief with all combinations of",
            "numbers of neighbours: [1]",
            "attributeDatasetIndex\tattributeName\t[overallRank, tarRank]\t[overall, tar]",
            "-------------",
            "2\tfeat two\t[1, 2]\t[0.5, 1.0E-5]",
            "1\tfeat1\t[2, 1]\t[-0.25, 0.75]",
        ]
        (tmp_path / "c.fimp").write_text("\r\n".join(lines) + "\r\n", newline="")
        ranking = Ranking.load(tmp_path / "c.fimp")
        assert ranking.names == ("feat1", "feat two")
        assert ranking.scores.tolist() == [-0.25, 0.5]
        assert ranking.all_scores["tar"].tolist() == [0.75, 1e-5]
        assert ranking.method == "relief"

    def test_fimp_truth_files(self, oracle_folder, tmp_path):
        for truth in sorted((oracle_folder / "relief").glob("*.fimpTruth")):
            copy = tmp_path / "truth.fimp"
            copy.write_bytes(truth.read_bytes())
            ranking = Ranking.load(copy)
            lines = [line.split("\t") for line in truth.read_text().splitlines() if line[:1].isdigit()]
            assert ranking.names == tuple(name for _, name, *_ in lines)
            assert len(ranking.names) in (4, 7)
            ranks = [[int(r) for r in line[2].strip("[]").split(",")] for line in lines]
            assert [rank_numbers(scores).tolist() for scores in ranking.all_scores.values()] == [
                list(column) for column in zip(*ranks)
            ]

    def test_fimp_refuses_what_breaks_its_layout(self, tmp_path):
        with pytest.raises(ValueError, match="tab or line break"):
            make(names=("a\tb", "b", "c", "d")).save(tmp_path / "r.fimp")
        assert list(tmp_path.iterdir()) == []

    def test_extension(self, tmp_path):
        with pytest.raises(ValueError, match=r"extension must be one of \.json"):
            make().save(tmp_path / "r.xlsx")
        with pytest.raises(ValueError, match="cannot be read back"):
            Ranking.load(tmp_path / "r.html")
        with pytest.raises(FileNotFoundError):
            Ranking.load(tmp_path / "absent.json")

    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("r.json", "{", "line 1 is not valid JSON"),
            ("r.json", "[1]", '"format"'),
            ("r.json", '{"format": "semirank ranking 1"}', "without names, scores, method"),
            ("r.json", '{"format": "semirank ranking 1", "colour": 1}', "not part of a ranking: colour"),
            ("r.csv", "", "empty"),
            ("r.csv", "rank,score\n1,2\n", '"feature"'),
            ("r.csv", "feature,score\na\n", "row 2 has 1 values, 2 expected"),
            ("r.csv", "feature,score\na,x\n", '"score" holds something'),
            ("r.csv", "feature,score\na,\n", "scores must be finite"),
            ("r.csv", "feature\na\n", "no column with scores"),
            ("r.csv", "feature,score\n", "at least one feature"),
            ("r.fimp", "nothing", "line of dashes"),
            ("r.fimp", "a\tb\tc\n------\n", "line 1 has 3 columns"),
            ("r.fimp", "i\tn\t[r]\t[s]\n------\n1\ta\t[1]\t[1, 2]\n", "line 3 does not have"),
            ("r.fimp", "i\tn\t[r]\t[s]\n------\n1\ta\t[1]\t[x]\n", "line 3 has something else"),
            ("r.fimp", "i\tn\t[r]\t[s,s]\n------\n1\ta\t[1]\t[1, 2]\n", "two scores share one name"),
        ],
    )
    def test_broken_files(self, tmp_path, name, text, message):
        (tmp_path / name).write_text(text)
        with pytest.raises(ValueError, match=message) as caught:
            Ranking.load(tmp_path / name)
        assert name in str(caught.value)

    def test_bytes_that_are_no_text(self, tmp_path):
        (tmp_path / "r.json").write_bytes(b"\xff\xfe\x00")
        with pytest.raises(ValueError, match="UTF-8"):
            Ranking.load(tmp_path / "r.json")

    def test_interrupted_write_leaves_the_old_file(self, tmp_path, monkeypatch):
        path = tmp_path / "r.json"
        make().save(path)
        before = path.read_bytes()

        def interrupt(_):
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            make(seed=1).save(path)
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == ["r.json"]

    def test_write_follows_links(self, tmp_path):
        real = tmp_path / "real.json"
        real.write_text("old")
        (tmp_path / "link.json").symlink_to(real)
        make().save(tmp_path / "link.json")
        assert (tmp_path / "link.json").is_symlink()
        assert json.loads(real.read_text())["names"] == ["a", "b", "c", "d"]

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are POSIX")
    def test_a_pipe_is_written_to_and_stays_a_pipe(self, tmp_path):
        path, got = tmp_path / "r.json", []
        os.mkfifo(path)
        reader = threading.Thread(target=lambda: got.append(path.read_text()), daemon=True)
        reader.start()
        make().save(path)
        reader.join(60)
        (tmp_path / "copy.json").write_text(got[0])
        assert Ranking.load(tmp_path / "copy.json") == make()
        assert path.is_fifo()


scores_pairs = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        *[
            st.lists(
                st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0, 3.0]) | st.floats(-2, 2), min_size=n, max_size=n
            )
        ]
        * 2
    )
)


class TestAgreement:
    @settings(max_examples=200, deadline=None)
    @given(scores_pairs)
    def test_equals_the_naive_twins(self, pair):
        a, b = pair
        assert kendall_tau(a, b) == pytest.approx(naive.kendall_tau(a, b), abs=1e-12)
        assert overlap_curve(a, b) == pytest.approx(naive.overlap_curve(a, b), abs=1e-12)
        assert fuji_curve(a, b) == pytest.approx(naive.fuji_curve(a, b), abs=1e-12)

    @settings(max_examples=100, deadline=None)
    @given(scores_pairs)
    def test_symmetric_and_bounded(self, pair):
        one, two = agreement(*pair), agreement(*pair[::-1])
        assert one.kendall == pytest.approx(two.kendall)
        assert one.fuji == pytest.approx(two.fuji)
        assert -1 <= one.kendall <= 1
        assert ((one.fuji >= 0) & (one.fuji <= 1)).all()
        # A fuzzy membership never counts less than a crisp one.
        k = np.arange(1, len(one.overlap) + 1)
        common = one.overlap * k
        assert (one.fuji >= common / (2 * k - common) - 1e-12).all()

    def test_kendall_equals_scipy(self):
        stats = pytest.importorskip("scipy.stats")
        rng = np.random.default_rng(1)
        for n, values in ((500, 40), (500, 10**6)):
            a, b = rng.integers(0, values, (2, n)).astype(float)
            assert kendall_tau(a, b) == pytest.approx(stats.kendalltau(a, b)[0], abs=1e-12)

    def test_same_order_is_exactly_one(self):
        a = np.random.default_rng(0).normal(size=1001)
        same = agreement(a, a**3)
        assert same.kendall == 1.0
        assert kendall_tau(a, -a) == -1.0
        assert (same.overlap == 1.0).all()
        assert agreement(a, a).fuji_area == 1.0

    def test_no_order(self):
        assert kendall_tau([1, 1, 1], [1, 2, 3]) == 0.0

    def test_compare_matches_by_name(self):
        one = make()
        place = [2, 0, 3, 1]
        other = Ranking(
            names=[one.names[i] for i in place],
            scores=one.all_scores["symbolic"][place],
            method="relief",
            importance="relief",
        )
        expected = agreement(one.scores, one.all_scores["symbolic"])
        result = one.compare(other)
        assert result.kendall == expected.kendall
        assert np.array_equal(result.fuji, expected.fuji)
        assert json.loads(json.dumps(result.to_dict()))["fuji_area"] == result.fuji_area
        assert f"kendall={result.kendall:.3f}" in repr(result)

    def test_compare_different_features(self):
        other = make(names=("a", "b", "c", "e"))
        with pytest.raises(ValueError, match=r"1 only in the first \(d\) and 1 only in the second \(e\)"):
            make().compare(other)
        with pytest.raises(TypeError, match="another Ranking"):
            make().compare([1, 2])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_need_their_library(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    ranking = Ranking(names=("a", "b"), scores=[0.1, 0.4], method="relief", importance="relief")
    with pytest.raises(ImportError, match=f"needs {library}: pip install {library}"):
        ranking.to_frame(library)


class TestSpreadsheets:
    """A name that a spreadsheet would run is written as text, and read as it was."""

    NAMES = ("=1+1", "+cmd", "-x", "@sum", "'quoted", "plain", "-5", "=a,b\n")

    @pytest.mark.parametrize("safe", [True, False])
    def test_names_come_back(self, tmp_path, safe):
        scores = np.arange(len(self.NAMES), 0.0, -1.0)
        ranking = Ranking(names=self.NAMES, scores=scores, method="relief", importance="relief")
        path = tmp_path / "r.csv"
        ranking.save(path, safe_csv=safe)
        back = Ranking.load(path)
        assert dict(zip(back.names, back.scores)) == dict(zip(self.NAMES, scores))
        with path.open(encoding="utf-8", newline="") as file:
            cells = [row[1] for row in csv.reader(file)][1:]
        runs = [cell for cell in cells if cell[0] in "=+@" or (cell[0] == "-" and not cell[1:].isdigit())]
        assert (runs == []) == safe


def test_characters_that_turn_text_around_are_shown_escaped(tmp_path):
    ranking = Ranking(names=("a\u202eb", "c"), scores=[2.0, 1.0], method="relief", importance="relief")
    ranking.save(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "\u202e" not in page
    assert "202e" in page.lower()
