"""THE schema: every table and column of a capture, with type, unit and meaning.

Conventions, which are the whole manual: time is a 64-bit integer of nanoseconds since the capture's origin
(`captures.origin_unix_ns`); a column's suffix is its unit (`_ns`, `_bytes`, `_pct`, `_hz`, `_flop`, `_per_s`), no
suffix means a count, an id or a name; NULL means "not recorded"; `id` is unique over all tables of a capture.

A column is written by a reader unless it is `derived`: then `traceview/derive` works it out from the rest. Only
captures with rows of an experiment (tune, study, schedule) have files of its tables.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

EXPERIMENTS: tuple[tuple[str, str, str], ...] = (
    (
        "tune_runs",
        "one run of a command under some options, in a fresh process without a profiler",
        """
phase VARCHAR why it was run: screening, combination, ablation, final
pair BIGINT number of its round; the runs of a round are compared with each other
place BIGINT place in its round
side VARCHAR base, with (the options), or again (repeated baseline: null comparison)
candidate VARCHAR options that are tried, joined by +; nothing for the base of several
options VARCHAR options that were on in this run, joined by +; empty for none
step_ns BIGINT mean wall time of its steps, without the discarded ones: their time over their number
step_cpu_ns BIGINT mean processor time of its steps, all threads of the process
step_median_ns BIGINT median wall time of its steps
step_longest_ns BIGINT wall time of the longest of them
steps BIGINT steps that were timed
discarded BIGINT first steps that were left out
loss DOUBLE loss of the last step
checksum VARCHAR checksum of all parameters after the last step
parameter_norms VARCHAR norm of each tensor of parameters after the last step, as JSON; of very many, groups
others_pct DOUBLE share of the cores that other programs took while its steps ran
exit_code BIGINT of the command; minus the signal's number where one ended it
status VARCHAR timed, failed (no times), noisy (others took the cores)
reason VARCHAR why it failed
applied VARCHAR what each option was seen to do, as JSON
started_unix_ns BIGINT when it began, nanoseconds since 1970
total_ns BIGINT duration of the whole run, start-up included
""",
    ),
    (
        "tune_options",
        "result of one option or combination",
        """
place BIGINT order in which they were tried
name VARCHAR the option; of a combination its options, joined by +
kind VARCHAR option, combination, null (nothing was changed: the check of the measurement itself)
title VARCHAR what it does
speedup DOUBLE step time without it over that with it, from the last phase in which it was tried
low DOUBLE lower end of the interval of that
high DOUBLE upper end
confidence DOUBLE share of all cases, 0 to 1, in which such an interval holds the true value
p DOUBLE chance of a difference like this, or larger, if there were none; two-sided exact Wilcoxon signed-rank test
pairs BIGINT pairs of runs that this rests on
cpu_speedup DOUBLE the same ratio of processor times
phase VARCHAR phase that this is from: screening, combination, final
verdict VARCHAR faster, slower, no difference seen, cannot decide, too noisy, dropped, not tried, failed, not applicable
reason VARCHAR why, where the verdict needs one
rule VARCHAR advice rule that named it
bound DOUBLE speed-up that this rule allows at most
bound_judged VARCHAR reached, partly, not reached, exceeded
numbers VARCHAR what was seen of loss and parameters: equal, close, changed, not seen
numbers_expected VARCHAR what the option says of them: equal, close, changed
loss_difference DOUBLE largest relative difference of the loss
parameters_difference DOUBLE largest relative difference of the norm of a tensor of parameters
cost VARCHAR what it costs
unless VARCHAR when not to use it
how VARCHAR how to put it into the script, for its framework
applied VARCHAR what it was seen to do
adds DOUBLE of a part of the best: step time of the best without it over that with it, in fresh pairs
adds_low DOUBLE lower end of the interval of that
adds_high DOUBLE upper end
visible DOUBLE of the change of nothing: gain (0.1: a tenth) that would have been seen in four of five such searches
left_out VARCHAR why it is no part of the best though it was promising
in_best BOOLEAN whether it is part of the best combination
""",
    ),
    (
        "algorithm_times",
        "one way to compute one pass of a convolution: measured, published, modelled, or why it cannot be",
        """
layer VARCHAR name of the layer in its model, or its shape
model VARCHAR network that it is of
direction VARCHAR fprop, dgrad, wgrad; backward where a publication gives one time for both gradients
batch BIGINT images
in_channels BIGINT channels of the input
height BIGINT of the input
width BIGINT of the input
out_channels BIGINT filters
filter_height BIGINT of a filter
filter_width BIGINT of a filter
stride_h BIGINT stride
stride_w BIGINT stride
pad_h BIGINT rows of zeros added on each side
pad_w BIGINT columns of zeros added on each side
dilation_h BIGINT distance of the filter's elements, 1 for adjacent
dilation_w BIGINT the same in the other direction
groups BIGINT groups of channels that know nothing of each other
dtype VARCHAR element type of the tensors: float32 ...
device VARCHAR cpu, or the GPU's product name
threads BIGINT threads that computed, on a CPU
backend VARCHAR library: torch, onednn, nnpack, cudnn ...
backend_version VARCHAR its version
implementation VARCHAR the library's name of what ran, asked of the library or read from its log
algorithm VARCHAR explicit_gemm, implicit_gemm, direct, fft, fft_tiling, winograd ...; see docs/vocabulary.md
layout_in VARCHAR demanded layout of the input or its gradient: nchw, nhwc, or a blocked one by the library's name
layout_out VARCHAR demanded layout of the output or its gradient
wall_ns BIGINT wall time of the pass alone, median of n
wall_low_ns BIGINT lower end of the interval that holds the true median in at least 95 % of cases; the least below n = 6
wall_high_ns BIGINT upper end; the most below n = 6
cpu_ns BIGINT processor time of all threads of the process, median of n
n BIGINT times that the pass was timed
workspace_bytes BIGINT memory that it needs beside tensors and result
prepare_ns BIGINT to bring the filter into the form it needs (layout, transform); once per change of the filter
layout_ns BIGINT to bring the other operands from plain NCHW into the layouts it demands, and a result back
flop BIGINT of the direct method, multiplications and additions
error DOUBLE largest error over largest value, against double precision
status VARCHAR measured, published, modelled, cannot (by its conditions), failed (while running), wrong (its error)
reason VARCHAR why, where it is not measured, published or modelled
source VARCHAR where the row is from: this machine's processor, or the publication
others_pct DOUBLE share of the cores that other programs took meanwhile
proof VARCHAR how the implementation's name was found: queried (of the library), log, operators, call
""",
    ),
    (
        "schedule_layers",
        "what a plan runs in one pass of one convolution, and why",
        """
place BIGINT order in which the layers run
layer VARCHAR name of the module
direction VARCHAR fprop, dgrad, wgrad
batch BIGINT images
in_channels BIGINT channels of the input
height BIGINT of the input
width BIGINT of the input
out_channels BIGINT filters
filter_height BIGINT rows of a filter
filter_width BIGINT columns of a filter
stride_h BIGINT rows from one output to the next
stride_w BIGINT columns from one output to the next
pad_h BIGINT rows of zeros above and below
pad_w BIGINT columns of zeros left and right
dilation_h BIGINT distance of the filter's elements, 1 for adjacent
dilation_w BIGINT the same in the other direction
groups BIGINT groups of channels that know nothing of each other
dtype VARCHAR element type of the tensors
layout VARCHAR layout of activations there: nchw, nhwc
backend VARCHAR what runs: torch_default (PyTorch's own), winograd ...
implementation VARCHAR which of its implementations
algorithm VARCHAR winograd ...; none where PyTorch chooses
time_ns BIGINT of the pass alone, the least of several, measured in turns
own_ns BIGINT of PyTorch's own on plain NCHW, measured with it
workspace_bytes BIGINT memory that it needs beside tensors and result
error DOUBLE largest error over largest value, against double precision
own_error DOUBLE the same of PyTorch's own
second VARCHAR the next best, of another algorithm or size of tiles
second_ns BIGINT time of that
in_step_ns BIGINT time of the pass within a training step
own_in_step_ns BIGINT time of PyTorch's own within a training step
status VARCHAR chosen, own (nothing was faster), dropped (not faster within the step), not proved
reason VARCHAR why a back-end could not run it
""",
    ),
    (
        "schedule_plans",
        "the time of all convolutions under a plan: the one that was made, and those that it is compared with",
        """
name VARCHAR the plan; PyTorch's own; or one algorithm wherever it can run
convolutions_ns BIGINT sum of the measured passes, with changes of layout where the plan makes them
modelled_speedup DOUBLE that of PyTorch's own on plain NCHW over this
speedup DOUBLE whole training steps: the time without the plan over that with it, from pairs of fresh processes
low DOUBLE lower end of the interval of that
high DOUBLE upper end
pairs BIGINT rounds of one process with the plan and two without it that this rests on
noisy_pairs BIGINT rounds in which other programs took a tenth of the cores
clock VARCHAR times that were compared: wall, or processor (one thread, on a busy machine)
verdict VARCHAR faster, slower, no difference seen, cannot decide, too noisy, not proved end to end
""",
    ),
    (
        "scaling_runs",
        "one run of a training command by several processes, without a profiler (traceview study scaling)",
        """
round BIGINT round that it belongs to; every ranks and batch has one run in each
place BIGINT place in its round
mode VARCHAR weak (the batch of a rank stays), strong (the batch of all ranks together stays)
ranks BIGINT processes
batch BIGINT samples of a rank in each step
global_batch BIGINT samples of all ranks in each step
threads BIGINT threads of each process
cores BIGINT cores that the processes share
step_ns BIGINT mean wall time of a step, of the slowest rank
step_cpu_ns BIGINT median processor time of a step, most of any rank
fastest_ns BIGINT median wall time of a step, of the fastest rank
steps BIGINT steps that were timed
device VARCHAR cpu, cuda
others_pct DOUBLE share of the cores that other programs took meanwhile
exit_code BIGINT of the command; minus the signal's number where one ended it
status VARCHAR timed, failed (no times of some rank), noisy (others took the cores)
reason VARCHAR why it failed
started_unix_ns BIGINT when it began, nanoseconds since 1970
total_ns BIGINT duration of the whole run, start-up included
""",
    ),
    (
        "scaling_exchanges",
        "communication in a recording of some steps, by ranks and batch; per step, mean of the ranks",
        """
mode VARCHAR weak, strong
ranks BIGINT processes
batch BIGINT samples of a rank in each step
global_batch BIGINT samples of all ranks in each step
library VARCHAR what exchanged: gloo, nccl ...
calls DOUBLE collectives of a rank
step_ns BIGINT the step while it was recorded, mean
communication_ns BIGINT time in which some communication of the rank was under way
exposed_ns BIGINT of it while nothing computed on the rank
wait_ns BIGINT of the calls, until the last rank came
transfer_ns BIGINT of the calls, the rest
gradient_bytes BIGINT bytes that a rank put into all-reduce and reduce-scatter
parameters BIGINT of the model
others_pct DOUBLE share of the cores that other programs took meanwhile
capture VARCHAR the recording, a folder beside the tables
status VARCHAR recorded, failed
reason VARCHAR why it failed
""",
    ),
    (
        "collective_times",
        "time of a collective by bytes and ranks: measured in a recording, or published",
        """
kind VARCHAR all_reduce ...
ranks BIGINT processes that take part
nodes BIGINT hosts that they run on
size_bytes BIGINT bytes that each rank puts in
wall_ns BIGINT time without waiting for the last rank: median over the steps, or as published
n BIGINT collectives that this rests on
mode VARCHAR weak, strong; of the training that it was measured in
batch BIGINT samples of a rank in each step of that
place BIGINT first, second ... of the step
at_ns BIGINT its start, from the start of the step, mean
wait_ns BIGINT waiting for the last rank, mean of the ranks
hidden_pct DOUBLE of the calls, while the same rank computed
others_pct DOUBLE share of the cores that other programs took meanwhile
cores BIGINT cores that the processes share, on a CPU
threads BIGINT threads of each process
library VARCHAR gloo, nccl ...
device VARCHAR cpu, or the GPU's product name
status VARCHAR measured, published
source VARCHAR the publication
""",
    ),
    (
        "scaling_points",
        "how training with so many ranks and this batch compares with the fewest ranks",
        """
status VARCHAR measured, published, recorded (steps with a profiler, in captures that were there)
mode VARCHAR weak, strong
ranks BIGINT processes, or GPUs
base_ranks BIGINT what it is compared with
batch BIGINT samples of a rank in each step
global_batch BIGINT samples of all ranks in each step
runs BIGINT rounds that it rests on
noisy BIGINT of these, rounds in which other programs took a tenth of the cores
is_oversubscribed BOOLEAN whether the processes have more threads than there are cores
step_ns BIGINT step time, median of the rounds
samples_per_s DOUBLE samples of all ranks over that
speedup DOUBLE samples per second over those of base_ranks, from pairs of runs of one round
low DOUBLE lower end of its interval
high DOUBLE upper end
confidence DOUBLE share of all cases, 0 to 1, in which such an interval holds the true value
verdict VARCHAR faster, slower, no difference seen, too noisy, cannot decide, failed, base
reason VARCHAR why, where the verdict needs one
name VARCHAR of a publication: what was trained
source VARCHAR the publication
""",
    ),
    (
        "scaling_models",
        "a model of the time of an all-reduce, fitted to measured or published times",
        """
scope VARCHAR which times: all, those of no more ranks than cores, or the publication
model VARCHAR parameter server, tree, ring
latency_ns DOUBLE of one message; NULL where all have one size, and it counts as 0
bytes_per_s DOUBLE bandwidth; NULL where no time grows with bytes
residual_pct DOUBLE root of the mean square of relative errors; NULL where there are no more points than parameters
worst_pct DOUBLE the largest relative error
points BIGINT points that it was fitted to
verdict VARCHAR best, fits worse, cannot tell
reason VARCHAR why there is no answer
""",
    ),
    (
        "framework_times",
        "one fresh process of a framework that computes a model: its time, or why there is none; or a published time",
        """
framework VARCHAR as `--frameworks` names it: torch, keras-jax ...
version VARCHAR its version, as it says
year BIGINT in which that version came out
model VARCHAR lenet, alexnet, autoencoder, lstm
mode VARCHAR forward; gradient (loss and gradients); train (the whole step)
batch BIGINT samples per step
threads BIGINT threads that were asked for
layout VARCHAR that was asked for: nchw, nhwc
device VARCHAR cpu or cuda; of a published time the processor
threads_seen BIGINT threads that the framework says it uses
optimizer VARCHAR as the program says
parameters BIGINT numbers that the model learns
step_ns BIGINT mean wall time of its steps, without the discarded ones
step_sd_ns BIGINT standard deviation of these
median_ns BIGINT median of these
steps BIGINT steps that were timed
discarded BIGINT first steps that were left out
loss DOUBLE of the last step
round BIGINT number of the round; all frameworks take turns in each
place BIGINT place in its round
status VARCHAR timed, differs (not as asked), cannot, failed, missing (environment), gone, published
differs VARCHAR conditions that are not as asked, joined by +
reason VARCHAR why it has no time, or what differs
others_pct DOUBLE share of the cores that other programs took meanwhile
started_unix_ns BIGINT when it began, nanoseconds since 1970
total_ns BIGINT duration of the whole process, start-up included
source VARCHAR where the row is from: this machine's processor, or the publication
""",
    ),
    (
        "framework_parts",
        "a part of the recorded steps of a framework: device time by layer, category and library, a step",
        """
framework VARCHAR as in framework_times
model VARCHAR as in framework_times
mode VARCHAR train, or forward where it cannot train
batch BIGINT samples per step
threads BIGINT threads that were asked for
layout VARCHAR that was asked for
layer VARCHAR layer; none for what belongs to none
category VARCHAR as in docs/vocabulary.md; bias and activation also `bias gradient`, `activation gradient`
library VARCHAR library that implements it
pass VARCHAR forward, backward or other; both where a log does not tell; none of rows with a form
form VARCHAR of bias and activation: unfused, operator, epilogue kernel, fused (no time of its own)
calls DOUBLE per step
busy_ns DOUBLE per step, overlaps counted once; none where it is part of another kernel
step_ns BIGINT recorded step, with the profiler on
capture VARCHAR folder of the capture, below that of the study
source VARCHAR the publication, of a published time
""",
    ),
)


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
+op_link VARCHAR correlation, external_id, name, graph (its capture), time, recorded (name): how it was found or why not
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
call_stack VARCHAR Python stack, where recorded beside the operator
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
+frame_id ID innermost Python frame around it on its thread
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
kernel_name VARCHAR name of the kernel that it launches, where recorded beside the call
correlation BIGINT joins the call to what it put on the device
external_id BIGINT the profiler's own number of the operator
+op_id ID innermost operator around the call on its thread
+range_id ID innermost NVTX range around the call on its thread
+library_id ID innermost call of cuDNN or cuBLAS around it on its thread
+frame_id ID innermost Python frame around it on its thread
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
group_ranks VARCHAR ranks of the group, as JSON; a long list may be abridged by the profiler
group_description VARCHAR description of the group, as the program gave it
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
