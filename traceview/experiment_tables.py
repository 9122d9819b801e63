"""The tables of experiments (tune, study, schedule): name, what a row is, and its columns as in `tables.py`.

Only captures that hold a row of one have a file of it. Columns are BIGINT, DOUBLE, VARCHAR or BOOLEAN.
"""

EXPERIMENTS: tuple[tuple[str, str, str], ...] = (
    (
        "tune_runs",
        "one run of a command under some options, in a fresh process without a profiler",
        """
phase VARCHAR why it was run: screening, combination, final
pair BIGINT number of its round; the runs of a round are compared with each other
place BIGINT place in its round
side VARCHAR base, with (the options), or again (the base once more: what a change of nothing does)
candidate VARCHAR options that are tried, joined by +; nothing for the base of several
options VARCHAR options that were on in this run, joined by +; empty for none
step_ns BIGINT median wall time of its steps, without the discarded ones
step_cpu_ns BIGINT median processor time of its steps, all threads of the process
steps BIGINT steps that were timed
discarded BIGINT first steps that were left out
loss DOUBLE loss of the last step
checksum VARCHAR checksum of all parameters after the last step
parameter_norms VARCHAR norm of each tensor of parameters after the last step, as JSON; of very many, groups
others_pct DOUBLE share of the cores that other programs took meanwhile
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
        "what came of one option, or of a combination",
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
adds DOUBLE of a part of the best combination: the speed-up when it was added to the parts before it
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
pairs BIGINT pairs that this rests on
noisy_pairs BIGINT of these, pairs in which other programs took a tenth of the cores
verdict VARCHAR faster, slower, no difference seen, cannot decide, not proved end to end
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
step_ns BIGINT median wall time of a step, of the slowest rank
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
form VARCHAR of bias and activation: unfused, operator, epilogue kernel, fused (no time of its own)
calls DOUBLE per step
busy_ns DOUBLE per step, overlaps counted once; none where it is part of another kernel
step_ns BIGINT recorded step, with the profiler on
capture VARCHAR folder of the capture, below that of the study
source VARCHAR the publication, of a published time
""",
    ),
)
