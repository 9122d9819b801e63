-- title = "Peaks"
-- doc = "Rates that the operators above are held against, for each type of products that they have."
-- cannot = "No product, convolution or attention with recorded shapes in this trace."
-- leave_out = ["peaks_from"]
-- [columns]
-- dtype = "type of the products"
-- peak_flop_per_s = "dense peak for it; empty where unknown"
-- vector_flop_per_s = "of other arithmetic; empty where unknown"
-- memory_bytes_per_s = "bandwidth of the memory; empty where unknown: then no operator is held against it"
-- verdict = "sheet, recorded, about, or cannot tell; and why"
-- peaks_from = "source"
SELECT DISTINCT dtype, peak_flop_per_s, vector_flop_per_s, memory_bytes_per_s,
    CASE WHEN starts_with(peaks_from, 'unknown: ') THEN 'cannot tell: ' || substr(peaks_from, 10)
        WHEN peak_flop_per_s IS NULL AND dtype IS NULL THEN 'cannot tell: the types of the operands are not recorded'
        WHEN peak_flop_per_s IS NULL THEN format('cannot tell: no peak is known for {} on this device', dtype)
        WHEN rank NOT IN (SELECT rank FROM raw.kernels)
            THEN 'about: the peak of a CPU is that at the clock that was noted, which turbo clocks may exceed'
                || if(is_copy_rate, '; the bandwidth is that of a copy after the recording', '')
        WHEN contains(peaks_from, 'taken for ')
            THEN 'about: the device is not named, and ' || regexp_extract(peaks_from, 'taken for [^,]+')
        WHEN starts_with(peaks_from, 'the trace') THEN 'recorded' ELSE 'sheet' END AS verdict, peaks_from
FROM op_rooflines WHERE executed_flop > 0
ORDER BY dtype, peaks_from, peak_flop_per_s, vector_flop_per_s, memory_bytes_per_s, verdict
