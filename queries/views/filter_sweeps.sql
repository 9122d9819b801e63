-- doc = """A dozen of the timed shapes with other filters, from 1 to 15 pixels wide, and the padding that keeps the
-- output's size: what the models are asked how they grow with the filter."""
-- empty_without = ["timed_shapes"]
-- types = """input_shape BIGINT[], filter_shape BIGINT[], output_shape BIGINT[], stride BIGINT[], padding BIGINT[],
-- dilation BIGINT[], groups BIGINT, dtype VARCHAR, side BIGINT, timed_filter BIGINT[]"""
-- [columns]
-- side = "of the filter"
-- timed_filter = "filter of the timed shape"
WITH shape AS (
    SELECT DISTINCT input_shape, filter_shape, dtype FROM timed_shapes
    WHERE stride_h = 1 AND stride_w = 1 AND dilation_h = 1 AND dilation_w = 1 AND groups = 1 AND filter_height >= 3
        AND status IN ('measured', 'published') AND input_shape[3] >= 15 AND input_shape[4] >= 15
    ORDER BY ALL LIMIT 12
)
SELECT input_shape, [filter_shape[1], filter_shape[2], s.side, s.side] AS filter_shape,
    [input_shape[1], filter_shape[1], input_shape[3], input_shape[4]] AS output_shape, [1::BIGINT, 1] AS stride,
    [(s.side - 1) // 2, (s.side - 1) // 2] AS padding, [1::BIGINT, 1] AS dilation, 1::BIGINT AS groups, dtype, s.side,
    filter_shape AS timed_filter
FROM shape, (SELECT 2 * unnest(range(8)) + 1 AS side) s
