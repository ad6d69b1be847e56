"""`semirank demo`: handwritten digits, ranked with 100 labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from .options import Quiet
from .rank import deliver_ranking, rank_with_progress
from .results import check_outputs, origin

_LINES = """\
import semirank as sr
from sklearn.datasets import load_digits

data = load_digits(as_frame=True)
data.X = data.data
y = sr.keep_labels(data.target, 100)"""


def demo(quiet: Quiet = False) -> None:
    """Rank handwritten digits with 100 of 1797 labels kept.

    Prints the best pixels and writes demo-report.html in this folder.
    """
    from sklearn.datasets import load_digits

    from ..data.encode_features import encode_features
    from ..data.keep_labels import keep_labels

    out = [Path("demo-report.html")]
    check_outputs(out, (".html",))
    digits = load_digits()
    params = {"random_state": 0, "n_jobs": -1}
    notes = ["scikit-learn's digits; 100 labels were kept, the other 1697 rows are unlabelled"]
    X = encode_features(digits.data, names=digits.feature_names)
    ranking = rank_with_progress(X, keep_labels(digits.target, 100), params, notes, quiet)
    ranking = replace(ranking, origin=origin([_LINES], "ranking = sr.rank", params))
    deliver_ranking(ranking, out, as_json=False, quiet=quiet)
