-- doc = """Calls in which ranks wait for one that has no such call: a collective in which all wait for each other, on
-- ranks of a group of which another one is missing, that lasts a second or more and ten times as long as calls of its
-- kind in its group do."""
-- whole_job = true
-- [columns]
-- usual_ns = "median of the calls of the kind in the group that are not in question; NULL where there are none"
WITH usual AS (
    SELECT team, what, median(dur_ns) FILTER (is_complete OR dur_ns < 1000000000) AS usual_ns
    FROM matched_calls WHERE is_together GROUP BY team, what
)
SELECT m.id, m.rank, m.team, m.what, m.start_ns, m.dur_ns, u.usual_ns
FROM matched_calls m JOIN usual u ON u.team = m.team AND u.what = m.what
WHERE m.is_together AND NOT m.is_complete AND m.dur_ns >= 1000000000 AND m.dur_ns >= coalesce(10 * u.usual_ns, 0)
