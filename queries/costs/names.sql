-- doc = "Names of operators whose arguments are recorded, of XLA's instructions, and of primitives."
SELECT DISTINCT name FROM raw.ops WHERE shapes IS NOT NULL AND name IS NOT NULL
UNION
SELECT DISTINCT 'hlo::' || replace(hlo_kind, ' ', '_') FROM raw.ops WHERE hlo_cost IS NOT NULL
UNION
-- pooling_v2 is the pooling of oneDNN 2.
SELECT 'onednn::' || regexp_replace(kind, '_v\d$', '') FROM raw.primitives WHERE kind IS NOT NULL
