-- title = "Answer"
-- doc = "Which algorithm is the fastest how often, in a sentence for each setting, and whether the machine was busy."
-- brief = ""
-- cannot = "No times of convolution algorithms in this capture; `traceview study` measures or imports them."
-- lines = ["{text}"]
-- [columns]
-- position = "order of the sentences"
-- text = "a sentence"
WITH best AS (
    SELECT *, count(nullif(direction IN ('dgrad', 'wgrad') AND algorithms >= 2 AND place IS NOT NULL, false))
        OVER (PARTITION BY setting, problem, batch, contender) AS parts
    FROM algorithm_best
), won AS (
    -- One time of both gradients is no problem of its own where each of them counts.
    SELECT setting, if(is_ahead, contender, NULL) AS contender, count(*) AS wins
    FROM best WHERE place = 1 AND algorithms >= 2 AND (direction <> 'backward' OR parts < 2) GROUP BY ALL
), race AS (
    SELECT setting, CAST(sum(wins) AS BIGINT) AS problems,
        CAST(coalesce(sum(wins) FILTER (contender IS NULL), 0) AS BIGINT) AS ties,
        list(format('{} in {:,}', contender, wins) ORDER BY wins DESC, contender)
            FILTER (contender IS NOT NULL) AS most,
        CAST(list_sum(list(wins ORDER BY wins DESC, contender) FILTER (contender IS NOT NULL)[4:]) AS BIGINT) AS rest
    FROM won GROUP BY setting
), timed AS (
    SELECT count(*) AS n, count(DISTINCT problem) AS problems, count(DISTINCT setting) AS settings,
        any_value(setting) AS setting, bool_and(status = 'published') AS is_published,
        count(*) FILTER (others_pct >= 10) AS busy, median(others_pct) FILTER (others_pct >= 10) AS others_pct
    FROM algorithm_times WHERE is_timed
), said AS (
    SELECT 1 AS part, problems AS size, format('{}: of {:,} problem{} (shape, batch and pass) with times of at least '
        || 'two algorithms {}.', setting, problems, if(problems = 1, '', 's'), concat_ws('; ',
        format('the fastest {} {}{}', if(problems - ties = 1, 'is', 'are'), array_to_string(most[:3], ', '),
            if(rest > 0, format(', others in {:,}', rest), '')),
        if(ties > 0, format('no difference seen between the first and another in {:,}', ties), NULL))) AS text
    FROM race QUALIFY row_number() OVER (ORDER BY problems DESC, setting) <= 5
    UNION ALL
    SELECT 1, 0, format('No algorithm can be called the fastest: the {:,} {}times of {:,} shape{} on {} hold one '
        || 'algorithm for each pass.', n, if(is_published, 'published ', ''), problems, if(problems = 1, '', 's'),
        if(settings = 1, setting, settings || ' settings'))
    FROM timed WHERE n > 0 AND NOT EXISTS (FROM race) AND NOT EXISTS (FROM algorithm_best WHERE algorithms >= 2)
    UNION ALL
    SELECT 1, 0, format('No algorithm can be called the fastest: the {:,} times are of too few runs that differ too '
        || 'much.', n)
    FROM timed WHERE NOT EXISTS (FROM race) AND EXISTS (FROM algorithm_best WHERE algorithms >= 2)
    UNION ALL
    SELECT 2, 0, format('{} more setting{}: see the wins by algorithm.', count(*) - 5, if(count(*) = 6, '', 's'))
    FROM race HAVING count(*) > 5
    UNION ALL
    SELECT 3, 0, format('The machine was busy for {:,} of {:,} times (other programs took {:.0f} % of the cores, '
        || 'median of these).', busy, n, others_pct)
    FROM timed WHERE busy > 0
)
SELECT row_number() OVER (ORDER BY part, size DESC, text) AS position, text FROM said
ORDER BY position
