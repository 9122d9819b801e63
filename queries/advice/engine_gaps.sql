-- title = "Idle between iterations of an inference engine"
-- doc = """Time in which no device works between the last work of an iteration and the first of the next one, where the
-- next one makes tokens of requests that were there already: they waited for the host, which schedules, samples and
-- sends tokens. The bound is that time, a share of the recording: much of it may lie between the marks, in no step. A
-- gap of more than ten times the usual one is left out: a decode server without requests waits as well, and no mark
-- tells whose requests the next iteration has."""
-- why = """What the scheduler does for the next iteration could be done while the device works at this one."""
-- cost = "A request that ends, or is added, takes effect an iteration later."
-- unless = "The host has to see each token before the next (a grammar, a tool that is called)."
-- per = "recording"
-- needs = ["engine_iterations"]
-- [fix]
-- pytorch = """vLLM --async-scheduling; SGLang without --disable-overlap-schedule; several tokens per iteration
-- (speculative decoding); fewer processes on the cores of the scheduler"""
-- any = "schedule the next iteration while the device works at this one"
-- [params]
-- gaps_run_pct = { type = "DOUBLE", default = 5, doc = "found above this share of the recording, in percent" }
-- engine_gaps = { type = "BIGINT", default = 3, doc = "and from this many gaps on" }
WITH span AS (
    SELECT b.rank, i.iteration, any_value(i.generation_requests) AS requests, any_value(i.mark) AS mark,
        min(b.start_ns) AS from_ns, max(b.end_ns) AS until_ns
    FROM busy b ASOF JOIN iterations i ON i.rank = b.rank AND coalesce(b.launched_ns, b.start_ns) >= i.start_ns
    WHERE b.is_counted AND (i.until_ns IS NOT NULL OR b.launched_ns IS NOT NULL OR b.start_ns <= i.end_ns)
    GROUP BY b.rank, i.iteration
), gap AS (
    SELECT rank, iteration, mark, greatest(from_ns - max(until_ns) OVER (PARTITION BY rank ORDER BY iteration
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS idle_ns, requests > 0
            AND lag(coalesce(requests, 0)) OVER (PARTITION BY rank ORDER BY iteration) >= requests AS is_waiting
    FROM span
), usual AS (
    SELECT *, median(idle_ns) OVER (PARTITION BY rank) AS usual_ns FROM gap WHERE is_waiting AND idle_ns > 0
), waited AS (
    SELECT rank, count(*) AS n, sum(idle_ns) AS idle_ns, max(idle_ns) AS most_ns, median(idle_ns) AS median_ns,
        arg_max(mark, idle_ns) AS mark
    FROM usual WHERE idle_ns <= 10 * usual_ns GROUP BY rank
)
SELECT rank,
    format('Between iterations the device has nothing to do: {} gaps, {:.3f} ms in all, {:.3f} ms in the middle.', n,
        idle_ns / 1e6, median_ns / 1e6) AS problem,
    'Longest before ' || mark[:100] AS place, idle_ns AS saving_ns,
    if(most_ns > 0.5 * idle_ns, 'low: one gap is most of it', 'high: the requests of the next iteration were there '
        || 'already, and nothing ran') AS confidence,
    [format('longest gap {:.3f} ms, {:.1f} % of the recording in all', most_ns / 1e6, 100 * idle_ns / run_ns)]
        AS evidence
FROM waited JOIN recordings USING (rank) WHERE n >= $engine_gaps AND 100.0 * idle_ns > $gaps_run_pct * run_ns
ORDER BY rank
