-- title = "Which all-reduce model fits the times"
-- doc = """Least squares of relative errors over the times of all-reduce, without waiting: n ranks, m bytes. Parameter
-- server: 2 (n - 1) messages of m bytes, one after the other; tree: ceil(log2 n) levels up and down, of m bytes; ring:
-- 2 (n - 1) messages of m / n bytes. A good fit does not prove how the library does it."""
-- cannot = "No times of all-reduce over several ranks in this capture."
-- leave_out = ["worst_pct"]
-- [headings]
-- link_bytes_per_s = "link"
-- residual_pct = "rms error of time"
-- worst_pct = "largest error of time"
-- [columns]
-- times = "which times it was fitted to"
-- model = "parameter server, tree or ring"
-- growth = "how it grows with the number of ranks"
-- latency_ns = "of one message; empty where all have one size, and it counts as 0"
-- link_bytes_per_s = "bandwidth of one link"
-- residual_pct = "root of the mean square of relative errors"
-- worst_pct = "the largest"
-- points = "ranks and bytes that were measured"
-- verdict = "best, fits worse, cannot tell"
-- why = "why there is no answer"
SELECT scope AS times, model, CASE model WHEN 'parameter server' THEN 'n - 1' WHEN 'tree' THEN 'log n'
    ELSE '(n - 1) / n' END AS growth, latency_ns, bytes_per_s AS link_bytes_per_s, residual_pct, worst_pct, points,
    verdict, reason AS why
FROM raw.scaling_models
ORDER BY times, list_position(['best', 'cannot tell', 'fits worse'], verdict), residual_pct, model
