-- title = "Ranks wait for each other"
-- doc = """Waiting in collectives for the last rank, whichever that is. The bound is the exposed part of that waiting,
-- per step."""
-- why = """The ranks arrive at different times: work of different size (lengths, masks, experts), a host that
-- stalls now and then (garbage collection, other processes, logging), or data that comes late."""
-- cost = "Batches of equal cost restrict what is drawn together."
-- unless = "The ranks only start recording at different times: the first collective of a step then waits for that."
-- same_time_as = "straggler"
-- needs = ["matched_collectives"]
-- [fix]
-- pytorch = """batches of equal cost on all ranks (bucket by length, balance experts); gc.disable() and gc.collect() at
-- the same step on all ranks; one process per socket with its own cores; if workers load the data: prefetch_factor,
-- with persistent_workers=True if ranks wait where epochs begin"""
-- any = """batches of equal cost on all ranks; no work on one rank only between two collectives; processor affinity;
-- data loaded ahead"""
-- [params]
-- skew_step_pct = { type = "DOUBLE", default = 5, doc = "found above this share of the step, in percent" }
WITH kinds AS (
    SELECT rank, what, sum(step_wait_ns / per) AS wait_ns, sum((step_wait_ns + step_transfer_ns) / per) AS dur_ns,
        sum(1 / per) AS calls,
        max(skew_ns) AS skew_ns
    FROM complete_waits GROUP BY rank, what
), came_last AS (
    SELECT w.rank, w.last_rank, count(*) AS n
    FROM complete_waits w SEMI JOIN (FROM complete_waits WHERE is_last) l ON l.match_id = w.match_id
    GROUP BY w.rank, w.last_rank
), known AS (
    SELECT e.rank, count(w.id) AS n_known, count(*) AS n
    FROM exchanges e LEFT JOIN complete_waits w ON w.rank = e.rank AND w.id = e.id
    WHERE e.is_counted AND e.id NOT IN (SELECT id FROM hung_calls) GROUP BY e.rank
), found AS (
    SELECT r.rank, format('Of {:.3f} ms in collectives per step {:.3f} ms are waiting for the last rank, of which up '
            || 'to {:.3f} ms exposed.{}', (r.wait_ns + r.transfer_ns) / 1e6, r.wait_ns / 1e6, r.exposed_wait_ns / 1e6,
            coalesce(format(' In {} of {} collectives the last is rank {}.', any_value(l.n), r.calls,
                any_value(l.last_rank)), '')) AS problem,
        'Mostly in ' || arg_max(k.what, [k.wait_ns, k.calls]) AS place, r.exposed_wait_ns AS saving_ns,
        coalesce(format('low: {}', any_value(u.told)), 'high for the waiting'
            || if(any_value(o.n_known < o.n), format(', known of {} of {} calls', any_value(o.n_known),
            any_value(o.n)), ''))
            || '; some rank is always last, whatever is changed' AS confidence,
        list(format('{}: {:.1f} calls, {:.3f} ms, waiting {:.3f} ms, most skew {:.3f} ms', k.what, k.calls,
            k.dur_ns / 1e6, k.wait_ns / 1e6, k.skew_ns / 1e6) ORDER BY k.wait_ns DESC, k.what) AS evidence
    FROM rank_totals r JOIN kinds k ON k.rank = r.rank LEFT JOIN unknown_waits u ON u.rank = r.rank
    LEFT JOIN known o ON o.rank = r.rank
    LEFT JOIN came_last l ON l.rank = r.rank AND 2 * l.n > r.calls
    WHERE 100.0 * r.exposed_wait_ns > $skew_step_pct * r.step_ns
    GROUP BY r.rank, r.calls, r.wait_ns, r.transfer_ns, r.exposed_wait_ns
)
FROM found
UNION ALL
SELECT min(rank), NULL, NULL, NULL, arg_min(told, rank) || ': how much of it is waiting is not known', NULL
FROM unknown_waits WHERE NOT EXISTS (FROM found) HAVING count(*) > 0
ORDER BY rank
