-- title = "Share of a peak that a device can have reached"
-- doc = """The macro `within_peak(pct)`: NULL above 120 %. Sheets name a boost clock that devices exceed, an H100 by
-- 8 %, cards for gaming by 15 %. More is a count, a type or a device that is not what it was taken for, or an
-- algorithm that does with fewer FLOP than are counted."""
CREATE OR REPLACE MACRO within_peak(pct) AS if(pct > 120, NULL, pct)
