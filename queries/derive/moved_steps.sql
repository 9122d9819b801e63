-- title = "Steps at the time in which a device did their work"
-- doc = """A mark on a host that runs ahead, as with captured graphs, is over before the device has begun: it tells
-- how long launching takes. If what three marks or more launched takes the device a quarter longer than they last, in
-- sum and in most of them, each step lasts from the end of the work of the one before, or its own mark where nothing is
-- before, to the end of its own. No row if not, if a mark launched nothing, or if work of one step ends after that of
-- the next. What lies between two marks is no work of theirs."""
WITH mark AS (
    SELECT id, start_ns, start_ns + dur_ns AS end_ns FROM stage.ranges
    WHERE kind = 'step' AND pid IN (SELECT DISTINCT pid FROM stage.api_calls)
), done AS (
    SELECT m.id, m.start_ns, m.end_ns - m.start_ns AS dur_ns, max(k.start_ns + k.dur_ns) AS until_ns
    FROM stage.kernels k JOIN derived.kernels d ON d.id = k.id JOIN stage.api_calls a ON a.id = d.launch_id
    ASOF JOIN mark m ON a.start_ns >= m.start_ns
    WHERE a.start_ns < m.end_ns GROUP BY ALL
), moved AS (
    SELECT id, dur_ns AS marked_ns, coalesce(lag(until_ns) OVER (ORDER BY start_ns), start_ns) AS start_ns, until_ns,
        until_ns - greatest(lag(until_ns) OVER (ORDER BY start_ns), start_ns) AS work_ns,
        row_number() OVER (ORDER BY start_ns) > 1 AS has_before
    FROM done
)
SELECT id, start_ns, until_ns - start_ns AS dur_ns FROM moved
WHERE (SELECT count(*) FROM mark) = (SELECT count(*) FROM done)
    AND (SELECT count(*) >= 3 AND bool_and(until_ns > start_ns)
        AND sum(work_ns) FILTER (has_before) > 1.25 * sum(marked_ns) FILTER (has_before)
        AND median(work_ns / marked_ns) FILTER (has_before) > 1.25 FROM moved)
