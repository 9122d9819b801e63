-- doc = "One communication call."
SELECT *, start_ns + dur_ns AS end_ns FROM raw.collectives
