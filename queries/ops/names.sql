-- title = "By name"
-- doc = """Host time includes nested operators; self time does not. Device time is that of the kernels, copies and
-- primitives that the operator itself launched."""
-- cannot = "No framework operators in this trace."
-- leave_out = ["host_ns", "category"]
-- rest = ["calls", "self_ns", "device_ns", "self_pct"]
-- [columns]
-- name = "operator, as recorded"
-- category = "what it computes; all categories if it is called by operators of several kinds"
-- calls = "times it ran"
-- host_ns = "time on the host, nested operators included"
-- self_ns = "time on the host without nested operators"
-- device_ns = "sum of the durations of what it launched itself"
-- self_pct = "self time, of the self time of all operators"
-- [headings]
-- self_pct = "of self time"
SELECT name, category, calls, host_ns, self_ns, device_ns,
    100.0 * self_ns / nullif(sum(self_ns) OVER (), 0) AS self_pct
FROM op_totals
ORDER BY coalesce(device_ns, 0) DESC, self_ns DESC, name
