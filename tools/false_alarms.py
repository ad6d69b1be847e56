"""How often data that are in order are warned about, and whether every planted fault is named.

python -m tools.false_alarms                  # simulated data, clean and with faults
python -m tools.false_alarms --real           # the data sets of SEMIRANK_DATA, labels dealt out at random
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

import numpy as np

from semirank import Table, Target, keep_labels
from semirank.data.encode_target import encode_target
from semirank.data.tasks import TASKS
from semirank.judging.data_warnings import KINDS, data_warnings

# Rows, features, labelled rows.
SIZES = ((200, 10, 30), (500, 40, 50), (1000, 60, 100), (2000, 200, 200), (400, 1000, 100), (600, 20, 600))
LOOKS = ("numbers", "mixed", "binary", "correlated", "heavy tails", "whole numbers")
PLANTED = ("leak", "missingness", "shift", "duplicates")


def clean(task: str, look: str, size: tuple[int, int, int], seed: int) -> tuple[Table, Target]:
    """A table whose target follows from three features and noise, with labels dealt out at random."""
    n_rows, n_features, n_labeled = size
    rng = np.random.default_rng([seed, n_rows, n_features, LOOKS.index(look), list(TASKS).index(task)])
    values, n_values = _features(look, n_rows, n_features, rng)
    spread = values.std(axis=0)
    scaled = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    causes = [
        scaled[:, rng.choice(n_features, 3, replace=False)] @ rng.uniform(0.5, 1.5, 3) for _ in range(6)
    ]
    signal = np.column_stack(causes) + rng.normal(scale=rng.uniform(0.5, 1.5), size=(n_rows, 6))
    target = _target(task, signal)
    if look == "mixed":  # missing at random
        values[rng.random(values.shape) < rng.uniform(0, 0.3, size=n_features)] = np.nan
    names = tuple(f"x{j}" for j in range(n_features))
    words = tuple(tuple(f"v{v}" for v in range(k)) if k else None for k in n_values)
    table = Table(values, n_values, names, words)
    if n_labeled == n_rows:
        return table, target
    for draw in range(seed, seed + 50):  # so few labels may be all alike
        try:
            return table, keep_labels(target, n_labeled, random_state=draw)
        except ValueError:
            continue
    raise AssertionError(f"no labels of {task} differ")


def _features(
    look: str, n_rows: int, n_features: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    values = rng.normal(size=(n_rows, n_features))
    n_values = np.zeros(n_features, dtype=np.int64)
    if look == "correlated":
        values = 0.8 * rng.normal(size=(n_rows, 3)) @ rng.normal(size=(3, n_features)) + 0.5 * values
    elif look == "heavy tails":
        values = np.exp(1.5 * values)
    elif look == "binary":
        values = (values > rng.normal(size=n_features)).astype(float)
    elif look == "whole numbers":
        values = np.round(3 * values)
    elif look == "mixed":
        n_values[::2] = rng.integers(2, 12, size=len(n_values[::2]))
        some = n_values > 0
        values[:, some] = rng.integers(0, n_values[some], size=(n_rows, some.sum()))
    return values, n_values


def _target(task: str, signal: np.ndarray) -> Target:
    first = signal[:, 0]
    if task == "classification":
        cuts = np.quantile(first, [0.2, 0.6] if first[0] > 0 else [0.7])
        return encode_target(np.digitize(first, cuts).astype(str).tolist())
    if task == "regression":
        return encode_target(first)
    if task == "multi_target":
        return encode_target(signal[:, :4])
    labels = signal > np.quantile(signal, 0.75, axis=0)
    if task == "multi_label":
        return encode_target(labels.astype(float))
    names = np.array(["a", "a/b", "a/c", "d", "d/e", "d/e/f"])
    sets = [names[row].tolist() for row in labels]
    return encode_target(sets, hierarchy=names.tolist())


def plant(kind: str, table: Table, target: Target, seed: int) -> tuple[Table, Target, int]:
    """The same with one fault, and the feature that has it, -1 where it is one of rows."""
    rng = np.random.default_rng(seed)
    values, n_values = table.values.copy(), table.n_values.copy()
    labeled = np.flatnonzero(target.labeled)
    first = np.nan_to_num(target.values[:, 0])
    j = int(rng.integers(table.shape[1]))
    if kind == "leak":
        noise = 0.02 * np.nanstd(target.values[:, 0]) if TASKS[target.task].kind == 1 else 0.0
        values[:, j] = 3 * first + 7 + noise * rng.normal(size=len(first))
        values[~target.labeled, j] = rng.permutation(np.resize(values[labeled, j], (~target.labeled).sum()))
        n_values[j] = 0
    elif kind == "missingness":
        high = first > np.nanmedian(target.values[:, 0])
        if not high[labeled].any():
            high = first == np.nanmax(target.values[:, 0])
        share = np.where(target.labeled & high, 0.8, np.where(target.labeled, 0.05, 0.3))
        values[:, j] = rng.normal(size=len(first))
        values[rng.random(len(first)) < share, j] = np.nan
        n_values[j] = 0
    elif kind == "shift":
        values[:, j] = rng.normal(size=len(first)) + 1.5 * target.labeled
        n_values[j] = 0
    else:
        copies = rng.choice(np.flatnonzero(~target.labeled), 10, replace=False)
        values[copies] = values[rng.choice(labeled, 10, replace=False)]
    words = tuple(
        None if k == 0 else old if old is not None else () for k, old in zip(n_values, table.categories)
    )
    return Table(values, n_values, table.names, words), target, j if kind != "duplicates" else -1


def simulated(count: int) -> Iterator[tuple[str, str, tuple[int, int, int], int]]:
    """As many combinations of task, look, size and seed."""
    every = [(task, look, size) for task in TASKS for look in LOOKS for size in SIZES]
    for i in range(count):
        yield *every[i % len(every)], i


def alarms(count: int) -> tuple[int, Counter[str]]:
    """Clean data sets that were warned about, and the warnings by kind."""
    warned, kinds = 0, Counter[str]()
    for case in simulated(count):
        found = data_warnings(*clean(*case))
        warned += bool(found)
        kinds.update(w.kind for w in found)
        for warning in found:
            print(f"clean {case}: {warning.kind}: {warning.text}", flush=True)
    return warned, kinds


def missed(count: int) -> Counter[str]:
    """Planted faults that were not named, by kind."""
    silent = Counter[str]()
    for case in simulated(count):
        for kind in PLANTED:
            _, look, size, _ = case
            if size[0] == size[2] and kind in ("shift", "duplicates"):
                continue  # every row is labelled
            if look == "binary" and size[1] == 10 and kind == "duplicates":
                continue  # ten bits repeat by themselves
            table, target, j = plant(kind, *clean(*case), case[3])
            found = [w for w in data_warnings(table, target) if w.kind == kind]
            if not any(j < 0 or table.names[j] in w.features for w in found):
                silent[kind] += 1
                print(f"missed {case}: {kind} in {j}", flush=True)
    return silent


def real() -> None:
    """Warnings about the data sets of the data folder, 100 and 300 labels dealt out at random."""
    from semirank.datasets.registry import available
    from semirank.study import open_dataset

    for name in sorted(available().present):
        data = open_dataset(name).dataset
        rows = np.random.default_rng(1).permutation(len(data))[:2000]
        table, target = data.X.take(rows), data.target.take(rows)
        for n_labels in (100, 300):
            if n_labels >= target.labeled.sum():
                continue
            for seed in range(3):
                found = data_warnings(table, keep_labels(target, n_labels, random_state=seed))
                for warning in found or [None]:
                    print(name, n_labels, seed, "-" if warning is None else f"{warning.kind}: {warning.text}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=720, help="simulated data sets")
    parser.add_argument("--real", action="store_true", help="the real data sets instead")
    given = parser.parse_args()
    if given.real:
        real()
        return 0
    warned, kinds = alarms(given.count)
    print(f"clean data sets: {warned} of {given.count} warned about ({100 * warned / given.count:.2f} %)")
    print({kind: kinds[kind] for kind in KINDS})
    silent = missed(given.count // 4)
    print(f"planted faults not named, of about {given.count // 4} of each kind: {dict(silent)}")
    return int(warned > 0.05 * given.count or bool(silent))


if __name__ == "__main__":
    sys.exit(main())
