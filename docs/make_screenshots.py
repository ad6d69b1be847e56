"""Take the screenshots of the README and the site: `python docs/make_screenshots.py`.

The command of the tutorial runs on scikit-learn's tumours in a pseudo-terminal, and Chromium draws what it
printed and the report that it wrote, in light and in dark. Needs Linux or macOS, and Chromium.
"""

from __future__ import annotations

import io
import os
import pty
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
from PIL import Image
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text
from sklearn.datasets import load_breast_cancer

FOLDER = Path(__file__).parent / "images"
COMMAND = ["semirank", "rank", "tumours.csv", "--target", "diagnosis", "--out", "tumours.html"]
COLUMNS = 92
SCHEMES = {"dark": 0, "light": 1}  # as Chromium numbers them


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder / "tumours.csv")
        run_in_terminal(folder)  # the first run on a machine compiles
        page = folder / "terminal.html"
        page.write_text(terminal_page(run_in_terminal(folder)), encoding="utf-8")
        photograph(page, "terminal.png", (830, 600))
        for scheme in SCHEMES:
            photograph(folder / "tumours.html", f"report-{scheme}.png", (1100, 1500), scheme)


def write_data(path: Path) -> None:
    """The data of the tutorial: 60 of 569 diagnoses are left."""
    data = load_breast_cancer(as_frame=True)
    y = data.target.map({0: "malignant", 1: "benign"}).astype(object)
    known = np.random.default_rng(0).permutation(len(y))[:60]
    y[~y.index.isin(known)] = None
    data.data.assign(diagnosis=y).to_csv(path, index=False)


def run_in_terminal(folder: Path) -> str:
    """What the command prints; its notes go to a file, so that there is no progress bar among them."""
    ours, theirs = pty.openpty()
    said = folder / "said.txt"
    with said.open("wb") as notes:
        process = subprocess.Popen(
            [sys.executable, "-m", "semirank.cli.main", *COMMAND[1:]],
            cwd=folder,
            stdout=theirs,
            stderr=notes,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)},
        )
    os.close(theirs)
    printed = b""
    with suppress(OSError):  # Linux ends a pseudo-terminal by an error
        while part := os.read(ours, 65536):
            printed += part
    os.close(ours)
    lines = said.read_text(encoding="utf-8").splitlines(keepends=True)
    if process.wait() != 0:
        raise SystemExit(f"{' '.join(COMMAND)} failed: {''.join(lines)}")
    last = [line for line in lines if line.startswith("wrote")]  # said after the table, the others before it
    first = [line for line in lines if line not in last]
    return "".join([*first, printed.decode().replace("\r\n", "\n"), *last])


def terminal_page(printed: str) -> str:
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi(f"\x1b[1m$ {' '.join(COMMAND)}\x1b[0m\n{printed.rstrip()}"))
    frame = (
        "<!doctype html><meta charset='utf-8'><style>body {{margin: 0; padding: 18px 24px; "
        "background: {background}; color: {foreground}}} pre {{margin: 0; font: 14px/20px "
        "'DejaVu Sans Mono', monospace}} {stylesheet}</style><pre>{code}</pre>"
    )
    return console.export_html(theme=SVG_EXPORT_THEME, code_format=frame)


def photograph(page: Path, name: str, size: tuple[int, int], scheme: str = "light") -> None:
    """The upper part of a page as a picture of 256 colours, in 1.5 times the size for sharp letters."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        raise SystemExit("Chromium is needed: apt-get install chromium, or what your system calls it.")
    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder) / name
        words = [
            browser,
            "--headless=new",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/profile",
            "--force-device-scale-factor=1.5",
            f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
            f"--window-size={size[0]},{size[1]}",
            f"--screenshot={shot}",
            page.as_uri(),
        ]
        if os.geteuid() == 0:
            words.insert(1, "--no-sandbox")  # Chromium asks for it when run by root
        subprocess.run(words, check=True, capture_output=True, timeout=120)
        Image.open(shot).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
            FOLDER / name, optimize=True
        )
    print(f"{name}: {(FOLDER / name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
