-- title = "Kernels and copies with their launch and operator"
-- doc = """A row's launch is the call with its correlation, its operator the innermost one around that call; the
-- profiler's own number of an operator counts only in a trace without launches, and the operator's name where the
-- profiler wrote it beside the kernel and nothing else leads there. Both tables at once: what is looked into is larger
-- than what is looked up."""
-- [params]
-- has_launches = { type = "BOOLEAN", doc = "whether any call has a correlation" }
-- has_names = { type = "BOOLEAN", doc = "whether operators' names were recorded beside what the device did" }
WITH device_row AS (
    SELECT 'kernels' AS "table", id, start_ns, correlation, external_id, recorded_op FROM stage.kernels
    UNION ALL SELECT 'memcpys', id, start_ns, correlation, external_id, recorded_op FROM stage.memcpys
), launch AS (
    SELECT correlation, arg_min(id, start_ns) AS launch_id FROM stage.api_calls
    WHERE correlation IS NOT NULL GROUP BY correlation
), by_number AS (
    SELECT external_id, min(id) AS op_id FROM stage.ops
    WHERE external_id IS NOT NULL AND NOT $has_launches GROUP BY external_id
), by_name AS (
    SELECT k.id, o.id AS op_id
    FROM (SELECT id, start_ns, recorded_op FROM device_row WHERE recorded_op IS NOT NULL) k
    ASOF JOIN (SELECT name, start_ns, max(id) AS id FROM stage.ops WHERE $has_names GROUP BY name, start_ns) o
        ON o.name = k.recorded_op AND o.start_ns <= k.start_ns
), linked AS (
    SELECT k."table", k.id, l.launch_id, c.step AS launch_step, c.range_id, c.library_id, c.module_id, k.start_ns,
        k.recorded_op, coalesce(c.op_id, n.op_id, m.op_id) AS op_id,
        CASE WHEN c.op_id IS NOT NULL THEN 'correlation' WHEN n.op_id IS NOT NULL THEN 'external_id'
            WHEN m.op_id IS NOT NULL THEN 'name' WHEN k.recorded_op IS NOT NULL THEN 'recorded' END AS op_link
    FROM device_row k
    LEFT JOIN launch l USING (correlation)
    LEFT JOIN call_facts c ON c.id = l.launch_id
    LEFT JOIN by_number n ON n.external_id = k.external_id
    LEFT JOIN by_name m ON m.id = k.id
)
SELECT linked."table", linked.id, device_until_ns, rank_until_ns, launch_id, range_id, library_id, op_id, op_link,
    coalesce(o.name, recorded_op) AS op_name, coalesce(d.path, recorded_op) AS op_path,
    -- Where no operators were recorded, the module around the launch.
    coalesce(d.layer, CASE WHEN op_id IS NULL THEN regexp_replace(m.name, ' \(\w+\)$', '') END) AS layer,
    d.phase,
    CASE WHEN $has_launches THEN launch_step ELSE row_step.step END AS step
FROM linked
LEFT JOIN stage.ops o ON o.id = op_id
LEFT JOIN derived.ops d ON d.id = op_id
LEFT JOIN row_step ON row_step.id = linked.id
LEFT JOIN cover ON cover.id = linked.id
LEFT JOIN (SELECT id, name FROM stage.ranges WHERE kind = 'module') m ON m.id = linked.module_id
