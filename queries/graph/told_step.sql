-- title = "The step whose path tells what advice can give"
-- doc = """Of the steps that count the one that takes most nearly as long as the median, of those first for which it
-- is recorded what launched the work of the device; none without steps."""
-- [params]
-- launched_pct = { type = "DOUBLE", default = 90, doc = "work whose call must be recorded, in percent" }
WITH work AS (
    SELECT rank, start_ns, launch_id FROM raw.kernels UNION ALL SELECT rank, start_ns, launch_id FROM raw.memcpys
), device AS (
    SELECT s.step, count(w.launch_id) AS launched, count(*) AS n
    FROM steps s JOIN work w ON w.rank = s.rank AND w.start_ns >= s.start_ns AND w.start_ns < s.end_ns GROUP BY s.step
)
SELECT s.step FROM steps s LEFT JOIN device d ON d.step = s.step
WHERE NOT s.is_warmup
ORDER BY coalesce(100 * d.launched < $launched_pct * d.n, false),
    abs(s.dur_ns - (SELECT median(dur_ns) FROM steps WHERE NOT is_warmup)), s.step, s.rank
LIMIT 1
