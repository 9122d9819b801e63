"""THE schema: every table and column of a capture, with type, unit and meaning.

Conventions, which are the whole manual: time is a 64-bit integer of nanoseconds since the capture's origin
(`captures.origin_unix_ns`); a column's suffix is its unit (`_ns`, `_bytes`, `_pct`, `_hz`, `_flop`, `_per_s`), no
suffix means a count, an id or a name; NULL means "not recorded"; `id` is unique over all tables of a capture.

A column is written by a reader unless it is `derived`: then `traceview/derive` works it out from the rest. Tables
of experiments stand in `experiment_tables.py`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from traceview.experiment_tables import EXPERIMENTS

RANK_SHIFT = 40
"""ids are `rank << RANK_SHIFT | position in the rank's file`, so a capture holds a million million rows per rank."""

ID = "ID"
"""Type of a column that holds an id of this capture; BIGINT in the files."""

_SQL_TYPES = {ID: "BIGINT", "PROBLEMS": "STRUCT(kind VARCHAR, n BIGINT, examples VARCHAR[])[]"}


@dataclass(frozen=True)
class Column:
    """One column: DuckDB type (or `ID`), meaning, and whether it is derived rather than read."""

    name: str
    type: str
    doc: str
    derived: bool = False

    @property
    def sql_type(self) -> str:
        """The DuckDB type in files and views."""
        return _SQL_TYPES.get(self.type, self.type)


@dataclass(frozen=True)
class Table:
    """One table: what a row is, and its columns in order. `rank` comes first in every table and is added on the way."""

    name: str
    doc: str
    columns: tuple[Column, ...]
    optional: bool = False
    """Whether captures without a row of it have no file either; it is an empty table there."""

    @property
    def has_id(self) -> bool:
        """Whether rows carry an `id`."""
        return any(column.name == "id" for column in self.columns)

    def read_columns(self) -> tuple[Column, ...]:
        """The columns that readers write."""
        return tuple(column for column in self.columns if not column.derived)

    def derived_columns(self) -> tuple[Column, ...]:
        """The columns that `derive` adds."""
        return tuple(column for column in self.columns if column.derived)


def _column(line: str) -> Column:
    name, type_, doc = line.split(None, 2)
    derived = name.startswith("+")
    return Column(name.lstrip("+"), type_, doc, derived)


def _table(name: str, doc: str, columns: str, optional: bool = False) -> Table:
    """A table from lines `name type meaning`; a leading + marks a derived column."""
    return Table(name, doc, tuple(_column(line) for line in columns.splitlines() if line), optional)


_COVER = """
+device_until_ns BIGINT latest end of what started before it on its device; the part after it is this row's alone
+rank_until_ns BIGINT the same over all devices of the rank
"""
_SPAN = """
id ID unique over all tables of the capture
start_ns BIGINT start, nanoseconds since the capture's origin
dur_ns BIGINT duration in nanoseconds, never negative
"""
_THREAD = """
pid BIGINT process id (text ids are numbered)
tid BIGINT thread id (text ids are numbered)
"""
_RANGES = """
+range_id ID innermost NVTX range around its launch, on the launch's thread
+library_id ID the call of cuDNN or cuBLAS around its launch, on the launch's thread
"""
_PLACE = """
+op_id ID the operator that caused it
+op_link VARCHAR how the operator was found: correlation, external_id, name, time, recorded (by name); or why it was not
+op_name VARCHAR name of that operator
+op_path VARCHAR that operator and up to three around it, innermost first, joined by <
+layer VARCHAR module or layer, as the framework or the collector named it
+phase VARCHAR data, forward, backward or optimizer
+step BIGINT training step in which it was launched
"""

TABLES: tuple[Table, ...] = (
    _table(
        "captures",
        "one trace file that was read into the capture",
        """
source VARCHAR file name of the trace
format VARCHAR reader that understood it
tool VARCHAR profiler that wrote it
tool_version VARCHAR version of that profiler or of its file schema
framework VARCHAR framework that ran, where recorded
framework_version VARCHAR version of the framework
command VARCHAR command that was profiled
origin_unix_ns BIGINT time zero of this capture, nanoseconds since 1970; NULL where the trace has no wall clock
clock VARCHAR how this file's times were brought onto the capture's clock
n_events BIGINT events found in the file
n_kept BIGINT events that became rows
n_repaired BIGINT events kept after a repair
n_dropped BIGINT events that could not be read
problems PROBLEMS what was wrong in the file, with up to ten examples each
warnings VARCHAR[] what the profiler itself warned of
metadata VARCHAR everything else the file says about itself, as JSON
options VARCHAR what traceview collect wrote about the run, as JSON
""",
    ),
    _table(
        "ranks",
        "a process of the job",
        """
world_size BIGINT number of processes in the job
host VARCHAR host name
pid BIGINT process id
backend VARCHAR communication library of the job
process_groups VARCHAR groups of ranks, as JSON
clock_offset_ns BIGINT what was added to this rank's times to line it up with the others
""",
    ),
    _table(
        "devices",
        "a device of a rank",
        """
device BIGINT number of the device, as recorded
name VARCHAR product name
kind VARCHAR gpu, cpu, tpu
architecture VARCHAR chip family or compute capability
n_cores BIGINT streaming multiprocessors, compute units or CPU cores
max_threads_per_core BIGINT threads that can be resident on one of them
memory_bytes BIGINT device memory
clock_hz BIGINT core clock
memory_bytes_per_s DOUBLE peak memory bandwidth
fp32_flop_per_s DOUBLE peak single-precision rate without tensor cores
peaks_from VARCHAR where the peaks come from
""",
    ),
    _table(
        "kernels",
        "one kernel on a device stream",
        _SPAN
        + """
device BIGINT device number, as recorded
context BIGINT context on the device
stream BIGINT stream number, as recorded
name VARCHAR kernel name, as recorded
grid_x BIGINT blocks in x
grid_y BIGINT blocks in y
grid_z BIGINT blocks in z
block_x BIGINT threads per block in x
block_y BIGINT threads per block in y
block_z BIGINT threads per block in z
registers BIGINT registers per thread
shared_bytes BIGINT shared memory per block, static and dynamic
occupancy_pct DOUBLE estimated achieved occupancy, of the device's resident threads
correlation BIGINT joins the kernel to the call that launched it
external_id BIGINT the profiler's own number of the operator (often wrong: see op_link)
graph BIGINT CUDA graph it was launched in
graph_node BIGINT node of that graph
recorded_op VARCHAR name of the operator, where the profiler wrote it beside the kernel
hlo_op VARCHAR XLA instruction, where recorded
hlo_module VARCHAR XLA module, where recorded
+launch_id ID the API call that launched it
"""
        + _RANGES
        + _PLACE
        + _COVER,
    ),
    _table(
        "memcpys",
        "one memory copy or memset on a device stream",
        _SPAN
        + """
device BIGINT device number, as recorded
context BIGINT context on the device
stream BIGINT stream number, as recorded
name VARCHAR name, as recorded
direction VARCHAR HtoD, DtoH, DtoD, PtoP, HtoH, memset, or unknown
src_kind VARCHAR memory copied from: pageable, pinned, device, managed, array
dst_kind VARCHAR memory copied to
src_device BIGINT device copied from, for copies between devices
dst_device BIGINT device copied to, for copies between devices
size_bytes BIGINT bytes copied or filled
correlation BIGINT joins the copy to the call that issued it
external_id BIGINT the profiler's own number of the operator
recorded_op VARCHAR name of the operator, where the profiler wrote it beside the copy
+launch_id ID the API call that issued it
"""
        + _RANGES
        + _PLACE
        + _COVER,
    ),
    _table(
        "primitives",
        "one call into a CPU library's primitive (oneDNN, NNPACK)",
        _SPAN
        + """
library VARCHAR library and version
kind VARCHAR primitive: convolution, reorder, matmul, pooling, eltwise ...
impl VARCHAR implementation the library chose, for example jit:avx512_core
prop_kind VARCHAR propagation kind as recorded
algorithm_recorded VARCHAR the library's own name of the algorithm
shape VARCHAR problem as recorded, for example mb16_ic3oc64_ih224oh55kh11sh4dh0ph2
formats VARCHAR memory formats of the tensors, as recorded
attributes VARCHAR post-ops and scratchpad, as recorded
+pid BIGINT process of the operator that called it
+tid BIGINT thread of the operator that called it
"""
        + _PLACE,
    ),
    _table(
        "ops",
        "one framework operator on a host thread",
        _SPAN
        + _THREAD
        + """
name VARCHAR operator name, as recorded
shapes VARCHAR input shapes, as JSON; of an XLA convolution image and filter of the forward pass, channels first
strides VARCHAR input strides, as JSON
types VARCHAR input types, as JSON
inputs VARCHAR inputs that are not tensors, as JSON; of an XLA convolution stride, padding, dilation and groups
external_id BIGINT the profiler's number of this operator
sequence BIGINT autograd sequence number: joins a backward operator to its forward one
forward_thread BIGINT profiler's thread number of the forward operator; set on backward operators
call_stack VARCHAR Python stack, where recorded
module_hierarchy VARCHAR module path, where recorded
output_shapes VARCHAR shapes of the results, as JSON
hlo_op VARCHAR XLA instruction, where recorded
hlo_module VARCHAR XLA module, where recorded
hlo_kind VARCHAR what that instruction computes: opcode, of a fusion that of what it is for; library before, pass behind
backend VARCHAR what ran it, as recorded: execution provider, device
+parent_id ID innermost operator around it on its thread
+depth BIGINT 0 for an operator inside no other
+path VARCHAR its name and those of up to three operators around it, innermost first, joined by <
+self_ns BIGINT duration minus that of the operators directly inside it
+is_backward BOOLEAN whether it ran for the backward pass
+forward_id ID the forward operator it is the gradient of
+layer VARCHAR module or layer it ran for
+phase VARCHAR data, forward, backward or optimizer
+step BIGINT training step in which it started
""",
    ),
    _table(
        "ranges",
        "one named span: step, phase, module, NVTX range, Python function",
        _SPAN
        + _THREAD
        + """
kind VARCHAR step, phase, module, nvtx, library (a call of cuDNN or cuBLAS), user, python or device (as seen there)
name VARCHAR name; for step, phase and module without the prefix that marked it
domain VARCHAR NVTX domain or library that opened it
payload VARCHAR value recorded with the range, as text
+parent_id ID innermost range of the same kind around it on its thread
+depth BIGINT 0 for a range inside no other of its kind
+step BIGINT training step in which it started; for kind step its own number, or place where numbers come twice
""",
    ),
    _table(
        "api_calls",
        "one call into the device's runtime or driver",
        _SPAN
        + _THREAD
        + """
name VARCHAR function name, as recorded
kind VARCHAR runtime or driver
correlation BIGINT joins the call to what it put on the device
external_id BIGINT the profiler's own number of the operator
+op_id ID innermost operator around the call on its thread
+range_id ID innermost NVTX range around the call on its thread
+library_id ID innermost call of cuDNN or cuBLAS around it on its thread
+step BIGINT training step in which it started
""",
    ),
    _table(
        "links",
        "a recorded flow between two events",
        """
id ID unique over all tables of the capture
kind VARCHAR forward_backward or launch
flow BIGINT number of the flow, as recorded
source_ns BIGINT time at which it leaves
source_pid BIGINT process it leaves
source_tid BIGINT thread it leaves
target_ns BIGINT time at which it arrives
target_pid BIGINT process it arrives in
target_tid BIGINT thread or stream it arrives in
""",
    ),
    _table(
        "collectives",
        "one communication call",
        _SPAN
        + """
name VARCHAR name of the kernel or range, as recorded
kind VARCHAR all_reduce, broadcast, all_to_all ...
kernel_id ID the kernel that did it, NULL for communication by the CPU
size_bytes BIGINT bytes of the input
n_elements BIGINT elements of the input
dtype VARCHAR element type
group_name VARCHAR process group
group_size BIGINT ranks in the group
sequence BIGINT number of the call in its group
algorithm VARCHAR algorithm and protocol, where the name tells
""",
    ),
    _table(
        "counters",
        "one sample of a counter",
        """
id ID unique over all tables of the capture
start_ns BIGINT time of the sample, nanoseconds since the capture's origin
pid BIGINT process id
device BIGINT device number, NULL for the host
name VARCHAR counter; its suffix is its unit
value DOUBLE the sample
""",
    ),
    _table(
        "events",
        "every other timed thing, so that nothing is lost",
        _SPAN
        + _THREAD
        + """
category VARCHAR category, as recorded
phase VARCHAR kind of event in the trace format, as recorded
name VARCHAR name, as recorded
args VARCHAR arguments, as JSON
""",
    ),
    *(_table(*texts, optional=True) for texts in EXPERIMENTS),
)

BY_NAME: dict[str, Table] = {table.name: table for table in TABLES}

SCHEMA_VERSION = hashlib.sha256(repr(TABLES).encode()).hexdigest()[:16]
"""Part of every cache key: a cache written with other tables or columns is rebuilt."""
