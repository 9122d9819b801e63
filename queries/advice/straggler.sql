-- title = "One rank is late"
-- doc = """One rank is the last in most of the collectives where one is clearly last. The bound is what the other
-- ranks of these collectives wait for it per step, on average."""
-- why = """In a collective all ranks wait for the last one, so the job runs at the pace of its slowest rank. Look at
-- what that rank does longer than the others before it arrives."""
-- cost = "None, if the rank is slow for a reason outside of the program: its device, its disk, its neighbours."
-- unless = "The rank has to do more than the others, as the first stage of a pipeline or the rank that saves and logs."
-- needs = ["matched_collectives"]
-- [fix]
-- pytorch = """data loading: num_workers, pin_memory, the same storage for all ranks; host: processor affinity, garbage
-- collection at the same step on all ranks, no logging or saving on one rank; kernels: compare clocks, power and
-- temperature of that device (nvidia-smi -q), and give every rank as much work (DistributedSampler, equal lengths)"""
-- any = """data loading: more readers, the same storage for all ranks; host: processor affinity, no logging or saving
-- on one rank; kernels: compare clocks, power and temperature of that device, and give every rank as much work"""
-- [params]
-- straggler_pct = { type = "DOUBLE", default = 50, doc = """found where one rank is last in more than this share of the
-- collectives where one is clearly last, in percent""" }
-- straggler_step_pct = { type = "DOUBLE", default = 2, doc = """and where others wait for it above this share of the
-- step, in percent""" }
WITH told AS (
    SELECT sum(last) AS told FROM rank_totals
), clock AS (
    SELECT string_agg(DISTINCT clock, '; ' ORDER BY clock) AS clocks, max(error_ns) AS error_ns FROM rank_waits
)
SELECT r.rank,
    format('Rank {} is the last in {} of {} collectives where one rank is clearly last, by a median of {:.3f} ms; '
        || 'the others wait {:.3f} ms per step for it.', r.rank, r.last, t.told, r.lead_ns / 1e6, r.caused_ns / 1e6)
        AS problem,
    coalesce(format('Mostly in {}, on rank {}', r.excess[1].part, r.rank), format('On rank {}', r.rank)) AS place,
    r.caused_ns AS saving_ns,
    format('{}; clocks: {}, error {}', if(r.last >= 8, 'high', 'medium: few collectives'), c.clocks,
        coalesce(format('{:.1f} us', c.error_ns / 1e3), 'unknown')) AS confidence,
    list_transform(r.excess, lambda x: format('{}: {:.3f} ms per step longer than the median of the others', x.part,
        x.excess_ns / r.per / 1e6))[:8] AS evidence
FROM rank_totals r, told t, clock c
WHERE 100.0 * r.last > $straggler_pct * t.told AND 100.0 * r.caused_ns > $straggler_step_pct * r.step_ns
ORDER BY r.rank
