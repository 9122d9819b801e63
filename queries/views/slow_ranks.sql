-- doc = """Ranks that are apart from the others: by what they compute per step, among ranks that do the same work
-- (compute), or by being those for which the others wait (arrival). Ranks are sorted by their median over the steps; a
-- gap of more than 2 % of the step (of the computing time 5 % too, of arrival more than the error of the clocks) parts
-- those above it from those below. What they have in common is named (host, device, process group), and how likely
-- chance alone would make as clear a difference: by the steps in which each of them is above all others, or by the
-- share of all choices of as many ranks that fit so well; corrected for the number of sets that were possible."""
-- materialize = true
-- whole_job = true
-- [columns]
-- basis = "compute or arrival"
-- ranks = "those that are apart"
-- n_others = "ranks below the gap"
-- kind = "host, device or group, where that is what they share"
-- label = "its name"
-- own_ns = "median of theirs: time computing, or waiting, per step"
-- others_ns = "median of the others"
-- excess_ns = "by which they compute longer, or the others wait longer"
-- n_steps = "steps compared"
-- n_apart = "of them those in which each of these ranks is above all others"
-- chance = "how likely chance alone does this; at most 1"
-- is_clear = "whether that is at most 0.05: others are not to be named"
-- n_needed = """steps that would make it clear if these ranks were apart in all, as they are in those compared: NULL
-- where it is clear or they are not, or no steps are marked"""
-- caused_ns = """of arrival: wait per step in collectives of which one of these is the last, of the one of the others
-- that waits longest"""
-- parts = "parts that take these ranks longer per step than the others, by the medians, the largest first"
-- step_ns = "median step of the job"
-- who = "these ranks, in words"
WITH step AS (
    SELECT median(step_ns) AS step_ns, (SELECT coalesce(max(error_ns), 0) FROM rank_waits) AS error_ns
    FROM scope WHERE step_ns > 0
), peers AS (
    SELECT DISTINCT rank, peer_group FROM rank_parts
), value AS (
    SELECT 'compute' AS basis, p.peer_group, s.rank, s.step, s.compute_ns AS value_ns
    FROM rank_steps s JOIN peers p ON p.rank = s.rank WHERE s.compute_ns IS NOT NULL
    UNION ALL
    SELECT 'arrival', '', rank, step, -wait_ns FROM rank_steps WHERE wait_ns IS NOT NULL
), typical AS (
    SELECT basis, peer_group, rank, median(value_ns) AS value_ns FROM value GROUP BY basis, peer_group, rank
), gapped AS (
    SELECT t.*, s.step_ns, t.value_ns - lag(t.value_ns) OVER sorted > greatest(0.02 * s.step_ns, if(basis = 'arrival',
        s.error_ns, 0.05 * lag(t.value_ns) OVER sorted)) AS is_gap
    FROM typical t CROSS JOIN step s
    WINDOW sorted AS (PARTITION BY basis, peer_group ORDER BY t.value_ns, rank)
), levelled AS (
    SELECT *, count(nullif(is_gap, false)) OVER (PARTITION BY basis, peer_group ORDER BY value_ns, rank
        ROWS UNBOUNDED PRECEDING) AS level
    FROM gapped
), apart AS (
    SELECT o.basis, o.peer_group, o.level, any_value(o.step_ns) AS step_ns,
        list(o.rank ORDER BY o.rank) AS ranks, median(o.value_ns) AS own_ns, count(*) AS n
    FROM levelled o WHERE o.level > 0 GROUP BY o.basis, o.peer_group, o.level
), below AS (
    SELECT a.basis, a.peer_group, a.level, median(b.value_ns) AS others_ns, count(*) AS n_others
    FROM apart a JOIN levelled b ON b.basis = a.basis AND b.peer_group = a.peer_group AND b.level < a.level
    GROUP BY a.basis, a.peer_group, a.level
), stepwise AS (
    SELECT v.basis, v.peer_group, v.step, l.level, min(v.value_ns) AS least_ns, max(v.value_ns) AS most_ns
    FROM value v JOIN levelled l ON l.basis = v.basis AND l.peer_group = v.peer_group AND l.rank = v.rank
    GROUP BY v.basis, v.peer_group, v.step, l.level
), compared AS (
    SELECT *, max(most_ns) OVER (PARTITION BY basis, peer_group, step ORDER BY level
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS below_ns
    FROM stepwise
), counted_steps AS (
    -- A step that no rank below has compares nothing.
    SELECT basis, peer_group, level, count(below_ns) AS n_steps, count(*) FILTER (least_ns > below_ns) AS n_apart
    FROM compared WHERE level > 0 GROUP BY basis, peer_group, level HAVING count(below_ns) > 0
), trait AS (
    SELECT rank, 'host' AS kind, host AS label FROM raw.ranks WHERE host IS NOT NULL
    UNION ALL
    SELECT rank, 'device', any_value(device) FROM account WHERE device <> 'cpu' GROUP BY rank HAVING count(*) = 1
    UNION ALL
    SELECT DISTINCT m.rank, 'group', m.team FROM matched_calls m
    WHERE m.n_expected > 1 AND m.n_expected < (SELECT count(*) FROM raw.ranks)
), shared AS (
    SELECT a.basis, a.peer_group, a.level, t.kind, t.label, count(*) AS n_with, count(*) FILTER (l.level = a.level)
        AS n_inside, a.n
    FROM apart a JOIN levelled l ON l.basis = a.basis AND l.peer_group = a.peer_group AND l.level <= a.level
    JOIN trait t ON t.rank = l.rank
    GROUP BY a.basis, a.peer_group, a.level, a.n, t.kind, t.label
), explained AS (
    SELECT basis, peer_group, level, count(*) AS n_labels, arg_min({'kind': kind, 'label': label, 'n_with': n_with},
        [n_with, CASE kind WHEN 'host' THEN 0 WHEN 'device' THEN 1 ELSE 2 END]) FILTER (n_inside = n AND n > 1
        AND n_inside >= 0.75 * n_with) AS best
    FROM shared GROUP BY basis, peer_group, level
), choices AS (
    SELECT a.*, b.others_ns, b.n_others, s.n_steps, s.n_apart, e.n_labels,
        if(e.best.n_with < a.n + b.n_others, e.best, NULL) AS best,
        -- Natural logarithm of the number of choices of as many ranks.
        lgamma(a.n + b.n_others + 1) - lgamma(a.n + 1) - lgamma(b.n_others + 1) AS ln_choices
    FROM apart a
    JOIN below b ON b.basis = a.basis AND b.peer_group = a.peer_group AND b.level = a.level
    JOIN counted_steps s ON s.basis = a.basis AND s.peer_group = a.peer_group AND s.level = a.level
    LEFT JOIN explained e ON e.basis = a.basis AND e.peer_group = a.peer_group AND e.level = a.level
), chances AS (
    SELECT *,
        -- The binomial tail from n_apart steps on, each with one choice among all.
        list_sum([exp(lgamma(n_steps + 1) - lgamma(k + 1) - lgamma(n_steps - k + 1) - k * ln_choices
            + (n_steps - k) * ln(1 - exp(-ln_choices)) + ln_choices) FOR k IN range(n_apart, n_steps + 1)]) AS by_steps,
        CASE WHEN best IS NOT NULL THEN n_labels * exp(lgamma(best.n_with + 1) - lgamma(n + 1)
            - lgamma(best.n_with - n + 1) - ln_choices) END AS by_trait
    FROM choices
), told AS (
    SELECT rank, last, sum(last) OVER () AS told FROM rank_totals
), few AS (
    -- Of one or two steps the collectives are counted instead.
    SELECT c.basis, c.peer_group, c.level, list_sum([exp(lgamma(t.told + 1) - lgamma(k + 1) - lgamma(t.told - k + 1)
        - k * ln_choices + (t.told - k) * ln(1 - exp(-ln_choices)) + ln_choices)
        FOR k IN range(CAST(t.last AS BIGINT), CAST(t.told AS BIGINT) + 1)]) AS by_collectives
    FROM chances c JOIN told t ON t.rank = c.ranks[1]
    WHERE c.basis = 'arrival' AND c.n = 1 AND c.n_steps < 3 AND t.told > 0
), caused AS (
    -- Who is in no group with them waits in turn for one that is.
    SELECT level, max(wait_ns) AS caused_ns
    FROM (SELECT a.level, w.rank, sum(w.step_wait_ns / w.per) AS wait_ns
        FROM apart a JOIN complete_waits w ON list_contains(a.ranks, w.last_rank)
        JOIN levelled l ON l.basis = a.basis AND l.rank = w.rank AND l.level < a.level
        WHERE a.basis = 'arrival' GROUP BY a.level, w.rank)
    GROUP BY level
), part AS (
    SELECT a.basis, a.peer_group, a.level, p.part, median(p.part_ns) FILTER (l.level = a.level)
        - median(p.part_ns) FILTER (l.level < a.level) AS excess_ns
    FROM apart a JOIN levelled l ON l.basis = a.basis AND l.peer_group = a.peer_group AND l.level <= a.level
    JOIN rank_parts p ON p.rank = l.rank
    GROUP BY a.basis, a.peer_group, a.level, p.part
), parts AS (
    SELECT basis, peer_group, level, list({'part': part, 'excess_ns': excess_ns} ORDER BY excess_ns DESC, part) AS parts
    FROM part WHERE excess_ns > 0 GROUP BY basis, peer_group, level
)
SELECT c.basis, c.ranks, c.n_others, c.best.kind AS kind, c.best.label AS label, abs(c.own_ns) AS own_ns,
    abs(c.others_ns) AS others_ns, c.own_ns - c.others_ns AS excess_ns, c.n_steps, c.n_apart,
    least(c.by_steps, c.by_trait, f.by_collectives, 1) AS chance, chance <= 0.05 AS is_clear,
    CASE WHEN NOT is_clear AND c.n_apart = c.n_steps AND (SELECT bool_or(has_steps) FROM scope)
        THEN CAST(greatest(c.n_steps, ceil(-ln(0.05) / c.ln_choices)) + 1 AS BIGINT) END AS n_needed,
    d.caused_ns, p.parts, c.step_ns, if(len(c.ranks) = 1, 'rank ', 'ranks ')
        || if(len(c.ranks) > 2 AND c.ranks[-1] - c.ranks[1] + 1 = len(c.ranks),
            format('{} to {}', c.ranks[1], c.ranks[-1]), array_to_string(c.ranks[:8], ', ')
            || if(len(c.ranks) > 8, format(' and {} more', len(c.ranks) - 8), ''))
        || coalesce(format(' ({} {})', c.best.kind, c.best.label), '') AS who
FROM chances c
LEFT JOIN few f ON f.basis = c.basis AND f.peer_group = c.peer_group AND f.level = c.level
LEFT JOIN caused d ON c.basis = 'arrival' AND d.level = c.level
LEFT JOIN parts p ON p.basis = c.basis AND p.peer_group = c.peer_group AND p.level = c.level
