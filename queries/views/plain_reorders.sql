-- doc = """Reorders of a CPU library from or to the plain layout of images: what plain_layout_on_cpu counts, and no
-- other rule on layouts."""
-- [columns]
-- id = "the primitive"
SELECT id, rank FROM primitives
WHERE kind = 'reorder' AND regexp_matches(shape, '^\d+x\d+x\d+x\d+') AND regexp_matches(formats, ':abc(d|de)?:')
