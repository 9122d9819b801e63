-- title = "In short"
-- doc = "How much slower or faster each run is than A, and why, as far as the recordings tell."
-- cannot = "There is only one run: nothing to compare it with."
-- [columns]
-- run = "run"
-- sentence = "how much slower or faster it is, how surely, what most of it consists of, and which settings differ"
-- ratio = "step time over A's"
-- low = "lower end of its interval"
-- high = "upper end of its interval"
-- confidence_pct = "how often such an interval holds the ratio"
-- noise_from = "what the interval is computed from"
-- [headings]
-- confidence_pct = "of intervals"
WITH most AS (
    SELECT d.run, list(format('{} ({}{})', part,
            if(abs(d.diff_ns) < 1e5, format('{:+.3g} us', d.diff_ns / 1e3), format('{:+.2f} ms', d.diff_ns / 1e6)),
            if(p.share_of_ns IS NULL, '', format(', {:.0f} %', 100 * d.diff_ns / p.share_of_ns)))
        ORDER BY abs(d.diff_ns) DESC, part)[:2] AS parts
    FROM part_pair d JOIN pair p USING (run)
    WHERE place = 1 AND is_beyond IS NOT false AND d.diff_ns * p.diff_ns > 0 AND d.diff_ns * (p.ratio - 1) > 0
        AND abs(d.diff_ns) >= 0.1 * abs(p.diff_ns)
    GROUP BY d.run
), setup AS (
    SELECT run, string_agg(text, '; ' ORDER BY n) FILTER (n <= 4) AS texts, greatest(count(*) - 4, 0) AS more
    FROM (SELECT *, row_number() OVER (PARTITION BY run ORDER BY place, kind, name) AS n
        FROM differing WHERE place IS NOT NULL)
    GROUP BY run
), told AS (
    SELECT r.run, (SELECT count(*) FROM setting s WHERE s.run IN (0, r.run) AND s.name = 'noted by') = 2 AS is_told
    FROM run r
), timed AS (
    SELECT p.*, e.low, e.high, e.confidence_pct, e.noise_from, e.recordings,
        -- Near 1 a ratio and its interval are told in percent, far from it in times.
        coalesce(low > 1.0 / 3 AND high < 3, abs(ln(p.ratio)) < ln(3)) AS is_near,
        if(is_near, format('{:+.1f} % to {:+.1f} %', 100 * (low - 1), 100 * (high - 1)),
            format('{:.3g} to {:.3g} times', low, high)) AS limits,
        -- Of how many times as fast a run is.
        if(p.ratio < 1 AND NOT is_near, format('{:.3g} to {:.3g} times', 1 / high, 1 / low), limits) AS speed_limits
    FROM pair p LEFT JOIN estimate e ON e.run = p.run
), said AS (
    SELECT p.*, t.is_told, m.parts, s.texts, s.more,
        (SELECT any_value(detail) FROM condition c WHERE c.run = p.run AND c.condition = 'model') AS lacking,
        CASE WHEN abs(ratio - 1) < 0.0005 THEN 'as long as'
            WHEN NOT is_near THEN format('{:.3g} times as long as', ratio)
            WHEN ratio > 1 THEN format('{:.1f} % longer than', 100 * (ratio - 1))
            ELSE format('{:.1f} % less time than', 100 * (1 - ratio)) END AS amount,
        format('{} {}', if(is_near, format('{:.1f} %', 100 * abs(ratio - 1)),
            format('{:.3g} times', greatest(ratio, 1 / ratio))), if(ratio < 1, 'faster', 'slower')) AS speed,
        if(least(p.step_ns, p.base_ns) < 1e5, format('{:,.2f} us against {:,.2f} us', p.step_ns / 1e3, p.base_ns / 1e3),
            format('{:.2f} ms against {:.2f} ms', p.step_ns / 1e6, p.base_ns / 1e6)) AS times,
        (SELECT string_agg(text, '; ' ORDER BY run) FROM machine WHERE machine.run IN (0, p.run) AND is_busy) AS busy,
        if(low IS NULL, NULL, noise_from || if(p.recordings = 2 AND least(r.steps, b.steps) < 5, ', few steps', ''))
            AS noise,
        coalesce(format(' ({:.0f} % interval {}; {})', confidence_pct, limits, noise), '') AS interval,
        coalesce(format(' ({:.0f} % interval {}; {})', confidence_pct, speed_limits, noise), '') AS speeds,
        1e9 * r.samples / r.step_ns AS rate, 1e9 * b.samples / b.step_ns AS base_rate,
        if(least(rate, base_rate) < 10, '{:.2f}', '{:,.0f}') AS digits,
        if(r.ranks = b.ranks, '', format(' Times are per rank, of {} recorded rank{} against {}{}.', r.ranks,
            if(r.ranks = 1, '', 's'), b.ranks, if(r.has_steps AND b.has_steps,
                coalesce(format(', which together process {} samples per second against {} if each rank has samples '
                    || 'of its own', format(digits, rate), format(digits, base_rate)), ''), ''))) AS per_rank
    FROM timed p JOIN run r ON r.run = p.run JOIN run b ON b.run = 0 JOIN told t ON t.run = p.run
    LEFT JOIN most m ON m.run = p.run LEFT JOIN setup s ON s.run = p.run
), both_timed AS (
    SELECT DISTINCT t.run FROM timed_pass t SEMI JOIN (FROM timed_pass WHERE run = 0) b ON b.shape = t.shape
        AND b.batch = t.batch AND b.direction = t.direction AND b.algorithm = t.algorithm
    WHERE t.run > 0
)
SELECT label AS run, CASE
    WHEN ratio IS NULL AND said.run IN (SELECT run FROM both_timed)
        THEN format('{} and A have no steps; the passes of convolutions that both measured are compared below.', label)
    WHEN ratio IS NULL THEN format('{} and A have no time to compare.', label)
    WHEN is_whole THEN format('{} and A are compared as whole recordings, {}: without steps nothing tells which is '
        || 'faster.', label, times)
    WHEN differing <> '' THEN format('{} and A are not ranked, because they differ in {}: {} per step{}.', label,
        differing, times, interval)
    WHEN unknown THEN format('{} and A are not ranked, because nothing tells that they ran the same model{}: {} per '
        || 'step{}. --accept model ranks them all the same.', label, coalesce(' (' || lacking || ')', ''), times,
        interval)
    WHEN low IS NULL THEN format('A step of {} takes {} one of A, {}; whether that is noise is not known.', label,
        amount, times)
    WHEN is_busy THEN format('The machine was busy, so nothing is claimed: a step of {} took {} one of A{}, but {}. '
        || 'Record again on a quiet machine, or several times (--a, --b).', label, amount, interval, busy)
    WHEN confidence_pct < 90 THEN format('There are too few recordings to tell: a step of {} takes {} one of A{}.',
        label, amount, interval)
    WHEN low <= 1 AND high >= 1 THEN format('{} is neither slower nor faster than A beyond the noise: a step takes {} '
        || 'one of A{}.', label, amount, interval)
    WHEN abs(ratio - 1) < 0.0005 THEN format('A step of {} takes {} one of A{}.', label, amount, interval)
    ELSE format('{} is {} than A{}{}.', label, speed, speeds,
        if(parts IS NULL, '', ', mostly ' || array_to_string(parts, ' and '))) END
    || per_rank
    || if(is_ranked AND unchecked <> '' AND NOT is_whole, format(' Not recorded, so not checked: {}.', unchecked), '')
    || CASE WHEN texts IS NOT NULL THEN format(' Settings that differ and can explain a difference: {}{}.', texts,
        if(more > 0, format('; {} more below', more), ''))
        WHEN is_told THEN ' No recorded setting that changes how long a step takes differs.'
        ELSE ' The settings of at least one are not recorded.' END
    || if(is_ranked AND NOT is_whole AND NOT is_busy AND busy <> '', format(' The machine was busy: {}.', busy), '')
        AS sentence,
    ratio, low, high, confidence_pct, noise_from
FROM said
ORDER BY said.run
