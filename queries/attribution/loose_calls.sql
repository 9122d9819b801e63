-- title = "Convolution calls of ranks that record no operators"
-- doc = """In launch order on one stream: transforms and helpers go with the next main kernel, what transforms its
-- result back or sums its parts with the last one; any other kernel between ends a call."""
WITH lone AS (
    SELECT rank FROM raw.ranks WHERE rank NOT IN (SELECT DISTINCT rank FROM raw.ops)
), judged AS (
    SELECT k.id, k.rank, k.device, coalesce(h.stream, k.stream) AS stream, k.start_ns,
        coalesce(p.category, n.category) AS category, coalesce(p.role, n.role, 'main') AS role,
        coalesce(p.direction, n.direction) AS direction,
        CASE coalesce(p.role, n.role, 'main')
            WHEN 'transform' THEN regexp_matches(k.name, 'c2r|Output|regular_fft_clip')
            WHEN 'helper' THEN regexp_matches(k.name, '[rR]educ') ELSE false END AS finishes
    FROM raw.kernels k
    LEFT JOIN attributed.part p ON p.id = k.id
    LEFT JOIN attributed.home h ON h.id = k.id
    LEFT JOIN names.kernel n ON n.name IS NOT DISTINCT FROM k.name AND n.op_path IS NOT DISTINCT FROM k.op_path
        AND n.phase IS NOT DISTINCT FROM k.phase
    WHERE k.rank IN (FROM lone) AND p.call_id IS NULL
), counted AS (
    SELECT *,
        count(nullif(category <> 'conv', false)) OVER earlier AS n_others,
        count(nullif(category = 'conv' AND role = 'main', false)) OVER earlier AS n_mains
    FROM judged
    WINDOW earlier AS (PARTITION BY rank, device, stream ORDER BY start_ns, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), numbered AS (
    SELECT *, n_mains - finishes::INTEGER AS number FROM counted WHERE category = 'conv'
)
SELECT id, first_value(id) OVER call AS call_id,
    -- One call runs one pass: the main kernel's, else the one that a transform or helper betrays.
    coalesce(any_value(direction) FILTER (role = 'main') OVER call, any_value(direction) OVER call) AS direction
FROM numbered
WINDOW call AS (PARTITION BY rank, device, stream, n_others, number ORDER BY start_ns, id
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
QUALIFY bool_or(role = 'main') OVER call
