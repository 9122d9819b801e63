-- title = "Autograd profiler: rows of devices with their operators, cut into what nothing inside of them takes"
-- doc = """A flow leads from the operator's begin to the row's. Of several that begin at once the one of the row's own
-- name is it, else the innermost. A row is as many kernels as rows inside leave pieces of it; one that they fill is
-- none."""
-- [params]
-- first = { type = "BIGINT", default = 1, doc = "number of the first row that is added" }
WITH owned AS (
    SELECT k.* REPLACE (o.id AS external_id, o.name AS recorded_op)
    FROM stage.kernels k
    LEFT JOIN stage.links l ON l.target_tid = k.device AND l.target_ns = k.start_ns
    LEFT JOIN stage.ops o ON o.tid = l.source_tid AND o.pid = l.source_pid AND o.start_ns = l.source_ns
    QUALIFY row_number() OVER (PARTITION BY k.id ORDER BY o.name = k.name DESC NULLS LAST, o.dur_ns, o.id) = 1
)
SELECT o.* REPLACE (if(row_number() OVER (PARTITION BY o.id ORDER BY p.start_ns) = 1, o.id,
        $first - 1 + row_number() OVER (ORDER BY p.start_ns, o.id)) AS id, p.start_ns AS start_ns,
    p.dur_ns AS dur_ns)
FROM owned o JOIN piece p USING (id)
