-- title = "FLOP of a convolution"
-- doc = """The macro `convolution_flop(x, w, y, transposed)`, of the sizes of input, filter and output: by the direct
-- method each element of the filter meets every position of the output, of the input where it is transposed, for every
-- pass. Taps on padding count; groups are in the filter's second size. A size that is not known makes it NULL."""
CREATE OR REPLACE MACRO convolution_flop(x, w, y, transposed) AS
    if(list_count(w) = len(w) AND list_count(x) = len(x) AND (coalesce(transposed, false) OR list_count(y) = len(y)),
        2 * list_product(w) * x[1] * list_product(if(coalesce(transposed, false), x, y)[3:]), NULL)
