-- title = "Work of a step"
-- doc = """Work that has to be equal in compared runs, beside model, batch and precision: the FLOPs of all convolutions
-- of a step and rank, by the direct method. NULL where a convolution's shape is not known."""
-- [columns]
-- conv_flop = "FLOPs per step and rank, two per multiply-accumulate"
SELECT CASE WHEN bool_and(flop IS NOT NULL) THEN CAST(round(sum(calls / per_rank * flop)) AS BIGINT) END AS conv_flop
FROM conv_totals
