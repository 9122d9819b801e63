-- doc = "Lines under every report: what could not be attributed, and what was wrong with the input."
WITH device AS (
    SELECT coalesce(sum(n), 0) AS n, sum(alone_ns) AS busy_ns,
        coalesce(sum(alone_ns) FILTER (category = 'other'), 0) AS other_ns,
        coalesce(sum(n) FILTER (NOT has_op), 0) AS n_unlinked,
        coalesce(sum(alone_ns) FILTER (NOT has_op), 0) AS unlinked_ns
    FROM totals
), averages AS (
    SELECT count(*) AS n, min(n) AS least, max(n) AS most FROM layer_times
), lines AS (
    SELECT 1 AS line,
        format('Attributed: {:.1f} % of device time to a category, {:.1f} % to an operator '
            '({:,} of {:,} row{} to none).',
        100 - 100.0 * other_ns / nullif(busy_ns, 0), 100 - 100.0 * unlinked_ns / nullif(busy_ns, 0),
        CAST(n_unlinked AS BIGINT), CAST(n AS BIGINT), if(n = 1, '', 's')) AS text
    FROM device WHERE n > 0
    UNION ALL
    SELECT DISTINCT 0, format('Conditions: {}; the report environment has them all.', concat_ws(', ', machine->>'$.cpu',
        format('{} cores', machine->>'$.cores'),
        format('{:.1f} GB of memory', TRY_CAST(machine->>'$.memory_bytes' AS DOUBLE) / 1e9),
        machine->>'$.driver_version', machine->>'$.platform', 'Python ' || (machine->>'$.python')))
    FROM (SELECT json_extract(options, '$.machine') AS machine FROM captures) WHERE machine->>'$.platform' IS NOT NULL
    UNION ALL
    SELECT 1, if(getvariable('chosen') IS NULL, format('Ranks missing: {} of {}; what they did', count(*),
            any_value(world_size)), format('Ranks looked at: {} of {} (--rank); what the others did',
            any_value(world_size) - count(*), any_value(world_size)))
        || ', and who waits for whom in their groups, is not known.'
    FROM missing_ranks HAVING count(*) > 0
    UNION ALL
    SELECT 2, format('Steps: {} counted{}; step source: {}.', sum(n_steps), CASE WHEN sum(n_warmup) > 0
        THEN format(', {} leading warm-up step{} excluded', sum(n_warmup), if(sum(n_warmup) = 1, '', 's'))
            ELSE '' END
            || (SELECT if(count(*) > 0, format(', {} marked without work of the device left out', count(*)), '')
                FROM marked_steps WHERE is_empty)
            || if(count(*) FILTER (n_steps = 0 AND n_devices > 0) > 0, format(', none in {} of {} ranks: left out of '
                || 'numbers per step (see --rank)', count(*) FILTER (n_steps = 0 AND n_devices > 0), count(*)), ''),
        (SELECT string_agg(DISTINCT source, ', ' ORDER BY source) FROM step_times))
    FROM scope HAVING sum(n_steps) > 0
    UNION ALL
    SELECT 2, CASE WHEN (SELECT n FROM device) = 0 AND (SELECT n FROM averages) > 0
            -- There is no timeline, only averages.
            THEN 'Steps: the log has no single steps'
                || coalesce((SELECT format('; its times are averages over {} call{}',
                if(least = most, CAST(most AS VARCHAR), least || ' to ' || most), if(most = 1, '', 's'))
                FROM averages),
                    '; its times are averages') || '.'
            ELSE format('Steps: none found{}; times are for the whole recording{}.',
                (SELECT if(count(*) > 0, format(' that holds work of the device ({} marked)', count(*)), '')
                FROM marked_steps WHERE is_empty),
                (SELECT if(count(*) > 0, ', whose log has no time stamps: primitives are laid end to end', '')
                FROM scope WHERE is_unstamped)) END
    FROM scope HAVING coalesce(sum(n_steps), 0) = 0
        AND NOT EXISTS (FROM captures WHERE format = 'experiment')
    UNION ALL
    SELECT 3, format('Input: {:,} {}{} read, {:,} kept, {:,} repaired, {:,} dropped.',
        CAST(sum(n_events) AS BIGINT), if(bool_and(format = 'experiment'), 'row', 'event'),
        if(sum(n_events) = 1, '', 's'), CAST(sum(n_kept) AS BIGINT),
        CAST(coalesce(sum(n_repaired), 0) AS BIGINT), CAST(coalesce(sum(n_dropped), 0) AS BIGINT)) FROM captures
    UNION ALL
    SELECT 3,
        format('Summary: {} row{} of totals that the profiler printed, without a timeline{}.', count(*),
            if(count(*) = 1, '', 's'),
            if(EXISTS (FROM printed_totals), ': overview, kernels and copies show them for the whole run',
                '; they are in the view `summaries`')) FROM summaries HAVING count(*) > 0
    UNION ALL
    SELECT 3, format('Layer times: {} average{} from the log, without a timeline, in the report `layers`.',
        n, if(n = 1, '', 's')) FROM averages WHERE n > 0
    UNION ALL
    SELECT 3, format('Processor: rank {} got {:.0f} % of the processor time that its operators took{}. The machine was '
        || 'busy with something else: on an idle machine these times would be different.', c.rank, received_pct,
        coalesce(format(', {:.0f} % of {} cores', 100.0 * processor_ns / nullif(p.recorded_ns * p.cores, 0), p.cores),
            ''))
    FROM contention c JOIN processes p USING (rank) WHERE is_contended
    UNION ALL
    SELECT 4, 'Quality: ' || string_agg(format('{} ({:,})', kind, CAST(total AS BIGINT)), '; '
        ORDER BY contains(kind, 'cut off') DESC, total DESC, kind) || '.'
    FROM (SELECT kind, sum(n) AS total FROM quality GROUP BY kind) HAVING count(*) > 0
    UNION ALL
    (SELECT 5, 'Profiler warning: ' || w FROM (SELECT DISTINCT unnest(warnings) AS w FROM captures)
        ORDER BY w LIMIT 5)
)
SELECT text FROM lines ORDER BY line, text
