"""The order of views is what they read."""

from __future__ import annotations

from traceview.store import graph


def test_each_view_comes_after_what_it_reads() -> None:
    order = graph.resting_on(graph.names())
    assert sorted(order) == list(graph.names())
    for place, view in enumerate(order):
        assert graph.sources(graph.text(view)) & set(graph.names()) <= set(order[:place]), view


def test_only_what_is_read_is_there() -> None:
    read = graph.sources("SELECT 1 FROM counted b JOIN raw.kernels USING (id) -- FROM op_totals")
    found = graph.resting_on(read)
    assert found[-1] == "counted" and {"activities", "busy", "scope"} <= set(found)
    assert "op_totals" not in found
    assert graph.resting_on(["raw.kernels"]) == []


def test_what_is_given_rests_on_nothing() -> None:
    assert graph.resting_on(["counted"], {"counted"}) == ["counted"]


def test_headers_say_what_is_materialized() -> None:
    assert graph.is_materialized("busy") and not graph.is_materialized("counted")
    assert [graph.kind(name) for name in ("busy", "accelerator", "counted")] == ["TABLE", "TABLE", "VIEW"]
