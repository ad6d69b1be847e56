"""How often the intervals of `evaluate` hold the truth, on planted problems: python -m tools.calibrate.

A problem is drawn a thousand times to learn the true mean effect of the unlabelled rows, and two hundred
times more to see whether the 95 % interval of an evaluation holds it. The method that ranks is cheap and made
of two obvious parts, so that its unlabelled rows help, hurt or do nothing as planned.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np

from semirank.data.encode_features import encode_features
from semirank.data.encode_target import encode_target
from semirank.data.table import Table
from semirank.data.target import Target
from semirank.data.tasks import TASKS
from semirank.evaluation.compared_methods import Method
from semirank.evaluation.curves import addition_sizes, enough_features
from semirank.evaluation.intervals import Estimate
from semirank.evaluation.judges import Court, make_judge
from semirank.evaluation.trials import Trials, deal, rank_all

KINDS = ("helps", "no difference", "mixed", "hurts")
TASKS_HERE = ("regression", "classification")
CLUSTERED = 8


def draw(
    kind: str, task: str, rng: np.random.Generator, n: int, n_labeled: int, d: int
) -> tuple[Table, Target]:
    """Two clusters in eight features, the others without structure.

    "helps": the target follows the clusters. "hurts": it follows two of the other features. "mixed": both, so
    that the effect is small. "no difference": it follows nothing.
    """
    cluster = rng.integers(2, size=n) * 2 - 1
    X = rng.normal(size=(n, d))
    X[:, :CLUSTERED] += 0.7 * cluster[:, None]
    others = X[:, CLUSTERED] + X[:, CLUSTERED + 1]
    noise = rng.normal(size=n)
    y = {
        "helps": cluster + 0.3 * noise,
        "hurts": others,
        "mixed": 1.2 * cluster + others,
        "no difference": noise,
    }[kind]
    y = (y > np.median(y)).astype(float) if task == "classification" else y
    y[n_labeled:] = np.nan
    return encode_features(X), encode_target(y, task=task)


def structure(table: Table, target: Target, use_unlabeled: bool, seed: int) -> np.ndarray:
    """Correlation with the target; with unlabelled rows also with the main direction of the features."""
    known = target.labeled
    supervised = np.corrcoef(table.values[known].T, target.values[known].T)[-1, :-1] ** 2
    if not use_unlabeled:
        return supervised
    centred = table.values - table.values.mean(axis=0)
    direction = centred @ np.linalg.eigh(centred.T @ centred)[1][:, -1]
    return 0.1 * supervised + np.corrcoef(centred.T, direction)[-1, :-1] ** 2


class Case(NamedTuple):
    """One evaluation: the effect, the score against no ranking, and the number of features."""

    effect: Estimate
    over_nothing: Estimate
    n_keep: int | None


def hold_court(kind: str, task: str, seed: int, n_repeats: int) -> tuple[Court, Trials]:
    rng = np.random.default_rng([list(TASKS).index(task), KINDS.index(kind), seed])
    table, target = draw(kind, task, rng, 240, 40, 100)
    folds = deal(target, 5, n_repeats, seed, [])
    trials = rank_all(table, target, [Method("structure", structure)], folds, seed, None, [], None, 1)
    return Court(make_judge("knn", task, None, seed, 1), table, target, folds), trials


def judge_once(kind: str, task: str, seed: int, n_repeats: int) -> Case:
    """What `evaluate` does, without the rest."""
    court, trials = hold_court(kind, task, seed, n_repeats)
    sign = TASKS[task].sign
    semi, supervised, nothing = (one.times(sign) for one in court.compare(list(trials.values()), seed))
    forward, _ = court.curves(trials["structure", True])
    sizes = addition_sizes(court.table.shape[1])
    keep = enough_features(sizes, forward.times(sign), court.guess().times(sign))
    return Case(semi.minus(supervised), semi.minus(nothing), keep)


def true_effects(kind: str, task: str, draws: int) -> tuple[float, float]:
    """Means of the effect and of the score over no ranking, of many fresh problems."""
    scores = []
    for seed in range(10_000, 10_000 + draws):
        court, trials = hold_court(kind, task, seed, 1)
        nothing = np.ones(court.table.shape[1])
        scores.append(court.plain_scores([np.stack([*each, nothing]) for each in zip(*trials.values())]))
    semi, supervised, nothing = TASKS[task].sign * np.mean(scores, axis=0)
    return float(semi - supervised), float(semi - nothing)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--draws", type=int, default=1000, help="to learn the true effect")
    options.add_argument("--count", type=int, default=200, help="evaluations of each kind")
    options.add_argument("--repeats", type=int, default=1, help="of the folds in an evaluation")
    options.add_argument("--task", action="append", choices=TASKS_HERE, help="may repeat; both by default")
    given = options.parse_args()
    print("task            kind           true effect  interval holds it  called helped/no/hurt  "
          "holds 'over nothing'  features named")  # fmt: skip
    for task in given.task or TASKS_HERE:
        for kind in KINDS:
            began = time.perf_counter()
            effect, over = true_effects(kind, task, given.draws)
            found = [judge_once(kind, task, seed, given.repeats) for seed in range(given.count)]
            intervals = [one.effect.interval() for one in found]
            holds = np.mean([one.low <= effect <= one.high for one in intervals])
            verdicts = [one.verdict for one in intervals]
            also = np.mean([i.low <= over <= i.high for i in (one.over_nothing.interval() for one in found)])
            named = np.mean([one.n_keep is not None for one in found])
            seconds = time.perf_counter() - began
            print(
                f"{task:15} {kind:14} {effect:+.4f}      {100 * holds:5.1f} %            "
                f"{verdicts.count(1):3}/{verdicts.count(0):3}/{verdicts.count(-1):3}            "
                f"{100 * also:5.1f} %               {100 * named:5.1f} %   ({seconds:.0f} s)",
                flush=True,
            )


if __name__ == "__main__":
    main()
