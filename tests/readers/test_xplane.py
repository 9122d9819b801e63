"""XPlane files of TensorFlow 2 and JAX, on GPU and CPU, whole, cut at any byte, and hostile."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import duckdb
import pytest
from asked import connected, rows
from messages import field, read_varint

import traceview
from traceview import store
from traceview.decode import xspace
from traceview.decode.files import peek
from traceview.decode.protobuf import Wire
from traceview.decode.text_bounds import MAX_NAME_BYTES, TOO_LONG
from traceview.errors import InputError
from traceview.paths import content
from traceview.readers import READERS, xplane
from traceview.sql import text

KEPT = """SELECT (SELECT count(*) FROM kernels) + (SELECT count(*) FROM memcpys) + (SELECT count(*) FROM api_calls)
    + (SELECT count(*) FROM ranges) + (SELECT count(*) FROM events)"""


def content_of(query: str) -> str:
    return (content("queries") / f"{query}.sql").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def sample(captures, root: Path):  # type: ignore[no-untyped-def]
    return lambda name: captures.open(root / "samples" / "xplane" / name)


TF = "tensorflow-2.21.0-lenet-cpu.xplane.pb.gz"
JAX = "jax-0.10.2-lenet-cpu.xplane.pb.gz"
ALEXNET = "jax-0.10.2-alexnet-cpu.xplane.pb.gz"


@pytest.mark.long
def test_tensorflow_on_a_cpu(sample) -> None:  # type: ignore[no-untyped-def]
    connection = sample(TF)
    assert rows(connection, "SELECT format, framework, n_events FROM captures") == [("xplane", "TensorFlow", 384)]
    assert rows(connection, "SELECT name, kind FROM ranges WHERE kind = 'step' ORDER BY start_ns") == [
        ("train 0", "step"),
        ("train 1", "step"),
    ]
    found = rows(
        connection,
        """SELECT layer, list_sort(list(DISTINCT direction)) FROM conv_calls GROUP BY 1 ORDER BY 1""",
    )
    assert found == [
        ("sequential_1/conv1_1", ["fprop", "wgrad"]),
        ("sequential_1/conv2_1", ["dgrad", "fprop", "wgrad"]),
    ]
    assert rows(connection, "SELECT count(*) FROM ops WHERE is_backward") > [(0,)]
    assert rows(connection, "SELECT origin_unix_ns // 1000000000000000 FROM captures") == [(1795,)]


SCOPES = {
    "jit(step)/jvp(conv1)/jit(relu)/max": "conv1",
    "jit(step)/jvp(jit(relu))/max": None,  # it was in a layer `jvp`
    "jit(step)/transpose(jvp(jit(f)))/block/conv2/add_any": "block/conv2",
    "jit(step)/jvp(jit(_uniform))/while/body/closed_call/add": None,
    "jit(step)/while/body/closed_call/block/while/body/mul": "block",
    "jit(step)/block/cond/branch_1_fun/tanh": "block",
    "jit(step)/checkpoint/rematted_computation/block/mul": "block",
    "net/conv1/Conv2D:Conv2D": "net/conv1",
    "net/ArgMax:ArgMax": "net",
    "net/ArgMax/dimension:Const": "net",
    "_send_net/ArgMax/dimension_0:_Send": None,
    "data/TensorSliceDataset:TensorSliceDataset": None,
    "inputs/x:Placeholder": None,
    "net/pool/MaxPool:MaxPool": "net/pool",
}


def test_layers_are_scopes_in_which_something_is_computed() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA stage")
        connection.execute(
            "CREATE TABLE stage.ops AS SELECT unnest($1) AS name, CAST(NULL AS VARCHAR) AS module_hierarchy",
            [list(SCOPES)],
        )
        found = connection.execute(
            f"SELECT name, module_hierarchy FROM ({text('ingest/xplane/scoped_ops')})"
        ).fetchall()
    assert dict(found) == SCOPES


@pytest.mark.slow
def test_the_gradient_of_a_pooling_is_pooling_of_its_layer(sample) -> None:  # type: ignore[no-untyped-def]
    """XLA makes it of numbered places, a search and a scatter, most of them without a name."""
    found = rows(
        sample(JAX),
        """SELECT layer, category, is_backward, list_sort(list(DISTINCT regexp_replace(hlo_kind, '^ynn ', ''))) FROM ops
        WHERE name LIKE '%select_and_scatter' OR hlo_kind IN ('iota', 'reduce-window') GROUP BY ALL ORDER BY ALL""",
    )
    kinds = ["broadcast scalar", "concatenate", "iota", "reduce-window", "scatter"]
    assert found == [(None, "pooling", True, kinds)]


def test_a_program_that_a_file_holds_twice_is_read_once(root: Path) -> None:
    once = gzip.decompress((root / "samples" / "xplane" / JAX).read_bytes())
    counts = []
    for data in (once, once + once):
        wire = Wire(data)
        programs = xplane._ran(wire, xspace.planes(wire))
        counts.append((len(programs), xspace.buffers(wire, programs).table.num_rows))
    assert counts[0] == counts[1] == (1, 86)


def parts(data: bytes) -> list[tuple[int, int | bytes]]:
    """The fields of a message, read one after the other: a number, and its value or bytes."""
    found: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        value, after = read_varint(data, at)
        skipped = {0: 0, 1: 8, 2: value, 5: 4}[tag & 7]
        at = at + skipped if tag & 7 in (1, 5) else after + skipped
        found.append((tag >> 3, data[after:at] if tag & 7 == 2 else value))
    return found


def inner(data: bytes, *path: int) -> list[Any]:
    """Everything at the end of a path of field numbers."""
    found: list[Any] = [data]
    for number in path:
        found = [value for part in found for key, value in parts(part) if key == number]
    return found


def test_memory_that_the_compiler_assigned_to_programs(root: Path, tmp_path: Path, sample) -> None:  # type: ignore[no-untyped-def]
    """Sums of all fourteen programs of the sample, counted here without the reader; only one of them ran."""
    data = gzip.decompress((root / "samples" / "xplane" / JAX).read_bytes())
    counted: dict[str, list[int]] = {}
    for plane in inner(data, 1):
        if b"/host:metadata" not in inner(plane, 2):
            continue
        for meta in inner(plane, 4, 2):
            (name,) = inner(meta, 2)
            sums = [0] * 5
            pieces = [dict(parts(piece)) for piece in inner(meta, 5, 6, 3, 3)]
            for piece in pieces:
                is_argument, is_output, is_own = bool(piece.get(5)), bool(piece.get(7)), bool(piece.get(3))
                is_rest = not (is_argument or is_output)
                kinds = (is_argument, is_output, is_rest and bool(piece.get(12)), is_rest and is_own)
                for at, is_one in enumerate((*kinds, not any(kinds))):
                    sums[at] += piece.get(2, 0) * is_one
            counted[name.decode()] = [len(pieces), *sums]
    assert len(counted) == 14
    assert counted["jit_step(26)"] == [86, 188_120, 137_912, 24, 308, 2_202_728]
    assert counted["jit__normal(20)"] == [8, 8, 50_176, 44, 0, 151_300]
    wire = Wire(data)
    (metadata,) = (plane for plane in xspace.planes(wire) if plane.name == "/host:metadata")
    programs = xspace.programs(wire, metadata)
    batch = xspace.buffers(wire, programs)
    assert batch.n_damaged == 0
    read: dict[str, list[int]] = {f"{one.module}({one.number})": [0] * 6 for one in programs}
    for row in batch.table.to_pylist():
        sums = read[f"{row['module']}({row['program']})"]
        is_rest = not (row["is_argument"] or row["is_output"])
        kinds = (row["is_argument"], row["is_output"], is_rest * row["is_constant"], is_rest * row["is_thread_local"])
        for at, is_one in enumerate((1, *kinds, not any(kinds))):
            sums[at] += (row["size_bytes"] if at else 1) * bool(is_one)
    assert read == counted
    found = rows(
        sample(JAX),
        """SELECT module, program, kind, count(*), CAST(sum(size_bytes) AS BIGINT) FROM program_buffers
        GROUP BY ALL ORDER BY kind""",
    )
    assert found == [
        ("jit_step", 26, "argument", 6, 188_120),
        ("jit_step", 26, "constant", 6, 24),
        ("jit_step", 26, "output", 5, 137_912),
        ("jit_step", 26, "temporary", 1, 2_202_728),
        ("jit_step", 26, "thread_local", 68, 308),
    ]
    names = "SELECT parameter, label, size_bytes FROM program_buffers WHERE parameter IS NOT NULL ORDER BY parameter"
    assert rows(sample(JAX), names) == [
        (0, "p[0]", 600), (1, "p[1]", 9600), (2, "p[2]", 122_880), (3, "p[3]", 4800), (4, "x", 50_176), (5, "y", 64),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.shared
def test_allocations_of_a_gpu_hold_what_the_compiler_assigned(captures, shared: Path) -> None:  # type: ignore[no-untyped-def]
    """Eight devices run one program five times: its result, its temporary buffer, and a filter copied from the host."""
    connection = captures.open(shared / "traces/xplane/mi300-jax-conv.xplane.pb.gz")
    found = rows(
        connection,
        """SELECT kind, is_guessed, program, size_bytes, count(*), count(DISTINCT device) FROM allocations
        WHERE how = 'recorded' GROUP BY ALL ORDER BY ALL""",
    )
    program = "jit_forward_3d_conv"
    assert found == [
        ("argument", True, program, 655_360, 35, 7),
        ("output", False, program, 572_026_880, 40, 8),
        ("output", True, program, 572_026_880, 8, 8),
        ("temporary", False, program, 579_072_256, 40, 8),
    ]
    found = rows(connection, "SELECT kind, size_bytes FROM program_buffers ORDER BY buffer")
    assert found == [
        ("output", 572_026_880), ("argument", 6_389_760), ("argument", 655_360), ("temporary", 579_072_256),
    ]  # fmt: skip


def test_jax_on_a_cpu(sample) -> None:  # type: ignore[no-untyped-def]
    """Thunks carry the XLA instruction; the HLO in /host:metadata gives the operator and its named scope."""
    connection = sample(JAX)
    assert rows(connection, "SELECT framework FROM captures") == [("JAX",)]
    found = rows(
        connection,
        """SELECT DISTINCT layer, category, is_backward, hlo_module FROM ops
        WHERE layer IN ('conv1', 'fc1') AND category IN ('conv', 'gemm', 'activation') ORDER BY ALL""",
    )
    assert found == [
        ("conv1", "activation", False, "jit_step"),
        ("conv1", "conv", False, "jit_step"),
        ("conv1", "conv", True, "jit_step"),
        ("fc1", "activation", False, "jit_step"),
        ("fc1", "gemm", False, "jit_step"),
        ("fc1", "gemm", True, "jit_step"),
    ]
    assert rows(connection, "SELECT count(*) FROM ranges WHERE kind = 'python'") > [(0,)]
    assert rows(connection, "SELECT count(*), count(step) FROM ops WHERE hlo_op IS NULL") == [(0, 0)]


@pytest.mark.slow
def test_jax_convolutions_have_pass_shapes_work_and_algorithm(sample) -> None:  # type: ignore[no-untyped-def]
    """AlexNet, batch 4: FLOPs are 4 x 2 x the multiplications of the layer table (STUDIES B.1)."""
    connection = sample(ALEXNET)
    found = rows(
        connection,
        """SELECT layer, direction, algorithm, libraries[1], input_shape, filter_shape, flop, count(*),
            bool_and(main_ns = total_ns) FROM conv_calls GROUP BY ALL ORDER BY ALL""",
    )
    layers = {
        "conv1": ([4, 3, 227, 227], [96, 3, 11, 11], 105_415_200),
        "conv2": ([4, 96, 27, 27], [256, 96, 5, 5], 447_897_600),
        "conv3": ([4, 256, 13, 13], [384, 256, 3, 3], 149_520_384),
        "conv4": ([4, 384, 13, 13], [384, 384, 3, 3], 224_280_576),
        "conv5": ([4, 384, 13, 13], [256, 384, 3, 3], 149_520_384),
    }
    assert found == [
        (layer, direction, "implicit_gemm", "ynnpack", *shapes, 8 * products, 2, True)
        for layer, (*shapes, products) in layers.items()
        for direction in ("dgrad", "fprop", "wgrad")
        if (layer, direction) != ("conv1", "dgrad")
    ]


def test_jax_gradients_without_a_name_and_folded_transposes(sample) -> None:  # type: ignore[no-untyped-def]
    lenet = "SELECT hlo_op, layer, category, direction, is_backward FROM ops WHERE hlo_op IN ('convolution.1', 'dot')"
    assert rows(sample(JAX), f"{lenet} GROUP BY ALL ORDER BY 1") == [
        ("convolution.1", "conv1", "conv", "wgrad", True),
        ("dot", "fc1", "gemm", None, True),
    ]
    moved = "SELECT layer, count(DISTINCT hlo_op) FROM ops WHERE category = 'layout_transpose' GROUP BY 1 ORDER BY 1"
    # Each filter gradient reads image and output gradient in another order; each input gradient a turned filter.
    expected = [("conv1", 2), ("conv2", 3), ("conv3", 3), ("conv4", 3), ("conv5", 3)]
    assert rows(sample(ALEXNET), moved) == expected


@pytest.mark.slow
@pytest.mark.shared
def test_cuda(captures, shared: Path) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(shared / "traces/xplane/sm61-tf2-train.xplane.pb.gz")
    assert rows(
        connection, "SELECT device, architecture, n_cores, memory_bytes, clock_hz, memory_bytes_per_s FROM devices"
    ) == [(0, "6.1", 10, 6364725248, 1670500000, 192192000000.0)]
    first = rows(
        connection,
        """SELECT stream, grid_x, block_x, registers, shared_bytes, correlation, op_name, op_link, layer FROM kernels
        ORDER BY start_ns LIMIT 1""",
    )
    conv = "Encoder/conv1_enc/Conv2D:Conv2D"
    assert first == [(13, 1, 1024, 17, 0, 2, conv, "correlation", "Encoder/conv1_enc")]
    assert rows(connection, "SELECT count(*), count(op_id), count(launch_id) FROM kernels") == [(502, 502, 502)]
    # Nothing is lost: two counters for each of 649 notes of the allocator, and 27 operators on the host,
    # three of which issued a copy (the others that did are worked out from launches).
    launched = "(SELECT op_id FROM kernels UNION SELECT op_id FROM memcpys)"
    query = f"SELECT ({KEPT}), count(*) FROM ops WHERE id NOT IN (FROM {launched} WHERE op_id IS NOT NULL)"
    assert rows(connection, query) == [(502 + 18 + 536 + 763, 27 - 3)]
    assert rows(connection, "SELECT name, count(*) FROM counters GROUP BY 1 ORDER BY 1") == [("allocated_bytes", 649)]
    # Three releases are of what was there before; each total is the sum of what is alive.
    found = rows(connection, "SELECT device, how, count(*), count(freed_ns) FROM allocations GROUP BY ALL ORDER BY ALL")
    assert found == [(0, "before", 1, 0), (0, "recorded", 318, 314), (None, "before", 1, 0), (None, "recorded", 10, 10)]
    assert rows(connection, content_of("checks/allocations_add_up")) == []
    found = rows(
        connection,
        """SELECT kind, count(*), max(size_bytes) FROM allocations WHERE kind = 'workspace'
            AND op_name = 'PerceptualNetwork/block2_conv2/Relu_1:_FusedConv2D' GROUP BY ALL""",
    )
    assert found == [("workspace", 2, 60_162_048)]


MIB = 1 << 20
NOTED = ("allocator_name", "bytes_allocated", "addr", "allocation_bytes", "bytes_reserved", "tf_op")
NOTES = (
    # time, allocation?, allocator, total after it, address, bytes
    *((0, True, "mklcpu", 5 * MIB, 16, MIB), (10, True, "gpu_host_bfc", 3 * MIB, 16, 2 * MIB)),
    *((20, False, "mklcpu", 4 * MIB, 16, MIB), (30, False, "mklcpu", 3 * MIB, 32, MIB)),
    *((40, True, "GPU_1_bfc", 7 * MIB, 16, 7 * MIB), (50, True, "GPU_1_bfc", 10 * MIB, 64, 2 * MIB)),
)


@pytest.mark.slow
def test_allocations_of_several_allocators(tmp_path: Path) -> None:
    """Two of the host have the same address, and each a total of its own; one of a GPU misses an event."""
    names = {1: "MemoryAllocation", 2: "MemoryDeallocation"}
    known = b"".join(field(4, field(1, key) + field(2, field(1, key) + field(2, name))) for key, name in names.items())
    known += b"".join(
        field(5, field(1, key) + field(2, field(1, key) + field(2, name))) for key, name in enumerate(NOTED, 1)
    )
    events = b""
    for at, is_one, allocator, total, address, size in NOTES:
        stats = field(4, field(1, 1) + field(5, allocator))
        for key, value in enumerate((total, address, size, 0), 2):
            stats += field(4, field(1, key) + field(4, value))
        events += field(4, field(1, 1 if is_one else 2) + field(2, 1000 * at) + field(3, 0) + stats)
    (tmp_path / "memory.pb").write_bytes(field(1, field(2, "/host:CPU") + field(3, events) + known))
    with traceview.open(tmp_path / "memory.pb") as capture:
        found = capture.sql(
            f"""SELECT device, address, size_bytes // {MIB}, allocated_ns, freed_ns, how FROM allocations
                ORDER BY device NULLS FIRST, allocated_ns NULLS FIRST, size_bytes"""
        ).fetchall()
        assert found == [
            *((None, 32, 1, None, 30, "recorded"), (None, None, 4, None, None, "before")),
            *((None, 16, 1, 0, 20, "recorded"), (None, 16, 2, 10, None, "recorded")),
            (1, 16, 7, 40, None, "recorded"),
            *((1, None, 1, 50, None, "difference"), (1, 64, 2, 50, None, "recorded")),
        ]
        totals = capture.sql("SELECT device, start_ns, value // 1048576, name FROM counters ORDER BY 2").fetchall()
        assert totals == [
            *((None, at, total, "allocated_bytes") for at, total in ((0, 6), (10, 8), (20, 7), (30, 6))),
            *((1, at, total, "allocated_bytes") for at, total in ((40, 7), (50, 10))),
        ]
        assert capture.sql(content_of("checks/allocations_add_up")).fetchall() == []


def test_state_of_an_optimizer_of_keras_is_no_activation(sample) -> None:  # type: ignore[no-untyped-def]
    """Momenta are products made at the start of a step; gradients are used during the backward pass."""
    connection = sample("keras-3.15.1-tensorflow-alexnet-cpu.xplane.pb.gz")
    found = rows(connection, "SELECT kind, phase, count(*) FROM allocations WHERE layer = 'sgd' GROUP BY ALL")
    assert found == [("optimizer_state", "optimizer", 14)]
    found = rows(connection, "SELECT DISTINCT kind FROM allocations WHERE op_name LIKE '%/gradient_tape/%'")
    assert found == [("unknown",)]
    assert rows(connection, "SELECT count(*) FROM counters WHERE name = 'allocated_bytes'") == [(118,)]
    assert rows(connection, content_of("checks/allocations_add_up")) == []


@pytest.mark.long
@pytest.mark.shared
def test_rocm(captures, shared: Path) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(shared / "traces/xplane/mi300-jax-conv.xplane.pb.gz")
    assert rows(connection, "SELECT count(DISTINCT device), count(DISTINCT (device, stream)) FROM kernels") == [(8, 11)]
    found = rows(
        connection,
        """SELECT op_name, hlo_op, hlo_module, grid_x, block_x, shared_bytes FROM kernels WHERE name = 'Im3d2Col.kd'
        ORDER BY start_ns LIMIT 1""",
    )
    op = "jit(forward_3d_conv)/conv_general_dilated"
    assert found == [(op, "cudnn-conv.1", "jit_forward_3d_conv", 1024, 256, 0)]
    assert rows(connection, "SELECT origin_unix_ns // 1000000000 FROM captures") == [(1771595639,)]
    assert rows(connection, "SELECT algorithm, count(*) FROM conv_calls GROUP BY 1") == [("explicit_gemm", 40)]


@pytest.mark.parametrize("name", [TF, JAX])
def test_only_this_reader_knows_it(root: Path, tmp_path: Path, name: str) -> None:
    unknown = tmp_path / "unknown"
    unknown.write_bytes(gzip.decompress((root / "samples" / "xplane" / name).read_bytes()))
    assert [reader.NAME for reader in READERS if reader.sniff(peek(unknown))] == ["xplane"]


@pytest.mark.long
def test_cut_at_any_byte(root: Path, tmp_path: Path) -> None:
    """Every cut gives rows with an account, or a sentence; the further the cut, the more rows."""
    whole = gzip.decompress((root / "samples" / "xplane" / TF).read_bytes())
    counts = []
    for number, cut in enumerate([*range(1, 60, 7), 500, 1000, 5000, 9000, 12_000, len(whole) - 1]):
        path = tmp_path / f"cut{number}.pb"
        path.write_bytes(whole[:cut])
        target = tmp_path / f"out{number}"
        try:
            store.convert([path], target)
        except InputError as error:
            assert len(str(error)) < 300
            counts.append(0)
            continue
        connection = connected(target)
        assert rows(connection, "SELECT count(*) FROM quality WHERE kind LIKE '%cut%'") != [(0,)]
        counts.append(rows(connection, f"SELECT ({KEPT}) + (SELECT count(*) FROM ops)")[0][0])
    assert counts == sorted(counts)
    assert counts[-1] > 300


@pytest.mark.parametrize(
    "content",
    [
        b"\x0a\x0b\x12\x09/host:CPU",
        b"\x0a\x0f\x12\x09/host:CPU\x1a\x7f\x22\x22",
        b"\x0a\x14\x12\x09/host:CPU" + b"\x1a\x07\x22\x05\x08\x01\x10\xff\xff",
        b"\x0a\x8b\x80\x80\x80\x08\x12\x09/host:CPU" + b"\x1a\x00" * 5000,
    ],
)
def test_hostile(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "hostile"
    path.write_bytes(content)
    assert xplane.sniff(peek(path))
    try:
        store.convert([path], tmp_path / "out")
    except InputError:
        return
    assert rows(connected(tmp_path / "out"), "SELECT count(*) FROM kernels") == [(0,)]


@pytest.mark.slow
def test_a_name_that_is_too_long_is_left_out_and_counted(tmp_path: Path) -> None:
    names = {1: "short", 2: "x" * (MAX_NAME_BYTES + 1)}
    named = {key: field(1, key) + field(2, field(1, key) + field(2, name)) for key, name in names.items()}
    dictionary = b"".join(field(4, entry) for entry in named.values())
    events = b"".join(field(4, field(1, key) + field(2, 1000 * key) + field(3, 1000)) for key in names)
    path = tmp_path / "long.pb"
    path.write_bytes(field(1, field(2, "/host:CPU") + field(3, events) + dictionary))
    store.convert([path], tmp_path / "out")
    connection = connected(tmp_path / "out")
    assert rows(connection, f"SELECT n FROM quality WHERE kind = '{TOO_LONG}'") == [(1,)]
    found = "SELECT name FROM ranges UNION ALL SELECT name FROM api_calls ORDER BY name"
    assert rows(connection, found) == [("short",), (None,)]


SHAPE, ON_HOST = "f32[1024,256]{1,0:T(8,128)}", "f32[1024,256]{1,0:T(8,128)S(5)}"


def copied(number: int, target: str, source: str) -> tuple[str, str]:
    """A copy's two instructions, as the compiler writes them."""
    both = f"({target}, {source}, u32[]{{:S(2)}})"
    return (
        f"%copy-start.{number} = {both} copy-start({source} %param.1)",
        f"%copy-done.{number} = {target} copy-done({both} %copy-start.{number})",
    )


def tpu(number: int, *instructions: tuple[str, int]) -> bytes:
    """A chip's plane: instructions one after the other, with their durations in nanoseconds. What follows a loop or a
    branch begins with it."""
    events, names, at = b"", b"", 0
    for key, (said, dur_ns) in enumerate(instructions, start=1):
        shown = said.removeprefix("%").partition(" ")[0]
        names += field(4, field(1, key) + field(2, field(1, key) + field(2, said) + field(4, shown)))
        events += field(4, field(1, key) + field(2, 1000 * at) + field(3, 1000 * dur_ns))
        at += dur_ns * (said[1:].split(".")[0] not in ("while", "conditional", "cond"))
    line = field(1, 2) + field(2, "XLA Ops") + field(3, 1_600_000_000_000_000_000) + events
    return field(1, field(1, number + 2) + field(2, f"/device:TPU:{number}") + field(3, line) + names)


def test_what_runs_outside_of_a_graph_is_an_operator_and_a_function_is_none(tmp_path: Path) -> None:
    names = ("EagerExecute", "EagerLocalExecute: Mul", "EagerLocalExecute: __inference_step_253")
    known = b"".join(
        field(4, field(1, key) + field(2, field(1, key) + field(2, name))) for key, name in enumerate(names, 1)
    )
    events = b"".join(
        field(4, field(1, key) + field(2, 5000 * at) + field(3, 4000)) for at, key in enumerate((1, 2, 2, 3))
    )
    (tmp_path / "eager.pb").write_bytes(field(1, field(2, "/host:CPU") + field(3, events) + known))
    with traceview.open(tmp_path / "eager.pb") as capture:
        assert capture.sql("SELECT name, category, start_ns, dur_ns FROM ops ORDER BY 3").fetchall() == [
            ("Mul:Mul", "elementwise", 5, 4),
            ("Mul:Mul", "elementwise", 10, 4),
        ]
        assert capture.sql("SELECT name FROM ranges ORDER BY 1").fetchall() == [(names[0],), (names[2],)]


START_OUT, DONE_OUT = copied(1, ON_HOST, SHAPE)
START_IN, DONE_IN = copied(2, SHAPE, ON_HOST)
PREFETCH = copied(3, "f32[4]{0:S(1)}", "f32[4]{0}")[1]
PROGRAM = (
    *(("%fusion.1 = f32[4]{0} fusion(f32[4]{0} %x)", 1000), (START_OUT, 10), (DONE_OUT, 20_000), (START_IN, 20)),
    *((DONE_IN, 9_000), (PREFETCH, 500), ("%all-reduce.3 = f32[4]{0} all-reduce(f32[4]{0} %y)", 4_000)),
    ("%infeed.5 = (f32[4]{0}, token[]) infeed(token[] %t)", 300),
)


@pytest.mark.slow
def test_a_tpu_waits_for_the_host_and_for_other_chips(tmp_path: Path) -> None:
    (tmp_path / "one.xplane.pb").write_bytes(tpu(0, *PROGRAM))
    with traceview.open(tmp_path / "one.xplane.pb") as capture:
        rows = capture.sql("SELECT name, kind, device, category, dur_ns FROM activities ORDER BY start_ns").fetchall()
    assert rows == [
        ("fusion.1", "kernel", "tpu 0", "xla_fusion", 1000),
        ("copy-start.1", "copy", "tpu 0", "memcpy_dtoh", 10),
        ("copy-done.1", "copy", "tpu 0", "memcpy_dtoh", 20_000),
        ("copy-start.2", "copy", "tpu 0", "memcpy_htod", 20),
        ("copy-done.2", "copy", "tpu 0", "memcpy_htod", 9_000),
        ("copy-done.3", "kernel", "tpu 0", "copy", 500),
        ("all-reduce.3", "kernel", "tpu 0", "communication", 4_000),
        ("infeed.5", "copy", "tpu 0", "memcpy_htod", 300),
    ]


def test_a_loop_of_a_tpu_is_no_work_beside_its_body(tmp_path: Path) -> None:
    """The product takes 300 of 450 ns, the branch's fusion 150; a loop of which no instruction was recorded is one."""
    loop, branch = "%while.3 = (s32[], f32[4]{0}) while(%tuple.1), condition=%c, body=%b", "%conditional.2"
    named, dot = "%cond.7 = f32[4]{0} conditional(%p, %x, %y)", ("%dot.1 = f32[4]{0} dot(f32[4]{0} %x)", 300)
    fusion, alone = ("%while_fusion.4 = f32[4]{0} fusion(f32[4]{0} %x)", 150), ("%while.9", 20)
    chip = tpu(0, (loop, 450), dot, (branch, 150), (named, 150), fusion, alone)
    (tmp_path / "loop.xplane.pb").write_bytes(chip)
    with traceview.open(tmp_path / "loop.xplane.pb") as capture:
        query = (
            "SELECT name, start_ns - min(start_ns) OVER (), dur_ns FROM {} ORDER BY start_ns, dur_ns DESC, name DESC"
        )
        work = [("dot.1", 0, 300), ("while_fusion.4", 300, 150), ("while.9", 450, 20)]
        assert capture.sql(query.format("kernels")).fetchall() == work
        ranges = [("while.3", 0, 450), ("conditional.2", 300, 150), ("cond.7", 300, 150)]
        assert capture.sql(query.format("ranges")).fetchall() == ranges
        assert capture.sql("SELECT sum(busy_ns) FROM device_busy").fetchall() == [(470,)]


@pytest.mark.slow
def test_a_loop_of_a_tpu_at_the_end_of_a_batch_is_no_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long line is cut, and what ran in the loop is in the next batch."""
    monkeypatch.setattr(xspace, "BATCH_EVENTS", 1)
    turns = (("%while.3", 300), ("%dot.1", 300)) * 1000
    (tmp_path / "loops.xplane.pb").write_bytes(tpu(0, *turns))
    with traceview.open(tmp_path / "loops.xplane.pb") as capture:
        found = capture.sql("SELECT name, count(*) FROM kernels GROUP BY 1 ORDER BY 1").fetchall()
    assert found == [("dot.1", 1000)]


@pytest.mark.long
def test_the_chips_of_a_recording_are_ranks_and_are_not_added_up(tmp_path: Path) -> None:
    host = field(1, field(1, 9) + field(2, "/host:CPU"))
    (tmp_path / "four.xplane.pb").write_bytes(b"".join(tpu(chip, *PROGRAM) for chip in range(4)) + host)
    with traceview.open(tmp_path / "four.xplane.pb") as capture:
        sums = capture.sql("SELECT rank, any_value(device), sum(dur_ns) FROM activities GROUP BY 1 ORDER BY 1")
        assert sums.fetchall() == [(chip, f"tpu {chip}", 34_830) for chip in range(4)]
        report = capture.report("overview")
    text = str(report)
    assert "TPU" in text
    assert "GPU" not in text


def gpu(number: int, steps: list[tuple[str, int, int]], **facts: str | int) -> bytes:
    """A GPU's plane: a kernel in the first half of each step, whose name, start and end in nanoseconds these are."""
    names, marks, kernels = field(4, field(1, 99) + field(2, field(1, 99) + field(2, "sgemm"))), b"", b""
    for key, (name, start, end) in enumerate(steps, start=1):
        names += field(4, field(1, key) + field(2, field(1, key) + field(2, name)))
        marks += field(4, field(1, key) + field(2, 1000 * start) + field(3, 1000 * (end - start)))
        kernels += field(4, field(1, 99) + field(2, 1000 * start) + field(3, 500 * (end - start)))
    zero = field(3, 1_600_000_000_000_000_000)
    lines = [field(3, field(1, 1) + field(2, name) + zero + events)
             for name, events in (("Stream #1(Compute)", kernels), ("Steps", marks))]  # fmt: skip
    for key, (name, value) in enumerate(facts.items(), start=1):
        names += field(5, field(1, key) + field(2, field(1, key) + field(2, name)))
        names += field(6, field(1, key) + (field(5, value) if isinstance(value, str) else field(3, value)))
    return field(1, field(1, number + 2) + field(2, f"/device:GPU:{number}") + b"".join(lines) + names)


@pytest.mark.slow
def test_the_memory_of_an_amd_gpu_is_as_fast_as_its_sheet_says(tmp_path: Path) -> None:
    """XLA gives 2 x 1.3 GHz x 8192 bit for an MI300X, whose memory moves four bits a clock; NVIDIA's is right."""
    one = {"device_vendor": "AMD", "device_type_string": "AMD Instinct MI300X", "memory_bandwidth": 2_662_400_000_000}
    two = {"device_vendor": "Nvidia", "device_type_string": "Tesla T4", "memory_bandwidth": 320_064_000_000}
    planes = (gpu(number, [("0", 0, 100)], **facts) for number, facts in enumerate((one, two)))
    (tmp_path / "gpus.xplane.pb").write_bytes(b"".join(planes))
    with traceview.open(tmp_path / "gpus.xplane.pb") as capture:
        found = capture.sql("SELECT device, memory_bytes_per_s, peaks_from FROM device_peaks ORDER BY 1").fetchall()
    assert [row[:2] for row in found] == [(0, 5.3e12), (1, 320.064e9)]
    assert "the profiler" not in found[0][2]
    assert "the profiler" in found[1][2]


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([("0", 50, 150), ("1", 250, 350)], [("0", 0, 150), ("1", 200, 350)]),
        ([("0", 5000, 5100), ("1", 5200, 5300)], [("0", 0, 200), ("1", 200, 5300)]),
        ([("1", 250, 350), ("2", 400, 500)], [("0", 0, 100), ("1", 200, 350), ("2", 400, 500)]),
        ([], [("0", 0, 100), ("1", 200, 300)]),
    ],
    ids=["beside", "one after the other", "another's", "one device"],
)
def test_a_step_lasts_until_the_last_device_has_ended_it(
    tmp_path: Path, others: list[tuple[str, int, int]], expected: list[tuple[str, int, int]]
) -> None:
    planes = gpu(0, [("0", 0, 100), ("1", 200, 300)]) + (gpu(1, others) if others else b"")
    (tmp_path / "gpus.xplane.pb").write_bytes(planes)
    with traceview.open(tmp_path / "gpus.xplane.pb") as capture:
        found = capture.sql("""SELECT name, start_ns - min(start_ns) OVER (), end_ns - min(start_ns) OVER ()
            FROM marked_steps ORDER BY start_ns""")
        assert found.fetchall() == expected


@pytest.mark.parametrize(
    ("marks", "steps"),
    [
        ([("train", 7, 0, 100), ("test", 0, 100, 200), ("test", 1, 200, 300), ("train", 8, 300, 390)],
         ["train 7", "train 8"]),
        ([("epoch", 0, 0, 250), ("batch", 0, 20, 120), ("batch", 1, 120, 220)], ["batch 0", "batch 1"]),
        ([("evaluate 1", 0, 0, 100), ("evaluate 2", 0, 100, 200)], ["evaluate 1 0", "evaluate 2 0"]),
    ],
    ids=["training and evaluation", "nested", "evaluation alone"],
)  # fmt: skip
def test_steps_are_annotations_of_one_name(
    tmp_path: Path, marks: list[tuple[str, int, int, int]], steps: list[str]
) -> None:
    """Annotations with a step's number: training counts before an evaluation that takes longer."""
    names, events = field(5, field(1, 1) + field(2, field(1, 1) + field(2, "step_num"))), b""
    for key, (name, number, start, end) in enumerate(marks, start=1):
        names += field(4, field(1, key) + field(2, field(1, key) + field(2, name)))
        events += field(4, field(1, key) + field(2, 1000 * start) + field(3, 1000 * (end - start))
                        + field(4, field(1, 1) + field(4, number)))  # fmt: skip
    host = field(1, field(1, 9) + field(2, "/host:CPU") + field(3, field(1, 1) + events) + names)
    (tmp_path / "marks.xplane.pb").write_bytes(host + gpu(0, []))
    with traceview.open(tmp_path / "marks.xplane.pb") as capture:
        found = capture.sql("SELECT name, kind FROM ranges ORDER BY start_ns, dur_ns DESC").fetchall()
    expected = [f"{name} {number}" for name, number, _, _ in marks]
    assert found == [(name, "step" if name in steps else "user") for name in expected]


LAUNCHED = ("correlation_id", "hlo_op", "hlo_module", "tf_op")
GEMM, CONV = "jit(f)/fc/dot_general", "jit(f)/a/conv_general_dilated"
CALLS = [
    # An operator, its kernels (a letter each), spans of its instruction, kernels of each call.
    (GEMM, "ppp", [], ["p", "p", "p"]),
    (GEMM, "prprpr", [], ["pr", "pr", "pr"]),  # With the reduction of a split K.
    (GEMM, "tprtpr", [(1, 20)], ["tprtpr"]),
    (CONV, "ppp", [], ["p", "p", "p"]),
    (CONV, "tpt", [], ["tpt"]),
    (CONV, "ttpttp", [(1, 7), (8, 20)], ["ttp", "ttp"]),
    # Two calls, or one that lowers and multiplies an image at a time: nothing is claimed of it.
    (CONV, "tptp", [], ["tptp"]),
]


def launched() -> bytes:
    """A GPU on whose streams `CALLS` run, each launched by a thread of its own; times are microseconds."""
    instructions = [f"custom-call.{number}" for number in range(len(CALLS))]
    keys = {name: key for key, name in enumerate((*"prt", "cuLaunchKernel", *instructions), start=1)}
    known = b"".join(field(4, field(1, key) + field(2, field(1, key) + field(2, name))) for name, key in keys.items())
    known += b"".join(
        field(5, field(1, key) + field(2, field(1, key) + field(2, name))) for key, name in enumerate(LAUNCHED, 1)
    )

    def event(name: str, start: int, end: int, *stats: bytes) -> bytes:
        place = field(1, keys[name]) + field(2, 10**6 * start) + field(3, 10**6 * (end - start))
        return field(4, place + b"".join(field(4, field(1, key) + stat) for key, stat in enumerate(stats, 1)))

    device, host = field(1, 1) + field(2, "/device:GPU:0"), field(1, 2) + field(2, "/host:CPU")
    for number, (operator, kernels, spans, _) in enumerate(CALLS):
        stream, thread = field(1, number) + field(2, f"Stream #{number}(Compute)"), field(1, number)
        facts = [field(5, text) for text in (instructions[number], "jit_f", operator)]
        for at, name in enumerate(kernels, 1):
            correlation = field(4, 100 * number + at)
            stream += event(name, 2 * at + 9, 2 * at + 10, correlation, *facts)
            thread += event("cuLaunchKernel", 2 * at, 2 * at + 1, correlation)
        device += field(3, stream)
        host += field(3, thread + b"".join(event(instructions[number], *span) for span in spans))
    return field(1, device + known) + field(1, host + known)


def test_an_instruction_that_runs_again_is_another_call(tmp_path: Path) -> None:
    (tmp_path / "again.xplane.pb").write_bytes(launched())
    with traceview.open(tmp_path / "again.xplane.pb") as capture:
        found = capture.sql("""SELECT k.stream, string_agg(k.name, '' ORDER BY k.start_ns), any_value(o.hlo_op)
            FROM kernels k JOIN ops o ON o.id = k.op_id GROUP BY k.stream, k.op_id ORDER BY 1, min(k.start_ns)""")
        assert found.fetchall() == [
            (number, kernels, None if kernels == "tptp" else f"custom-call.{number}")
            for number, (*_, calls) in enumerate(CALLS)
            for kernels in calls
        ]


def test_instructions_of_compiled_programs_have_costs(sample) -> None:  # type: ignore[no-untyped-def]
    """AlexNet in JAX, two steps with batch 4: products of three layers, forward and twice backward, and its update."""
    connection = sample("jax-0.10.2-alexnet-cpu.xplane.pb.gz")
    query = "SELECT count(*), sum(matrix_flop), any_value(how) FROM op_costs WHERE family = 'gemm' AND reason IS NULL"
    weights = 9216 * 4096 + 4096 * 4096 + 4096 * 1000
    assert rows(connection, query) == [(18, 2 * 3 * 2 * 4 * weights, "the compiled program (HLO)")]
    # The largest update reads weight and gradient and writes the weight.
    query = "SELECT max(bytes), max(vector_flop) FROM op_costs WHERE model = 'XLA elementwise'"
    assert rows(connection, query) == [(3 * 4 * 9216 * 4096, 2 * 9216 * 4096)]
    uncovered = """SELECT count(*) FROM activities a JOIN ops o ON o.id = a.op_id WHERE a.step IS NOT NULL
        AND o.hlo_kind NOT IN ('while', 'call') AND a.op_id NOT IN (SELECT op_id FROM op_costs WHERE op_id IS NOT NULL)
        AND o.layer NOT LIKE 'conv%' AND o.id NOT IN (SELECT a.id FROM attributed.op a JOIN conv_calls c
        ON c.op_id = a.call_id)"""
    assert rows(connection, uncovered) == [(0,)]
