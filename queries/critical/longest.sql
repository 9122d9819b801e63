-- title = "Kernels, operators and calls on the path"
-- doc = "By name: their time on the path, and all of their time in the {step|recording}."
-- cannot = "Nothing but waiting is on the path."
-- kernels = ["name"]
-- leave_out = ["all", "op_name"]
-- top = 12
-- [columns]
-- name = "kernel, operator, call or library primitive"
-- kind = "which of these"
-- op_name = "operator that launched most of it"
-- n = "how many have time on the path; of an operator its pieces count once"
-- dur_ns = "their time on the path"
-- path_pct = "of the path"
-- all = "how many there are in the {step|recording}"
-- all_ns = "time of all of them"
-- [headings]
-- path_pct = "of path"
WITH every AS (
    SELECT name, kind, count(DISTINCT id) AS n, sum(end_ns - start_ns) AS all_ns FROM critical_task GROUP BY name, kind
), launched AS (
    SELECT name, kind, arg_max(op_name, (dur_ns, op_name)) AS op_name FROM (
        SELECT name, kind, op_name, sum(dur_ns) AS dur_ns FROM critical_part WHERE edge IS NULL GROUP BY ALL)
    GROUP BY name, kind
), whole AS (
    SELECT sum(dur_ns) AS dur_ns FROM critical_part
)
SELECT p.name, p.kind, any_value(l.op_name) AS op_name, count(DISTINCT p.id) AS n,
    CAST(sum(p.dur_ns) AS BIGINT) AS dur_ns,
    100.0 * sum(p.dur_ns) / nullif(any_value(w.dur_ns), 0) AS path_pct, any_value(e.n) AS "all",
    CAST(any_value(e.all_ns) AS BIGINT) AS all_ns
FROM critical_part p CROSS JOIN whole w
LEFT JOIN every e ON e.name IS NOT DISTINCT FROM p.name AND e.kind = p.kind
LEFT JOIN launched l ON l.name IS NOT DISTINCT FROM p.name AND l.kind = p.kind
WHERE p.edge IS NULL AND p.kind IS NOT NULL
GROUP BY p.name, p.kind
ORDER BY sum(p.dur_ns) DESC, p.name, p.kind
