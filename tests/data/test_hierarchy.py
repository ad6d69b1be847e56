"""Hierarchies against their naive twins, and what is refused."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semirank import Hierarchy

from . import naive_hierarchy as naive


@st.composite
def dags(draw):
    """Parents of up to 9 labels, numbered in a random order so that parents may come later."""
    n = draw(st.integers(1, 9))
    place = draw(st.permutations(range(n)))
    parents: list[tuple[int, ...]] = [()] * n
    for i in range(n):
        above = draw(st.sets(st.integers(0, i - 1), max_size=3)) if i else set()
        parents[place[i]] = tuple(sorted(place[p] for p in above))
    return parents


def make(parents):
    return Hierarchy(tuple(f"l{i}" for i in range(len(parents))), tuple(parents))


@settings(max_examples=60, deadline=None)
@given(dags(), st.floats(0.05, 0.95), st.randoms(use_true_random=False))
def test_equals_naive(parents, decay, random):
    h = make(parents)
    n = len(parents)
    assert h.weights(decay) == pytest.approx([naive.weight(i, parents, decay) for i in range(n)])
    assert h.levels.tolist() == [naive.level(i, parents) for i in range(n)]
    assert h.depth == max(h.levels)
    seen: set[int] = set()
    for label in h.order.tolist():
        assert set(parents[label]) <= seen
        seen.add(label)
    assert len(seen) == n
    rows = [{i for i in range(n) if random.random() < 0.3} for _ in range(4)]
    membership = np.array([[float(i in row) for i in range(n)] for row in rows])
    closed = h.close(membership)
    assert [set(np.flatnonzero(row).tolist()) for row in closed] == [naive.closed(r, parents) for r in rows]
    assert np.array_equal(h.close(closed), closed)


def test_unknown_rows_stay_unknown():
    h = Hierarchy.from_paths(["a", "a/b", "c"])
    closed = h.close(np.array([[np.nan] * 3, [0, 1, 0]]))
    assert np.isnan(closed[0]).all()
    assert closed[1].tolist() == [1, 1, 0]
    assert closed.flags.c_contiguous


def test_booleans_close_too():
    assert Hierarchy.from_paths(["a/b"]).close(np.array([[False, True]])).tolist() == [[1.0, 1.0]]


def test_close_leaves_its_input_alone():
    h = Hierarchy.from_paths(["a", "a/b"])
    membership = np.asfortranarray([[0.0, 1.0]])
    h.close(membership)
    assert membership.tolist() == [[0.0, 1.0]]


def test_three_ways_agree():
    paths = Hierarchy.from_paths(["a", "a/b", "a/c", "d", "d/e"])
    edges = Hierarchy.from_edges(
        [("root", "a"), ("a", "a/b"), ("a", "a/c"), (None, "d"), ("d", "d/e"), ("d", "d/e")]
    )
    dicts = Hierarchy.from_parents({"a": None, "a/b": "a", "a/c": ["a"], "d": [], "d/e": ("d", "d")})
    for h in (edges, dicts):
        assert (h.labels, h.parents) == (paths.labels, paths.parents)


def test_paths_imply_ancestors_in_any_order():
    h = Hierarchy.from_paths(["x/y/z", "b/c", "b", "x"])
    assert set(h.labels) == {"x", "x/y", "x/y/z", "b", "b/c"}
    for label, above in zip(h.labels, h.parents):
        assert [h.labels[p] for p in above] == ([label.rpartition("/")[0]] if "/" in label else [])
    assert Hierarchy.from_paths(["p.q"], sep=".").labels == ("p", "p.q")


def test_edges_without_a_root_marker():
    h = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat"), ("pet", "dog")])
    assert h.labels == ("animal", "pet", "dog", "cat")
    assert h.parents == ((), (), (0, 1), (0,))


def test_labels_become_text():
    h = Hierarchy.from_edges([(1, 2), (1, 3)])
    assert h.labels == ("1", "2", "3")


def test_coerce():
    h = Hierarchy.from_paths(["a", "a/b"])
    assert Hierarchy.coerce(h) is h
    for form in (["a", "a/b"], np.array(["a", "a/b"]), {"a": None, "a/b": "a"}, [(None, "a"), ["a", "a/b"]]):
        assert Hierarchy.coerce(form).parents == h.parents
    for wrong in ("a/b", 3, ["a", ("a", "b")]):
        with pytest.raises(TypeError, match="hierarchy must be a Hierarchy"):
            Hierarchy.coerce(wrong)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hierarchy.from_paths([]), "no labels"),
        (lambda: Hierarchy.coerce([]), "no labels"),
        (lambda: Hierarchy.from_paths(["a", "b", "a"]), "'a' more than once"),
        (lambda: Hierarchy(("a", "a"), ((), ())), "'a' more than once"),
        (lambda: Hierarchy(("a",), ()), "1 labels but parents for 0"),
        (lambda: Hierarchy(("a",), ((1,),)), "outside 0..0"),
        (lambda: Hierarchy.from_paths(["a//b"]), "'a//b' has an empty part"),
        (lambda: Hierarchy.from_paths([""]), "empty part"),
        (lambda: Hierarchy.from_edges([("a", "b", "c")]), "not a .parent, child. pair"),
        (lambda: Hierarchy.from_edges([("a", "root")]), "cannot be a child"),
        (lambda: Hierarchy.from_edges([("a", "b"), ("b", "a")]), "cycle, .*a -> b|b -> a"),
        (lambda: Hierarchy.from_edges([(None, "food"), ("fodo", "x")]), "unknown parent 'fodo'.*'food'"),
        (lambda: Hierarchy.from_parents({"a": "b"}), "'a' has the unknown parent 'b'"),
        (lambda: Hierarchy.from_parents({"a": "a"}), "cycle, a -> a"),
    ],
)
def test_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_cycle_is_named_beside_healthy_labels():
    edges = [(None, "top"), ("top", "x"), ("c", "a"), ("a", "b"), ("b", "c"), ("c", "below")]
    with pytest.raises(ValueError, match="cycle") as caught:
        Hierarchy.from_edges(edges)
    words = str(caught.value).split("cycle, ")[1].split(";")[0].split(" -> ")
    assert words[0] == words[-1]
    assert set(itertools.pairwise(words)) == {("c", "a"), ("a", "b"), ("b", "c")}


def test_long_cycle_is_shortened():
    names = [str(i) for i in range(50)]
    with pytest.raises(ValueError, match=r"\.\.\.") as caught:
        Hierarchy.from_edges(list(zip(names, names[1:] + names[:1])))
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("decay", [0, 1, -0.5, 2])
def test_decay_must_lie_between_0_and_1(decay):
    with pytest.raises(ValueError, match="between 0 and 1"):
        Hierarchy.from_paths(["a"]).weights(decay)


def test_close_checks_the_shape():
    with pytest.raises(ValueError, match="2 columns is needed"):
        Hierarchy.from_paths(["a/b"]).close(np.zeros((3, 3)))


def test_large_and_deep():
    n = 100_000
    chain = Hierarchy.from_edges([(None, "0"), *((str(i), str(i + 1)) for i in range(n - 1))])
    assert chain.depth == n
    assert chain.weights(0.5)[3] == 0.125
    star = Hierarchy.from_paths(["r", *(f"r/{i}" for i in range(n))])
    assert (len(star), star.depth) == (n + 1, 2)
    low = np.zeros((1, n + 1))
    low[0, -1] = 1
    assert star.close(low).sum() == 2


def test_pickles():
    h = Hierarchy.from_paths(["a", "a/b"])
    assert pickle.loads(pickle.dumps(h)).labels == h.labels
    assert repr(h) == "<Hierarchy: 2 labels, 2 levels>"
