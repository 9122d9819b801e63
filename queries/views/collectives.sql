-- doc = "One communication call."
-- [columns]
-- step = "step in which its kernel was launched, or else in which it began; NULL outside of steps"
SELECT c.*, c.start_ns + c.dur_ns AS end_ns,
    CASE WHEN c.kernel_id IS NOT NULL THEN k.step WHEN c.start_ns < s.end_ns THEN s.step END AS step
FROM raw.collectives c LEFT JOIN raw.kernels k ON k.id = c.kernel_id
ASOF LEFT JOIN steps s ON s.rank = c.rank AND c.start_ns >= s.start_ns
