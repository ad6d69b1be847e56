"""How often the intervals of `evaluate --more-labels` hold the truth: python -m tools.calibrate_more_labels.

The data sets of the folder SEMIRANK_DATA are wholly labelled. Of each, a few labels are kept, and what twice
and four times as many would bring is extrapolated from them; the truth is the mean over draws of that many
labels, judged on other rows. A random forest on the labelled rows ranks.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from semirank import ForestRanker
from semirank.data.encode_target import encode_target
from semirank.data.table import Table
from semirank.data.target import Target
from semirank.datasets.registry import available, open_dataset
from semirank.evaluation.compared_methods import Method
from semirank.evaluation.judges import Court, make_judge
from semirank.evaluation.more_labels import correlation, extrapolate
from semirank.evaluation.trials import deal, rank_all
from semirank.judging.measures import task_score
from semirank.results.more_labels import MoreLabels

MOST_FEATURES, MOST_TARGETS, TESTED = 300, 30, 400


class Truth(NamedTuple):
    score: float
    stability: float


def method() -> Method:
    forest = ForestRanker(
        importance="genie3_oob", supervision=1.0, n_estimators=50, use_unlabeled=False, n_jobs=1
    )
    return Method("forest", forest, main_only=True, labels_only=True)


def can_be_ranked_by(target: Target, rows: np.ndarray) -> bool:
    try:
        encode_target(target.take(rows))
    except ValueError:
        return False
    return True


def some_rows(target: Target, n: int, rng: np.random.Generator) -> np.ndarray:
    """So many labelled rows that can be ranked by."""
    known = np.flatnonzero(target.labeled)
    rows = rng.permutation(known)[:n]
    while not can_be_ranked_by(target, rows):
        rows = rng.permutation(known)[:n]
    return rows


def guess_ahead(table: Table, target: Target, n: int, seed: int) -> MoreLabels | None:
    """What is said from n labels."""
    rows = some_rows(target, n, np.random.default_rng([seed, n]))
    few, labels = table.take(rows), target.take(rows)
    folds = deal(labels, 5, 1, seed, [])
    trials = rank_all(few, labels, [method()], folds, seed, None, [], None, 1)
    court = Court(make_judge("knn", labels.task, None, seed, 1), few, labels, folds)
    return extrapolate(court, method(), trials["forest", False], False, seed, [], None, 1)


def find_truth(table: Table, target: Target, n: int, draws: int) -> Truth:
    """The mean score with n labels on other rows, and of the correlation of two rankings."""
    judge = make_judge("knn", target.task, None, 0, 1)
    scores, stability = [], []
    for draw in range(draws):
        rng = np.random.default_rng([draw, n, 7])
        both = some_rows(target, 2 * n, rng)
        while any(not can_be_ranked_by(target, rows) for rows in (both[:n], both[n:])):
            both = some_rows(target, 2 * n, rng)
        rankings = []
        for rows in (both[:n], both[n:]):
            part = table.take(rows), target.take(rows)
            (importances,) = method().both(*part, (False,), draw)[False].values()
            rankings.append(importances)
            others = np.setdiff1d(np.flatnonzero(target.labeled), both)
            test = rng.permutation(others)[:TESTED]
            said = judge.predict(judge.views(importances), *part, table.take(test))[0]
            scores.append(task_score(target.task, target.values[test], said))
        stability.append(correlation(*rankings))
    return Truth(float(np.mean(scores)), float(np.mean(stability)))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--labels", type=int, default=60)
    options.add_argument("--count", type=int, default=4, help="extrapolations for each data set")
    options.add_argument("--draws", type=int, default=8, help="to learn the truth")
    given = options.parse_args()
    held: dict[str, list[bool]] = defaultdict(list)
    width: dict[str, list[float]] = defaultdict(list)
    for name in available().present:
        data = open_dataset(name).dataset
        table, target = data.X, data.target
        enough = int(target.labeled.sum()) >= 2 * 4 * given.labels + 100
        if not enough or table.shape[1] > MOST_FEATURES or target.values.shape[1] > MOST_TARGETS:
            continue
        began = time.perf_counter()
        truth = {n: find_truth(table, target, n * given.labels, given.draws) for n in (1, 2, 4)}
        line = []
        for seed in range(given.count):
            try:
                found = guess_ahead(table, target, given.labels, seed)
            except ValueError:
                found = None
            if found is None:
                continue
            for j, n in enumerate((1, 2, 4)):
                for what, interval, value in (
                    (f"score x{n}", found.scores[j], truth[n].score),
                    (f"stability x{n}", found.stability[j], truth[n].stability),
                ):
                    held[what].append(interval.low <= value <= interval.high)
                    width[what].append(interval.high - interval.low)
            line.append(
                f"{found.scores[1].value:.2f} ({found.scores[1].low:.2f} to {found.scores[1].high:.2f}), "
                f"{found.stability[1].value:.2f} ({found.stability[1].low:.2f} to "
                f"{found.stability[1].high:.2f}){' pays' if found.pays else ''}"
            )
        took = time.perf_counter() - began
        true = ", ".join(f"{t.score:.2f}/{t.stability:.2f}" for t in truth.values())
        print(
            f"{name} ({target.task}): truth {true}; said for x2: {'; '.join(line)} ({took:.0f} s)", flush=True
        )
    for what, each in held.items():
        print(
            f"{what}: {100 * np.mean(each):.1f} % of {len(each)}, median width {np.median(width[what]):.3f}"
        )


if __name__ == "__main__":
    main()
