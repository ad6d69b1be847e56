"""Draw the pictures of the README and the site: `python docs/make_images.py`."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

import semirank as sr

matplotlib.use("agg")
FOLDER = Path(__file__).parent / "images"


def main() -> None:
    """The data of `semirank demo`: handwritten digits, 100 of 1797 labels kept."""
    digits = load_digits()
    X = pd.DataFrame(digits.data, columns=digits.feature_names)
    keep = np.random.default_rng(0).choice(len(X), 100, replace=False)
    y = np.full(len(X), np.nan)
    y[keep] = digits.target[keep]
    ranking = sr.rank(X, y, task="classification", random_state=0, n_jobs=-1)
    axes = ranking.plot(10)
    axes.set_title("Pixels of handwritten digits, 100 of 1797 rows labelled", loc="left", fontsize=10)
    FOLDER.mkdir(exist_ok=True)
    axes.figure.savefig(FOLDER / "ranking.png", dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
