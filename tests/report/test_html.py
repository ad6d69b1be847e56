"""The HTML report: what it says, that it is safe, and how it behaves in a browser."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest

from semirank import Ranking
from semirank.report.html import render
from semirank.report.svg_charts import Curve, heat_map, line_chart, number, number_grid, table, ticks

EVIL = "<script>document.title='owned'</script>"
MORE_EVIL = "</script><img src=x onerror=\"document.title='owned'\"> & ' \u2028 &lt;"


def forest(size=40, **changes):
    rng = np.random.default_rng(3)
    scores = np.sort(rng.gamma(0.7, 1, size))[::-1] / size
    values = {
        "names": [EVIL, MORE_EVIL, *(f"gene {i}" for i in range(2, size))],
        "scores": scores,
        "standard_errors": scores / 5,
        "method": "forest",
        "importance": "genie3",
        "all_scores": {"genie3": scores, "symbolic": rng.random(size), "rforest": rng.normal(size=size)},
        "all_standard_errors": {"symbolic": np.full(size, 0.25)},
        "per_target": rng.normal(size=(size, 3)),
        "target_names": ("t1", EVIL, "t3"),
        "task": "multi_target",
        "n_rows": 200,
        "n_labeled": 50,
        "settings": {"n_estimators": 100, "supervision": "judge", "random_state": 4, "hierarchy": None},
        "choice": {"supervision": 0.5},
        "choice_path": [{"supervision": w, "score": s} for w, s in ((0.0, 0.9), (0.5, 0.7), (1.0, 0.8))],
        "missing_share": np.r_[0.25, np.zeros(size - 1)],
        "timings": {"trees": 1.5},
        "seed": 4,
        "notes": ["2 constant features rank last", EVIL],
    }
    return Ranking(**{**values, **changes})


def relief():
    path = [
        {"w0": a, "w1": b, "n_neighbors": k, "score": 0.5 + a / 10 + b / 100 + k / 1000}
        for k in (15, 30)
        for a in (0.0, 0.5, 1.0)
        for b in (0.0, 0.5, 1.0)
        if a <= b
    ]
    return Ranking(
        names=("a", "b"),
        scores=[0.2, -0.1],
        method="relief",
        importance="relief",
        choice={"w0": 1.0, "w1": 1.0, "n_neighbors": 30},
        choice_path=path,
    )


class Outline(HTMLParser):
    """Which elements a page has, and that they are closed in order."""

    VOID = frozenset({"meta", "link", "input", "br", "img"})

    def __init__(self, page):
        super().__init__()
        self.open, self.ids, self.tags, self.attributes = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def raw_data_of(page):
    return re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1]


def data_of(page):
    return json.loads(raw_data_of(page))


class TestPage:
    def test_all_sections(self):
        page = render(forest())
        outline = Outline(page)
        assert outline.open == []
        for section in ("features", "choice", "agreement", "targets", "missing", "reproduce"):
            assert section in outline.ids
        assert "evaluation" not in outline.ids
        assert "50 of 200" in page
        assert "25.0 %" in page
        assert "2 constant features rank last" in page

    def test_sections_without_content_are_absent(self):
        ranking = Ranking(names=("a", "b"), scores=[0.2, 0.1], method="relief", importance="relief")
        ids = Outline(render(ranking)).ids
        assert "features" in ids
        for section in ("choice", "agreement", "targets", "missing"):
            assert section not in ids

    def test_columns(self):
        column = {
            "name": EVIL,
            "role": "feature",
            "kind": "numeric",
            "values": "1 to 2",
            "missing": 3,
            "odd": "",
        }
        page = render(forest(columns=[column, column | {"name": "b", "odd": "holds dates"}]))
        assert "<h2>Columns</h2>" in page
        assert "How the columns were read; 1 of 2 has something odd." in page
        assert page.count("holds dates") == 2  # in sight, and among all
        assert EVIL not in page
        many = [column] * 501
        assert "the first 500; the json file holds them all" in render(forest(columns=many))
        assert "none of 501 have something odd" in render(forest(columns=many))

    def test_one_feature_and_equal_scores(self):
        for scores in ([1.0], [0.0, 0.0], [-1.0, -2.0]):
            names = [f"x{i}" for i in range(len(scores))]
            ranking = Ranking(
                names=names,
                scores=scores,
                method="forest",
                importance="genie3",
                all_scores={"symbolic": np.array(scores)},
                choice={"supervision": 1.0},
                choice_path=[{"supervision": 1.0, "score": 0.5}],
            )
            assert Outline(render(ranking)).open == []

    def test_data_cannot_become_markup(self):
        found = {"sentences": [EVIL], "tables": [{"title": EVIL, "rows": [{EVIL: EVIL}]}]}
        page = render(forest(), evaluation=found)
        outline = Outline(page)
        assert outline.tags.count("script") == 2
        assert "img" not in outline.tags
        assert not any(name.startswith("on") for name, _ in outline.attributes)
        assert data_of(page)["values"]["name"][:2] == [EVIL, MORE_EVIL]
        assert not set("<>&\u2028") & set(raw_data_of(page))

    def test_nothing_is_fetched(self):
        page = render(forest())
        outline = Outline(page)
        assert [value for name, value in outline.attributes if name in ("src", "href")] == ["data:,"]
        assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in page
        assert "default-src 'none'" in page

    def test_table_data(self):
        ranking = forest()
        data = data_of(render(ranking))
        titles = [(c["key"], c["title"]) for c in data["columns"]]
        assert titles == [
            ("rank", "Rank"),
            ("name", "Feature"),
            ("score0", "genie3 ± standard error"),
            ("score0", "genie3"),
            ("score1", "symbolic"),
            ("score2", "rforest"),
            ("missing", "Missing"),
        ]
        order = ranking.order
        assert data["values"]["score2"] == pytest.approx(ranking.all_scores["rforest"][order], rel=1e-6)
        assert data["values"]["error0"] == pytest.approx(ranking.standard_errors[order], rel=1e-6)

    def test_unknown_errors_are_null(self):
        errors = np.full(40, np.nan)
        assert data_of(render(forest(standard_errors=errors)))["values"]["error0"] == [None] * 40

    def test_path_marks_the_choice(self):
        section = render(forest()).split('<section id="choice">')[1].split("</section>")[0]
        assert section.count('class="dot"') == 3
        assert section.count('class="chosen"') == 1
        assert "w = 0.5" in section

    def test_grid_marks_the_choice(self):
        section = render(relief()).split('<section id="choice">')[1].split("</section>")[0]
        assert section.count("<h3>k = ") == 2
        assert re.findall(r'<td class="chosen"[^>]*>([^<]*)</td>', section) == ["0.64"]

    def test_grid_shades_towards_the_chosen_score(self):
        low_is_good = relief()
        low_is_good.choice.update({"w0": 0.0, "w1": 0.0, "n_neighbors": 15})
        section = render(low_is_good).split('<section id="choice">')[1].split("</section>")[0]
        assert 'class="chosen" style="--v:0.550"' in section

    def test_choice_without_a_picture_is_a_table(self):
        ranking = forest(choice={"kind": "a"}, choice_path=[{"kind": "a", "score": 1.0}])
        section = render(ranking).split('<section id="choice">')[1].split("</section>")[0]
        assert "<details open>" in section

    def test_many_targets_are_cut_and_said(self):
        size = 12
        strong = np.zeros((size, 90))
        strong[:, 70] = 1.0
        names = [f"label {j}" for j in range(90)]
        ranking = forest(size, per_target=strong, target_names=names)
        section = render(ranking).split('<section id="targets">')[1].split("</section>")[0]
        assert "60 of 90 targets" in section
        assert "<span>label 70</span>" in section

    def test_reproduce_from_settings(self):
        page = render(forest())
        assert "n_estimators=100" in page
        assert "random_state=4" in page
        assert "--seed 4" in page
        assert "hierarchy=None" not in page
        code = re.search(r"<h3>Python</h3><div class='code'><pre>(.*?)</pre>", page, re.DOTALL)[1]
        compile(code.replace("&#x27;", "'"), "report", "exec")

    def test_reproduce_names_the_hierarchy(self):
        ranking = forest()
        page = render(forest(settings={**ranking.settings, "hierarchy": [["a", "a/b"]]}))
        assert "--hierarchy HIERARCHY_FILE" in page

    def test_reproduce_as_it_was(self):
        page = render(forest(origin={"command": "semirank rank my.csv -t y", "python": "sr.rank(1, 2)"}))
        assert "<pre>semirank rank my.csv -t y</pre>" in page
        assert "<pre>sr.rank(1, 2)</pre>" in page

    def test_evaluation(self):
        curve = {"name": "best first", "x": [1, 2], "y": [0.5, 0.6], "low": [0.4, 0.5], "high": [0.6, 0.7]}
        page = render(
            forest(),
            evaluation={
                "sentences": ["Unlabelled rows made no difference."],
                "tables": [{"title": "Rankers", "rows": [{"ranker": "forest", "F1": 0.81234567}]}],
                "curves": [{"title": "How many", "x_label": "features", "y_label": "F1", "series": [curve]}],
            },
        )
        section = page.split('<section id="evaluation">')[1].split("</section>")[0]
        for part in ("made no difference", "Rankers", "0.8123", "How many", 'class="band"'):
            assert part in section

    def test_save_html(self, tmp_path):
        forest().save(tmp_path / "r.html")
        assert (tmp_path / "r.html").read_text(encoding="utf-8") == render(forest())


class TestCharts:
    def test_ticks(self):
        assert ticks(0.0, 10.0) == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
        assert ticks(-0.013, 0.021) == [-0.01, 0.0, 0.01, 0.02]
        assert ticks(3.0, 3.0) == [3.0]
        rng = np.random.default_rng(0)
        for _ in range(100):
            low = rng.normal() * 10.0 ** rng.integers(-4, 4)
            high = low + rng.random() * 10.0 ** rng.integers(-4, 4)
            found = ticks(low, high)
            assert 2 <= len(found) <= 12
            assert min(found) >= low - 1e-9
            assert max(found) <= high + 1e-9 * max(1, abs(high))

    def test_number(self):
        assert [number(v) for v in (0.123456, 3, None, float("nan"), "<b>")] == [
            "0.1235",
            "3",
            "",
            "",
            "&lt;b&gt;",
        ]

    def test_lines(self):
        text = line_chart([Curve("a", [0, 1], [1, 2]), Curve("b", [0, 1], [2, 1], dots=False)], "x", "y")
        assert text.count('class="curve"') == 2
        assert text.count('class="dot"') == 2
        assert '<ul class="legend">' in text
        assert "nan" not in line_chart([Curve("", [1], [1])], "x", "y")

    def test_heat_map(self):
        text = heat_map(["r"], ["a", "b", "c"], np.array([[2.0, -1.0, np.nan]]))
        assert re.findall(r"--v:([\d.]+)", text) == ["1.000", "0.530"]
        assert text.count('class="neg"') == 1
        assert text.count('class="hole"') == 1
        assert "nan" not in heat_map(["r"], ["a"], np.array([[np.nan]])).replace("not known", "")

    def test_number_grid(self):
        text = number_grid([0, 1], [0, 1], [[1.0, 2.0], [None, 3.0]], "corner", (1.0, 3.0), (0, 1))
        assert re.findall(r"--v:([\d.]+)", text) == ["0.050", "0.300", "0.550"]
        assert text.count("chosen") == 1

    def test_table(self):
        text = table([{"a": 1, "b": "x"}, {"b": "y", "c": 0.5}])
        assert re.findall(r"<th[^>]*>(\w)</th>", text) == ["a", "b", "c"]
        assert '<tr><td></td><td class="text">y</td><td>0.5</td></tr>' in text


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no Chromium with chromedriver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    flags = (
        "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --window-size=1200,1000 "
        "--disable-background-networking --disable-component-update --disable-sync"
    )
    for flag in [*flags.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service(driver))
    yield chrome
    chrome.quit()


def names_shown(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('#features tbody tr')].map(r => r.children[1].textContent)"
    )


def click_header(browser, title):
    for button in browser.find_elements("css selector", "#features thead button"):
        if button.text == title:
            button.click()
            return
    raise AssertionError(f"no column {title}")


class TestBrowser:
    def open(self, browser, folder, ranking):
        path = folder / "report.html"
        ranking.save(path)
        browser.get_log("browser")
        browser.get_log("performance")
        browser.get(path.as_uri())

    def test_table_sorts_and_searches(self, browser, tmp_path):
        ranking = forest()
        self.open(browser, tmp_path, ranking)
        best_first = [ranking.names[i] for i in ranking.order]
        assert names_shown(browser) == best_first
        click_header(browser, "rforest")
        by_score = [ranking.names[i] for i in np.argsort(-ranking.all_scores["rforest"])]
        assert names_shown(browser) == by_score
        sorted_by = browser.find_element("css selector", "#features th[aria-sort]")
        assert (sorted_by.text, sorted_by.get_attribute("aria-sort")) == ("rforest", "descending")
        click_header(browser, "rforest")
        assert names_shown(browser) == by_score[::-1]
        click_header(browser, "Feature")
        genes = [name for name in names_shown(browser) if name.startswith("gene")]
        assert genes == [f"gene {i}" for i in range(2, 40)]
        click_header(browser, "Rank")
        search = browser.find_element("id", "search")
        search.send_keys("GENE 1")
        expected = [name for name in best_first if "gene 1" in name]
        assert names_shown(browser) == expected
        count = browser.find_element("id", "count")
        assert count.text == f"{len(expected)} of 40 features"
        search.clear()
        search.send_keys("no such feature")
        assert names_shown(browser) == []

    def test_hover(self, browser, tmp_path):
        from selenium.webdriver import ActionChains

        self.open(browser, tmp_path, forest())
        tip = browser.find_element("id", "tip")
        assert not tip.is_displayed()
        row = browser.find_elements("css selector", "#features tbody tr")[2]
        ActionChains(browser).move_to_element(row).perform()
        assert tip.is_displayed()
        assert tip.text.startswith("gene 2\nRank: 3\ngenie3: ")
        assert "±" in tip.text
        cell = browser.find_elements("css selector", "#targets td")[4]
        ActionChains(browser).scroll_to_element(cell).move_to_element(cell).perform()
        assert tip.text.splitlines()[0].startswith("</script>")

    def test_no_console_errors_no_requests_no_injection(self, browser, tmp_path):
        self.open(browser, tmp_path, forest())
        assert browser.title == "Ranking of 40 features - semirank"
        assert browser.get_log("browser") == []
        events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
        sent = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        assert sent
        assert [url for url in sent if not url.startswith(("file:", "data:"))] == []

    def test_two_thousand_features(self, browser, tmp_path):
        self.open(browser, tmp_path, forest(2000))
        assert len(names_shown(browser)) == 250
        browser.find_element("id", "more").click()
        assert len(names_shown(browser)) == 500
        browser.find_element("id", "search").send_keys("gene 1999")
        assert names_shown(browser) == ["gene 1999"]
        assert browser.get_log("browser") == []

    def test_light_and_dark(self, browser, tmp_path):
        shades = {}
        for scheme in ("light", "dark"):
            media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            self.open(browser, tmp_path, forest())
            colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
            shades[scheme] = sum(map(int, re.findall(r"\d+", colour)[:3]))
        assert shades["light"] > 600
        assert shades["dark"] < 150

    def test_fits_a_phone(self, browser, tmp_path):
        metrics = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.open(browser, tmp_path, forest())
        width = browser.execute_script("return document.documentElement.scrollWidth")
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        assert width <= 390
