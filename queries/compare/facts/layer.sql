-- doc = """Layers with their time per step and rank. Their kind is the filter of their convolution, else the shape of
-- their product, else the category that takes most of their time; the ordinal counts layers of one kind in the order in
-- which they first did what takes most of their time."""
-- [columns]
-- layer = "module, range or scope"
-- kind = "what it is, in words that do not depend on the framework"
-- ordinal = "which of the layers of this kind"
-- top = "category that takes most of its time"
-- top_ordinal = "which of the layers with this category"
-- position = "place in the order of first use"
-- forward_ns = "device time of the forward pass"
-- backward_ns = "device time of the backward pass"
-- total_ns = "all of its device time"
WITH placed AS (
    SELECT r.layer, r.category, r.start_ns, r.own_ns * r.weight AS busy_ns,
        -- Without an operator only what it computes tells the pass.
        CASE WHEN r.op_is_backward OR r.op_phase = 'backward' OR r.op_id IS NULL
            AND r.direction IN ('dgrad', 'wgrad', 'backward') THEN 'backward'
            WHEN r.op_phase IN ('optimizer', 'data') OR r.category = 'optimizer'
                OR r.op_id IS NULL AND coalesce(r.direction NOT IN ('fprop', 'forward'), true) THEN 'other'
            ELSE 'forward' END AS way
    FROM chosen_rows r
    WHERE r.layer IS NOT NULL AND NOT r.is_carried
), summed AS (
    SELECT layer, category, sum(busy_ns) AS busy_ns, sum(busy_ns) FILTER (way = 'forward') AS forward_ns,
        sum(busy_ns) FILTER (way = 'backward') AS backward_ns,
        coalesce(min(start_ns) FILTER (way = 'forward'), min(start_ns)) AS start_ns
    FROM placed GROUP BY ALL
), timed AS (
    SELECT layer, sum(busy_ns) AS total_ns, coalesce(sum(forward_ns), 0) AS forward_ns,
        coalesce(sum(backward_ns), 0) AS backward_ns, arg_max(category, (busy_ns, category)) AS top,
        arg_max(start_ns, (busy_ns, category)) AS start_ns
    FROM summed GROUP BY layer
), shaped AS (
    SELECT layer, min('convolution ' || filter) AS shape FROM chosen_calls WHERE layer IS NOT NULL GROUP BY layer
), product AS (
    -- The framework decides which factor is transposed, so the smaller side stands first.
    SELECT layer, min(format('product {} x {}', least(n, k), greatest(n, k))) AS shape FROM matmul_shapes
    WHERE layer IS NOT NULL AND NOT coalesce(is_backward, false) GROUP BY layer
), described AS (
    SELECT t.*, coalesce(s.shape, p.shape, t.top) AS kind,
        row_number() OVER (ORDER BY t.start_ns, t.layer) AS position
    FROM timed t LEFT JOIN shaped s USING (layer) LEFT JOIN product p USING (layer)
    UNION ALL BY NAME
    SELECT layer, arg_max(kind, (total_ns, kind)) AS kind, arg_max(kind, (total_ns, kind)) AS top,
        sum(total_ns) AS total_ns,
        coalesce(sum(forward_ns), 0) AS forward_ns, coalesce(sum(backward_ns), 0) AS backward_ns,
        min(position) AS position
    FROM chosen_averages WHERE layer IS NOT NULL GROUP BY layer
)
SELECT layer, kind, row_number() OVER (PARTITION BY kind ORDER BY position) AS ordinal, top,
    row_number() OVER (PARTITION BY top ORDER BY position) AS top_ordinal, position,
    CAST(forward_ns AS DOUBLE) AS forward_ns, CAST(backward_ns AS DOUBLE) AS backward_ns,
    CAST(total_ns AS DOUBLE) AS total_ns
FROM described
ORDER BY position
