"""Getting data sets: the commands, and what goes wrong between here and a server."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import socket
import struct
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from semirank.data.tasks import HEADINGS
from semirank.datasets import download as fetching
from semirank.datasets import registry
from semirank.datasets.download import fetch, fetch_raw
from semirank.datasets.registry import Entry, RemoteFile, Source, entries, find, open_dataset
from semirank.study.plan import JOB_FAMILIES, PRESETS, Study
from semirank.study.run import plan_jobs
from semirank.study.store import Store

pytest.importorskip("pooch")

FRUIT = b"""@relation fruit
@attribute row numeric
@attribute size numeric
@attribute colour {red,green,blue}
@attribute kind {cherry,lemon}
@data
1,2,red,cherry
2,9,green,lemon
3,3,red,cherry
4,8,blue,lemon
"""
LABELS = (
    b"@relation l\n@attribute size numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n1,0,1\n2,1,1\n"
)


class Server:
    """Answers on 127.0.0.1: what it sends for a path can be set, and what was asked is kept."""

    def __init__(self):
        self.answers = {}  # path -> (status, body, announced length or None for none, where to go instead)
        self.cut = False  # whether connections are cut in the middle of an answer
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                status, body, length, location = outer.answers.get(self.path, (404, b"", 0, None))
                self.send_response(status)
                if length is not None:
                    self.send_header("Content-Length", str(length))
                if location is not None:
                    self.send_header("Location", location)
                self.end_headers()
                self.wfile.write(body)
                if outer.cut:
                    self.wfile.flush()
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                    self.close_connection = True

            def log_message(self, *args):
                """Keep quiet."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def put(self, path, body, *, length=-1, status=200, location=None):
        self.answers[path] = (status, body, len(body) if length == -1 else length, location)
        return self.url + path

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def server(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    running = Server()
    yield running
    running.close()


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A new folder for data, which nothing but the test names."""
    monkeypatch.delenv("SEMIRANK_DATA", raising=False)
    return tmp_path / "data"


@pytest.fixture
def add(monkeypatch):
    """Add a data set to the registry."""

    def put(source, *, name="Fruit", group="classification", printed=None, split=False, content=None):
        entry = Entry(name, HEADINGS[group], group, printed or {}, None, split, source, content)
        now = (*registry.entries(), entry)
        monkeypatch.setattr(registry, "entries", lambda: now)
        return entry

    return put


def sha(body):
    return hashlib.sha256(body).hexdigest()


def left(place):
    """Every file below a folder."""
    return sorted(str(path.relative_to(place)) for path in place.rglob("*"))


def blob(body):
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()


def file_source(*files, targets=("kind",)):
    """A recipe that takes one file, or a train and a test part, as they are."""
    parts = ["all"] if len(files) == 1 else ["train", "test"]
    read = [{"read": {"files": [i], "format": "arff", "part": part}} for i, part in enumerate(parts)]
    remote = tuple(RemoteFile(url, "0" * 40, sha256) for url, sha256 in files)
    recipe = (*read, {"targets": {"columns": [*targets]}})
    return Source("recipe", "a test", "CC0", files=remote, recipe=recipe)


PRINTED = {"examples": 4, "features": 3, "classes": 2}


class TestFetch:
    def test_good_file(self, server, place, add):
        url = server.put("/some/fruit.arff?raw=1", FRUIT)
        add(file_source((url, sha(FRUIT)), targets=("kind",)), printed=PRINTED)
        steps = []
        home = fetch("fruit", place, progress=lambda *step: steps.append(step))
        assert home == place / "fruit"
        assert left(place) == ["fruit", "fruit/fruit.arff.gz", "fruit/manifest.json"]
        assert steps == [(0, 1, "Fruit")]
        assert (home / "fruit.arff.gz").stat().st_mode == (home / "manifest.json").stat().st_mode
        [described] = json.loads((home / "manifest.json").read_text())
        assert (described["source"], described["licence"]) == ("a test", "CC0")
        opened = open_dataset("Fruit", place)
        assert opened.dataset.X.shape == (4, 3)
        assert opened.dataset.target_names == ("kind",)
        fetch("fruit", place)
        assert server.asked == ["/some/fruit.arff?raw=1"]  # it was there: nothing was asked for

    def test_zipped_train_and_test_part(self, server, place, add):
        body = gzip.compress(LABELS)
        files = [(server.put(f"/l.{part}.arff.gz", body), sha(body)) for part in ("train", "test")]
        source = file_source(*files, targets=("a", "b"))
        add(source, name="Two parts", group="MLC", split=True, printed={"examples": 4, "labels": 2})
        assert fetch("two parts", place) == place / "two-parts"
        opened = open_dataset("Two parts", place)
        assert (len(opened.dataset), opened.n_train) == (4, 2)

    def test_a_damaged_copy_is_fetched_again(self, server, place, add):
        url = server.put("/fruit.arff", FRUIT)
        add(file_source((url, sha(FRUIT))))
        copy = fetch("Fruit", place) / "fruit.arff.gz"
        good = copy.read_bytes()
        copy.write_bytes(good[:-20])
        with pytest.raises(ValueError, match="is not the file of the manifest"):
            open_dataset("Fruit", place)
        fetch("Fruit", place)
        assert copy.read_bytes() == good
        copy.unlink()
        fetch("Fruit", place)
        assert len(open_dataset("Fruit", place).dataset) == 4
        assert len(server.asked) == 3

    def test_the_folder_that_the_variable_names(self, server, place, add, monkeypatch):
        monkeypatch.setenv("SEMIRANK_DATA", str(place))
        add(file_source((server.put("/fruit.arff", FRUIT), sha(FRUIT))))
        assert fetch("Fruit") == place / "fruit"
        assert len(open_dataset("Fruit").dataset) == 4

    def test_interrupted(self, server, place, add):
        """Ctrl-C between two downloads leaves nothing."""
        url = server.put("/l.arff", LABELS)
        source = file_source((url, sha(LABELS)), (url + "?2", sha(LABELS)), targets=("a", "b"))
        add(source, group="MLC", split=True)

        def stop(done, total, name):
            if done == 1:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fetch("Fruit", place, progress=stop)
        assert server.asked == ["/l.arff"]
        assert left(place) == []

    def test_leftovers_of_a_killed_fetch(self, server, place, add):
        add(file_source((server.put("/fruit.arff", FRUIT), sha(FRUIT)), targets=("kind",)))
        old, new = place / "fruit" / ".fetch-old", place / "fruit" / ".fetch-new"
        for folder in (old, new):
            folder.mkdir(parents=True)
            (folder / "half").write_text("a")
        os.utime(old, (0, 0))
        fetch("Fruit", place)
        assert not old.exists()
        assert new.exists()  # somebody else may be at work there

    def test_second_part_missing(self, server, place, add):
        """A data set appears whole or not at all."""
        first = server.put("/l.train.arff", LABELS)
        source = file_source((first, sha(LABELS)), (server.url + "/l.test.arff", sha(LABELS)))
        add(source, group="MLC", split=True)
        with pytest.raises(ConnectionError, match="404"):
            fetch("Fruit", place)
        assert left(place) == []

    def test_not_the_content_of_the_registry(self, server, place, add):
        add(file_source((server.put("/fruit.arff", FRUIT), sha(FRUIT))), content="0" * 64)
        with pytest.raises(ValueError, match="What was made from the files of Fruit differs from what"):
            fetch("Fruit", place)
        assert left(place) == []

    def test_not_even_data(self, server, place, add):
        body = b"<html>sign in</html>"
        add(file_source((server.put("/fruit.arff", body), sha(body))))
        with pytest.raises(ValueError, match=r"fruit\.arff"):
            fetch("Fruit", place)
        assert left(place) == []

    def test_needs_pooch(self, server, place, add, monkeypatch):
        add(file_source((server.put("/fruit.arff", FRUIT), sha(FRUIT))))
        monkeypatch.setitem(sys.modules, "pooch", None)
        with pytest.raises(ImportError, match="pip install pooch"):
            fetch("Fruit", place)
        assert left(place) == []

    def test_bundled(self, place):
        fetch("digits", place)
        assert left(place) == ["digits", "digits/digits.arff.gz", "digits/manifest.json"]
        assert open_dataset("Digits", place).sha256 == find("Digits").recorded


NO_URL = b'{"data_set_description": {"url": "", "md5_checksum": "0"}}'


class TestOpenML:
    @pytest.fixture
    def describe(self, server, monkeypatch):
        """Let the server describe data set 7."""
        monkeypatch.setattr(fetching, "OPENML", f"{server.url}/api/")

        def put(body=FRUIT, **changes):
            said = {
                "url": server.put("/download/7", body),
                "md5_checksum": hashlib.md5(FRUIT).hexdigest(),
                "default_target_attribute": "kind",
                "row_id_attribute": "row",
                **changes,
            }
            server.put("/api/7", json.dumps({"data_set_description": said}).encode())

        return put

    def test_good(self, describe, place, add):
        describe()
        add(Source("unknown", "a test", openml=7), printed={**PRINTED, "features": 2})
        fetch("Fruit", place, openml=True)
        dataset = open_dataset("Fruit", place).dataset
        assert dataset.feature_names == ("size", "colour")
        assert dataset.target_names == ("kind",)

    def test_sizes_are_those_of_the_paper(self, describe, place, add):
        describe()
        add(Source("unknown", "a test", openml=7), printed={**PRINTED, "features": 2, "examples": 5})
        with pytest.raises(ValueError, match="Fruit as it was fetched has 4 rows, but the paper says 5;"):
            fetch("Fruit", place, openml=True)
        assert left(place) == []

    def test_in_the_place_of_the_other_copy_and_back(self, describe, server, place, add):
        """OpenML's copy is fetched although the other is there; afterwards either is content with it."""
        describe()
        source = file_source((server.put("/fruit.arff", FRUIT), sha(FRUIT)))
        add(replace(source, openml=7))
        fetch("Fruit", place)
        fetch("Fruit", place, openml=True)
        assert open_dataset("Fruit", place).dataset.feature_names == ("size", "colour")
        assert server.asked == ["/fruit.arff", "/api/7", "/download/7"]
        fetch("Fruit", place, openml=True)
        fetch("Fruit", place)
        assert len(server.asked) == 3

    def test_not_on_openml(self, place):
        with pytest.raises(ValueError, match=r"^Scene is not on OpenML, as far as is known here\.$"):
            fetch("Scene", place, openml=True)

    def test_the_registry_chooses_columns(self, describe, place, add):
        describe(row_id_attribute=None, ignore_attribute=["colour"])
        add(Source("unknown", "a test", openml=7, targets=("kind",), drop=("ro*",)))
        fetch("Fruit", place, openml=True)
        assert open_dataset("Fruit", place).dataset.feature_names == ("size",)

    def test_several_targets_in_one_text(self, describe, place, add):
        describe(default_target_attribute="row, size")
        add(Source("unknown", "a test", openml=7, drop=("kind",)), group="MTR")
        describe(default_target_attribute="row, size", row_id_attribute=None)
        fetch("Fruit", place, openml=True)
        assert open_dataset("Fruit", place).dataset.target_names == ("row", "size")

    def test_corrupted(self, describe, place, add):
        describe(FRUIT.replace(b"lemon", b"melon"))
        add(Source("unknown", "a test", openml=7))
        with pytest.raises(ValueError, match="/download/7 is not the expected file, its checksum differs"):
            fetch("Fruit", place, openml=True)
        assert left(place) == []

    @pytest.mark.parametrize(
        "answer", [b"<html>", b"[]", b"{}", b'{"data_set_description": {"url": "http://x"}}', b"\xff", NO_URL]
    )
    def test_strange_answers(self, describe, server, place, add, answer):
        describe()
        server.put("/api/7", answer)
        add(Source("unknown", "a test", openml=7))
        with pytest.raises(ValueError, match="/api/7 does not answer with the description of a data set"):
            fetch("Fruit", place, openml=True)
        assert left(place) == []

    def test_unknown_there(self, describe, place, add):
        add(Source("unknown", "a test", openml=8))
        with pytest.raises(ConnectionError, match="/api/8 cannot be had: the server says 404"):
            fetch("Fruit", place, openml=True)


class TestFetchCommand:
    """One clear line, exit code 2 and no partial file for everything that can go wrong."""

    def refused(self, call, place, message):
        code, out, err = call("datasets", "fetch", "fruit", "--to", place)
        assert code == 2
        assert out == ""
        assert len(err.splitlines()) == 1
        assert err.startswith("error: ")
        assert message in err
        assert left(place) == []

    def test_good(self, server, place, add, call):
        add(file_source((server.put("/fruit.arff", FRUIT), sha(FRUIT))), printed=PRINTED)
        code, out, err = call("datasets", "fetch", "FRUIT", "--to", place)
        assert (code, out, err) == (0, f"Fruit is in {place / 'fruit'}; licence: CC0\n", "")
        assert call("datasets", "fetch", "FRUIT", "--to", place)[0] == 0
        code, out, _ = call("datasets", "info", "fruit", "--data", place)
        assert code == 0
        assert "here: rows" in out

    def test_truncated(self, server, place, add, call):
        """The connection ends before the announced length."""
        add(file_source((server.put("/fruit.arff", FRUIT[:-30], length=len(FRUIT)), sha(FRUIT))))
        self.refused(call, place, "/fruit.arff broke off; nothing was kept, try again.")

    def test_truncated_without_a_length(self, server, place, add, call):
        """Only the checksum can tell that the rest did not come."""
        add(file_source((server.put("/fruit.arff", FRUIT[:-30], length=None), sha(FRUIT))))
        self.refused(call, place, "is not the expected file, its checksum differs; nothing was kept.")

    def test_truncated_then_good(self, server, place, add, call):
        add(file_source((server.put("/fruit.arff", FRUIT[:-30], length=len(FRUIT)), sha(FRUIT))))
        self.refused(call, place, "broke off")
        server.put("/fruit.arff", FRUIT)
        assert call("datasets", "fetch", "fruit", "--to", place)[0] == 0
        assert len(open_dataset("Fruit", place).dataset) == 4

    def test_corrupted(self, server, place, add, call):
        add(file_source((server.put("/fruit.arff", FRUIT.replace(b"9", b"7")), sha(FRUIT))))
        self.refused(call, place, "is not the expected file, its checksum differs; nothing was kept.")

    def test_not_there(self, server, place, add, call):
        add(file_source((f"{server.url}/fruit.arff", sha(FRUIT))))
        self.refused(call, place, "/fruit.arff cannot be had: the server says 404 Client Error: Not Found.")

    def test_faulty_server(self, server, place, add, call):
        add(file_source((server.put("/fruit.arff", b"", status=503), sha(FRUIT))))
        self.refused(call, place, "the server says 503 Server Error: Service Unavailable.")

    def test_server_is_down(self, place, add, call, monkeypatch):
        monkeypatch.delenv("HTTP_PROXY", raising=False)
        monkeypatch.delenv("http_proxy", raising=False)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        add(file_source((f"http://127.0.0.1:{port}/fruit.arff", sha(FRUIT))))
        self.refused(call, place, f"127.0.0.1:{port} cannot be reached; is the network there?")

    def test_server_is_silent(self, place, add, call, monkeypatch):
        monkeypatch.setattr(fetching, "TIMEOUT", 0.2)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]
            add(file_source((f"http://127.0.0.1:{port}/fruit.arff", sha(FRUIT))))
            self.refused(call, place, f"127.0.0.1:{port} does not answer; try again later.")

    def test_cut(self, server, place, add, call):
        """The connection is reset in the middle of the answer."""
        add(file_source((server.put("/fruit.arff", FRUIT[:-30], length=len(FRUIT)), sha(FRUIT))))
        server.cut = True
        self.refused(call, place, "/fruit.arff broke off; nothing was kept, try again.")

    def test_redirected(self, server, place, add, call):
        """What counts is what comes, wherever it comes from."""
        server.put("/elsewhere", FRUIT)
        add(file_source((server.put("/fruit.arff", b"", status=302, location="/elsewhere"), sha(FRUIT))))
        assert call("datasets", "fetch", "fruit", "--to", place)[0] == 0
        assert server.asked == ["/fruit.arff", "/elsewhere"]

    def test_redirected_to_a_page(self, server, place, add, call):
        server.put("/login", b"<html>sign in</html>")
        add(file_source((server.put("/fruit.arff", b"", status=302, location="/login"), sha(FRUIT))))
        self.refused(call, place, "is not the expected file, its checksum differs; nothing was kept.")

    def test_redirected_for_ever(self, server, place, add, call):
        add(file_source((server.put("/fruit.arff", b"", status=302, location="/fruit.arff"), sha(FRUIT))))
        self.refused(call, place, "/fruit.arff cannot be had: Exceeded 30 redirects.")

    def test_strange_address(self, place, add, call):
        add(file_source(("file:///etc/hostname", sha(FRUIT))))
        self.refused(call, place, "file:///etc/hostname cannot be had")

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("Ecogen", "Ecogen cannot be fetched: no public copy is known; Slovenian rivers"),
            ("QSAR", "QSAR cannot be fetched: it has to be got by hand, from the Meta-QSAR collection"),
            ("Scenes", "There is no data set 'Scenes' (did you mean 'Scene'?)."),
        ],
    )
    def test_what_cannot_be_fetched(self, place, call, name, message):
        code, _, err = call("datasets", "fetch", name, "--to", place)
        assert code == 2
        assert err.startswith(f"error: {message}")
        assert not place.exists()

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="this user may write everywhere")
    def test_read_only_folder(self, server, place, add, call):
        add(file_source((server.put("/fruit.arff", FRUIT), sha(FRUIT))))
        place.mkdir(mode=0o500)
        self.refused(call, place, "Permission denied")

    def test_the_folder_is_a_file(self, server, place, add, call):
        add(file_source((server.put("/fruit.arff", FRUIT), sha(FRUIT))))
        place.write_text("not a folder")
        code, _, err = call("datasets", "fetch", "fruit", "--to", place)
        assert code == 2
        assert len(err.splitlines()) == 1
        assert place.read_text() == "not a folder"


class TestSeveral:
    """Several data sets with one command, which goes on where it stopped."""

    @pytest.fixture
    def three(self, server, monkeypatch):
        """A registry of three data sets, and a fourth that cannot be fetched."""
        urls = [server.put(f"/{name}.arff", FRUIT) for name in "abc"]
        made = [
            Entry(name, "classification", "classification", {}, None, False, file_source((url, sha(FRUIT))))
            for name, url in zip("ABC", urls)
        ]
        now = (*made, find("Ecogen"))
        monkeypatch.setattr(registry, "entries", lambda: now)

    def test_all(self, server, place, three, call):
        code, out, err = call("datasets", "fetch", "--all", "--to", place)
        assert (code, err) == (0, "")
        assert out.splitlines() == [f"{n} is in {place / n.lower()}; licence: CC0" for n in "ABC"]
        assert call("datasets", "list", "--data", place)[1].count("  yes") == 3

    def test_named(self, server, place, three, call):
        assert call("datasets", "fetch", "c", "a", "c", "--to", place)[0] == 0
        assert server.asked == ["/c.arff", "/a.arff"]

    def test_a_failure_does_not_stop_the_others(self, server, place, three, call):
        server.put("/b.arff", b"", status=503)
        code, out, err = call("datasets", "fetch", "--all", "--to", place)
        assert code == 2
        assert [line[0] for line in out.splitlines()] == ["A", "C"]
        first, last = err.splitlines()
        assert first.startswith("B: http://127.0.0.1")
        assert last.startswith("error: 1 of 3 data sets could not be fetched: B.")
        server.put("/b.arff", FRUIT)
        server.asked.clear()
        assert call("datasets", "fetch", "--all", "--to", place)[0] == 0
        assert server.asked == ["/b.arff"]

    def test_interrupted_goes_on_where_it_stopped(self, server, place, three, call, monkeypatch):
        def stop(url, checksum, path):
            if "/b." in url:
                raise KeyboardInterrupt
            return download(url, checksum, path)

        download = fetching._download
        monkeypatch.setattr(fetching, "_download", stop)
        assert call("datasets", "fetch", "--all", "--to", place)[0] == 130
        assert left(place) == ["a", "a/a.arff.gz", "a/manifest.json"]
        monkeypatch.setattr(fetching, "_download", download)
        assert call("datasets", "fetch", "--all", "--to", place)[0] == 0
        assert server.asked == ["/a.arff", "/b.arff", "/c.arff"]

    def test_nobody_answers(self, place, three, call, server):
        server.close()
        code, out, err = call("datasets", "fetch", "--all", "--to", place)
        assert (code, out) == (2, "")
        assert len(err.splitlines()) == 1  # the others were not tried
        assert "cannot be reached" in err

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ([], "Name the data sets to fetch, or give --all"),
            (["A", "--all"], "Name the data sets to fetch, or give --all"),
            (["A", "--raw", "--openml"], "--raw and --openml exclude each other"),
            (["A", "Ecogem"], "There is no data set 'Ecogem' (did you mean 'Ecogen'?)."),
        ],
    )
    def test_wrong_words(self, place, three, call, server, words, message):
        code, _, err = call("datasets", "fetch", *words, "--to", place)
        assert code == 2
        assert err.startswith(f"error: {message}")
        assert server.asked == []


class TestRaw:
    """Original files, among them some that are known by git's id alone."""

    @pytest.fixture
    def source(self, server):
        seen = RemoteFile(server.put("/repo/seen%20file.csv", b"a,b\n"), "0" * 40, sha(b"a,b\n"), 4)
        unseen = RemoteFile(server.put("/repo/unseen.csv", b"1,2\n"), blob(b"1,2\n"))
        return Source("folder", "a test", "CC0", files=(seen,), unseen=(unseen,))

    def test_git_id(self, tmp_path):
        """As `git hash-object` says."""
        path = tmp_path / "hello"
        path.write_bytes(b"hello world\n")
        assert fetching._git_blob(path) == "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"

    def test_good(self, source, server, place, add, call):
        add(source)
        code, out, err = call("datasets", "fetch", "fruit", "--raw", "--to", place)
        assert (code, out, err) == (0, f"Fruit is in {place / 'fruit' / 'raw'}; licence: CC0\n", "")
        assert left(place) == ["fruit", "fruit/raw", "fruit/raw/seen file.csv", "fruit/raw/unseen.csv"]
        assert (place / "fruit/raw/unseen.csv").stat().st_mode & 0o777 == 0o644
        fetch_raw("Fruit", place)
        assert len(server.asked) == 2

    def test_other_content(self, source, server, place, add):
        add(source)
        server.put("/repo/unseen.csv", b"1,3\n")
        with pytest.raises(ValueError, match=r"unseen\.csv is not the expected file, its checksum differs"):
            fetch_raw("Fruit", place)
        assert left(place) == ["fruit", "fruit/raw", "fruit/raw/seen file.csv"]
        server.put("/repo/unseen.csv", b"1,2\n")
        fetch_raw("Fruit", place)
        assert server.asked.count("/repo/seen%20file.csv") == 1

    def test_no_data_set_is_made_of_them(self, source, place, add, call):
        add(source)
        fetch_raw("Fruit", place)
        with pytest.raises(ValueError, match=r"has no manifest\.json"):
            open_dataset("Fruit", place)

    def test_no_files(self, place):
        with pytest.raises(ValueError, match=r"No addresses of original files of Ecogen are known; no"):
            fetch_raw("Ecogen", place)


class TestOrigins:
    """The real files of the registry, served here, become the data sets of the study, cell by cell."""

    @pytest.fixture
    def origins(self, oracle_folder):
        if not (oracle_folder / "origins").is_dir():
            pytest.skip("no folder of original files")
        return oracle_folder / "origins"

    @pytest.fixture
    def serve(self, server, origins, monkeypatch):
        """Let the registry's addresses lead to the server."""

        def here(entry):
            source = entry.source
            files = tuple(
                file._replace(url=f"{server.url}/{file.sha256}/{file.name}") for file in source.files
            )
            return replace(entry, source=replace(source, files=files))

        def put(*names):
            now = tuple(map(here, entries()))
            monkeypatch.setattr(registry, "entries", lambda: now)
            for entry in now:
                if entry.source.kind == "recipe" and (not names or entry.name in names):
                    for file in entry.source.files:
                        body = gzip.decompress((origins / f"{file.sha256}.gz").read_bytes())
                        assert (len(body), blob(body)) == (file.n_bytes, file.git_blob)
                        server.put(f"/{file.sha256}/{quote(file.name, safe='=')}", body)

        return put

    def check(self, name, fetched, folder):
        """The fetched data set is that of the folder, and has the digest that the records carry."""
        one, two = open_dataset(name, fetched), open_dataset(name, folder)
        assert one.sha256 == two.sha256 == one.entry.recorded
        assert one.n_train == two.n_train
        a, b = one.dataset, two.dataset
        assert (a.feature_names, a.target_names) == (b.feature_names, b.target_names)
        assert (a.categories, a.target_categories) == (b.categories, b.target_categories)
        assert (a.hierarchy and a.hierarchy.labels) == (b.hierarchy and b.hierarchy.labels)
        np.testing.assert_array_equal(a.X.values, b.X.values)
        np.testing.assert_array_equal(a.target.values, b.target.values)
        np.testing.assert_array_equal(a.part, b.part)

    SMALL = ("Dis", "Bank", "Birds", "Pheno-yeast-FUN", "Slovenian rivers (sr)", "Mortgage", "Atp1d", "Edm1")

    def test_some(self, serve, server, place, data_folder, call, monkeypatch):
        """Interrupted, then with answers that are cut short, wrong and moved, then as it should be."""
        serve(*self.SMALL)
        fetch_small = ("datasets", "fetch", *self.SMALL, "--to", place, "--quiet")
        first = {name: find(name).source.files[0] for name in self.SMALL}
        path = {name: file.url.removeprefix(server.url) for name, file in first.items()}
        good = {name: server.answers[path[name]][1] for name in self.SMALL}

        def stop(url, checksum, to):
            if url == first["Birds"].url:
                raise KeyboardInterrupt
            return download(url, checksum, to)

        download = fetching._download
        monkeypatch.setattr(fetching, "_download", stop)
        assert call(*fetch_small)[0] == 130
        monkeypatch.setattr(fetching, "_download", download)
        server.asked.clear()
        server.put(path["Edm1"], good["Edm1"][:-100], length=len(good["Edm1"]))
        server.put(path["Mortgage"], good["Mortgage"].replace(b"1", b"2", 1))
        server.put("/moved", good["Birds"])
        server.put(path["Birds"], b"", status=302, location="/moved")
        code, _, err = call(*fetch_small)
        assert (code, len(err.splitlines())) == (2, 3)
        assert "error: 2 of 8 data sets could not be fetched: Mortgage, Edm1." in err
        assert not {path["Dis"], path["Bank"]} & {*server.asked}  # whole since the first time
        for name in ("Edm1", "Mortgage"):
            server.put(path[name], good[name])
        server.asked.clear()
        assert call(*fetch_small)[::2] == (0, "")
        assert set(server.asked) == {path["Edm1"], path["Mortgage"]}
        for name in self.SMALL:
            self.check(name, place, data_folder)

    @pytest.mark.slow
    def test_all(self, serve, server, place, data_folder, call):
        serve()
        code, out, err = call("datasets", "fetch", "--all", "--to", place, "--quiet")
        assert (code, err) == (0, "")
        fetched = [entry.name for entry in entries() if entry.source.kind in ("recipe", "bundled")]
        assert [line.partition(" is in ")[0] for line in out.splitlines()] == fetched
        assert len(fetched) == 38
        for name in fetched:
            self.check(name, place, data_folder)
        server.asked.clear()
        assert call("datasets", "fetch", "--all", "--to", place)[0] == 0
        assert server.asked == []

    def test_a_study_on_fetched_files_takes_up_the_records(self, serve, place, tmp_path, call):
        serve("Edm1")
        assert call("datasets", "fetch", "Edm1", "--to", place)[0] == 0
        records = Path(__file__).parents[2] / "results" / "quick" / "records.csv.gz"
        store = tmp_path / "study.sqlite"
        assert call("study", "import", records, "--store", store)[0] == 0
        planned = plan_jobs(Study(PRESETS["quick"], 0, place), ["Edm1"], JOB_FAMILIES, lambda text: None).jobs
        with Store(store, read_only=True) as opened:
            done = {row.key for row in opened.jobs() if row.state == "done" and row.dataset == "Edm1"}
        assert done == {job.key for job in planned}
        code, _, err = call("study", "run", "--store", store, "--data", place, "--only", "Edm1")
        assert (code, f"jobs: 0 done, {len(done)} were done already" in err) == (0, True)


class TestWithoutPooch:
    def test_list_and_info(self, tmp_path, call, monkeypatch):
        """Only fetching needs it."""
        monkeypatch.setitem(sys.modules, "pooch", None)
        monkeypatch.delenv("SEMIRANK_DATA", raising=False)
        monkeypatch.setattr(registry, "cache_folder", lambda: tmp_path / "cache")
        code, out, _ = call("datasets", "list")
        assert code == 0
        assert "1 of 47 are here." in out
        assert call("datasets", "info", "Digits")[0] == call("datasets", "info", "Chess")[0] == 0
        code, _, err = call("datasets", "fetch", "Chess")
        assert (code, err) == (2, "error: Fetching data needs pooch; install it with 'pip install pooch'.\n")


class TestListAndInfo:
    def test_list_marks_stand_ins_and_tells_why_not(self, place, call):
        fetch("Digits", place)
        code, out, err = call("datasets", "list", "--data", place)
        assert (code, err) == (0, "")
        lines = out.splitlines()
        rows = {line.partition("  ")[0]: line.split() for line in lines[1:48]}
        assert len(rows) == 47
        assert rows["Digits"][-1] == "yes"
        assert rows["Diatoms [stands in for Ecogen]"][-1] == "no"
        assert "1797 x 64, 10 classes" in out
        assert "1 of 47 are here." in lines
        assert sum(f"not in {place}" in line for line in lines) == 46
        assert any(line.startswith("Ecogen: ") and "Diatoms can stand in" in line for line in lines)

    def test_list_as_json(self, place, call):
        fetch("Digits", place)
        _, out, _ = call("datasets", "list", "--data", place, "--json")
        found = {item["name"]: item for item in json.loads(out)}
        assert found["Digits"]["here"]
        assert found["Digits"]["why_not"] is None
        assert found["Chess"]["source"]["openml"] == 3
        assert found["Coil2000"]["source"]["files"][0]["url"].startswith("https://")
        assert found["Diatoms"]["stand_in_for"] == "Ecogen"
        assert not found["Aapc"]["here"]

    def test_list_shows_the_folders_own(self, place, call):
        place.mkdir()
        (place / "own.arff").write_bytes(FRUIT)
        (place / "manifest.json").write_text(
            json.dumps([{"name": "My own", "task": "stc", "files": ["own.arff"]}])
        )
        _, out, _ = call("datasets", "list", "--data", place)
        assert "1 of 48 are here." in out
        _, out, _ = call("datasets", "info", "my own", "--data", place)
        assert "your own manifest" in out
        assert "here: declared classes" in out

    def test_info(self, place, call):
        fetch("Digits", place)
        code, out, err = call("datasets", "info", "digits", "--data", place)
        assert (code, err) == (0, "")
        found = dict(line.split("  ", 1) for line in out.splitlines())
        found = {key: value.strip() for key, value in found.items()}
        assert found["printed: rows"] == found["here: rows"] == "1797"
        assert found["printed: clustering hypothesis"] == "0"
        assert found["source"] == "bundled with scikit-learn"
        assert found["sha256"] == open_dataset("Digits", place).sha256
        _, out, _ = call("datasets", "info", "digits", "--data", place, "--json")
        assert json.loads(out)["counted"]["features"] == 64

    def test_info_of_what_is_not_here(self, place, call):
        fetch("Digits", place)
        _, out, _ = call("datasets", "info", "Chess", "--data", place)
        assert "kr.vs.kp.arff" in out
        assert "CC BY 4.0" in out
        assert "no, not in" in out
        _, out, _ = call("datasets", "info", "Chess", "--data", place, "--json")
        assert json.loads(out)["counted"] is None

    def test_every_entry_can_be_told(self, place, call):
        fetch("Digits", place)
        for entry in entries():
            code, out, _ = call("datasets", "info", entry.name, "--data", place)
            assert code == 0
            assert entry.source.where in out

    def test_wrong_folder(self, tmp_path, call):
        for words in (["list"], ["info", "Digits"]):
            code, _, err = call("datasets", *words, "--data", tmp_path / "nowhere")
            assert code == 2
            assert err == f"error: The data folder {tmp_path / 'nowhere'} does not exist.\n"

    def test_without_a_command(self, call):
        code, out, _ = call("datasets")
        assert code == 0
        assert "fetch" in out


def test_help_loads_nothing_heavy():
    from ..cli.test_startup import heavy, help_of, modules_after

    assert heavy(modules_after(help_of("datasets", "fetch", "--help"))) == set()
