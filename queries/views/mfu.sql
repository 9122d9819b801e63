-- doc = """Model FLOP utilisation of each rank: the model FLOP of a step over its time, devices and dense peak, each
-- type against its own. NULL where a peak or steps are missing, and where a family of operators of a CPU ran above the
-- peak that its noted clock gives: then that is not the clock that it ran at."""
-- [columns]
-- type = "type with the most FLOP"
-- peak_flop_per_s = "dense peak of that type, of all devices of the rank"
-- mfu_pct = "of the peak"
-- hfu_pct = "executed FLOP, of the peak"
-- covered_pct = "of the device time, in calls whose cost is known"
-- verdict = "measured, at least, about, or cannot tell; and why"
WITH rate AS (
    SELECT rank, any_value(peak_flop_per_s) AS peak, 1e9 * sum(executed_flop) / nullif(sum(busy_ns), 0) AS flop_per_s
    FROM op_rooflines WHERE executed_flop > 0 AND rank NOT IN (SELECT rank FROM raw.kernels)
    GROUP BY rank, family, dtype
), beyond AS (
    SELECT rank, max(flop_per_s) AS flop_per_s FROM rate WHERE flop_per_s > peak GROUP BY rank
)
SELECT f.rank, any_value(f.step_ns) AS step_ns, sum(f.model_flop) AS model_flop, sum(f.executed_flop) AS executed_flop,
    1e9 * sum(f.model_flop) / any_value(f.step_ns) AS model_flop_per_s,
    if(count(f.peak_ns) = count(*) AND any_value(b.rank) IS NULL,
        100.0 * sum(f.peak_ns) / any_value(f.step_ns), NULL) AS mfu_pct,
    if(count(f.peak_ns) = count(*) AND any_value(b.rank) IS NULL,
        100.0 * sum(f.executed_ns) / any_value(f.step_ns), NULL) AS hfu_pct,
    arg_max(f.peak_flop_per_s, f.model_flop) * any_value(f.devices) AS peak_flop_per_s,
    arg_max(f.dtype, f.model_flop) AS type, any_value(f.devices) AS devices, any_value(c.covered_pct) AS covered_pct,
    CASE WHEN any_value(f.step_ns) IS NULL THEN 'cannot tell: no steps in this trace'
        WHEN count(f.peak_ns) < count(*) THEN 'cannot tell: no peak is known for '
            || string_agg(coalesce(f.dtype, 'an unknown type'), ', ' ORDER BY f.dtype) FILTER (f.peak_ns IS NULL)
            || ' on this device'
        WHEN any_value(b.rank) IS NOT NULL
            THEN format('cannot tell: operators ran at {:.0f} GFLOP/s, above the {:.0f} of the clock that was noted',
                any_value(b.flop_per_s) / 1e9, any_value(f.peak_flop_per_s) / 1e9)
        WHEN bool_or(f.has_upper_bounds) THEN 'about: some of the FLOP are an upper bound'
        WHEN f.rank NOT IN (SELECT rank FROM raw.kernels)
            THEN 'about: the peak of a CPU is that at the clock that was noted, which turbo clocks may exceed'
        WHEN any_value(c.covered_pct) < 95
            THEN 'at least: the rest of the device time has no recorded arguments or model'
        ELSE 'measured' END AS verdict,
    any_value(f.peaks_from) AS peaks_from
FROM step_flop f JOIN covered c USING (rank) LEFT JOIN beyond b USING (rank)
GROUP BY f.rank
