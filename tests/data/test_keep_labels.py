"""Labels kept at random: as many as asked for, nested, and refused where nothing could be learnt."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from semirank import keep_labels

CLASSES = np.array(["a", "b", "c"] * 20 + [None] * 10, dtype=object)


class TestKeepLabels:
    def test_as_many_as_asked_for_among_the_labelled(self):
        kept = keep_labels(CLASSES, 25, random_state=3)
        assert len(kept) == 70
        assert np.flatnonzero(kept.labeled).max() < 60
        assert kept.labeled.sum() == 25
        rows = kept.labeled
        assert (kept.classes[kept.values[rows, 0].astype(int)] == CLASSES[rows]).all()

    def test_nested_for_the_same_seed(self):
        masks = [keep_labels(CLASSES, n, random_state=5).labeled for n in (10, 20, 40, 60)]
        for fewer, more in pairwise(masks):
            assert (fewer <= more).all()
        assert (masks[0] != keep_labels(CLASSES, 10, random_state=6).labeled).any()

    def test_every_form_of_target(self):
        rng = np.random.default_rng(0)
        sets = [{"p", "q"} if i % 2 else {"q"} for i in range(20)]
        assert keep_labels(sets, 8).task == "multi_label"
        assert keep_labels(rng.normal(size=20), 8).task == "regression"
        assert keep_labels([-1, 0, 1, 2] * 5, 8, unlabeled=-1).n_classes == 3
        assert keep_labels([{"a/b"}, {"c"}] * 10, 8, hierarchy=["a/b", "c"]).task == "hierarchical"
        two = rng.normal(size=(20, 2))
        two[0, 0] = np.nan
        kept = keep_labels(two, 8)
        assert int(kept.labeled.sum()) == 8

    @pytest.mark.parametrize(
        ("n", "message"),
        [
            (1, "At least 2 labels must be kept"),
            (0, "At least 2 labels must be kept"),
            (2.5, "a whole number of them, not 2.5"),
            (True, "At least 2 labels"),
            (61, "61 labels cannot be kept, because only 60 rows are labelled."),
        ],
    )
    def test_refused(self, n, message):
        with pytest.raises(ValueError, match=message):
            keep_labels(CLASSES, n)

    def test_one_class_left(self):
        y = ["a"] * 50 + ["b"]
        with pytest.raises(ValueError, match="all of one class; keep more, or choose another seed"):
            keep_labels(y, 2)

    def test_nothing_but_one_value_left(self):
        with pytest.raises(ValueError, match="keep more, or choose another seed"):
            keep_labels([1.5] * 50 + [2.5], 2, task="regression")
