-- title = "Bytes that a pass of a convolution moves"
-- doc = "The macro `convolution_bytes(x, w, y, size)`: input, filter and output, each moved once."
CREATE OR REPLACE MACRO convolution_bytes(x, w, y, size) AS
    size * (list_product(x) + list_product(w) + list_product(y))
