-- doc = """Copies between host and device of the steps that count, each with the wait of its device after it: until the
-- next work of the same step begins. Of copies that end together each has its part of that wait."""
-- materialize = true
-- empty_without = ["raw.memcpys"]
-- types = """id BIGINT, rank INTEGER, device VARCHAR, step BIGINT, start_ns BIGINT, end_ns BIGINT, dur_ns BIGINT,
-- own_ns DOUBLE, per BIGINT, direction VARCHAR, size_bytes BIGINT, host_kind VARCHAR, operator VARCHAR, lost_ns
-- DOUBLE"""
-- [columns]
-- host_kind = "kind of the host's memory: pageable or pinned, where recorded"
-- own_ns = """its time, less what overlaps work that started earlier on the same device, divided by the number of
-- devices of its rank"""
-- lost_ns = "that and the wait after it"
WITH copy AS (
    SELECT c.id, c.rank, c.device, c.step, c.start_ns, c.end_ns, c.dur_ns, c.mean_ns AS own_ns, c.per, m.direction,
        m.size_bytes, if(m.direction = 'HtoD', m.src_kind, m.dst_kind) AS host_kind,
        coalesce(m.op_name, '(no operator)') AS operator,
        count(*) OVER (PARTITION BY c.rank, c.device, c.step, c.end_ns) AS together
    FROM counted c JOIN memcpys m ON m.id = c.id
    WHERE c.kind = 'copy' AND m.direction IN ('HtoD', 'DtoH')
), wait AS (
    SELECT rank, device, step, covered_until_ns AS from_ns, min(start_ns) - covered_until_ns AS wait_ns
    FROM counted
    WHERE start_ns > covered_until_ns AND step IS NOT NULL AND covered_until_ns IN (SELECT end_ns FROM copy)
    GROUP BY rank, device, step, covered_until_ns
)
SELECT c.* EXCLUDE (together), c.own_ns + coalesce(w.wait_ns / c.together, 0) AS lost_ns
FROM copy c LEFT JOIN wait w ON w.rank = c.rank AND w.device = c.device AND w.step = c.step AND w.from_ns = c.end_ns
