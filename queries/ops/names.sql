-- title = "By name"
-- doc = """Host time includes operators inside; self time does not. Device time is that of the kernels, copies and
-- primitives whose innermost operator it is."""
-- cannot = "No framework operators in this trace."
-- [columns]
-- name = "operator, as recorded"
-- category = "what it computes; all of it where it works for operators of several kinds"
-- calls = "times it ran"
-- host_ns = "time on the host, operators inside included"
-- self_ns = "time on the host without operators inside"
-- device_ns = "sum of durations on the device, of what it launched itself"
-- self_pct = "self time, of that of all operators"
SELECT name, category, calls, host_ns, self_ns, device_ns,
    100.0 * self_ns / nullif(sum(self_ns) OVER (), 0) AS self_pct
FROM op_totals
ORDER BY coalesce(device_ns, 0) DESC, self_ns DESC, name
