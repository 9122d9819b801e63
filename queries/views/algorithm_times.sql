-- doc = """One way to compute one pass of a convolution (traceview study): what was measured or published, the model
-- of its method beside it, and whether cuDNN's conditions admit its algorithm."""
-- [columns]
-- setting = "what has to be equal where times are compared: device (CPU or unknown: publication too), threads, type"
-- label = "network and layer"
-- shape = "of the layer, without the batch: channels x height x width, filters, filter size, stride, padding, groups"
-- problem = "the same with the output's size in place of padding, so that a padded image is the same problem"
-- contender = "the algorithm; where it is not known, the library in brackets"
-- pass = "forward or backward"
-- is_timed = "whether it has a time that may be compared: measured or published"
-- time_ns = "wall time; processor time where there is no other, or other programs ran beside one thread that computed"
-- is_wide = "whether it is the middle of fewer than six wall times that lie more than a quarter of it apart"
-- doubt = "what speaks against the time: other programs at work, few runs that differ"
-- method = "its model in method_costs; NULL where unknown"
-- model_flop = "executed by this method, by model"
-- model_workspace_bytes = "of this method, by model, of the whole batch at once"
-- direct_ratio = "FLOPs of the direct method over the model's"
-- effective_flop_per_s = "FLOPs of the direct method over time"
WITH told AS (
    SELECT t.*, m.method,
        -- Every processor is called cpu: which one it is, only its publication tells.
        concat_ws(', ', concat(coalesce(device, 'unknown device'), if(status = 'published'
                AND coalesce(lower(device), 'cpu') = 'cpu', ' of ' || source, NULL)),
            threads || if(threads = 1, ' thread', ' threads'), nullif(dtype, 'float32')) AS setting,
        concat_ws(' ', model, layer) AS label,
        concat(in_channels, 'x', height, 'x', width, ' k', out_channels, ' ', filter_height, 'x', filter_width,
            if(stride_h = stride_w, ' s' || stride_h, format(' s{}x{}', stride_h, stride_w)),
            if(pad_h = pad_w, ' p' || pad_h, format(' p{}x{}', pad_h, pad_w)),
            if(dilation_h * dilation_w > 1, format(' d{}x{}', dilation_h, dilation_w), ''),
            if(groups > 1, ' g' || groups, '')) AS shape,
        concat_ws(' ', in_channels, out_channels, filter_height, filter_width, stride_h, stride_w, dilation_h,
            dilation_w, groups, out_height, out_width) AS problem,
        if(direction = 'fprop', 'forward', 'backward') AS pass, coalesce(others_pct >= 10, false) AS is_busy,
        coalesce(is_busy AND threads = 1 AND cpu_ns > 0, false) AS is_processor,
        if(is_processor, cpu_ns, coalesce(wall_ns, cpu_ns)) AS time_ns,
        coalesce(NOT is_processor AND n < 6 AND wall_high_ns - wall_low_ns > 0.25 * wall_ns, false) AS is_wide,
        nullif(concat_ws('; ', CASE WHEN is_processor THEN 'machine busy: processor time'
                WHEN is_busy THEN 'machine busy' END, if(is_wide, 'few runs, far apart', NULL)), '') AS doubt,
        coalesce(t.algorithm, '(unknown: ' || concat_ws(' ', backend, backend_version) || ')') AS contender,
        status IN ('measured', 'published') AND coalesce(wall_ns, cpu_ns) > 0 AS is_timed
    FROM timed_shapes t LEFT JOIN names.method m ON m.algorithm = t.algorithm
        AND coalesce(m.filter = t.filter_height AND m.filter = t.filter_width, true)
        AND coalesce(regexp_matches(t.implementation, m.implementation), m.implementation IS NULL)
    -- The first that fits, as everywhere.
    QUALIFY row_number() OVER (PARTITION BY t.number ORDER BY m.position) = 1
)
SELECT t.* EXCLUDE (is_busy, is_processor) REPLACE (
        -- The interval is that of wall times.
        if(is_processor, NULL, wall_low_ns) AS wall_low_ns, if(is_processor, NULL, wall_high_ns) AS wall_high_ns),
    c.total_flop AS model_flop, c.workspace_bytes AS model_workspace_bytes, c.direct_ratio,
    if(is_timed, 1e9 * t.flop / time_ns, NULL) AS effective_flop_per_s
FROM told t LEFT JOIN method_costs c
    ON t.input_shape = c.input_shape AND t.filter_shape = c.filter_shape AND t.output_shape = c.output_shape
    AND t.stride = c.stride AND t.padding = c.padding AND t.dilation = c.dilation AND t.groups = c.groups
    AND t.dtype IS NOT DISTINCT FROM c.dtype AND NOT c.transposed AND t.direction = c.direction AND t.method = c.method
