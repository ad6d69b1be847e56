"""Foreign references (Def. 2.6): which features matter to models that no ranker uses, with all labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..results.shares import as_shares
from .captured import captured
from .cells import Cell
from .foreign_columns import FeatureSpace, target_columns
from .foreign_models import Boosting, KernelRidge, Network, explained, one_thread, permutation_importance

LEAST_R2 = 0.05  # a model that explains less on held-out rows has not learnt the data set
MODELS: dict[str, Any] = {"boosting": Boosting, "network": Network, "kernel": KernelRidge}
# Kernel ridge is akin to a member of the teacher and to a student, so it does not decide alone.
DECIDING = ("boosting", "network")


@dataclass(frozen=True, eq=False)
class Reference:
    """Importances of one cell's features for several models, as shares.

    Attributes
    ----------
    name, seed, digest
        Of the cell.
    r2 : dict of str to float
        Held-out R2 of each model.
    importances : dict of str to ndarray of shape (n_features,)
        Shares of each model; equal ones where no permutation cost it anything.
    """

    name: str
    seed: int
    digest: str
    r2: dict[str, float]
    importances: dict[str, np.ndarray]

    @property
    def learned(self) -> tuple[str, ...]:
        """The models that learnt the data set; none where the only one is kernel ridge."""
        able = tuple(model for model in MODELS if self.r2.get(model, -np.inf) >= LEAST_R2)
        return able if any(model in DECIDING for model in able) else ()

    @property
    def mean(self) -> np.ndarray | None:
        """Mean importances of the models that learnt the data set; None if none did."""
        found = [self.importances[model] for model in self.learned]
        return np.mean(found, axis=0) if found else None

    def captured(self, scores: np.ndarray) -> float:
        """Captured share of the mean importances; NaN if no model learnt the data set."""
        mean = self.mean
        return float("nan") if mean is None else captured(scores, mean)


def foreign_reference(cell: Cell) -> Reference:
    """Train the foreign models on all training labels and permute each feature on the held-out rows.

    A nominal feature's columns are permuted together. The importance is the rise of the squared error over
    all target columns, which together have variance 1.

    Examples
    --------
    >>> from semirank.evaluation.cells import draw_cell
    >>> from semirank.data.table import Table
    >>> from semirank.data.target import Target
    >>> rng = np.random.default_rng(0)
    >>> table = Table(rng.normal(size=(300, 4)), np.zeros(4, int), tuple("abcd"), (None,) * 4)
    >>> target = Target("regression", np.sin(table.values[:, :1]), ("y",), np.ones(1))
    >>> reference = foreign_reference(draw_cell("sine", table, target))
    >>> reference.learned
    ('boosting', 'network', 'kernel')
    >>> reference.captured(np.array([4, 3, 2, 1])) > 0.99
    True
    """
    space = FeatureSpace.fit(cell.train)
    train, test = space.encode(cell.train), space.encode(cell.test)
    columns = space.columns_of(cell.train.shape[1])
    target = target_columns(cell.train_target, cell.test_target)
    r2, importances = {}, {}
    with one_thread():
        for number, (name, model) in enumerate(MODELS.items()):
            use = target.boosted if name == "boosting" else slice(None)
            truth, held_out = target.train[:, use], target.test[:, use]
            bound = model.fit(train, truth).bind(test)
            r2[name] = explained(bound.base, held_out)
            importances[name] = as_shares(permutation_importance(bound, test, held_out, columns, seed=number))
    return Reference(cell.name, cell.seed, cell.digest, r2, importances)
