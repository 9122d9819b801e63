-- title = "Unfused bias and activation"
-- doc = """Forward kernels, primitives and operators that only add a bias or apply an activation. The bound is their
-- time, less what overlaps work that started earlier on the device."""
-- why = """Each kernel reads and writes the whole tensor for one operation per element; fused into the preceding
-- convolution or matrix product, this memory traffic disappears."""
-- cost = "Compile time; fused results may differ in the last bits."
-- unless = "A trained batch normalisation lies in between: then only a compiler can fuse what follows it."
-- needs = ["activities"]
-- sees = "graphs"
-- removes = "unfused"
-- [fix]
-- pytorch = """torch.compile(model); for inference torch.ao.quantization.fuse_modules or optimize_for_inference;
-- bias=False in convolutions before a batch norm"""
-- pytorch_cpu = """torch.compile(model), whose code for CPUs fuses them; for inference
-- torch.jit.optimize_for_inference(torch.jit.freeze(...)), which makes them oneDNN post-ops"""
-- tensorflow = "tf.function(jit_compile=True), or leave the Grappler remapper on (it makes _FusedConv2D)"
-- tensorflow_cpu = """tf.function with Grappler's remapper and TF_ENABLE_ONEDNN_OPTS at their defaults: they make
-- _FusedConv2D"""
-- onnxruntime = "SessionOptions.graph_optimization_level = ORT_ENABLE_ALL (the default)"
-- jax = "jax.jit around the whole step: XLA fuses them"
-- mxnet = "net.hybridize() and net.optimize_for; no_bias=True before a batch norm"
-- mxnet_cpu = "net.hybridize() with MXNET_SUBGRAPH_BACKEND=MKLDNN; no_bias=True before a batch norm"
-- keras = "model.compile(..., jit_compile=True); use_bias=False before BatchNormalization"
-- any = "use the library's fused convolution with bias and activation; no bias before a batch norm"
-- [params]
-- unfused_device_pct = { type = "DOUBLE", default = 5, doc = "found above this share of device time, in percent" }
WITH own AS (
    SELECT rank, name, category, coalesce(layer, op_name) AS layer, saved_ns AS own_ns, mean_ns / per AS mean_ns,
        if(is_continued, 0, 1.0 / per) AS calls
    FROM unfused
), kinds AS (
    SELECT rank, name, category, sum(calls) AS calls, sum(own_ns) AS own_ns, sum(mean_ns) AS mean_ns FROM own
    GROUP BY rank, name, category
), layer AS (
    SELECT rank, layer, sum(own_ns) AS own_ns FROM own WHERE layer IS NOT NULL GROUP BY rank, layer
), placed AS (
    SELECT rank, array_to_string(list(layer ORDER BY own_ns DESC, layer)[:3], ', ') AS place FROM layer GROUP BY rank
)
SELECT k.rank,
    format('{:.1f} % of the device''s busy time adds biases and applies activations in kernels of their own.',
        100.0 * sum(mean_ns) / any_value(b.busy_ns)) AS problem,
    'Mostly in ' || any_value(p.place) AS place, sum(own_ns) AS saving_ns,
    'medium: the trace does not say whether each can be fused with what comes before' AS confidence,
    list(format('{} ({}): {:.1f} calls and {:.3f} ms', name, category, calls, own_ns / 1e6) ORDER BY own_ns DESC, name)
        AS evidence
FROM kinds k JOIN device_busy b USING (rank) LEFT JOIN placed p USING (rank)
GROUP BY k.rank
HAVING 100.0 * sum(mean_ns) > $unfused_device_pct * any_value(b.busy_ns)
ORDER BY k.rank
