-- title = "Convolution calls of ranks that record no operators"
-- doc = """In launch order on one stream: transforms, layout conversions of a convolution library and helpers go with
-- the next main kernel; what transforms its result back, sums its parts or casts them goes with the last one, as does
-- the first conversion behind one before which some were, unless it leads the same way. Any other kernel between ends
-- a call."""
WITH lone AS (
    SELECT rank FROM raw.ranks WHERE rank NOT IN (SELECT DISTINCT rank FROM raw.ops)
), named AS (
    SELECT k.id, k.rank, k.device, coalesce(h.stream, k.stream) AS stream, k.start_ns, k.name,
        coalesce(p.category, n.category) AS category, coalesce(p.role, n.role, 'main') AS role,
        coalesce(p.direction, n.direction) AS direction
    FROM raw.kernels k
    LEFT JOIN attributed.part p ON p.id = k.id
    LEFT JOIN attributed.home h ON h.id = k.id
    LEFT JOIN names.kernel n ON n.name IS NOT DISTINCT FROM k.name AND n.op_path IS NOT DISTINCT FROM k.op_path
        AND n.phase IS NOT DISTINCT FROM k.phase
    WHERE k.rank IN (FROM lone) AND p.call_id IS NULL
), judged AS (
    SELECT id, rank, device, stream, start_ns, role, direction,
        category = 'conv' AND role = 'main' AS is_main,
        -- TensorRT's are layers of their own, and those to CNHW are around a product.
        category = 'layout_transpose' AND role = 'helper' AND NOT regexp_matches(name, 'eformat|CNHW') AS converts,
        if(converts, lower(regexp_extract(name, '(?i)nchwToNhwc|nhwcToNchw')), NULL) AS way,
        category = 'conv' OR converts AS is_part,
        -- MIOpen clears a result before anything else.
        converts OR is_part AND contains(name, 'OpWithScalar') AS opens,
        CASE role WHEN 'transform' THEN regexp_matches(name, 'c2r|Output|regular_fft_clip')
            WHEN 'helper' THEN regexp_matches(name, '[rR]educ|OpWithCast') ELSE false END AS finishes
    FROM named
), counted AS (
    SELECT *, count(nullif(is_part, true)) OVER earlier AS n_others,
        count(nullif(is_main, false)) OVER earlier AS n_mains, count(nullif(opens, false)) OVER earlier AS n_opened
    FROM judged
    WINDOW earlier AS (PARTITION BY rank, device, stream ORDER BY start_ns, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), opened AS (
    SELECT *, first_value(n_opened) OVER run AS of_run,
        last_value(if(is_main, n_opened, NULL) IGNORE NULLS) OVER run AS of_main,
        coalesce(way <> '' AND way = last_value(way IGNORE NULLS) OVER before, false) AS goes_on
    FROM counted WHERE is_part
    WINDOW run AS (PARTITION BY rank, device, stream, n_others ORDER BY start_ns, id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
        before AS (PARTITION BY rank, device, stream, n_others ORDER BY start_ns, id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), numbered AS (
    SELECT *, n_mains - (finishes OR converts AND NOT goes_on
        AND n_opened IS NOT DISTINCT FROM of_main AND of_main > of_run)::INTEGER AS number
    FROM opened
)
SELECT id, first_value(id) OVER call AS call_id,
    -- One call runs one pass: the main kernel's, else the one that a transform or helper betrays.
    coalesce(any_value(direction) FILTER (is_main) OVER call, any_value(direction) OVER call) AS direction
FROM numbered
WINDOW call AS (PARTITION BY rank, device, stream, n_others, number ORDER BY start_ns, id
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
QUALIFY bool_or(is_main) OVER call
