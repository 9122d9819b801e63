-- title = "Off the critical path"
-- doc = """Work that could take longer without making the step longer, and by how much each piece could if all else
-- stays as recorded. Making it faster saves nothing. Where ranks send to each other nothing is known of it: a rank that
-- receives may wait for any work of the one that sends."""
-- cannot = "Everything is on the path, or ranks send to each other: then no slack is known."
-- kernels = ["name"]
-- leave_out = ["median_slack_ns"]
-- top = 10
-- [columns]
-- name = "kernel, operator, call or library primitive"
-- kind = "which of these"
-- n = "how many have time that is not on the path"
-- dur_ns = "their time"
-- least_slack_ns = "smallest slack"
-- median_slack_ns = "median slack"
WITH on_path AS (
    SELECT DISTINCT task FROM critical_piece WHERE task IS NOT NULL
)
SELECT t.name, t.kind, count(DISTINCT t.id) AS n, CAST(sum(t.end_ns - t.start_ns) AS BIGINT) AS dur_ns,
    min(s.slack_ns) AS least_slack_ns, CAST(median(s.slack_ns) AS BIGINT) AS median_slack_ns
FROM critical_task t JOIN critical_slack s ON s.number = t.number
WHERE t.number NOT IN (FROM on_path) AND NOT EXISTS (FROM critical_fact WHERE kind = 11 AND n > 0)
GROUP BY t.name, t.kind
ORDER BY sum(t.end_ns - t.start_ns) DESC, t.name, t.kind
