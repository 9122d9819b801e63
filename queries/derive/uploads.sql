-- title = "From one of the largest recurring copies to the device to the next"
-- doc = """A training loop uploads one batch per step. Of the host-to-device copies of one size, the largest size is
-- taken that comes at a steady beat (most intervals within half of their median, the first ones may be longer: they
-- tune), with kernels in most intervals, over at least half of the time in which kernels ran. The last one lasts to
-- the end of the recording."""
WITH copy AS (
    SELECT size_bytes, start_ns, lead(start_ns) OVER size AS next_ns
    FROM stage.memcpys WHERE direction = 'HtoD' AND size_bytes > 0
    WINDOW size AS (PARTITION BY size_bytes ORDER BY start_ns, id)
), middle AS (
    SELECT size_bytes, median(next_ns - start_ns) AS beat_ns FROM copy GROUP BY size_bytes HAVING count(*) >= 4
), steady AS (
    SELECT size_bytes, min(start_ns) AS from_ns, max(start_ns) + any_value(beat_ns) AS until_ns,
        count(next_ns) AS n_intervals
    FROM copy JOIN middle USING (size_bytes) WHERE beat_ns > 0
    GROUP BY size_bytes
    HAVING count(*) FILTER (abs(next_ns - start_ns - beat_ns) <= beat_ns / 2) >= 0.8 * count(next_ns)
    ORDER BY size_bytes DESC LIMIT 8
), work AS (
    SELECT min(start_ns) AS from_ns, max(start_ns + dur_ns) AS until_ns FROM stage.kernels
), filled AS (
    SELECT c.size_bytes, count(DISTINCT c.start_ns) FILTER (c.next_ns IS NOT NULL) AS n_filled
    FROM (SELECT s.size_bytes, k.start_ns FROM steady s CROSS JOIN stage.kernels k) k
    ASOF JOIN copy c ON c.size_bytes = k.size_bytes AND k.start_ns >= c.start_ns
    GROUP BY c.size_bytes
), chosen AS (
    SELECT max(s.size_bytes) AS size_bytes
    FROM steady s JOIN filled f USING (size_bytes), work w
    WHERE n_filled >= 0.8 * n_intervals
        AND least(s.until_ns, w.until_ns) - greatest(s.from_ns, w.from_ns) >= 0.5 * (w.until_ns - w.from_ns)
), bounded AS (
    SELECT start_ns, coalesce(next_ns, (SELECT max(start_ns + dur_ns) FROM
            (SELECT start_ns, dur_ns FROM stage.kernels UNION ALL SELECT start_ns, dur_ns
                FROM stage.memcpys))) AS end_ns,
        row_number() OVER (ORDER BY start_ns) - 1 AS n
    FROM copy JOIN chosen USING (size_bytes)
)
SELECT start_ns, end_ns, n AS number FROM bounded WHERE end_ns > start_ns ORDER BY start_ns
