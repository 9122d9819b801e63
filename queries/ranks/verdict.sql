-- title = "Ranks"
-- doc = """Ranks that are missing, collectives that not all ranks entered, and a summary of the matched ones, in
-- sentences."""
-- brief = ""
-- cannot = "One rank, or no communication: there is nothing to compare."
-- lines = ["{text}"]
-- [columns]
-- position = "order of the sentences"
-- text = "a sentence"
WITH call AS (
    SELECT * FROM rank_waits WHERE is_counted
), total AS (
    SELECT count(DISTINCT match_id) AS matches, count(DISTINCT match_id) FILTER (is_complete) AS complete,
        sum(wait_ns) AS wait_ns, sum(dur_ns) FILTER (is_complete) AS dur_ns,
        (SELECT avg(wait_ns) FROM rank_totals) AS wait_step_ns, max(error_ns) AS error_ns,
        string_agg(DISTINCT matched_by, ', ' ORDER BY matched_by) AS matched_by,
        string_agg(DISTINCT clock, '; ' ORDER BY clock) AS clocks
    FROM call
), said AS (
    SELECT count(DISTINCT rank) AS ranks, count(*) AS calls, count(*) FILTER (match_id IS NOT NULL) AS matched,
        count(*) FILTER (is_together AND match_id IS NULL) AS lacking
    FROM matched_calls WHERE is_counted
), missing AS (
    SELECT list(rank ORDER BY rank) AS ranks, any_value(world_size) AS world_size FROM missing_ranks
    -- What was not looked at stands under every report.
    HAVING count(*) > 0 AND getvariable('chosen') IS NULL
), absent AS (
    -- A rank that hangs in one group is missing in others, too: the first of them tells why.
    SELECT team, group_name, lacks, lacks_number, state, any_value(waited_ns) AS waited_ns,
        any_value(n_waiting) AS n_waiting, list(rank ORDER BY rank) AS ranks, min(gap_ns) AS gap_ns,
        any_value(last_activity) AS last_activity, any_value(last_op) AS last_op
    FROM last_collectives WHERE is_hung GROUP BY team, group_name, lacks, lacks_number, state
), hung AS (
    SELECT *, if(len(ranks) = 1, 'Rank ', 'Ranks ') || array_to_string(ranks[:8], ', ')
            || if(len(ranks) > 8, format(' and {} more', len(ranks) - 8), '') AS who,
        format('{} {}{}', lacks, lacks_number, coalesce(' of group ' || group_name, '')) AS which,
        coalesce(' Last on the device: ' || left(last_activity, 60), '')
            || coalesce(', on the host: ' || left(last_op, 60), '') AS did
    FROM absent
), steps AS (
    SELECT rank, count(*) AS n FROM step_times GROUP BY rank
), usual AS (
    SELECT mode(n) AS n FROM steps
), fewer AS (
    SELECT s.n, u.n AS usual, list(s.rank ORDER BY s.rank) AS ranks, count(*) AS n_ranks
    FROM steps s CROSS JOIN usual u WHERE s.n < u.n GROUP BY s.n, u.n
), line AS (
    SELECT -3 AS position, format('Ranks missing: {} of {} ({}{}): there is no readable trace of {}.', len(ranks),
        world_size, array_to_string(ranks[:8], ', '), if(len(ranks) > 8, ', ...', ''),
        if(len(ranks) = 1, 'it', 'them')) AS text
    FROM missing
    UNION ALL
    SELECT -2, CASE state WHEN 'recording ends meanwhile'
            THEN format('{} never entered {}; {} rank{} in it for at least {:.1f} s.{}.', who, which, n_waiting,
                if(n_waiting = 1, ' waits', 's wait'), waited_ns / 1e9, if(len(ranks) = 1, did, ' See below'))
        WHEN 'recording ends before'
            THEN format('The recording of {} ends {:.3f} s before the others enter {}; {} rank{} in it for at least '
                || '{:.1f} s.{}.', lower(who), gap_ns / 1e9, which, n_waiting, if(n_waiting = 1, ' waits', 's wait'),
                waited_ns / 1e9, if(len(ranks) = 1, did, ' See below'))
        WHEN 'recording goes on'
            THEN format('{} is not recorded on {}, whose recording goes on; on {} other rank{} it lasts at least '
                || '{:.1f} s.', which, lower(who), n_waiting, if(n_waiting = 1, '', 's'), waited_ns / 1e9)
        ELSE format('{} rank{} in {} for at least {:.1f} s; {} of the same group, {}, may never have entered it.',
            n_waiting, if(n_waiting = 1, ' waits', 's wait'), which, waited_ns / 1e9, lower(who),
            CASE state WHEN 'no trace' THEN 'without a readable trace'
                WHEN 'file is cut off' THEN 'whose file is cut off' ELSE 'not looked at (--rank)' END) END
    FROM hung
    UNION ALL
    SELECT -1, format('Fewer steps than on the other ranks ({} instead of {}): rank{} {}{}.', n, usual,
        if(n_ranks = 1, '', 's'), array_to_string(ranks[:8], ', '), if(n_ranks > 8, ', ...', ''))
    FROM fewer
    UNION ALL
    SELECT 1, format('{} of {} communication calls of {} ranks are matched{}.', matched, calls, said.ranks,
        coalesce(', by ' || matched_by, ''))
    FROM said, total WHERE said.ranks > 1
    UNION ALL
    SELECT 2, format('Clocks: {}; error {}.', clocks, CASE WHEN clocks = 'one host' THEN 'none known'
        WHEN error_ns IS NULL THEN 'unknown (too few collectives)'
        ELSE format('at most {:.1f} us for 80 % of the ends', error_ns / 1e3) END)
    FROM total WHERE matches > 0
    UNION ALL
    SELECT 3, format('{} of {} matched collectives are not on every rank of their group: who came last, waiting and '
        || 'transfer are not known of {}.', matches - complete, matches, if(matches - complete = 1, 'it', 'them'))
    FROM total WHERE complete < matches
    UNION ALL
    SELECT 4, format('Of the time in {}{}collectives {:.1f} % is waiting for the last rank ({:.3f} ms per step and '
        || 'rank), the rest transfer.', if(complete < matches, 'the other ', ''), if(lacking > 0, 'matched ', ''),
        100.0 * wait_ns / dur_ns, wait_step_ns / 1e6)
    FROM total, said WHERE dur_ns > 0 AND wait_step_ns IS NOT NULL
    UNION ALL
    -- Medians part the ranks into levels, and only the highest of them is last.
    SELECT if(n_others = most, 5, 6), concat(upper(left(who, 1)), who[2:], if(n_others = most,
            format(' come{} last: the other {} wait{} {:.3f} ms per step longer than {}', if(len(ranks) = 1, 's', ''),
                if(n_others = 1, 'rank', format('{} ranks', n_others)), if(n_others = 1, 's', ''), excess_ns / 1e6,
                if(len(ranks) = 1, 'it', 'they do')),
            format(' wait{} {:.3f} ms per step less than {} other{}', if(len(ranks) = 1, 's', ''), excess_ns / 1e6,
                n_others, if(n_others = 1, '', 's'))),
        coalesce('. What takes ' || if(len(ranks) = 1, 'it', 'them') || ' longer than the others: '
        || array_to_string(list_transform(parts[:2], lambda x: format('{} ({:.3f} ms per step)', x.part,
            x.excess_ns / 1e6)), ' and '), ''), '.')
    FROM (SELECT *, max(n_others) OVER () AS most FROM slow_ranks WHERE basis = 'arrival') WHERE is_clear
    UNION ALL
    SELECT 7, format('{} compute{} {:.2f} times as long per step as the other {} that do{} the same work: {:.3f} '
        || 'instead of {:.3f} ms.', upper(left(who, 1)) || who[2:], if(len(ranks) = 1, 's', ''), own_ns / others_ns,
        if(n_others = 1, 'rank', format('{} ranks', n_others)), if(n_others = 1, 'es', ''), own_ns / 1e6,
        others_ns / 1e6)
    FROM slow_ranks WHERE basis = 'compute' AND is_clear
    UNION ALL
    SELECT if(is_few, 8, 9), format('Ranks {}differ by more than 2 % of the {}, but {}: {}{}.',
        if(EXISTS (FROM slow_ranks WHERE basis = 'arrival' AND is_clear), 'also ', ''), any_value(whole),
        if(is_few, 'the steps are too few to tell that from chance (collect --steps records more)',
            'no more clearly than chance allows'),
        array_to_string(list(format('{} ({} {} other{}{}{})', who,
            if(basis = 'arrival', 'later than', 'computing longer than'), n_others, if(n_others = 1, '', 's'),
            if(whole = 'step', format(' in {} of {} step{}', n_apart, n_steps, if(n_steps = 1, '', 's')), ''),
            coalesce(format('; {} such would tell', n_needed), ''))
            ORDER BY excess_ns DESC, who, basis)[:3], '; '),
        if(count(*) > 3, '; ...', ''))
    FROM (SELECT *, n_needed IS NOT NULL AS is_few, (SELECT if(bool_or(has_steps), 'step', 'recording') FROM scope)
        AS whole FROM slow_ranks WHERE NOT is_clear)
    GROUP BY is_few
    UNION ALL
    SELECT 10, format('{} by more than 2 % of the {} and the error of the clocks{}{}.',
        if(late IS NULL, 'No rank makes the others wait',
            concat('In the ', if(whole = 'step', 'median ', ''), whole, ' no rank waits less than the others')), whole,
        if(EXISTS (FROM unknown_waits), ', where it is known who came last', ''),
        coalesce('; in ' || if(whole = 'step', 'the mean step', 'all') || ' the others wait '
            || array_to_string(late[:3], ', ') || if(len(late) > 3, format(' and {} more', len(late) - 3), ''), ''))
    FROM total, (SELECT if(bool_or(has_steps), 'step', 'recording') AS whole FROM scope), (
        SELECT list(format('{:.3f} ms for rank {}', caused_ns / 1e6, rank) ORDER BY caused_ns DESC, rank) AS late
        FROM rank_totals WHERE caused_ns > 0.02 * step_ns
    )
    WHERE wait_step_ns IS NOT NULL AND NOT EXISTS (FROM slow_ranks WHERE basis = 'arrival')
)
SELECT position, text FROM line
ORDER BY position, text
