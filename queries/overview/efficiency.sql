-- title = "Model FLOP"
-- doc = """Products, convolutions and attention that a step needs, and their share of the dense peak of the devices
-- (MFU; of several ranks the mean). The report mfu has more, roofline every operator."""
-- brief = ""
-- optional = true
-- lines = [
--     "Model {least}{model_flop} {span}", "MFU {at_least}{mfu_pct} of {peak_flop_per_s} ({device})",
--     "HFU {hfu_pct} with what is computed again", "{covered_pct} of device time covered",
--     "MFU: cannot tell, {unknown}",
-- ]
-- [columns]
-- model_flop = "per step and rank, without steps of the recording"
-- least = "at least, where less than 95 % of a rank's device time is covered; below half there is no row"
-- span = "step or recording"
-- mfu_pct = "of the peak; empty where it is not known"
-- at_least = """at least, where less than 95 % of a rank's device time is covered; about, where FLOP are an upper
-- bound or the peak is that of a CPU at the clock that was noted, or of the product that a device without a name is
-- taken for"""
-- peak_flop_per_s = "dense peak of the type with the most FLOP, of all devices of a rank"
-- device = "that type: the peak is dense; and the device, where all have one name, or what it is taken for"
-- hfu_pct = "with what is computed again, where that is more"
-- unknown = "why MFU cannot be told"
-- covered_pct = "of the device time of all ranks, in calls whose cost is known"
-- [headings]
-- mfu_pct = "MFU"
-- hfu_pct = "HFU"
-- covered_pct = "covered"
WITH every AS (
    SELECT avg(model_flop) AS model_flop, bool_and(step_ns IS NOT NULL) AS has_steps,
        if(count(mfu_pct) = count(*), avg(mfu_pct), NULL) AS mfu_pct, avg(hfu_pct) AS hfu_pct,
        any_value(peak_flop_per_s) AS peak_flop_per_s, any_value(type) AS type, min(m.covered_pct) AS least_pct,
        100.0 * sum(covered_ns) / sum(total_ns) AS covered_pct,
        min(verdict) FILTER (starts_with(verdict, 'cannot tell')) AS untold,
        bool_or(starts_with(verdict, 'about')) AS is_about,
        any_value(nullif(regexp_extract(peaks_from, 'taken for [^,]+'), '')) AS taken_for
    FROM mfu m JOIN covered c ON c.rank = m.rank
)
SELECT model_flop, if(least_pct < 95, 'at least ', '') AS least,
    if(has_steps, 'per step', 'in the recording') AS span, mfu_pct,
    CASE WHEN is_about THEN 'about ' WHEN least_pct < 95 THEN 'at least ' ELSE '' END AS at_least,
    if(mfu_pct IS NULL, NULL, peak_flop_per_s) AS peak_flop_per_s,
    type || ', dense' || coalesce('; ' || taken_for, '; ' || (
        SELECT any_value(regexp_replace(name, '^((NVIDIA|AMD|Tesla|GeForce|Instinct) )+', '')) FROM devices
        WHERE kind = 'gpu' HAVING count(DISTINCT name) = 1), '') AS device,
    if(hfu_pct > 1.005 * mfu_pct, hfu_pct, NULL) AS hfu_pct,
    if(has_steps AND mfu_pct IS NULL, regexp_replace(untold, '^cannot tell: ', ''), NULL) AS unknown,
    covered_pct
FROM every
WHERE model_flop IS NOT NULL AND least_pct >= 50
ORDER BY ALL
