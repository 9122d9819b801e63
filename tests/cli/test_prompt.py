"""The prompt completes by what stands before the cursor, caps answers, and gives long ones to a pager."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from traceview import store
from traceview.cli import prompt, sql
from traceview.store.reader import Reader

TABLES = {
    "kernels": ["id", "name", "dur_ns"],
    "kernel_names": ["name"],
    "memcpys": ["id", "size_bytes"],
    "raw.kernels": ["id"],
}


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (".s", "", [".schema"]),
        (".schema mem", "", ["memcpys"]),
        ("SELECT name FROM ker", "", ["kernels", "kernel_names"]),
        ("SELECT * FROM kernels k, m", "", ["memcpys"]),
        ("SELECT * FROM kernels JOIN raw.", "", ["raw.kernels"]),
        ("SELECT d", " FROM kernels", ["dur_ns", "DISTINCT", "DESC", "DESCRIBE"]),
        ("SELECT si", " FROM kernels", []),
        ("SELECT si", " FROM kernels JOIN memcpys USING (id)", ["size_bytes"]),
        ("SELECT k.", " FROM kernels AS k", ["k.id", "k.name", "k.dur_ns"]),
        ("SELECT memcpys.s", " FROM memcpys", ["memcpys.size_bytes"]),
        ("SELECT x.", " FROM kernels k", []),
        ("FROM kernels WHERE size", "", []),
        ("FROM kernels WHERE du", "", ["dur_ns"]),
        ("SELECT size", "", ["size_bytes"]),
        ("SEL", "", ["SELECT"]),
    ],
)
def test_words_fit_their_place(before: str, after: str, found: list[str]) -> None:
    assert prompt.words(before, after, TABLES) == found


@pytest.mark.slow
def test_completion_knows_the_tables_of_the_trace(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    seen = []
    monkeypatch.setattr(prompt, "ask", lambda editor, answer: seen.append(editor))
    with Reader(store.prepare(trace)) as reader:
        sql.prompt(reader, "table")
    (editor,) = seen
    found = editor.completer.get_completions(Document("SELECT dur_n FROM kernels", 12), CompleteEvent())
    assert [(word.text, word.start_position) for word in found] == [("dur_ns", -5)]
    found = editor.completer.get_completions(Document("FROM kern"), CompleteEvent())
    assert "kernels" in [word.text for word in found]


@pytest.mark.slow
def test_a_cap_that_can_be_changed(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = "FROM range(250);\r"
    with (
        Reader(store.prepare(trace)) as reader,
        create_pipe_input() as keys,
        create_app_session(input=keys, output=DummyOutput()),
    ):
        keys.send_text(f"{query}.limit 200\r{query}.limit 0\r{query}.limit x\r.quit\r")
        sql.prompt(reader, "csv")
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert [line for line in lines if "rows in all" in line] == [
        "250 rows in all; the first 100 are shown (.limit N shows more).",
        "250 rows in all; the first 200 are shown (.limit N shows more).",
    ]
    assert lines.count("99") == 3 and lines.count("199") == 2 and lines.count("249") == 1
    assert captured.err == "traceview: .limit needs a number of rows; 0 shows all.\n"


@pytest.mark.parametrize(("pager", "goes"), [("sed s/^/paged:/", True), ("", False), ("no-such-pager", False)])
def test_a_long_answer_goes_through_the_pager(root: Path, pager: str, goes: bool) -> None:
    main, side = pty.openpty()
    program = "from traceview.cli import prompt; prompt.show('short\\n'); prompt.show('line\\n' * 60)"
    env = {**os.environ, "PAGER": pager, "LINES": "24", "COLUMNS": "80", "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", program], env=env, stdout=side, stderr=subprocess.PIPE)
    os.close(side)
    assert (done.returncode, done.stderr) == (0, b"")
    shown = b""
    while b"line" not in shown or shown.count(b"\n") < 61:
        shown += os.read(main, 65536)
    os.close(main)
    lines = shown.decode().split()
    assert lines == ["short", *(["paged:line" if goes else "line"] * 60)]
