-- title = "steps"
-- doc = "One training step of a rank. Busy is the union of everything its devices did between its start and its end."
WITH recorded AS (
    SELECT rank, step, start_ns, start_ns + dur_ns AS end_ns, dur_ns, domain
    FROM raw.ranges WHERE kind = 'step' AND step IS NOT NULL
), measured AS (
    SELECT *, median(dur_ns) OVER (PARTITION BY rank) AS median_ns,
        row_number() OVER (PARTITION BY rank ORDER BY start_ns) AS position
    FROM recorded
), warm AS (
    -- Leading steps that take half as long again as the median still tune, compile or allocate.
    SELECT *, coalesce(bool_and(dur_ns > 1.5 * median_ns) OVER (
        PARTITION BY rank ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), false) AS is_warmup
    FROM measured
), inside AS (
    SELECT w.rank, w.step, w.start_ns,
        sum(greatest(least(b.end_ns, w.end_ns) - greatest(b.start_ns, coalesce(b.covered_until_ns, b.start_ns), w.start_ns),
            0)) AS busy_ns
    FROM warm w JOIN busy_any b ON b.rank = w.rank AND b.start_ns < w.end_ns AND b.end_ns > w.start_ns
    GROUP BY ALL
)
SELECT w.rank, w.step, w.start_ns, w.end_ns, w.dur_ns, w.is_warmup, w.domain AS found_by,
    CAST(coalesce(i.busy_ns, 0) AS BIGINT) AS busy_ns, CAST(w.dur_ns - coalesce(i.busy_ns, 0) AS BIGINT) AS idle_ns
FROM warm w LEFT JOIN inside i USING (rank, step, start_ns)
