-- title = "Memory that every step leaves behind"
-- doc = """Every step before the last allocates memory that is not released while it is recorded. There is no bound in
-- time: it ends where memory does."""
-- why = """A list of losses that are still tensors, a graph that is kept, a cache without a limit: memory grows with
-- the number of steps, until a step finds none."""
-- cost = "None, where what is kept is not needed; a number or a detached tensor needs a fraction of it."
-- unless = "The program fills a buffer of limited size, as for replay, or keeps its results on purpose."
-- needs = ["allocations", "steps_to_leave_memory"]
-- [fix]
-- pytorch = """loss.item() or loss.detach() in place of loss where it is kept; no retain_graph=True; del what is not
-- needed"""
-- any = "keep numbers in place of tensors, and limit what is kept"
-- [params]
-- left_pct = { type = "DOUBLE", default = 0.1, doc = "found above this share of the peak, left by a step, in percent" }
WITH grown AS (
    SELECT g.*, p.peak_bytes FROM memory_growth g
    JOIN memory_peaks p ON p.rank = g.rank AND p.device IS NOT DISTINCT FROM g.device
    WHERE g.steps = g.of_steps AND g.of_steps >= 3
), left_behind AS (
    SELECT rank, device, sum(step_bytes) AS step_bytes, any_value(of_steps) AS of_steps,
        any_value(peak_bytes) AS peak_bytes,
        arg_max(coalesce(file || ':' || CAST(line AS VARCHAR), layer, op_name), step_bytes) AS place,
        list(format('{}: {:.3f} MB a step', coalesce(file || ':' || CAST(line AS VARCHAR), layer, '(no line recorded)')
            || coalesce(' by ' || op_name, ''), step_bytes / 1e6)
            ORDER BY step_bytes DESC, op_name, layer, line)[:20] AS evidence
    FROM grown GROUP BY rank, device HAVING 100.0 * sum(step_bytes) > $left_pct * any_value(peak_bytes)
    QUALIFY row_number() OVER (PARTITION BY rank ORDER BY sum(step_bytes) DESC, device NULLS FIRST) = 1
)
SELECT rank, format('Each of {} steps leaves {:.3f} MB of {} allocated, {:.1f} % of the peak.', of_steps,
        step_bytes / 1e6, coalesce('device ' || CAST(device AS VARCHAR), 'the host'),
        100.0 * step_bytes / peak_bytes) AS problem,
    place, CAST(NULL AS DOUBLE) AS saving_ns,
    'medium: it may be released after the recording, or a buffer of limited size' AS confidence, evidence
FROM left_behind
ORDER BY rank
