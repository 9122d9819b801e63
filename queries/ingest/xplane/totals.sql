-- title = "XPlane: memory in use of all allocators of a device"
-- doc = """The host may have several allocators (`mklcpu`, `gpu_host_bfc`), each with a total of its own: a sample is
-- of their sum. One that has not been seen yet has as much as before its first event."""
WITH change AS (
    SELECT c.id, c.pid, c.device, c.start_ns,
        c.value - coalesce(lag(c.value) OVER each, c.value - a.size_bytes) AS more,
        if(lag(c.value) OVER each IS NULL, c.value - a.size_bytes, 0) AS first
    FROM stage.counters c JOIN stage.allocations a ON a.id = c.id + 2
    WHERE c.name = 'allocated_bytes' AND abs(c.value) < 9007199254740992
    WINDOW each AS (PARTITION BY c.pid, c.device, a.label ORDER BY c.start_ns, c.id)
), total AS (
    SELECT id, sum(first) OVER (PARTITION BY pid, device)
        + sum(more) OVER (PARTITION BY pid, device ORDER BY start_ns, id) AS value
    FROM change
)
SELECT c.* REPLACE (coalesce(t.value, c.value) AS value) FROM stage.counters c LEFT JOIN total t USING (id)
