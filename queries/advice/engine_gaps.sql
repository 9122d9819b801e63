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
WITH work AS (
    -- What is launched after the mark of an iteration, such as a sampler's kernels, runs before the next one.
    SELECT b.rank, coalesce(b.launched_ns, b.start_ns) <= i.end_ns AS is_own, b.start_ns,
        i.iteration + if(is_own, 0, 1) AS iteration, greatest(b.start_ns - b.rank_until_ns, 0) AS idle_ns
    FROM busy b ASOF JOIN iterations i ON i.rank = b.rank AND coalesce(b.launched_ns, b.start_ns) >= i.start_ns
), before AS (
    SELECT rank, iteration, coalesce(sum(idle_ns) FILTER (NOT is_own), 0)
        + arg_min(idle_ns, start_ns) FILTER (is_own) AS idle_ns
    FROM work GROUP BY rank, iteration
), gap AS (
    SELECT i.rank, i.mark, b.idle_ns, i.generation_requests > 0 AND lag(coalesce(i.generation_requests, 0)) OVER (
        PARTITION BY i.rank ORDER BY i.iteration) >= i.generation_requests AS is_waiting
    FROM iterations i LEFT JOIN before b ON b.rank = i.rank AND b.iteration = i.iteration
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
