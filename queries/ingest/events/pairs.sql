-- title = "Trace events: spans out of their two ends"
-- doc = """Ends pair by name where they have one: writers that note an event when it is over do not keep ends at the
-- same time in order. An end that has no other stays as it was, without a duration."""
WITH keyed AS (
    SELECT *, ph IN ('B', 'b') AS opens, ph IN ('b', 'e') AS is_async,
        CASE WHEN ph IN ('b', 'e') THEN cat || ' ' || flow END AS chain,
        CASE WHEN ph IN ('B', 'E') THEN tid END AS thread,
        CASE WHEN (SELECT bool_and(name IS NOT NULL) FROM half) THEN name END AS label
    FROM half
), levelled AS (
    SELECT *, sum(CASE WHEN opens THEN 1 ELSE -1 END) OVER (
            PARTITION BY is_async, pid, chain, thread, label ORDER BY start_ns, id ROWS UNBOUNDED PRECEDING)
        + CASE WHEN opens THEN 0 ELSE 1 END AS level
    FROM keyed
), followed AS (
    SELECT *, lead(opens) OVER beside AS next_opens, lead(start_ns) OVER beside AS next_ns,
        lag(opens) OVER beside AS previous_opens
    FROM levelled
    WINDOW beside AS (PARTITION BY is_async, pid, chain, thread, label, level ORDER BY start_ns, id)
)
SELECT * EXCLUDE (opens, is_async, chain, thread, label, level, next_opens, next_ns, previous_opens) REPLACE (
    CASE WHEN NOT opens OR next_opens IS DISTINCT FROM false THEN ph WHEN is_async THEN 'b' ELSE 'X' END AS ph,
    CASE WHEN next_opens = false THEN next_ns - start_ns END AS dur_ns)
FROM followed
WHERE opens OR previous_opens IS DISTINCT FROM true
