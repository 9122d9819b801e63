-- doc = """Rows of the table algorithm_times with the shapes that the models of methods are worked out for, without
-- those whose sizes are not of a convolution."""
-- empty_without = ["raw.algorithm_times"]
-- types = """rank INTEGER, layer VARCHAR, model VARCHAR, direction VARCHAR, batch BIGINT, in_channels BIGINT, height
-- BIGINT, width BIGINT, out_channels BIGINT, filter_height BIGINT, filter_width BIGINT, stride_h BIGINT, stride_w
-- BIGINT, pad_h BIGINT, pad_w BIGINT, dilation_h BIGINT, dilation_w BIGINT, groups BIGINT, dtype VARCHAR, device
-- VARCHAR, threads BIGINT, backend VARCHAR, backend_version VARCHAR, implementation VARCHAR, algorithm VARCHAR,
-- layout_in VARCHAR, layout_out VARCHAR, wall_ns BIGINT, wall_low_ns BIGINT, wall_high_ns BIGINT, cpu_ns BIGINT, n
-- BIGINT, workspace_bytes BIGINT, prepare_ns BIGINT, layout_ns BIGINT, flop BIGINT, error DOUBLE, status VARCHAR,
-- reason VARCHAR, source VARCHAR, others_pct DOUBLE, proof VARCHAR, number BIGINT, out_height BIGINT, out_width BIGINT,
-- input_shape BIGINT[], filter_shape BIGINT[], output_shape BIGINT[], stride BIGINT[], padding BIGINT[], dilation
-- BIGINT[]"""
-- [columns]
-- number = "of the row, as they were written"
-- input_shape = "batch, channels, height, width"
-- filter_shape = "filters, channels per group, height, width"
-- output_shape = "batch, filters, height, width"
WITH sized AS (
    SELECT *, row_number() OVER () AS number, coalesce(batch, 1) AS images,
        (height + 2 * pad_h - dilation_h * (filter_height - 1) - 1) // nullif(stride_h, 0) + 1 AS out_height,
        (width + 2 * pad_w - dilation_w * (filter_width - 1) - 1) // nullif(stride_w, 0) + 1 AS out_width
    FROM raw.algorithm_times
    -- What no convolution has is nobody's measurement: nothing of it can be worked out.
    WHERE least(coalesce(batch, 1), in_channels, height, width, out_channels, filter_height, filter_width, stride_h,
            stride_w, dilation_h, dilation_w, groups, pad_h + 1, pad_w + 1) >= 1
        AND greatest(coalesce(batch, 1), in_channels, height, width, out_channels, filter_height, filter_width,
            stride_h,
            stride_w, dilation_h, dilation_w, groups, pad_h, pad_w) <= 1048576
)
SELECT * EXCLUDE (images), [images, in_channels, height, width] AS input_shape,
    [out_channels, in_channels // nullif(groups, 0), filter_height, filter_width] AS filter_shape,
    [images, out_channels, out_height, out_width] AS output_shape,
    [stride_h, stride_w] AS stride, [pad_h, pad_w] AS padding, [dilation_h, dilation_w] AS dilation
FROM sized
WHERE least(out_height, out_width, in_channels // nullif(groups, 0)) >= 1
