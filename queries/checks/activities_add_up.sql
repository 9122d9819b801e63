-- doc = "Devices whose totals do not hold every activity once, or not all of its time."
-- [columns]
-- n_totals = "activities in the view totals"
-- alone_totals_ns = "time in the view totals"
WITH one AS (
    SELECT rank, device, count(*) AS n, sum(alone_ns) AS alone_ns FROM busy GROUP BY rank, device
), total AS (
    SELECT rank, device, sum(n) AS n_totals, sum(alone_ns) AS alone_totals_ns FROM totals GROUP BY rank, device
)
SELECT rank, device, n, n_totals, alone_ns, alone_totals_ns
FROM one FULL JOIN total USING (rank, device)
WHERE n IS DISTINCT FROM n_totals OR alone_ns IS DISTINCT FROM alone_totals_ns
ORDER BY rank, device
