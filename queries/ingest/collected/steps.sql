-- title = "Collected runs: steps without what ran before them"
-- doc = """A step's range opens where the one before it ended. What the collector saw between the two (validation,
-- metrics, compilation) is cut off: the step begins where that was over."""
SELECT r.* REPLACE (coalesce(g.end_ns, r.start_ns) AS start_ns,
    r.start_ns + r.dur_ns - coalesce(g.end_ns, r.start_ns) AS dur_ns)
FROM stage.ranges r
LEFT JOIN (
    SELECT r.id, max(g.end_ns) AS end_ns
    FROM stage.ranges r JOIN collected_gap g
        -- The range opens as soon as the profiler lets it.
        ON r.kind = 'step' AND r.start_ns BETWEEN g.start_ns - 1000000 AND g.end_ns
            AND r.start_ns + r.dur_ns > g.end_ns
    GROUP BY r.id
) g ON g.id = r.id
