-- title = "The program's own code between operators"
-- doc = """Time of steps on a CPU in which no operator runs and the host is at a line of the user's own code, in gaps
-- that are longer than operators leave: an environment, Python over samples, files, logs, a sleep. Lines are those that
-- were recorded: where only functions are, the line at which one begins; time within calls of a framework is left out.
-- The bound is that time; recording each line slows Python down, so it is no larger share of the step than the mean of
-- steps without a profiler leaves beside operators, where `traceview collect` timed some."""
-- why = """While the program's own code runs, no operator does: what can be done by another process or thread, ahead or
-- afterwards, leaves the step."""
-- cost = "A process or thread, and memory for what is made ahead; what it gives comes a step later."
-- unless = """The next step needs the result of this one, as where an agent acts in an environment: make that itself
-- faster."""
-- needs = ["cpu_only", "python_frames", "quiet_machine"]
-- [fix]
-- pytorch = """do it in the workers of a DataLoader or in a thread of its own, in steps of many at once (vectorized
-- environments), or every n steps"""
-- any = "do it in another process or thread, many at once, or every n steps"
-- [params]
-- least_ms = { type = "DOUBLE", default = 1, doc = "shorter gaps are left out, in milliseconds" }
-- own_step_pct = { type = "DOUBLE", default = 10, doc = "found above this share of the step, in percent" }
WITH gap AS (
    SELECT rank, from_ns, until_ns, unknown_ns / nullif(until_ns - from_ns, 0) AS part
    FROM idle_gaps WHERE device = 'cpu' AND unknown_ns > 1e6 * $least_ms
), inside AS (
    -- What a framework does under a line, or the recording, is not the program's own.
    SELECT u.id, r.start_ns, r.start_ns + r.dur_ns AS end_ns
    FROM user_frames u JOIN raw.ranges r ON r.parent_id = u.id AND r.kind = 'python'
    LEFT JOIN (SELECT unnest(names) AS name FROM names.package WHERE kind = 'framework') p
        ON p.name = regexp_extract(r.name, '^(?:.*(?:site|dist)-packages[/\\])?([^/\\(.]+)', 1)
    WHERE p.name IS NOT NULL OR regexp_matches(r.name, '(^|[/\\])(traceview_inject|collectors[/\\])')
), met AS (
    -- Gaps follow one another, and so do lines: where two meet, one begins in the other. To pair all takes minutes.
    SELECT g.*, h.frame_id, h.from_ns AS line_ns, h.until_ns AS line_end_ns
    FROM (FROM host_lines WHERE rank IN (SELECT rank FROM gap)) h
    ASOF JOIN gap g ON g.rank = h.rank AND h.from_ns >= g.from_ns WHERE h.from_ns < g.until_ns
    UNION ALL
    SELECT g.*, h.frame_id, h.from_ns, h.until_ns
    FROM gap g ASOF JOIN host_lines h ON h.rank = g.rank AND g.from_ns > h.from_ns WHERE g.from_ns < h.until_ns
), stretch AS (
    SELECT row_number() OVER () AS number, rank, frame_id, part, greatest(line_ns, from_ns) AS from_ns,
        least(line_end_ns, until_ns) AS until_ns
    FROM met
), lines AS (
    SELECT a.rank, format('{}:{} ({})', f.file, f.line, f.function) AS line, count(*) AS n,
        sum(a.part * (a.until_ns - a.from_ns - coalesce(i.other_ns, 0))) AS lost_ns
    FROM stretch a JOIN user_frames f ON f.id = a.frame_id
    LEFT JOIN (SELECT a.number, sum(least(a.until_ns, i.end_ns) - greatest(a.from_ns, i.start_ns)) AS other_ns
        FROM stretch a JOIN inside i ON i.id = a.frame_id AND i.start_ns < a.until_ns AND i.end_ns > a.from_ns
        GROUP BY a.number) i USING (number)
    GROUP BY ALL
), bare AS (
    SELECT rank, max(coalesce(TRY_CAST(options->>'$.cost.bare_mean_ns' AS BIGINT),
        TRY_CAST(options->>'$.cost.bare_step_ns' AS BIGINT))) AS bare_ns
    FROM captures GROUP BY rank
), every AS (
    SELECT l.rank, sum(l.lost_ns) / any_value(greatest(s.n_steps, 1)) AS lost_ns, any_value(s.step_ns) AS step_ns,
        arg_max(l.line, l.lost_ns) AS line, any_value(b.bare_ns) AS bare_ns,
        if(any_value(b.bare_ns) > 0, any_value(s.step_ns * greatest(1 - a.active_ns / b.bare_ns, 0)), NULL)
            AS beside_ns,
        list(format('{}: {:.3f} ms', l.line, l.lost_ns / greatest(s.n_steps, 1) / 1e6)
            ORDER BY l.lost_ns DESC, l.line)[:10] AS evidence
    FROM lines l JOIN scope s ON s.rank = l.rank LEFT JOIN bare b ON b.rank = l.rank
    LEFT JOIN (SELECT rank, sum(active_ns) AS active_ns FROM account GROUP BY rank) a ON a.rank = l.rank
    GROUP BY l.rank
)
SELECT rank, format('No operator runs for {:.3f} ms while the program is at lines of its own.', lost_ns / 1e6)
        || if(bare_ns < 0.8 * step_ns,
            format(' The recorded steps are slower than others: without a profiler one takes {:.3f} ms on average.',
                bare_ns / 1e6), '')
        AS problem,
    'Mostly at ' || line AS place, least(lost_ns, coalesce(beside_ns, lost_ns)) AS saving_ns,
    'medium: the lines are recorded; whether they can leave the step is not' AS confidence, evidence
FROM every
WHERE 100.0 * least(lost_ns, coalesce(beside_ns, lost_ns)) > $own_step_pct * step_ns
ORDER BY rank
