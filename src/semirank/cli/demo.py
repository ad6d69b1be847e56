"""`semirank demo`: handwritten digits, ranked with 100 labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .options import Quiet
from .rank import check_outputs, deliver, rank_with_progress

if TYPE_CHECKING:
    import numpy as np


def demo(quiet: Quiet = False) -> None:
    """Rank handwritten digits with 100 of 1797 labels kept.

    Prints the best pixels and writes demo-report.html in this folder.
    """
    from sklearn.datasets import load_digits

    from ..data.encode_features import encode_features

    out = [Path("demo-report.html")]
    check_outputs(out)
    digits = load_digits()
    y = _hidden_labels(digits.target)
    params = {"task": "classification", "random_state": 0, "n_jobs": -1}
    origin = {"command": "semirank demo", "python": _DEMO_CODE}
    notes = ["scikit-learn's digits; 100 labels were kept, the other 1697 rows are unlabelled"]
    X = encode_features(digits.data, names=digits.feature_names)
    ranking = rank_with_progress(X, y, params, notes, origin, quiet)
    deliver(ranking, out, as_json=False, quiet=quiet)


_DEMO_CODE = """\
import numpy as np
import pandas as pd
import semirank as sr
from sklearn.datasets import load_digits

digits = load_digits()
X = pd.DataFrame(digits.data, columns=digits.feature_names)
keep = np.random.default_rng(0).choice(1797, 100, replace=False)
y = np.full(1797, np.nan)
y[keep] = digits.target[keep]
ranking = sr.rank(X, y, task="classification", random_state=0, n_jobs=-1)"""


def _hidden_labels(target: np.ndarray) -> np.ndarray:
    """The same 100 labels on every machine."""
    import numpy as np

    keep = np.random.default_rng(0).choice(len(target), 100, replace=False)
    y = np.full(len(target), np.nan)
    y[keep] = target[keep]
    return y
