-- title = "Answer"
-- doc = "Least time of each model under the same conditions, in a sentence, and whether the machine was busy."
-- brief = ""
-- cannot = "No framework has times here: see the section refused, or run traceview study frameworks."
-- lines = ["{text}"]
-- [columns]
-- position = "order of the sentences"
-- text = "a sentence"
WITH pass AS (
    SELECT *, unnest([{name: 'training step', ns: training_ns}, {name: 'forward pass', ns: forward_ns}]) AS pass
    FROM framework_speeds WHERE NOT is_published AND len(differs) = 0
), cell AS (
    -- A forward pass alone is a race where some have nothing else, and then of all.
    SELECT label AS name, n, 2 * busy > n AS is_busy, n >= 2 AND NOT is_busy AS is_ranked,
        training_ns IS NULL OR pass.name = 'training step' AS is_row,
        concat_ws(', ', model || ' ' || pass.name, 'batch ' || batch,
            threads || if(threads = 1, ' thread', ' threads'), layout, nullif(device, 'cpu')) AS what,
        pass.ns / 1e6 AS ms
    FROM pass WHERE pass.ns IS NOT NULL
    QUALIFY pass.name = 'training step' OR bool_or(training_ns IS NULL) OVER (PARTITION BY what)
), usable AS (
    SELECT what, list(name ORDER BY ms, name) FILTER (is_ranked) AS names,
        list(ms ORDER BY ms, name) FILTER (is_ranked) AS times,
        string_agg(name, ', ' ORDER BY name) FILTER (NOT is_ranked) AS others
    FROM cell GROUP BY what HAVING bool_or(is_ranked)
), said AS (
    SELECT 1 AS part, u.what, concat(if(len(names) > 1, format('{}: {}{} takes least, {:.1f} ms; then {}, {:.2f} times '
        || 'as long (whether that is more than chance says the ranking)', u.what,
        if(others IS NULL, '', 'of those that can be ranked '), names[1], times[1], names[2], times[2] / times[1]),
        format('{}: {} takes {:.1f} ms; nothing ran beside it that can be ranked', u.what, names[1], times[1])),
        '; cannot tell of ' || others || ' (one process, or a busy machine)', '.') AS text
    FROM usable u
    UNION ALL
    SELECT 1, what, format('{}: cannot tell which framework is the fastest, {}.', what,
        if(bool_and(n < 2), 'each ran in one process', 'most processes shared the machine with other programs'))
    FROM cell ANTI JOIN usable USING (what) GROUP BY what
    UNION ALL
    SELECT 2, '', format('The machine was busy with something else in most processes of {} of {} rows.',
        count(*) FILTER (is_busy), count(*))
    FROM cell WHERE is_row HAVING bool_or(is_busy)
)
SELECT row_number() OVER (ORDER BY part, what, text) AS position, text FROM said
ORDER BY position
