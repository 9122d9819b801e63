-- title = "timed_shapes"
-- doc = "Rows of the table algorithm_times with the shapes that the models of methods are worked out for."
-- [columns]
-- number = "of the row, as they were written"
-- input_shape = "batch, channels, height, width"
-- filter_shape = "filters, channels per group, height, width"
-- output_shape = "batch, filters, height, width"
WITH sized AS (
    SELECT *, row_number() OVER () AS number, coalesce(batch, 1) AS images,
        (height + 2 * pad_h - dilation_h * (filter_height - 1) - 1) // stride_h + 1 AS out_height,
        (width + 2 * pad_w - dilation_w * (filter_width - 1) - 1) // stride_w + 1 AS out_width
    FROM raw.algorithm_times
)
SELECT * EXCLUDE (images), [images, in_channels, height, width] AS input_shape,
    [out_channels, in_channels // groups, filter_height, filter_width] AS filter_shape,
    [images, out_channels, out_height, out_width] AS output_shape,
    [stride_h, stride_w] AS stride, [pad_h, pad_w] AS padding, [dilation_h, dilation_w] AS dilation
FROM sized
