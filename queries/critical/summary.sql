-- title = "The path"
-- doc = "The step, and the largest parts of its path."
-- brief = ""
-- cannot = "Nothing takes time in this trace: there is no path."
-- lines = ["{text}"]
-- [columns]
-- position = "order of the sentences"
-- text = "a sentence"
WITH total AS (
    SELECT sum(dur_ns) AS dur_ns, count(DISTINCT rank) AS ranks, count(DISTINCT task) AS tasks FROM critical_part
), chosen AS (
    SELECT any_value(step) AS step, sum(n) FILTER (kind < 9) AS edges,
        coalesce(sum(n) FILTER (kind IN (5, 6)), 0) AS guessed, coalesce(sum(n) FILTER (kind = 9), 0) AS dropped,
        coalesce(sum(n) FILTER (kind = 10), 0) AS overlapping, sum(n) FILTER (kind = 11) AS messages
    FROM critical_fact
), most AS (
    SELECT list(format('{} {:.1f} %', part, 100.0 * dur_ns / nullif(whole_ns, 0)) ORDER BY dur_ns DESC, part) AS parts
    FROM (SELECT part, sum(dur_ns) AS dur_ns, sum(sum(dur_ns)) OVER () AS whole_ns FROM critical_part GROUP BY part)
), unsure AS (
    SELECT 100.0 * coalesce(sum(dur_ns) FILTER (edge IN (5, 6) OR what = 'cause not recorded'), 0)
        / nullif(sum(dur_ns), 0) AS unsure_pct
    FROM critical_part
), lacking AS (
    SELECT list(s.rank ORDER BY s.rank) AS ranks
    FROM (SELECT rank, list(step) AS steps FROM step_times GROUP BY rank) s, chosen c
    WHERE NOT list_contains(s.steps, c.step)
), line AS (
    SELECT 1 AS position, format('{}: {:.3f} ms on the path: {}.', coalesce(format('Step {}', c.step),
        'The whole recording'), t.dur_ns / 1e6, array_to_string(m.parts, ', ')) AS text
    FROM total t, chosen c, most m WHERE t.dur_ns > 0
    UNION ALL
    SELECT 0, format('Of {} ranks the graph holds {}: those for which the others wait longest, of each group at least '
        || 'one where there is room. What the others do is not on this path.', n_ranks, n)
    FROM (SELECT getvariable('critical_ranks') AS n_ranks, count(*) AS n FROM critical_window)
    WHERE n < n_ranks
    UNION ALL
    SELECT 0, format('Not every rank has a record of this step: {}{}. The time that others wait for {} is '
        || 'communication here.', if(len(ranks) = 1, 'rank ', 'ranks ') || array_to_string(ranks[:8], ', '),
        if(len(ranks) > 8, ', ...', ''), if(len(ranks) = 1, 'it', 'them'))
    FROM lacking WHERE len(ranks) > 0
    UNION ALL
    SELECT 0, format('Ranks send to each other ({:,} sends and receives), which are not matched: that one waits in '
        || 'them for another''s work is communication here. No slack is known, nor what a change of one rank does to '
        || 'others.',
        messages)
    FROM chosen WHERE messages > 0
    UNION ALL
    SELECT 2, format('The graph has {} tasks and {} dependencies, of which {} are inferred, not recorded{}; '
        || '{:.1f} % of the path is waiting that rests on these or has no recorded cause.',
        (SELECT count(*) FROM critical_task), c.edges, c.guessed,
        if(c.dropped > 0, format(', and {} contradict the recorded times', c.dropped), '')
            || if(c.overlapping > 0, format('; {} of its tasks begin before the one ahead has ended', c.overlapping),
                ''),
        u.unsure_pct)
    FROM chosen c, total t, unsure u WHERE t.dur_ns > 0
)
SELECT position, text FROM line
ORDER BY position, text
