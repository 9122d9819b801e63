-- title = "Convolutions of a capture"
-- doc = """Every shape of convolution that was called, once by layer, with what it takes to run it again.
-- Calls without shapes, transposed and one- or three-dimensional ones are counted together."""
-- [columns]
-- layer = "the first layer of that shape"
-- input_shape = "batch, channels, height, width"
-- filter_shape = "filters, channels per group, height, width"
-- stride = "of both directions"
-- padding = "of both directions"
-- dilation = "of both directions"
-- groups = "channel groups"
-- dtype = "element type, as recorded"
-- directions = "passes that ran; both gradients where one operator computes both and they cannot be told apart"
-- is_whole = "whether it can be run again"
-- calls = "operator calls"
SELECT layer, input_shape, filter_shape, stride, padding, dilation, groups, dtype,
    list_sort(list_distinct(flatten(list(if(direction IS NULL, ['dgrad', 'wgrad'], [direction]))))) AS directions,
    coalesce(len(input_shape) = 4 AND len(filter_shape) = 4 AND NOT coalesce(transposed, false), false) AS is_whole,
    count(*) AS calls
FROM conv_calls
GROUP BY layer, input_shape, filter_shape, stride, padding, dilation, groups, dtype, transposed
ORDER BY min(start_ns), layer, input_shape, filter_shape, stride, padding, dilation, groups, dtype, is_whole
