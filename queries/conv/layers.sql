-- title = "By layer, direction and algorithm"
-- doc = """The parts add up to the total. Times are of whole calls, as their FLOPs are, also of what runs after the
-- step that launched them. Effective FLOP/s are those of the direct method over the total time, so a faster algorithm
-- can exceed the peak of the device."""
-- cannot = "No convolution operator in this trace."
-- leave_out = [
--     "helper_ns", "activation_ns", "transform_ns", "executed_flop_per_s", "work_flop", "input", "bias_ns",
--     "peak_pct", "filter", "effective_flop_per_s", "layout_ns",
-- ]
-- rest = [
--     "calls", "total_ns", "main_ns", "transform_ns", "layout_ns", "bias_ns", "activation_ns", "helper_ns",
--     "share_pct",
-- ]
-- [columns]
-- layer = """layer; where the trace names none, its place in the forward pass and its filter, marked (guessed), or the
-- filter alone"""
-- direction = """fprop, dgrad (gradient of the input) or wgrad (gradient of the filter); empty if one operator computes
-- both gradients"""
-- algorithm = "how it was computed; see docs/vocabulary.md"
-- input = "batch x channels x height x width"
-- filter = "filters x channels per group x height x width"
-- calls = "calls {per step|in the recording}"
-- total_ns = "time of everything in the calls{, per step| in the recording}"
-- main_ns = "math kernels"
-- transform_ns = "im2col, FFT and Winograd transforms"
-- layout_ns = "layout conversions"
-- bias_ns = "bias addition, or the gradient of the bias"
-- activation_ns = "activations in kernels of their own inside the call"
-- helper_ns = "offset tables, zeroing, reductions; on a CPU also allocation and dispatch"
-- work_flop = "multiplications and additions of the direct method{, per step| in the recording}"
-- effective_flop_per_s = "work over total time"
-- executed_flop_per_s = "modelled FLOPs of the algorithm (see the report algorithms) over total time"
-- peak_pct = "executed FLOP/s, of the device's peak; empty if that is unknown or exceeded by far"
-- share_pct = "of all convolution time"
-- [headings]
-- peak_pct = "of peak"
-- share_pct = "of conv time"
-- [fractions]
-- calls = "calls{/step| (mean)}"
SELECT layer, direction, algorithm,
    array_to_string(input_shape, 'x') AS input, array_to_string(filter_shape, 'x') AS filter,
    round(sum(calls / per_rank), 6) AS calls, sum(total_ns / per_rank) AS total_ns, sum(main_ns / per_rank) AS main_ns,
    sum(transform_ns / per_rank) AS transform_ns, sum(layout_ns / per_rank) AS layout_ns,
    sum(bias_ns / per_rank) AS bias_ns,
    sum(activation_ns / per_rank) AS activation_ns, sum(helper_ns / per_rank) AS helper_ns,
    sum(calls / per_rank * flop) AS work_flop,
    1e9 * sum(calls / per_rank * flop) / nullif(sum(total_ns / per_rank) FILTER (flop IS NOT NULL),
        0) AS effective_flop_per_s,
    1e9 * sum(calls / per_rank * executed_flop) / nullif(sum(total_ns / per_rank) FILTER (executed_flop IS NOT NULL), 0)
        AS executed_flop_per_s,
    within_peak(100e9 * sum(calls / per_rank * executed_flop) FILTER (peak_flop_per_s IS NOT NULL)
        / nullif(sum(total_ns / per_rank * peak_flop_per_s) FILTER (executed_flop IS NOT NULL), 0)) AS peak_pct,
    100.0 * sum(total_ns / per_rank) / nullif(sum(sum(total_ns / per_rank)) OVER (), 0) AS share_pct
FROM conv_totals
GROUP BY layer, direction, algorithm, input_shape, filter_shape
ORDER BY total_ns DESC, min(position), layer, list_position(['fprop', 'dgrad', 'wgrad'], direction), direction,
    algorithm, input, filter
