"""A small folder of data sets, one for each task, for the tests of the study."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from semirank.study import Store
from semirank.study.records import Record

# Of the numbers of labels of the preset "quick", 200 and 500 are more than a training part has.
N_ROWS = 90
NAMES = ("Tiny classes", "Tiny numbers", "Tiny targets", "Tiny labels", "Tiny tree")


def read_records(path: Path) -> list[Record]:
    """Everything that a store has judged."""
    with Store(path, read_only=True) as store:
        return store.records()


def write_folder(folder: Path, names: tuple[str, ...] = NAMES, n_rows: int = N_ROWS) -> Path:
    """ARFF files and their manifest; the label sets come as a train and a test part."""
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for name in names:
        x = rng.random((n_rows, 4)).round(4)
        y = x[:, 0] + 0.2 * rng.random(n_rows)
        entry = {"name": name, "examples": n_rows, "features": 5, "features_nominal": 1}
        stem = name.split()[1]
        if stem == "classes":
            target = ["@attribute y {low,high}"], [["low", "high"][int(v > 0.6)] for v in y]
            entry |= {"task": "stc", "target_attributes": ["y"]}
        elif stem == "numbers":
            target = ["@attribute y numeric"], [f"{v:.4f}" for v in y]
            entry |= {"task": "str", "target_attributes": ["y"]}
        elif stem == "targets":
            target = ["@attribute y1 numeric", "@attribute y2 numeric"], [f"{v:.4f},{v**2:.4f}" for v in y]
            entry |= {"task": "mtr", "target_attributes": ["y1", "y2"]}
        elif stem == "labels":
            attributes = [f"@attribute {label} {{0,1}}" for label in ("p", "q", "r")]
            target = attributes, [f"{int(v > 0.4)},{int(v > 0.6)},{int(v > 0.8)}" for v in y]
            entry |= {"task": "mlc", "target_attributes": ["p", "q", "r"]}
        else:
            leaf = ["a/b" if v > 0.8 else "a/c" if v > 0.4 else "d" for v in y]
            target = ["@attribute class hierarchical a,a/b,a/c,d"], leaf
            entry |= {"task": "hmlc", "target_attributes": ["class"]}
        colour = np.where(x[:, 1] > 0.5, "red", "blue")
        rows = [f"{','.join(map(str, r))},{c},{t}" for r, c, t in zip(x.tolist(), colour, target[1])]
        head = [f"@relation {stem}", *(f"@attribute x{j} numeric" for j in range(4))]
        head += ["@attribute colour {red,blue}", *target[0], "@data"]
        parts = {f"{stem}.arff": rows}
        if stem in ("labels", "tree"):
            parts = {
                f"{stem}-train.arff": rows[: n_rows * 2 // 3],
                f"{stem}-test.arff": rows[n_rows * 2 // 3 :],
            }
        for file, lines in parts.items():
            (folder / file).write_text("\n".join([*head, *lines]) + "\n")
        listed.append(entry | {"files": list(parts)})
    (folder / "manifest.json").write_text(json.dumps(listed))
    return folder
