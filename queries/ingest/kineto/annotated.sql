-- title = "Kineto: the kernel of each annotation of an NCCL call"
-- doc = """The one whose launch lies inside it; of several none, since its bytes would count more than once. What
-- carries the arguments of its call needs no annotation. The call lasts as long as its kernel, as elsewhere."""
UPDATE stage.collectives SET kernel_id = found.kernel_id, start_ns = found.start_ns, dur_ns = found.dur_ns
FROM (
    WITH annotation AS (
        SELECT c.id, r.pid, r.tid, r.start_ns, r.start_ns + r.dur_ns AS end_ns
        FROM stage.collectives c JOIN stage.ranges r ON r.id = c.id - 1
        WHERE c.kernel_id IS NULL AND c.name LIKE 'nccl:%'
    ), launched AS (
        SELECT k.id, k.start_ns AS from_ns, k.dur_ns, a.pid, a.tid, a.start_ns
        FROM stage.kernels k JOIN stage.api_calls a ON a.correlation = k.correlation
        WHERE contains(lower(k.name), 'ccl') AND k.id NOT IN (FROM (SELECT kernel_id FROM stage.collectives
            WHERE kernel_id IS NOT NULL))
    )
    SELECT n.id, any_value(l.id) AS kernel_id, any_value(l.from_ns) AS start_ns, any_value(l.dur_ns) AS dur_ns
    FROM launched l ASOF JOIN annotation n ON n.pid = l.pid AND n.tid = l.tid AND l.start_ns >= n.start_ns
    WHERE l.start_ns < n.end_ns
    GROUP BY n.id HAVING count(DISTINCT l.id) = 1
) found
WHERE collectives.id = found.id
