-- title = "Ranks that are late"
-- doc = """One rank, or ranks of a host, device or process group, for which the others wait in the steps, by more than
-- chance (see the report ranks). The bound is what the others wait for them per step, and no more than what takes these
-- ranks longer than the others."""
-- why = """In a collective all ranks wait for the last one, so the job runs at the pace of its slowest rank. Look at
-- what the late ranks do longer than the others."""
-- cost = "None, if they are slow for a reason outside of the program: a device, a disk, a host, neighbours."
-- unless = "They have to do more than the others, as the first stage of a pipeline or the rank that saves and logs."
-- needs = ["matched_collectives"]
-- [fix]
-- pytorch = """data loading: num_workers, pin_memory, the same storage for all ranks; host: processor affinity, garbage
-- collection at the same step on all ranks, no logging or saving on one rank; kernels: compare clocks, power and
-- temperature of that device (nvidia-smi -q), and give every rank as much work (DistributedSampler, equal lengths)"""
-- pytorch_cpu = """data loading: num_workers, the same storage for all ranks; host: processor affinity, garbage
-- collection at the same step on all ranks, no logging or saving on one rank; give every rank as much work
-- (DistributedSampler, equal lengths) and as many free cores"""
-- any = """data loading: more readers, the same storage for all ranks; host: processor affinity, no logging or saving
-- on one rank; kernels: compare clocks, power and temperature of that device, and give every rank as much work"""
-- [params]
-- straggler_step_pct = { type = "DOUBLE", default = 2, doc = """found where others wait for them above this share of
-- the step, in percent""" }
WITH clock AS (
    SELECT string_agg(DISTINCT clock, '; ' ORDER BY clock) AS clocks, max(error_ns) AS error_ns FROM rank_waits
), late AS (
    SELECT *, row_number() OVER (PARTITION BY is_clear, ranks[1] ORDER BY caused_ns DESC) AS place FROM slow_ranks
    WHERE basis = 'arrival' AND 100.0 * caused_ns > $straggler_step_pct * step_ns
), unknown AS (
    SELECT rank, NULL AS place, told || ': who comes last there is not known' AS told FROM unknown_waits
    UNION ALL
    SELECT ranks[1], 'several_steps', format('{} come{} after the others in {} of {} step{}, too few to tell that from '
        || 'chance: {} such would', who, if(len(ranks) = 1, 's', ''), n_apart, n_steps, if(n_steps = 1, '', 's'),
        n_needed)
    FROM late WHERE n_needed IS NOT NULL
)
SELECT s.ranks[1] AS rank,
    format('{} come{} after the others in {} of {} step{}; these wait up to {:.3f} ms per step for {}.',
        upper(left(s.who, 1)) || s.who[2:], if(len(s.ranks) = 1, 's', ''), s.n_apart, s.n_steps,
        if(s.n_steps = 1, '', 's'), s.caused_ns / 1e6, if(len(s.ranks) = 1, 'it', 'them')) AS problem,
    coalesce(format('Mostly in {}, on {}', s.parts[1].part, s.who), 'On ' || s.who) AS place,
    least(s.caused_ns, list_sum([x.excess_ns FOR x IN s.parts])) AS saving_ns,
    format('{} (by chance: {:.2g}); clocks: {}, error {}', if(s.chance < 0.01, 'high', 'medium'), s.chance, c.clocks,
        coalesce(format('{:.1f} us', c.error_ns / 1e3), 'unknown')) AS confidence,
    [format('{}: {:.3f} ms per step longer than the median of the others', x.part, x.excess_ns / 1e6)
        FOR x IN s.parts[:8]] AS evidence
FROM late s CROSS JOIN clock c
WHERE s.is_clear AND s.place = 1
UNION ALL
(SELECT rank, NULL, place, NULL, told, NULL FROM unknown WHERE NOT EXISTS (FROM late WHERE is_clear)
    ORDER BY place NULLS FIRST, rank, told LIMIT 1)
ORDER BY rank
