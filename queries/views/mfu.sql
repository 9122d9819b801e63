-- doc = """Model FLOP utilisation of each rank: the model FLOP of a step over its time, devices and dense peak, each
-- type against its own. NULL where a peak (the view peaks) or steps are missing, and where more FLOP were counted
-- than the device can have done."""
-- [columns]
-- type = "type with the most FLOP"
-- peak_flop_per_s = "dense peak of that type, of all devices of the rank"
-- mfu_pct = "of the peak"
-- hfu_pct = "executed FLOP, of the peak"
-- covered_pct = "of the device time, in calls whose cost is known"
-- verdict = "measured, at least, about, or cannot tell; and why"
WITH rated AS (
    SELECT f.rank, any_value(f.step_ns) AS step_ns, sum(f.model_flop) AS model_flop,
        sum(f.executed_flop) AS executed_flop,
        1e9 * sum(f.model_flop) / any_value(f.step_ns) AS model_flop_per_s,
        if(count(f.peak_ns) = count(*), 100.0 * sum(f.peak_ns) / any_value(f.step_ns), NULL) AS mfu_pct,
        if(count(f.peak_ns) = count(*), 100.0 * sum(f.executed_ns) / any_value(f.step_ns), NULL) AS hfu_pct,
        arg_max(f.peak_flop_per_s, f.model_flop) * any_value(f.devices) AS peak_flop_per_s,
        arg_max(f.dtype, f.model_flop) AS type, any_value(f.devices) AS devices,
        any_value(c.covered_pct) AS covered_pct,
        CASE WHEN any_value(f.step_ns) IS NULL THEN 'cannot tell: no steps in this trace'
            WHEN starts_with(any_value(f.peaks_from), 'unknown: ')
                THEN 'cannot tell: ' || substr(any_value(f.peaks_from), 10)
            WHEN bool_or(f.dtype IS NULL AND f.peak_ns IS NULL)
                THEN 'cannot tell: the types of the operands are not recorded'
            WHEN count(f.peak_ns) < count(*) THEN 'cannot tell: no peak is known for '
                || string_agg(f.dtype, ', ' ORDER BY f.dtype) FILTER (f.peak_ns IS NULL) || ' on this device'
            WHEN bool_or(f.has_upper_bounds) THEN 'about: some of the FLOP are an upper bound'
            WHEN f.rank NOT IN (SELECT rank FROM raw.kernels)
                THEN 'about: the peak of a CPU is that at the clock that was noted, which turbo clocks may exceed'
            WHEN contains(any_value(f.peaks_from), 'taken for ') THEN 'about: the device is not named, and '
                || regexp_extract(any_value(f.peaks_from), 'taken for [^,]+')
            WHEN any_value(c.covered_pct) < 95
                THEN 'at least: the rest of the device time has no recorded arguments or model'
            ELSE 'measured' END AS verdict,
        any_value(f.peaks_from) AS peaks_from, f.rank IN (SELECT rank FROM conv_calls
            WHERE regexp_matches(algorithm, '^(winograd|fft|several)')) AS is_fewer
    FROM step_flop f JOIN covered c USING (rank)
    GROUP BY f.rank
)
SELECT * EXCLUDE (is_fewer) REPLACE (if(within_peak(hfu_pct) IS NULL, NULL, within_peak(mfu_pct)) AS mfu_pct,
    if(within_peak(mfu_pct) IS NULL, NULL, within_peak(hfu_pct)) AS hfu_pct,
    CASE WHEN mfu_pct IS NOT NULL AND within_peak(greatest(mfu_pct, hfu_pct)) IS NULL
        THEN format('cannot tell: {:.0f} % of the peak, {}',
            greatest(mfu_pct, hfu_pct), if(is_fewer, 'by the FLOP of direct convolutions: Winograd and FFT do with '
            || 'fewer', 'more than the device can do; a count, the type or the device is wrong'))
        WHEN greatest(mfu_pct, hfu_pct) > 100 AND regexp_matches(verdict, '^(measured|at least)')
            THEN if(is_fewer, 'about: Winograd and FFT do with fewer FLOP than direct convolutions, which are counted',
                'about: above the peak, which is that at the clock of the datasheet')
        ELSE verdict END AS verdict)
FROM rated
