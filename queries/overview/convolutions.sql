-- title = "Most expensive convolutions"
-- doc = """{Per step and rank|Over the whole recording, per rank}. The algorithm is identified by all kernels of the
-- call. main = math kernels; layout = layout conversion; rest = transforms, bias, helpers. A framework's log of
-- averages gives the total of one iteration of each network only."""
-- cannot = "No convolution operator in this trace."
-- brief = "Times of whole calls; main: arithmetic, layout: layout conversions."
-- subject = "convolution operators"
-- top = 6
-- leave_out = ["effective_flop_per_s", "layout_pct", "calls", "layout_ns", "main_ns"]
-- rest = ["calls", "total_ns", "main_ns", "layout_ns", "share_pct"]
-- [columns]
-- layer = "layer, or filter and its shape where the trace names no layers"
-- direction = "fprop, dgrad (gradient of the input) or wgrad (gradient of the filter)"
-- algorithm = "how it was computed; see docs/vocabulary.md"
-- calls = "calls {per step|in the recording}"
-- total_ns = "time of everything below the calls{, per step| in the recording}"
-- main_ns = "math kernels"
-- layout_ns = "layout conversions"
-- layout_pct = "layout conversions, of the calls' time"
-- effective_flop_per_s = "FLOPs of the direct method over total time"
-- share_pct = "of all convolution time"
-- [headings]
-- layout_pct = "layout of total"
-- share_pct = "of conv time"
-- [fractions]
-- calls = "calls{/step| (mean)}"
WITH part AS (
    SELECT layer, direction, algorithm, calls, per_rank, total_ns, main_ns, layout_ns, flop, position FROM conv_totals
    UNION ALL BY NAME
    SELECT layer, direction, 1 AS calls, 1 AS per_rank, dur_ns AS total_ns, id AS position FROM printed_layers
    WHERE kind = 'conv'
)
SELECT layer, direction, algorithm,
    round(sum(calls / per_rank), 6) AS calls,
    sum(total_ns / per_rank) AS total_ns, sum(main_ns / per_rank) AS main_ns, sum(layout_ns / per_rank) AS layout_ns,
    100.0 * sum(layout_ns / per_rank) / nullif(sum(total_ns / per_rank), 0) AS layout_pct,
    1e9 * sum(calls / per_rank * flop) / nullif(sum(total_ns / per_rank) FILTER (flop IS NOT NULL),
        0) AS effective_flop_per_s,
    100.0 * sum(total_ns / per_rank) / nullif(sum(sum(total_ns / per_rank)) OVER (), 0) AS share_pct
FROM part
GROUP BY layer, direction, algorithm
ORDER BY total_ns DESC, min(position), layer, direction, algorithm
