-- title = "Whether a copy keeps the order of its source in memory"
-- doc = """The macro `keeps_layout(shapes, strides)`, of what is recorded with aten::copy_, target and source first:
-- the dimensions of both follow one another in memory, as where columns are cut out of a matrix. Dimensions of one
-- element, and those along which a tensor only repeats itself, have no place. False where no strides are recorded."""
CREATE OR REPLACE MACRO keeps_layout(shapes, strides) AS coalesce(
    TRY_CAST(shapes AS BIGINT[][])[1] = TRY_CAST(shapes AS BIGINT[][])[2]
    AND list_transform([list_sort(list_transform(list_filter(
            list_zip(TRY_CAST(shapes AS BIGINT[][])[1], TRY_CAST(strides AS BIGINT[][])[1],
                TRY_CAST(strides AS BIGINT[][])[2]),
            lambda dim: dim[1] > 1 AND dim[2] > 0 AND dim[3] > 0), lambda dim: [-dim[2], -dim[3]]))],
        -- By the strides of the target; those of the source then fall, too.
        lambda sorted: list_transform(sorted, lambda pair: pair[2]) = list_sort(list_transform(sorted,
            lambda pair: pair[2])))[1]
    AND list_transform(TRY_CAST(shapes AS BIGINT[][])[1:2], lambda dims: len(dims))
        = list_transform(TRY_CAST(strides AS BIGINT[][])[1:2], lambda dims: len(dims)), false)
