"""Files of a capture appear whole, under numbers that no two processes share."""

from __future__ import annotations

import gzip
import json
import os
import signal
from pathlib import Path

import pytest


@pytest.fixture
def raw():
    from traceview_inject import raw

    return raw


def write(raw, text):
    path = raw.scratch("trace")
    path.write_text(text)
    return path, "kineto.json"


def test_ranks_are_as_asked_or_the_next_free_one(raw):
    wishes = [None, 3, None, 3]
    numbers = [raw.publish(wish, {"warnings": []}, write(raw, "{}"), []) for wish in wishes]
    assert numbers == [0, 3, 1, 4]
    meta = json.loads((raw.folder() / "rank-0004.meta.json").read_text())
    assert (meta["rank"], meta["warnings"]) == (4, ["rank 3 was already captured by another process; this one is 4"])
    assert sorted(path.name for path in raw.folder().glob("rank-0003.*")) == [
        "rank-0003.kineto.json",
        "rank-0003.meta.json",
    ]
    assert [path.name for path in raw.folder().glob(".*")] == [f".process-{os.getpid()}.txt"]


def test_large_traces_are_compressed(raw, monkeypatch):
    monkeypatch.setattr(raw, "GZIP_FROM_BYTES", 10)
    raw.publish(None, {"warnings": []}, write(raw, "x" * 11), [])
    assert gzip.decompress((raw.folder() / "rank-0000.kineto.json.gz").read_bytes()) == b"x" * 11


def test_a_trace_that_the_profiler_could_not_write_is_said(raw):
    with pytest.raises(OSError, match="wrote no trace; the capture folder may be full"):
        raw.publish(None, {"warnings": []}, (raw.scratch("trace"), "kineto.json"), [])
    assert not list(raw.folder().glob("rank-*"))


def test_only_variables_that_matter_are_copied(raw, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    facts = raw.process_facts()
    assert facts["environment"]["OMP_NUM_THREADS"] == "7"
    assert "hush" not in json.dumps(facts)


def test_facts_appear_whole_and_without_secrets(raw, monkeypatch):
    taken = []
    replace = Path.replace

    def seen(path, target):
        taken.append((Path(target).name, Path(target).exists() and Path(target).read_text()))
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", seen)
    raw.publish(0, {"warnings": ["https://me:hush@host"], "model": {"api_key": "hush"}}, write(raw, "{}"), [])
    # The number is taken before the facts are there.
    assert taken == [("rank-0000.meta.json", ""), ("rank-0000.kineto.json", False)]
    text = (raw.folder() / "rank-0000.meta.json").read_text()
    assert "hush" not in text and json.loads(text)["model"] == {"api_key": "***"}


def test_options_have_defaults(raw, monkeypatch):
    monkeypatch.setenv("TRACEVIEW_STEPS", "9")
    assert raw.options()["steps"] == 9 and raw.options()["wait"] == raw.DEFAULTS["wait"]


def test_ctrl_c_waits_until_files_are_whole(raw):
    reached = False
    with pytest.raises(KeyboardInterrupt), raw.signals_held():
        os.kill(os.getpid(), signal.SIGINT)
        reached = True
    assert reached
