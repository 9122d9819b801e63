-- title = "Convolutions by layer"
-- doc = """Per step and rank, forward and backward, the most expensive layers first. Math kernels have the colour of
-- their algorithm; stripes are what a fused or otherwise laid out convolution would not need."""
-- cannot = "No convolution operator in this trace."
-- [chart]
-- kind = "bars"
-- label = "layer"
-- group = "pass"
-- colour = "algorithm"
-- parts = ["main_ns", "transform_ns", "layout_ns", "bias_ns", "activation_ns", "helper_ns"]
-- [columns]
-- layer = "layer, or filter and its shape where the trace names no layers"
-- pass = "forward, or backward: both gradients together"
-- algorithm = "how it was computed; see docs/vocabulary.md"
-- main_ns = "math kernels"
-- transform_ns = "im2col, FFT and Winograd transforms"
-- layout_ns = "layout conversions"
-- bias_ns = "bias additions and their gradients"
-- activation_ns = "activations under the call"
-- helper_ns = "everything else"
-- total_ns = "all of it"
SELECT layer, if(direction = 'fprop', 'forward', 'backward') AS pass, algorithm,
    sum(main_ns / per_rank) AS main_ns, sum(transform_ns / per_rank) AS transform_ns,
    sum(layout_ns / per_rank) AS layout_ns, sum(bias_ns / per_rank) AS bias_ns,
    sum(activation_ns / per_rank) AS activation_ns, sum(helper_ns / per_rank) AS helper_ns,
    sum(total_ns / per_rank) AS total_ns
FROM conv_totals
GROUP BY layer, pass, algorithm
ORDER BY sum(sum(total_ns / per_rank)) OVER (PARTITION BY layer) DESC, layer, pass DESC, total_ns DESC, algorithm
