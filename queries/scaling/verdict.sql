-- title = "Scaling"
-- doc = """Summary of the rounds. Efficiency is the speed-up divided by how many times as many ranks there are. How
-- well it scales is judged by the ends of the intervals."""
-- brief = ""
-- cannot = "No scaling study in this capture: traceview study scaling -- torchrun --nproc_per_node {ranks} train.py"
-- lines = ["{text}"]
-- [columns]
-- position = "order of the sentences"
-- text = "a sentence"
WITH point AS (
    SELECT *, concat('batch ', if(mode = 'strong', global_batch, batch), if(mode = 'strong', ' of all ranks',
        ' per rank')) AS of_batch, if(mode = 'strong', global_batch, batch) AS size,
        100 * speedup * base_ranks / ranks AS efficiency_pct
    FROM raw.scaling_points WHERE status <> 'published'
), said AS (
    SELECT *, CASE WHEN verdict IN ('faster', 'slower', 'no difference seen')
            THEN format('{} ranks {}{:.2f} times as fast as {} ({:.2f} to {:.2f}{}; efficiency {:.0f} %{})', ranks,
                if(verdict = 'no difference seen', 'no difference seen, ', ''), speedup, base_ranks, low, high,
                coalesce(format(', a {:.0f} % interval of {} rounds', 100 * confidence, runs), ''), efficiency_pct,
                if(is_oversubscribed, ', more ranks than cores', ''))
        ELSE format('{} ranks: {}{}', ranks, verdict, coalesce(' (' || reason || ')', '')) END AS text
    FROM point WHERE verdict <> 'base' AND ranks > base_ranks
), judged AS (
    SELECT mode, size, of_batch, string_agg(text, '; ' ORDER BY ranks) AS text FROM said GROUP BY ALL
), best AS (
    SELECT max(round(100 * high * base_ranks / ranks, 3)) AS most_pct,
        min(round(100 * low * base_ranks / ranks, 3)) AS least_pct, count(*) AS n
    FROM point WHERE verdict IN ('faster', 'slower', 'no difference seen') AND NOT coalesce(is_oversubscribed, false)
), more AS (
    SELECT a.of_batch, a.size, b.ranks AS few, a.ranks AS many, a.speedup / b.speedup AS gain,
        100 * least(a.confidence, b.confidence) AS sure_pct
    FROM point a JOIN point b ON b.mode = a.mode AND b.size IS NOT DISTINCT FROM a.size AND b.ranks < a.ranks
        AND b.ranks > b.base_ranks
    WHERE a.verdict IN ('faster', 'slower', 'no difference seen')
        AND b.verdict IN ('faster', 'slower', 'no difference seen') AND a.high < b.low
)
SELECT row_number() OVER (ORDER BY part, size NULLS FIRST, text) AS position, text FROM (
    SELECT 1 AS part, size, concat(upper(mode[1]), mode[2:], ' scaling',
        if(size IS NULL, ', batch not known', ', ' || of_batch), ': ', text, '.') AS text
    FROM judged
    UNION ALL
    SELECT 2, NULL, CASE
        WHEN n = 0 THEN 'Not enough data to say how well it scales: no ranks with cores of their own gave a usable '
            || 'speed-up.'
        WHEN least_pct >= 90 THEN format('It scales well: efficiency {:.0f} % or more.', floor(least_pct))
        WHEN most_pct < 70 THEN format('It scales badly: efficiency at most {:.0f} %.', ceil(most_pct))
        ELSE format('Efficiency is {:.0f} to {:.0f} %, by ranks, batch and interval.', floor(least_pct),
            ceil(most_pct)) END
    FROM best WHERE EXISTS (FROM said)
    UNION ALL
    SELECT 3, size, format('With {} {} ranks are slower than {}: {:.2f} times as fast{}.', coalesce(of_batch,
        'this batch'), many, few, gain, coalesce(format(' (their {:.0f} % intervals lie apart)', sure_pct), ''))
    FROM more
    UNION ALL
    SELECT 4, NULL, 'Where there are more ranks than cores they wait for each other''s cores: what is slow there is '
        || 'this machine, not the communication.'
    FROM point WHERE is_oversubscribed GROUP BY ALL
    UNION ALL
    SELECT 5, NULL, format('{} failed; the section of runs has the reasons.',
        if(count(*) = 1, '1 run', count(*) || ' runs'))
    FROM raw.scaling_runs WHERE status = 'failed' HAVING count(*) > 0
    UNION ALL
    SELECT 6, NULL, format('Nothing is compared, as {}: {}.', CASE
            WHEN count(DISTINCT ranks) = 1 THEN 'there is one number of ranks'
            WHEN bool_or(size IS NULL) THEN 'not every batch is known (--batch or --global-batch names it)'
            ELSE 'no two numbers of ranks have the same batch' END,
        string_agg(format('{} rank{}, {}', ranks, if(ranks = 1, '', 's'), if(size IS NULL, 'batch not known',
            of_batch)), '; ' ORDER BY ranks, size))
    FROM point WHERE verdict = 'base' AND NOT EXISTS (FROM said) HAVING count(*) > 0
)
ORDER BY position
