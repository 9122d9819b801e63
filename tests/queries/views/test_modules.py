"""The tree of modules: what is around each, how deep, and how often it was called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from given import Given, rows

TREE = """SELECT m.path, m.class, m.depth, p.path, m.calls FROM modules m LEFT JOIN modules p ON p.id = m.parent
ORDER BY m.position"""


def span(given: Given, name: str, start: int, end: int, **facts: Any) -> None:
    row = {"name": name, "start_ns": 1000 * start, "dur_ns": 1000 * (end - start), **facts}
    given.add("ranges", kind="module", **{"pid": 1, "tid": 1, **row})


def frame(given: Given, name: str, start: int, end: int, **facts: Any) -> None:
    span(given, name, start, end, domain="nn.Module", **facts)


def test_a_path_says_what_a_module_is_in_and_a_container_that_is_never_called_is_one_too(tmp_path: Path) -> None:
    given = Given()
    for at in (0, 1000):
        span(given, "Net (Net)", at, at + 100)
        span(given, "blocks.0 (Block)", at + 10, at + 40)
        span(given, "blocks.0.attn (Attn)", at + 12, at + 30)
        span(given, "blocks.10 (Block)", at + 50, at + 80)
        span(given, "head (Linear)", at + 90, at + 95)
        span(given, "CrossEntropyLoss (CrossEntropyLoss)", at + 110, at + 120)
    assert rows(given.open(tmp_path), TREE) == [
        ("Net", "Net", 0, None, 2),
        ("blocks", None, 1, "Net", 0),
        ("blocks.0", "Block", 2, "blocks", 2),
        ("blocks.0.attn", "Attn", 3, "blocks.0", 2),
        ("blocks.10", "Block", 2, "blocks", 2),
        ("head", "Linear", 1, "Net", 2),
        ("CrossEntropyLoss", "CrossEntropyLoss", 0, None, 2),
    ]


def test_frames_of_pytorch_lie_in_what_called_them_first(tmp_path: Path) -> None:
    """A module that is computed again for the backward pass has nothing around it there."""
    given = Given()
    frame(given, "Net_0", 0, 100)
    frame(given, "Block_0", 10, 50)
    frame(given, "ReLU_0", 20, 30)
    frame(given, "Block_1", 60, 90)
    frame(given, "ReLU_0", 70, 80)
    frame(given, "Block_0", 200, 250, tid=2)
    frame(given, "ReLU_0", 210, 220, tid=2)
    assert rows(given.open(tmp_path), TREE) == [
        ("Net_0", "Net", 0, None, 1),
        ("Block_0", "Block", 1, "Net_0", 2),
        ("ReLU_0", "ReLU", 2, "Block_0", 3),
        ("Block_1", "Block", 1, "Net_0", 1),
    ]


def test_with_stacks_a_module_has_one_name(tmp_path: Path) -> None:
    """PyTorch's frame begins before the collector's range of the same call, and both hold the operator."""
    given = Given()
    frame(given, "Net_0", 0, 101)
    span(given, "Net (Net)", 1, 100)
    frame(given, "Attn_0", 9, 51)
    span(given, "attn (Attn)", 10, 50)
    given.op("aten::softmax", 20, 30)
    frame(given, "Wrapper_0", 60, 70)
    given.op("aten::add", 62, 65)
    connection = given.open(tmp_path)
    assert rows(connection, TREE) == [("Net", "Net", 0, None, 1), ("attn", "Attn", 1, "Net", 1)]
    assert rows(connection, "SELECT name, layer FROM ops ORDER BY id") == [
        ("aten::softmax", "attn"),
        ("aten::add", "Net"),
    ]


def test_modules_that_are_in_each_other_are_a_tree_all_the_same(tmp_path: Path) -> None:
    given = Given()
    span(given, "a (A)", 0, 10)
    span(given, "b (B)", 2, 4)
    span(given, "b (B)", 20, 30)
    span(given, "a (A)", 22, 24)
    frame(given, "a (A)", 40, 50)
    assert rows(given.open(tmp_path), TREE) == [("a", "A", 0, None, 2), ("b", "B", 1, "a", 2)]


def test_scopes_of_operators_are_modules_whose_calls_are_not_recorded(tmp_path: Path) -> None:
    given = Given()
    for at, scope in enumerate(("net/v1.2/conv", "net/v1.2", "net/fc")):
        given.add("ops", name="op", pid=1, tid=1, start_ns=1000 * at, dur_ns=500, module_hierarchy=scope)
    assert rows(given.open(tmp_path), TREE) == [
        ("net", None, 0, None, None),
        ("net/v1.2", None, 1, "net", None),
        ("net/v1.2/conv", None, 2, "net/v1.2", None),
        ("net/fc", None, 1, "net", None),
    ]


def test_ids_are_of_no_event_and_differ_between_ranks(tmp_path: Path) -> None:
    from given import connected, write

    ranks = [Given(0), Given(1)]
    for given in ranks:
        span(given, "Net (Net)", 0, 10)
        given.op("aten::add", 1, 2)
    write(tmp_path, *ranks)
    found = rows(connected(tmp_path), "SELECT id, rank FROM modules ORDER BY rank")
    assert found == [((3 << 38) + 1, 0), ((1 << 40) + (3 << 38) + 1, 1)]
