"""Stretches of time with the line of the user's own code that the host was at."""

from __future__ import annotations

from pathlib import Path

from given import Given, rows


def test_each_moment_has_the_innermost_frame(tmp_path: Path) -> None:
    given = Given()
    for name, start, end in (
        ("a.py(1): outer", 0, 100),
        ("b.py(2): inner", 10, 40),
        ("torch/x.py(3): lib", 20, 30),
        ("c.py(4): next", 40, 60),
        ("d.py(5): ends_with_it", 50, 60),
    ):
        given.span("python", name, start, end)
    given.op("aten::add", 12, 15)
    query = """SELECT u.file, h.from_ns // 1000, h.until_ns // 1000 FROM host_lines h
        JOIN user_frames u ON u.id = h.frame_id ORDER BY h.from_ns"""
    assert rows(given.open(tmp_path), query) == [
        ("a.py", 0, 10),
        ("b.py", 10, 40),
        ("c.py", 40, 50),
        ("d.py", 50, 60),
        ("a.py", 60, 100),
    ]
