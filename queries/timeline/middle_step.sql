-- title = "The step whose length is closest to the median"
-- doc = "Of the steps that count; none without steps."
-- [columns]
-- step = "its number"
-- dur_ns = "its length, on the rank where it is nearest to the median"
SELECT step, dur_ns FROM steps
WHERE NOT is_warmup
ORDER BY abs(dur_ns - (SELECT median(dur_ns) FROM steps WHERE NOT is_warmup)), step, rank
LIMIT 1
