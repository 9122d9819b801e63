-- title = "Kernels and copies with their launch and operator"
-- doc = """A row's launch is the call with its correlation, its operator the innermost one around that call; the
-- profiler's own number of an operator counts only in a trace without launches, where one operator has it and it does
-- not repeat the correlation, as Kineto's does in some files; the operator's name counts where the profiler wrote it
-- beside the kernel and nothing else leads there. Both tables at once: what is looked into is larger than what is
-- looked up."""
-- [params]
-- has_graphs = { type = "BOOLEAN", doc = "whether the capture of a graph was recorded" }
-- has_launches = { type = "BOOLEAN", doc = "whether any call has a correlation" }
-- has_names = { type = "BOOLEAN", doc = "whether operators' names were recorded beside what the device did" }
WITH device_row AS (
    SELECT 'kernels' AS "table", id, start_ns, correlation, external_id, recorded_op, name, graph_node
    FROM stage.kernels
    UNION ALL SELECT 'memcpys', id, start_ns, correlation, external_id, recorded_op, NULL, NULL FROM stage.memcpys
), by_number AS (
    SELECT external_id, min(id) AS op_id FROM stage.ops
    WHERE external_id IS NOT NULL AND NOT $has_launches GROUP BY external_id HAVING count(*) = 1
), by_name AS (
    SELECT k.id, o.id AS op_id
    FROM (SELECT id, start_ns, recorded_op FROM device_row WHERE recorded_op IS NOT NULL) k
    ASOF JOIN (SELECT name, start_ns, max(id) AS id FROM stage.ops WHERE $has_names GROUP BY name, start_ns) o
        ON o.name = k.recorded_op AND o.start_ns <= k.start_ns
), capture AS (
    SELECT b.id, b.pid, b.tid, b.start_ns, min(e.start_ns) AS end_ns
    FROM stage.api_calls b JOIN stage.api_calls e ON e.pid IS NOT DISTINCT FROM b.pid
        AND e.tid IS NOT DISTINCT FROM b.tid AND e.start_ns >= b.start_ns
    WHERE $has_graphs AND b.name ILIKE '%BeginCapture%' AND e.name ILIKE '%EndCapture%' GROUP BY ALL
), captured AS (
    SELECT p.id AS capture_id, p.start_ns, c.id AS call_id, c.kernel_name,
        row_number() OVER (PARTITION BY p.id ORDER BY c.start_ns, c.id) AS n
    FROM capture p JOIN stage.api_calls c ON c.pid IS NOT DISTINCT FROM p.pid AND c.tid IS NOT DISTINCT FROM p.tid
        AND c.start_ns > p.start_ns AND c.start_ns < p.end_ns
    WHERE regexp_matches(c.name, 'Launch\w*Kernel|Mem(cpy|set)\w*Async') AND NOT contains(c.name, 'Graph')
), replayed AS (
    SELECT k.id, k.name, k.graph_node, c.id AS launch_id, c.start_ns,
        row_number() OVER (PARTITION BY c.id ORDER BY k.graph_node, k.start_ns, k.id) AS n
    FROM device_row k JOIN launch l USING (correlation) JOIN stage.api_calls c ON c.id = l.id
    WHERE $has_graphs AND c.name ILIKE '%GraphLaunch%'
), launched_graph AS (
    -- Replays with the same first node are of one graph; where nodes are not recorded those of other kernels are not.
    SELECT launch_id, any_value(start_ns) AS start_ns, count(*) AS n_rows, min(graph_node) AS node,
        if(node IS NULL, hash(list_sort(list(name))), NULL) AS names
    FROM replayed GROUP BY launch_id
), replay AS (
    -- Graphs have numbers in the order in which they are made.
    SELECT *, row_number() OVER (PARTITION BY n_rows ORDER BY start_ns, launch_id) AS place,
        count(*) OVER (PARTITION BY n_rows) AS n_alike,
        dense_rank() OVER (PARTITION BY n_rows ORDER BY node, first_ns) AS graph,
        count(DISTINCT (node, names)) OVER (PARTITION BY n_rows) AS n_graphs
    FROM (SELECT *, min(start_ns) OVER (PARTITION BY n_rows, node, names) AS first_ns FROM launched_graph)
), source AS (
    -- The same operators of the same modules with other shapes: a capture per batch size; nothing tells which ran.
    SELECT *, row_number() OVER (PARTITION BY n_rows ORDER BY start_ns, capture_id) AS place,
        count(*) OVER (PARTITION BY n_rows) AS n_alike,
        count(DISTINCT shapes) OVER (PARTITION BY n_rows, operators) > 1 AS is_doubtful,
        count(DISTINCT (operators, shapes)) OVER (PARTITION BY n_rows) = 1 AS is_one
    FROM (
        SELECT c.capture_id, any_value(c.start_ns) AS start_ns, count(*) AS n_rows,
            hash(list((o.name, d.layer) ORDER BY c.n)) AS operators, hash(list(o.shapes ORDER BY c.n)) AS shapes
        FROM captured c LEFT JOIN call_facts f ON f.id = c.call_id
        LEFT JOIN stage.ops o ON o.id = f.op_id LEFT JOIN derived.ops d ON d.id = f.op_id
        GROUP BY c.capture_id
    )
), by_graph AS (
    -- As many launches as rows, and the same kernels: of as many graphs as captures each is of the one in its place.
    -- Where nodes are not recorded, launches of several graphs alike take turns. Where the record of the last rows is
    -- lost, all that are there have to be those of one capture, by their names.
    SELECT k.id, f.op_id, f.range_id, f.module_id
    FROM replay r JOIN source s ON (s.n_rows = r.n_rows OR s.n_rows BETWEEN r.n_rows AND 1.1 * r.n_rows
            AND r.n_rows NOT IN (SELECT n_rows FROM source))
        AND CASE WHEN r.n_graphs = s.n_alike OR r.node IS NOT NULL AND r.n_graphs < s.n_alike AND s.is_one
                THEN s.place = r.graph
            WHEN r.node IS NULL THEN r.n_alike % s.n_alike = 0 AND s.place = (r.place - 1) % s.n_alike + 1 END
        AND NOT s.is_doubtful
    JOIN replayed k ON k.launch_id = r.launch_id
    JOIN captured c ON c.capture_id = s.capture_id AND c.n = k.n
    JOIN call_facts f ON f.id = c.call_id
    WHERE c.kernel_name = k.name OR k.name IS NULL OR c.kernel_name IS NULL AND s.n_rows = r.n_rows
    WINDOW same AS (PARTITION BY r.launch_id, s.capture_id), replay AS (PARTITION BY r.launch_id)
    QUALIFY count(*) OVER same >= if(s.n_rows = r.n_rows, 0.9, 1) * r.n_rows
        AND min(s.capture_id) OVER replay = max(s.capture_id) OVER replay
), linked AS (
    SELECT k."table", k.id, l.id AS launch_id, c.step AS launch_step, coalesce(g.range_id, c.range_id) AS range_id,
        c.library_id, coalesce(g.module_id, c.module_id) AS module_id, k.start_ns,
        k.recorded_op, coalesce(g.op_id, c.op_id, n.op_id, m.op_id) AS op_id,
        CASE WHEN g.op_id IS NOT NULL THEN 'graph' WHEN c.op_id IS NOT NULL THEN 'correlation'
            WHEN n.op_id IS NOT NULL THEN 'external_id'
            WHEN m.op_id IS NOT NULL THEN 'name' WHEN k.recorded_op IS NOT NULL THEN 'recorded' END AS op_link
    FROM device_row k
    LEFT JOIN launch l USING (correlation)
    LEFT JOIN call_facts c ON c.id = l.id
    LEFT JOIN by_graph g ON g.id = k.id
    LEFT JOIN by_number n ON n.external_id = k.external_id AND k.external_id IS DISTINCT FROM k.correlation
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
