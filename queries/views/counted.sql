-- title = "counted"
-- doc = """The activities that reports per step count: those of steps that are not warm-up; everything where there are
-- no steps."""
SELECT * EXCLUDE (is_counted) FROM busy WHERE is_counted
