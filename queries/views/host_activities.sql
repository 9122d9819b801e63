-- doc = """On a rank without a device: the time of each operator that no operator or primitive inside it covers, as
-- intervals. Operators that a GPU ran are left out: what the host spends on them is their launch. So are those that
-- wait or only describe a tensor anew: that is not work of a device."""
WITH host AS (
    SELECT rank FROM raw.ranks
    WHERE rank NOT IN (SELECT rank FROM raw.kernels UNION SELECT rank FROM raw.memcpys)
        AND rank NOT IN (SELECT rank FROM unrecorded)
), parts AS (
    SELECT rank, op_id, start_ns, start_ns + dur_ns AS end_ns FROM raw.primitives WHERE op_id IS NOT NULL
), chosen AS (
    SELECT id, rank, start_ns, start_ns + dur_ns AS end_ns FROM raw.ops
    WHERE rank IN (FROM host)
        AND NOT coalesce(regexp_matches(backend, '(?i)cuda|tensorrt|rocm|migraphx|dml|webgpu|[/:]gpu[/:]'), false)
), bounds AS (
    SELECT id, rank, start_ns AS free_from_ns, start_ns AS free_until_ns, end_ns FROM chosen
    UNION ALL
    SELECT c.id, c.rank, p.end_ns, p.start_ns, c.end_ns FROM chosen c JOIN parts p ON p.op_id = c.id
    UNION ALL
    SELECT c.id, c.rank, o.start_ns + o.dur_ns, o.start_ns, c.end_ns FROM chosen c JOIN raw.ops o ON o.parent_id = c.id
), gaps AS (
    SELECT id, rank,
        max(free_from_ns) OVER (PARTITION BY id ORDER BY free_until_ns, free_from_ns) AS start_ns,
        coalesce(lead(free_until_ns) OVER (PARTITION BY id ORDER BY free_until_ns, free_from_ns), end_ns) AS end_ns
    FROM bounds
)
SELECT g.id AS op_id, g.rank, g.start_ns, g.end_ns, g.end_ns - g.start_ns AS dur_ns,
    row_number() OVER (PARTITION BY g.id ORDER BY g.start_ns) > 1 AS is_continued
FROM gaps g JOIN ops o ON o.id = g.id
WHERE g.end_ns > g.start_ns AND coalesce(o.category, 'other') <> 'bookkeeping'
