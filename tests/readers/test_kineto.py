"""Kineto JSON: exact times, old and new spellings, and damage that costs no more than what is damaged."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from asked import connected
from cases import first
from given import section

from traceview import store
from traceview.decode import json_events
from traceview.decode.files import Peek, zstd
from traceview.errors import InputError
from traceview.ingest.options import Options
from traceview.readers import kineto

OP = {
    "ph": "X",
    "cat": "cpu_op",
    "name": "aten::relu",
    "pid": 7,
    "tid": 7,
    "ts": 100,
    "dur": 50,
    "args": {"External id": 5},
}
LAUNCH = {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 110, "dur": 5,
    "args": {"correlation": 42, "External id": 5},
}  # fmt: skip
KERNEL = {
    "ph": "X", "cat": "kernel", "name": "relu_kernel", "pid": 0, "tid": 7, "ts": 130, "dur": 20,
    "args": {"correlation": 42, "device": 0, "stream": 7, "grid": [4, 2, 1], "block": [128, 1, 1], "shared memory": 16},
}  # fmt: skip
COPY = {
    "ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 160, "dur": 2,
    "args": {"device": 0, "stream": 7, "bytes": 4096, "correlation": 43},
}  # fmt: skip
EVENTS = [OP, LAUNCH, KERNEL, COPY]


def opened(tmp_path: Path, data: bytes, name: str = "trace") -> duckdb.DuckDBPyConnection:
    trace = tmp_path / name
    trace.write_bytes(data)
    return connected(store.convert([trace], tmp_path / f"{name}.capture"))


def trace(events: list[dict[str, Any]], **top: Any) -> bytes:
    return json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events, **top}).encode()


def problems(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    query = "SELECT p.kind, p.n FROM captures, unnest(problems) AS t(p)"
    return dict(connection.execute(query).fetchall())


def test_rows_and_links(tmp_path: Path) -> None:
    found = opened(tmp_path, trace(EVENTS))
    assert found.execute(
        """SELECT name, start_ns, dur_ns, device, stream, grid_x, grid_y, block_x, shared_bytes, op_name, op_link
        FROM raw.kernels"""
    ).fetchall() == [("relu_kernel", 30_000, 20_000, 0, 7, 4, 2, 128, 16, "aten::relu", "correlation")]
    assert found.execute("SELECT direction, src_kind, dst_kind, size_bytes, op_id FROM raw.memcpys").fetchall() == [
        ("HtoD", "pinned", "device", 4096, None)
    ]
    assert found.execute("SELECT n_events, n_kept, n_dropped FROM captures").fetchall() == [(4, 4, 0)]


def test_kinds_of_memory_of_two_words_and_unknown_ones(tmp_path: Path) -> None:
    kinds = {
        "Memcpy HtoD (Pageable -> Device Static)": ("pageable", "device"),
        "Memcpy DtoH (Managed Static -> Pinned)": ("managed", "pinned"),
        "Memcpy HtoD (Unknown -> Array)": (None, "array"),
        "Memset (Device Static)": (None, "device"),
        "Memset (Unknown)": (None, None),
        "Memcpy HtoD (Pageable -> Device) (in a graph)": ("pageable", "device"),
    }
    found = opened(tmp_path, trace([OP, *({**COPY, "name": name} for name in kinds)]))
    rows = found.execute("SELECT name, src_kind, dst_kind FROM raw.memcpys").fetchall()
    assert {name: tuple(memory) for name, *memory in rows} == kinds


@pytest.mark.parametrize(
    ("ts", "dur", "start_ns", "dur_ns"),
    first(
        3,
        [
            ("1712195495519689.123", "63.813", 1712195495519689123, 63813),
            ("1712195495519689", "7", 1712195495519689000, 7000),
            ('"1712195495519689.120"', '"0.001"', 1712195495519689120, 1),
            ("9999999999999.999", "0", 9999999999999999, 0),
            ("8897447141013.851", "0", 8897447141013851, 0),
            ("8796093022207.999", "0", 8796093022207999, 0),
            ("8473.12", "1e1", 8473120, 10000),
            ("0.0004", "2.9996", 0, 3000),
        ],
    ),
)
def test_times_are_exact(tmp_path: Path, ts: str, dur: str, start_ns: int, dur_ns: int) -> None:
    event = f'{{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": {ts}, "dur": {dur}}}'
    found = opened(tmp_path, f'{{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [{event}]}}'.encode())
    assert found.execute("SELECT origin_unix_ns FROM captures").fetchall() == [(start_ns,)]
    assert found.execute("SELECT start_ns, dur_ns FROM raw.ops").fetchall() == [(0, dur_ns)]


def test_the_base_time_is_the_clock(tmp_path: Path) -> None:
    found = opened(tmp_path, trace(EVENTS, baseTimeNanoseconds=1_700_000_000_000_000_000))
    assert found.execute("SELECT origin_unix_ns FROM captures").fetchall() == [(1_700_000_000_000_100_000,)]


@pytest.mark.slow
def test_times_without_a_base_are_those_of_a_wall_clock_only_where_they_count_from_1970(tmp_path: Path) -> None:
    since_1970 = [{**event, "ts": 1_700_000_000_000_000 + event["ts"]} for event in EVENTS]  # type: ignore[operator]
    cases = (
        trace(EVENTS),
        trace(EVENTS, baseTimeNanoseconds="soon"),
        trace(since_1970),
        trace(EVENTS, baseTimeNanoseconds=10**18),
    )
    said = [
        opened(tmp_path, data, str(n)).execute("SELECT clock FROM captures").fetchall()[0][0]
        for n, data in enumerate(cases)
    ]
    assert said[:2] == 2 * ["times as in the file, which records no wall clock; ranks are taken to share a zero"]
    assert said[2:] == 2 * ["wall clock of the trace"]


@pytest.mark.slow
def test_half_a_surrogate_pair_beside_the_events_is_readable(tmp_path: Path) -> None:
    facts = {"traceName": "run \ud83d", "distributedInfo": {"pg_config": [{"pg_name": "\ud83d"}]}}
    found = opened(tmp_path, trace(EVENTS, **facts))
    assert found.execute("SELECT metadata->>'$.traceName' FROM captures").fetchall() == [("run \ufffd",)]
    assert found.execute("SELECT process_groups->>'$[0].pg_name' FROM ranks").fetchall() == [("\ufffd",)]


@pytest.mark.slow
def test_names_of_copies_in_other_tools_tell_the_direction(tmp_path: Path) -> None:
    names = {"MemcpyH2D": "HtoD", "MemcpyD2H": "DtoH", "MemcpyD2D": "DtoD", "MemcpyP2P": "PtoP", "Memcpy": "unknown"}
    found = opened(tmp_path, trace([{**COPY, "name": name, "ts": 10 * at} for at, name in enumerate(names)]))
    assert dict(found.execute("SELECT name, direction FROM memcpys").fetchall()) == names


@pytest.mark.parametrize("pack", [gzip.compress, zstd().compress, bytes], ids=["gzip", "zstd", "plain"])
def test_compression(tmp_path: Path, pack: Any) -> None:
    assert opened(tmp_path, pack(trace(EVENTS))).execute("SELECT count(*) FROM raw.kernels").fetchall() == [(1,)]


def test_old_spellings(tmp_path: Path) -> None:
    old = [
        {**OP, "cat": "Operator", "pid": "7", "tid": "7"},
        {**OP, "cat": "Operator", "name": "ProfilerStep#3", "pid": "7", "tid": "7"},
        {**LAUNCH, "cat": "Runtime", "tid": "7"},
        {**KERNEL, "cat": "Kernel", "tid": "stream 7", "args": {**KERNEL["args"], "external id": 5}},  # type: ignore[dict-item]
    ]
    found = opened(tmp_path, json.dumps(old).encode())
    assert found.execute("SELECT op_name, step, external_id FROM raw.kernels").fetchall() == [("aten::relu", 3, 5)]


def test_external_id_only_without_launches(tmp_path: Path) -> None:
    kernel = {**KERNEL, "args": {**KERNEL["args"], "External id": 5}}  # type: ignore[dict-item]
    lone = opened(tmp_path, trace([OP, kernel]), "lone")
    assert lone.execute("SELECT op_name, op_link FROM raw.kernels").fetchall() == [("aten::relu", "external_id")]
    other = {**LAUNCH, "args": {"correlation": 1}}
    launched = opened(tmp_path, trace([OP, other, kernel]), "launched")
    assert launched.execute("SELECT op_name, op_link FROM raw.kernels").fetchall() == [(None, None)]


def test_no_external_id_that_repeats_the_correlation_or_that_two_operators_have(tmp_path: Path) -> None:
    def on_device(event: dict[str, Any], number: int, correlation: int) -> dict[str, Any]:
        return {**event, "args": {**event["args"], "External id": number, "correlation": correlation}}

    ops = [{**OP, "pid": pid, "args": {"External id": number}} for pid, number in ((7, 5), (7, 42), (7, 6), (8, 6))]
    rows = [on_device(event, *ids) for event in (KERNEL, COPY) for ids in ((5, 42), (42, 42), (6, 44))]
    found = opened(tmp_path, trace([*ops, *rows]))
    for table in ("kernels", "memcpys"):
        linked = f"SELECT external_id, correlation FROM raw.{table} WHERE op_id IS NOT NULL"
        assert found.execute(linked).fetchall() == [(5, 42)]


def test_backward_knows_its_layer(tmp_path: Path) -> None:
    events = [
        {**OP, "cat": "user_annotation", "name": "traceview.module: features.conv1 (Conv2d)", "ts": 90, "dur": 70},
        {**OP, "name": "aten::conv2d", "args": {"Sequence number": 12, "Fwd thread id": 0}},
        {
            **OP,
            "name": "ConvolutionBackward0",
            "tid": 9,
            "ts": 300,
            "args": {"Sequence number": 12, "Fwd thread id": 1},
        },
        {**OP, "name": "aten::convolution_backward", "tid": 9, "ts": 310, "dur": 20, "args": {}},
    ]
    found = opened(tmp_path, trace(events))
    assert found.execute("SELECT name, layer, is_backward, phase FROM raw.ops ORDER BY start_ns").fetchall() == [
        ("aten::conv2d", "features.conv1", False, None),
        ("ConvolutionBackward0", "features.conv1", True, "backward"),
        ("aten::convolution_backward", "features.conv1", True, "backward"),
    ]


@pytest.mark.parametrize("numbers", [(1, 2), (None, None), (7, 7)])
def test_only_arrows_with_a_number_of_their_own_lead_to_the_forward_operator(
    tmp_path: Path, numbers: tuple[int | None, int | None]
) -> None:
    """Two threads count alike, as in DataParallel."""
    events = []
    for tid, name, number, back_at in ((1, "aten::conv2d", numbers[0], 300), (2, "aten::linear", numbers[1], 200)):
        arrow = {"cat": "fwdbwd", "name": "fwdbwd", "pid": 7} | ({} if number is None else {"id": number})
        forward = {**OP, "name": name, "tid": tid, "ts": 100 + tid, "args": {"Sequence number": 1}}
        args = {"Sequence number": 1, "Fwd thread id": tid}
        backward = {**OP, "name": f"of {name}", "tid": 2 + tid, "ts": back_at, "args": args}
        ends = [{**arrow, "ph": "s", "tid": tid, "ts": 100 + tid}, {**arrow, "ph": "f", "tid": 2 + tid, "ts": back_at}]
        events += [forward, backward, *ends]
    found = opened(tmp_path, trace(events))
    forward_of = "SELECT b.name, f.name FROM raw.ops b JOIN raw.ops f ON f.id = b.forward_id ORDER BY 1"
    every = [("of aten::conv2d", "aten::conv2d"), ("of aten::linear", "aten::linear")]
    assert found.execute(forward_of).fetchall() == (every if numbers == (1, 2) else [])
    counted = found.execute("SELECT count(source_ns), count(target_ns), count(source_ns + target_ns) FROM raw.links")
    assert counted.fetchall() == [(2, 2, 2 if numbers == (1, 2) else 0)]


@pytest.mark.long
def test_steps_from_the_optimizer(tmp_path: Path) -> None:
    step = {**OP, "cat": "user_annotation", "name": "Optimizer.step#SGD.step", "dur": 10}
    events = [{**step, "ts": 100}, {**OP, "ts": 130, "dur": 5}, {**step, "ts": 200}, {**step, "ts": 320}]
    found = opened(tmp_path, trace(events))
    assert found.execute("SELECT step, start_ns, end_ns, found_by FROM steps ORDER BY 1").fetchall() == [
        (1, 10_000, 110_000, "from the ends of the optimizer"),
        (2, 110_000, 230_000, "from the ends of the optimizer"),
    ]
    assert found.execute("SELECT step FROM raw.ops").fetchall() == [(1,)]


def test_spans_in_two_events_are_rows_of_their_tables(tmp_path: Path) -> None:
    begins = [{**event, "ph": "B"} for event in EVENTS]
    ends = [{"ph": "E", **{key: e[key] for key in ("pid", "tid")}, "ts": e["ts"] + e["dur"]} for e in EVENTS]  # type: ignore[operator]
    found = opened(tmp_path, trace([*begins, *ends, {**KERNEL, "ph": "B", "ts": 500}]))
    rows = "SELECT name, start_ns, dur_ns, op_name FROM raw.kernels UNION ALL SELECT name, start_ns, dur_ns, op_name "
    assert found.execute(f"{rows} FROM raw.memcpys").fetchall() == [
        ("relu_kernel", 30_000, 20_000, "aten::relu"),
        ("Memcpy HtoD (Pinned -> Device)", 60_000, 2_000, None),
    ]
    assert found.execute("SELECT category, phase, start_ns FROM raw.events").fetchall() == [("kernel", "B", 400_000)]
    assert problems(found) == {'file that ends before its last events: "begin" without "end"': 1}
    assert found.execute("SELECT n_events, n_kept, n_dropped FROM captures").fetchall() == [(9, 9, 0)]


def test_damage_is_counted(tmp_path: Path) -> None:
    data = trace([OP, {**OP, "ts": None}, {**OP, "dur": "soon"}, {"no": "event"}, KERNEL])
    data = data.replace(b'"relu_kernel"', b'"relu\xff\x01kernel"')
    found = opened(tmp_path, data)
    assert problems(found) == {"events without a readable time": 2, "events that are not valid JSON": 1}
    assert found.execute("SELECT n_events, n_kept, n_repaired, n_dropped FROM captures").fetchall() == [(5, 2, 1, 3)]
    assert found.execute("SELECT name FROM raw.kernels").fetchall() == [("relu\ufffd\x01kernel",)]


def test_strict_refuses_damage(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(trace([OP, {**OP, "ts": None}]))
    with pytest.raises(InputError, match=r"without a readable time.*--strict"):
        store.convert([path], tmp_path / "out", Options(strict=True))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["trace"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"just some text\n", "not a recognised trace format"),
        (trace([]), "holds no events"),
        (gzip.compress(trace(EVENTS), mtime=0)[:10], "holds nothing that can be read: gzip data is cut off"),
    ],
    ids=["empty", "text", "no events", "gzip header alone"],
)
def test_what_holds_nothing_is_a_sentence(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "trace"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        store.convert([path], tmp_path / "out")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["trace"]


@pytest.mark.slow
def test_a_cut_file_keeps_every_complete_event(tmp_path: Path) -> None:
    data = trace([OP] * 50)
    for share in (0.3, 0.5, 0.77, 0.99):
        cut = data[: int(len(data) * share)]
        found = opened(tmp_path, cut, f"cut{share}")
        assert found.execute("SELECT count(*) FROM raw.ops").fetchall() == [(cut.count(b"}}"),)]
        assert "the file is cut off: its array of events does not end" in problems(found)


@pytest.mark.parametrize("array_alone", [True, False])
@pytest.mark.parametrize(
    ("after", "is_more"),
    [(None, True), (b"\n\0\0{", True), (b"", False), (b" ,\n", False), (b"\n" + bytes(99), False)],
    ids=["another", "zeros and another", "nothing", "comma", "zeros"],
)
def test_a_second_document_is_not_denied(array_alone: bool, after: bytes | None, is_more: bool, tmp_path: Path) -> None:
    """Files that were joined; writers that end with white space, a comma or zeros have lost nothing."""
    whole = json.dumps(EVENTS).encode() if array_alone else trace(EVENTS, distributedInfo={"rank": 0})
    found = opened(tmp_path, whole + (whole if after is None else after))
    assert found.execute("SELECT n_kept FROM captures").fetchall() == [(4,)]
    more = "something else follows the end of the events, as where files were joined: it was not read"
    assert problems(found) == ({more: 1} if is_more else {})


def test_an_empty_array_of_events_inside_another_member_is_passed_over(tmp_path: Path) -> None:
    found = opened(
        tmp_path, trace(EVENTS).replace(b'"deviceProperties"', b'"x": {"traceEvents": [ ]}, "deviceProperties"')
    )
    assert found.execute("SELECT n_kept FROM captures").fetchall() == [(4,)]
    assert problems(found) == {}


@pytest.mark.shared
def test_alexnet_on_an_a100_to_the_microsecond(shared: Path, captures: Any) -> None:
    """The table worked out by hand in the public traces' README."""
    found = captures.open(shared / "traces/kineto/a100-alexnet-forward.json.gz")
    query = "SELECT count(*), sum(dur_ns) // 1000 FROM kernels WHERE "
    table = {
        "true": (79, 10692),
        "algorithm = 'implicit_precomp_gemm' AND role = 'main'": (2, 2069),
        "algorithm = 'implicit_precomp_gemm' AND role = 'helper'": (2, 8),
        "algorithm = 'fft_tiling' AND role = 'main'": (2, 646),
        "algorithm = 'fft_tiling' AND role = 'transform' AND name LIKE '%c2r%'": (2, 290),
        "algorithm = 'fft_tiling' AND role = 'transform'": (6, 557),
        "algorithm = 'implicit_gemm' AND role = 'main'": (6, 1814),
        "category = 'layout_transpose'": (12, 277),
        "category = 'bias' AND call_id IS NOT NULL": (10, 958),
        "category = 'activation'": (14, 683),
        "category = 'gemm' AND coalesce(role, 'main') = 'main'": (6, 2621),
        "category = 'gemm' AND role = 'helper'": (6, 39),
    }
    for condition, expected in table.items():
        assert found.execute(query + condition).fetchall() == [expected], condition
    assert found.execute(
        """SELECT count(*), sum(size_bytes), sum(dur_ns) // 1000 FROM raw.memcpys
        WHERE direction = 'HtoD' AND src_kind = 'pageable'"""
    ).fetchall() == [(16, 244_403_360, 55_503)]


def test_unescaped_quotes_are_repaired(tmp_path: Path) -> None:
    """https://github.com/pytorch/pytorch/issues/146900"""
    data = trace([OP, {**KERNEL, "name": "NAME"}, COPY]).replace(b"NAME", b'foo "bar" baz')
    found = opened(tmp_path, data)
    assert found.execute("SELECT name, dur_ns, stream FROM raw.kernels").fetchall() == [('foo "bar" baz', 20_000, 7)]
    assert found.execute("SELECT n_events, n_kept, n_repaired FROM captures").fetchall() == [(3, 3, 1)]
    assert problems(found) == {}


@pytest.mark.parametrize(
    ("raw", "name"),
    first(
        3,
        [
            (b"tab\there\nnew line", "tab\there\nnew line"),
            (b"\x00\x1b[31mred", "\0\x1b[31mred"),
            (b"caf\xe9", "caf\ufffd"),
            (b"half \\ud83d of a pair", "half \ufffd of a pair"),
            (b"cut \xed\xa0\xbd off", "cut \ufffd\ufffd\ufffd off"),
            (b"C:\\Users", "C:\\Users"),
        ],
    ),
)
def test_texts_that_are_no_json_are_repaired(tmp_path: Path, raw: bytes, name: str) -> None:
    found = opened(tmp_path, trace([OP, {**KERNEL, "name": "NAME"}]).replace(b"NAME", raw))
    assert found.execute("SELECT name FROM raw.kernels").fetchall() == [(name,)]
    assert found.execute("SELECT n_events, n_kept, n_repaired FROM captures").fetchall() == [(2, 2, 1)]


@pytest.mark.long
@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "1e400", "9" * 40, "-" + "9" * 19, '"text"', "{}", "[[]]"]
)
def test_numbers_that_fit_nowhere_are_not_recorded(tmp_path: Path, value: str) -> None:
    found = opened(
        tmp_path, trace([{**KERNEL, "args": {"stream": "VALUE", "device": 0}}]).replace(b'"VALUE"', value.encode())
    )
    assert found.execute("SELECT stream, device, name FROM raw.kernels").fetchall() == [(None, 0, "relu_kernel")]
    assert found.execute("SELECT n_kept FROM captures").fetchall() == [(1,)]


@pytest.mark.long
@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "1e400", "9" * 40, "9" * 19, "4000000000000001", '"soon"', "null", "[1]", "true"]
)
@pytest.mark.parametrize("key", ["ts", "dur"])
def test_times_that_are_none_cost_the_event(tmp_path: Path, key: str, value: str) -> None:
    found = opened(tmp_path, trace([OP, {**KERNEL, key: "VALUE"}]).replace(b'"VALUE"', value.encode()))
    assert found.execute("SELECT name, dur_ns FROM raw.ops").fetchall() == [("aten::relu", 50_000)]
    assert found.execute("SELECT count(*) FROM raw.kernels").fetchall() == [(0,)]
    assert problems(found) == {"events without a readable time": 1}


def test_a_missing_time_costs_the_event(tmp_path: Path) -> None:
    found = opened(tmp_path, trace([OP, {key: value for key, value in KERNEL.items() if key != "ts"}]))
    assert problems(found) == {"events without a readable time": 1}
    assert found.execute("SELECT n_events, n_kept, n_dropped FROM captures").fetchall() == [(2, 1, 1)]


def test_doubtful_durations_are_said(tmp_path: Path) -> None:
    week = 7 * 86_400_000_000
    events = [{**OP, "dur": -5}, {**OP, "dur": "-0.5"}, {**OP, "dur": week}, {**KERNEL, "dur": week + 1}]
    found = opened(tmp_path, trace(events))
    assert found.execute("SELECT dur_ns FROM raw.ops ORDER BY 1").fetchall() == [(0,), (0,), (week * 1000,)]
    assert found.execute("SELECT dur_ns FROM raw.kernels").fetchall() == [(week * 1000 + 1000,)]
    assert problems(found) == {"negative durations, taken as 0": 2, "durations of more than 7 days": 1}
    assert found.execute("SELECT n_kept, n_repaired FROM captures").fetchall() == [(4, 2)]
    said = [row["text"] for row in section(found, "overview/doubts")]
    assert "Doubt: 2 of 4 events of the file have a negative duration, taken as 0: their time is missing." in said


def test_the_first_of_two_equal_keys_counts(tmp_path: Path) -> None:
    data = trace([KERNEL]).replace(b'"ts": 130', b'"ts": 130, "ts": 7, "name": "other"')
    found = opened(tmp_path, data)
    assert found.execute("SELECT name, start_ns FROM raw.kernels").fetchall() == [("relu_kernel", 0)]
    assert found.execute("SELECT origin_unix_ns FROM captures").fetchall() == [(130_000,)]


def test_a_begin_without_an_end_stays_an_event(tmp_path: Path) -> None:
    begin = {"ph": "B", "cat": "cpu_op", "name": "never ends", "pid": 7, "tid": 7, "ts": 120}
    found = opened(tmp_path, trace([OP, begin]))
    assert found.execute("SELECT name, start_ns, phase FROM raw.events").fetchall() == [("never ends", 20_000, "B")]
    assert found.execute("SELECT count(*) FROM raw.ops").fetchall() == [(1,)]


@pytest.mark.long
def test_the_same_pid_in_two_files_of_a_folder(tmp_path: Path) -> None:
    """Containers give every process of a job the same pid: a file is a rank all the same."""
    folder = tmp_path / "job"
    folder.mkdir()
    for number in (0, 1):
        moved = [{**event, "ts": event["ts"] + number} for event in EVENTS]  # type: ignore[operator]
        (folder / f"worker{number}.json").write_bytes(trace(moved, baseTimeNanoseconds=1000))
    found = connected(store.convert([folder], tmp_path / "out"))
    query = "SELECT rank, start_ns, op_name, stream FROM raw.kernels ORDER BY rank"
    assert found.execute(query).fetchall() == [(0, 30_000, "aten::relu", 7), (1, 31_000, "aten::relu", 7)]
    assert found.execute("SELECT count(DISTINCT id) FROM raw.ops").fetchall() == [(2,)]


def spans(categories: Iterable[str]) -> list[dict[str, Any]]:
    return [
        {"ph": "X", "cat": category, "name": f"{number} {category}", "pid": 7, "tid": 7, "ts": 100 + number, "dur": 1}
        for number, category in enumerate(categories)
    ]


def tables_of(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """The tables that hold each name. `collectives` repeats some rows of others, and what repeats is guessed a step."""
    query = " UNION ALL ".join(
        f"SELECT name, '{table}' AS held FROM raw.{table}" + (" WHERE kind <> 'step'" if table == "ranges" else "")
        for table in ("kernels", "memcpys", "ops", "ranges", "api_calls", "counters", "events")
    )
    return dict(connection.execute(f"SELECT name, list(held ORDER BY held) FROM ({query}) GROUP BY name").fetchall())


@pytest.mark.parametrize("copies", [1, 20], ids=["one part", "many parts"])
def test_each_category_goes_to_its_table_and_what_is_not_known_to_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copies: int
) -> None:
    spellings = {name: category["table"] for name, category in kineto.CATEGORIES.items()}
    if copies == 1:
        spellings |= {each["old"]: each["table"] for each in kineto.CATEGORIES.values() if "old" in each}
    else:
        monkeypatch.setattr(json_events, "CHUNK_BYTES", 4000)
        monkeypatch.setattr(json_events, "MAX_CHUNK_BYTES", 4000)
    spellings |= {"new_op": "events", "overhead": "events", "": "events", "cuda_sync": "events"}
    found = opened(tmp_path, trace(spans([*spellings] * copies)))
    held = tables_of(found)
    assert len(held) == copies * len(spellings)
    assert {name.partition(" ")[2]: tables for name, tables in held.items()} == {
        name: [table] for name, table in spellings.items()
    }
    assert {table for tables in held.values() for table in tables} < {*kineto.TABLES}
    n_events = copies * len(spellings)
    assert found.execute("SELECT n_events, n_kept FROM captures").fetchall() == [(n_events, n_events)]
    assert found.execute("SELECT DISTINCT category FROM events WHERE name LIKE '% new_op'").fetchall() == [("new_op",)]


def test_nothing_is_lost_between_the_tables(tmp_path: Path) -> None:
    """Events that are nearly those of a table: without a name, a category or what the table takes from them."""
    place = {"pid": 7, "tid": 7, "ts": 100}
    found = opened(
        tmp_path,
        trace([
            *EVENTS,
            {"ph": "X", "cat": "Operator", "dur": 1, **place},
            {"ph": "X", "name": "no category", "dur": 1, **place},
            {"ph": "X", "cat": "cpu_op", "name": "[memory]", "dur": 1, **place},
            {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "args": {"Addr": 1}, **place},
            {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "args": {"Total Allocated": 1}, **place},
            {"ph": "t", "cat": "ac2g", "name": "a flow in between", "id": 1, **place},
        ]),
    )  # fmt: skip
    counts = {
        table: found.execute(f"SELECT count(*) FROM raw.{table}").fetchall()[0][0]
        for table in ("ops", "api_calls", "kernels", "memcpys", "counters", "events", "links", "ranges")
    }
    assert counts == {
        "ops": 3, "api_calls": 1, "kernels": 1, "memcpys": 1, "counters": 1, "events": 3, "links": 0, "ranges": 0,
    }  # fmt: skip
    assert found.execute("SELECT n_events, n_kept FROM captures").fetchall() == [(10, 10)]
    assert sum(counts.values()) == 10


@pytest.mark.parametrize("category", kineto.CATEGORIES)
def test_a_file_is_recognised_by_a_category_that_only_kineto_writes(tmp_path: Path, category: str) -> None:
    about = kineto.CATEGORIES[category]
    for spelling, tells in ((category, about.get("tells", False)), (about.get("old", "none"), "old" in about)):
        head = json.dumps({"traceEvents": spans([spelling])}).encode()
        assert kineto.sniff(Peek(tmp_path, head, None)) == tells


def nccl(with_arguments: bool) -> list[dict[str, Any]]:
    """Two all-reduces with shapes at their annotations; kernels carry the arguments of their call, or do not."""
    events: list[dict[str, Any]] = []
    for call, n_elements in enumerate((1000, 24)):
        at = 100 * call
        host, shapes = {"ph": "X", "pid": 1, "tid": 2}, {"Input Dims": [[n_elements]], "Input type": ["float"]}
        told = {"Collective name": "allreduce", "In msg nelems": 7, "dtype": "Float", "Group size": 2}
        events += [
            {**host, "cat": "user_annotation", "name": "nccl:all_reduce", "ts": at, "dur": 50, "args": shapes},
            {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 10, "dur": 5,
             "args": {"correlation": call + 1}},
            {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": "ncclKernel_AllReduce_RING_LL_Sum_float",
             "ts": at + 20, "dur": 60, "args": {"correlation": call + 1, "device": 0, "stream": 7,
             **(told if with_arguments else {})}},
        ]  # fmt: skip
    return events


@pytest.mark.parametrize(("with_arguments", "sizes"), [(False, [4000, 96]), (True, [28, 28])])
def test_an_annotation_gives_its_kernel_the_bytes_that_the_kernel_does_not_carry(
    tmp_path: Path, with_arguments: bool, sizes: list[int]
) -> None:
    connection = opened(tmp_path, trace(nccl(with_arguments)))
    query = "SELECT kernel_id IN (SELECT id FROM kernels), dur_ns, size_bytes FROM collectives ORDER BY start_ns"
    assert connection.execute(query).fetchall() == [(True, 60_000, size) for size in sizes]
    rows = connection.execute("SELECT what, size_bytes FROM exchanges ORDER BY start_ns").fetchall()
    assert rows == [("all_reduce", size) for size in sizes]


@pytest.mark.parametrize("dtype", ["Float8_e4m3fn", "Float8_e5m2fnuz", "Byte"])
def test_an_element_of_eight_bits_is_a_byte_of_a_collective(tmp_path: Path, dtype: str) -> None:
    events = nccl(with_arguments=True)
    for event in events[2::3]:
        event["args"]["dtype"] = dtype
    connection = opened(tmp_path, trace(events))
    assert connection.execute("SELECT size_bytes FROM collectives").fetchall() == [(7,), (7,)]


def memory(ts: float, n_bytes: int, total: int | None, address: int = 64, device: int = 0) -> dict[str, Any]:
    """An allocation or, below zero, a release."""
    totals = {} if total is None else {"Total Allocated": total, "Total Reserved": 4096}
    place = {"Addr": address, "Bytes": n_bytes, "Device Type": 1, "Device Id": device}
    return {
        "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": 7, "ts": ts,
        "args": {**place, **totals},
    }  # fmt: skip


PIECES = "SELECT how, device, size_bytes, allocated_ns, freed_ns FROM raw.allocations ORDER BY device, id"


def test_an_allocation_lasts_until_the_release_at_its_address(tmp_path: Path) -> None:
    events = [memory(130, 512, 512), memory(160, -512, 0), memory(170, 1024, 1024), memory(150, 8, 8, device=1)]
    found = opened(tmp_path, trace([OP, *events]))
    assert found.execute(PIECES).fetchall() == [
        ("recorded", 0, 512, 30_000, 60_000),
        ("recorded", 0, 1024, 70_000, None),
        ("recorded", 1, 8, 50_000, None),
    ]
    links = found.execute("SELECT op_id IS NOT NULL, freed_op_id IS NOT NULL FROM raw.allocations ORDER BY device, id")
    assert links.fetchall() == [(True, False), (False, False), (True, False)], "the operator lasts from 100 to 150"


def test_memory_from_before_the_recording(tmp_path: Path) -> None:
    """Memory that is released has a size, though no start; the rest is one row."""
    found = opened(tmp_path, trace([memory(100, 512, 5632), memory(110, -1024, 4608, 128), memory(120, -512, 4096)]))
    assert found.execute(PIECES).fetchall() == [
        ("recorded", 0, 512, 0, 20_000),
        ("before", 0, 4096, None, None),
        ("recorded", 0, 1024, None, 10_000),
    ]


def test_what_the_totals_hold_beside_the_events_is_a_difference(tmp_path: Path) -> None:
    """An event is lost twice: a release, whose address is given out again, and an allocation."""
    events = [memory(100, 512, 512), memory(110, 256, 256), memory(120, 128, 1024, 128), memory(130, -512, 512, 640)]
    found = opened(tmp_path, trace(events))
    rows = found.execute(PIECES).fetchall()
    assert ("recorded", 0, 512, 0, 10_000) in rows, "it was free when its address was given out again"
    assert ("difference", 0, 640, 20_000, None) in rows, "1024 - 256 - 128: allocated unseen"
    assert ("recorded", 0, 512, None, 30_000) in rows, "released, and thus allocated before"
    assert ("difference", 0, -512, None, None) in rows, "but it was not in the first total"


@pytest.mark.parametrize(
    "spoiled",
    [
        {"Addr": 2**64 - 1}, {"Addr": "soon"}, {"Addr": None}, {"Bytes": 2**63 - 1}, {"Bytes": -(2**63)}, {"Bytes": 0},
        {"Bytes": 1.5}, {"Bytes": {}}, {"Total Allocated": 1e308}, {"Total Allocated": -(2**63)}, {"bytes": 7},
    ],
)  # fmt: skip
def test_odd_memory_events_cost_themselves_only(tmp_path: Path, spoiled: dict[str, Any]) -> None:
    odd = memory(120, 512, 1024, 128)
    odd["args"].update(spoiled)
    found = opened(tmp_path, trace([memory(100, 512, 512), odd, memory(140, -512, 512)]))
    assert ("recorded", 0, 512, 0, 40_000) in found.execute(PIECES).fetchall()
    assert found.execute("SELECT n_events, n_kept FROM captures").fetchall() == [(3, 3)]
