-- doc = "Devices of which the causes of idle time do not add up to it, or their shares not to 100 %."
-- [columns]
-- causes_ns = "sum of the causes"
-- causes_pct = "sum of their shares"
SELECT rank, device, a.idle_ns, sum(c.idle_ns) AS causes_ns, sum(c.idle_pct) AS causes_pct
FROM account a LEFT JOIN idle_causes c USING (rank, device)
GROUP BY rank, device, a.idle_ns
HAVING abs(coalesce(causes_ns, 0) - greatest(a.idle_ns, 0)) > 1 OR abs(causes_pct - 100) > 1e-6
ORDER BY rank, device
