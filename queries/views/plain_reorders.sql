-- doc = """Reorders of a CPU library from or to the plain layout of images or their filters: plain_layout_on_cpu judges
-- them, and no other rule on layouts; those that ran on a GPU are none."""
-- empty_without = ["primitives"]
-- types = """id BIGINT, rank INTEGER"""
-- [columns]
-- id = "the primitive"
SELECT id, rank FROM primitives
WHERE kind = 'reorder' AND regexp_matches(shape, '^\d+x\d+x\d+x\d+')
    AND regexp_matches(formats, ':abc(d|de)?:|_(nc|g?oi)d?hw\b')
    AND rank NOT IN (SELECT rank FROM raw.captures WHERE metadata->>'$.engine' = 'gpu')
