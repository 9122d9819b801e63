-- doc = "Devices whose activities in the steps that count and whose idle gaps do not add up to the step."
-- [columns]
-- activities_ns = "time of activities in all of these steps, each moment once"
-- gaps_ns = "idle gaps in them"
-- whole_ns = "these steps; without steps the recording"
SELECT a.rank, a.device, coalesce(b.activities_ns, 0) AS activities_ns, coalesce(g.gaps_ns, 0) AS gaps_ns,
    a.per * a.step_ns AS whole_ns
FROM account a
LEFT JOIN (SELECT rank, device, sum(step_alone_ns) AS activities_ns FROM busy GROUP BY rank, device) b
    ON b.rank = a.rank AND b.device = a.device
LEFT JOIN (SELECT rank, device, sum(idle_ns) AS gaps_ns FROM idle_gaps GROUP BY rank, device) g
    ON g.rank = a.rank AND g.device = a.device
WHERE abs(activities_ns + gaps_ns - whole_ns) > a.per
ORDER BY a.rank, a.device
