-- title = "Kineto: allocations with their releases"
-- doc = """A release belongs to the last allocation at its address, by the allocator `label` where several are told
-- apart. One without was allocated before the recording; an address that is given out again without a release was free
-- by then. What the recorded total holds beyond all that is a row: at the first event it is what was there before and
-- stayed (`before`), later what was allocated or released without an event (`difference`)."""
WITH event AS (
    SELECT a.id, a.pid, a.tid, a.device, a.label, a.address, a.size_bytes, a.asked_bytes,
        a.allocated_ns AS at_ns, CAST(c.value AS BIGINT) AS total_bytes
    FROM stage.allocations a
    LEFT JOIN stage.counters c ON c.id = a.id - 2 AND c.name = 'allocated_bytes' AND abs(c.value) < 9007199254740992
), paired AS (
    SELECT *, lag(size_bytes) OVER again AS last_bytes, lead(at_ns) OVER again AS next_ns,
        lead(id) OVER again AS next_id,
        CASE WHEN lead(size_bytes) OVER again < 0 THEN lead(tid) OVER again END AS next_tid
    FROM event WINDOW again AS (PARTITION BY pid, device, label, address ORDER BY at_ns, id)
), summed AS (
    SELECT *, total_bytes - sum(CASE WHEN size_bytes < 0 AND last_bytes IS NULL THEN size_bytes
            ELSE greatest(size_bytes, 0) - greatest(coalesce(last_bytes, 0), 0) END) OVER timed AS other_bytes
    FROM paired
    WINDOW timed AS (PARTITION BY pid, device ORDER BY at_ns, id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
), other AS (
    SELECT *, row_number() OVER timed AS place, other_bytes - coalesce(lag(other_bytes) OVER timed, 0) AS more_bytes
    FROM summed WHERE other_bytes IS NOT NULL WINDOW timed AS (PARTITION BY pid, device ORDER BY at_ns, id)
), earlier AS (
    SELECT pid, device, -sum(size_bytes) AS known_bytes FROM paired WHERE size_bytes < 0 AND last_bytes IS NULL
    GROUP BY pid, device
)
SELECT id, pid, tid, next_tid AS freed_tid, device, CAST(NULL AS BIGINT) AS stream, address, size_bytes,
    asked_bytes, at_ns AS allocated_ns, next_ns AS freed_ns, next_id AS freed_id, 'recorded' AS how,
    CAST(NULL AS VARCHAR) AS kind, CAST(NULL AS VARCHAR) AS label, CAST(NULL AS VARCHAR) AS call_stack
FROM paired WHERE size_bytes > 0
UNION ALL
SELECT id, pid, tid, tid, device, NULL, address, -size_bytes, asked_bytes, NULL, at_ns, id, 'recorded', NULL, NULL, NULL
FROM paired WHERE size_bytes < 0 AND last_bytes IS NULL
UNION ALL
SELECT o.id + 1, o.pid, NULL, NULL, o.device, NULL, NULL,
    TRY_CAST(o.more_bytes - if(place = 1, coalesce(known_bytes, 0), 0) AS BIGINT) AS left_bytes, NULL,
    if(place = 1, NULL, at_ns), NULL, NULL, if(place = 1 AND left_bytes > 0, 'before', 'difference'), NULL, NULL, NULL
FROM other o LEFT JOIN earlier e ON e.pid IS NOT DISTINCT FROM o.pid AND e.device IS NOT DISTINCT FROM o.device
WHERE left_bytes <> 0
