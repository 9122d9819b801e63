"""One bad event costs at most itself, in every format of trace events: the rest is kept, and what was wrong is said."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from cuts import json_ends
from mutations import SAMPLES
from seeds import seeds

from traceview import store
from traceview.errors import InputError
from traceview.ingest.options import Options
from traceview.ingest.sink import LONG, NEGATIVE
from traceview.store import views

Event = dict[str, Any]
UNTIMED = "events without a readable time"
FORMATS = ("kineto-gpu.json", "chrome-array.json")
"""One that is read on the fast path and may be cut anywhere, and one whose array is all of the file."""
MORE = ("chrome-object.json", "tf_timeline-gpu.json", "tf_trace-gpu.json", "mxnet-1.9.1-lenet-cpu.json.gz",
        "onnxruntime-1.31.1-lenet-plain.json.gz")  # fmt: skip


def text_of(event: Event, **changes: Any) -> bytes:
    return json.dumps({**event, **changes}).encode()


def named(event: Event, name: bytes) -> bytes:
    """The event with these very bytes between the quotes of its name."""
    return text_of(event, name="@@").replace(b"@@", name)


REPAIRED = {
    "unescaped quotes": lambda event: named(event, b'a "b" c'),
    "control characters": lambda event: named(event, b"a\x01b\nc\td"),
    "no UTF-8": lambda event: named(event, b"a\xff\xc3(b"),
    "NaN": lambda event: text_of(event, args={**event.get("args", {}), "x": float("nan"), "y": float("-inf")}),
}
DROPPED = {
    "time missing": lambda event: text_of({key: value for key, value in event.items() if key != "ts"}),
    "time in words": lambda event: text_of(event, ts="soon"),
    "time beyond 64 bits": lambda event: text_of(event, ts=10**30),
}
KEPT = {
    "number beyond 64 bits": lambda event: text_of(event, args={**event.get("args", {}), "x": 10**30}),
    "a key twice": lambda event: text_of(event)[:-1] + b', "tid": 3, "extra": 1, "extra": 2}',
}
ODD = {NEGATIVE: -5, LONG: 8 * 24 * 3600 * 10**6}


class Trace:
    """A small trace of one format, into which events can be put."""

    def __init__(self, path: Path, folder: Path) -> None:
        data = path.read_bytes()
        self.folder, self.n_made = folder, 0
        self.text = gzip.decompress(data) if path.suffix == ".gz" else data
        array = json.loads(self.text)
        self.events = array["traceEvents"] if isinstance(array, dict) else array
        self.last = json_ends(self.text)[-1]
        self.event = next(event for event in self.events if "ts" in event)
        self.counts, self.kinds = self.read(self.text)

    def read(self, text: bytes, **options: Any) -> tuple[tuple[int, ...], dict[str, int]]:
        """Events kept, repaired and dropped; and what was wrong."""
        self.n_made += 1
        path = self.folder / f"trace-{self.n_made}"
        path.write_bytes(text)
        target = self.folder / f"capture-{self.n_made}"
        capture = store.convert([path], target, Options(**options))
        counts = "SELECT sum(n_kept), coalesce(sum(n_repaired), 0), coalesce(sum(n_dropped), 0) FROM captures"
        kinds = "SELECT p.kind, p.n FROM captures, unnest(problems) AS t(p)"
        with views.connect(capture) as connection:
            return connection.execute(counts).fetchall()[0], dict(connection.execute(kinds).fetchall())

    def with_event(self, event: bytes) -> bytes:
        return self.text[: self.last] + b", " + event + self.text[self.last :]

    def more(self, event: bytes) -> tuple[tuple[int, ...], dict[str, int]]:
        """Return the counts that one more event adds."""
        counts, kinds = self.read(self.with_event(event))
        added = {kind: n - self.kinds.get(kind, 0) for kind, n in kinds.items() if n != self.kinds.get(kind, 0)}
        return tuple(int(a - b) for a, b in zip(counts, self.counts, strict=True)), added

    def is_refused(self, event: bytes) -> bool:
        """Whether `--strict` refuses it."""
        try:
            self.read(self.with_event(event), strict=True)
        except InputError as error:
            return "--strict" in str(error)
        return False


@pytest.fixture(scope="module", params=[*FORMATS, *(pytest.param(name, marks=pytest.mark.long) for name in MORE)])
def trace(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    folder = tmp_path_factory.mktemp("salvage")
    (folder / "seeds").mkdir()
    known = [*seeds(folder / "seeds"), *SAMPLES.rglob("*.gz")]
    return Trace(next(path for path in known if path.name == request.param), folder)


@pytest.mark.slow
def test_what_can_be_repaired_is_kept_and_counted(trace: Trace) -> None:
    for what, damage in REPAIRED.items():
        assert trace.more(damage(trace.event))[0] == (1, 1, 0), what
    assert trace.is_refused(REPAIRED["unescaped quotes"](trace.event))


@pytest.mark.slow
def test_an_event_without_a_time_is_dropped_and_said(trace: Trace) -> None:
    for what, damage in DROPPED.items():
        assert trace.more(damage(trace.event)) == ((0, 0, 1), {UNTIMED: 1}), what
    assert trace.is_refused(DROPPED["time missing"](trace.event))


def test_what_json_allows_is_kept(trace: Trace) -> None:
    for what, damage in KEPT.items():
        counts, _ = trace.more(damage(trace.event))
        assert counts == (1, 0, 0), what


@pytest.mark.slow
def test_odd_durations_are_kept_and_said(trace: Trace) -> None:
    spans = [event for event in trace.events if event.get("ph") == "X" and "dur" in event]
    for kind, duration in ODD.items() if spans else ():
        counts, kinds = trace.more(text_of(spans[0], dur=duration))
        # A negative one is taken as 0, which is a repair; a long one is as it was.
        assert counts == (1, int(kind == NEGATIVE), 0)
        assert kinds == {kind: 1}


@pytest.mark.slow
def test_missing_brackets_and_members_of_gzip(trace: Trace) -> None:
    assert trace.read(trace.text[: trace.last])[0] == trace.counts
    half = len(trace.text) // 2
    assert trace.read(gzip.compress(trace.text[:half]) + gzip.compress(trace.text[half:])) == (
        trace.counts,
        trace.kinds,
    )


def test_a_begin_without_its_end_is_kept(trace: Trace) -> None:
    counts, _ = trace.more(text_of({**trace.event, "ph": "B", "name": "opened", "tid": 99}))
    assert counts == (1, 0, 0)


def test_order_does_not_matter(trace: Trace) -> None:
    """Names of processes come first in every writer; the rest may come in any order."""
    names = [event for event in trace.events if event.get("ph") == "M"]
    spans = [event for event in trace.events if event.get("ph") == "X"]
    others = [event for event in trace.events if event.get("ph") not in ("M", "X")]
    content = json.loads(trace.text)
    turned = [*names, *others, *reversed(spans)]
    if not isinstance(content, list):
        turned = {**content, "traceEvents": turned}  # type: ignore[assignment]
    assert trace.read(json.dumps(turned).encode())[0] == trace.counts
