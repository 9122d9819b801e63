-- title = "Denormal numbers"
-- doc = """Parameters and gradients that are too small for a normal floating-point number, as traceview collect counted
-- them at the end of a recording on a CPU, while the processor does not flush them to zero. No bound can be stated:
-- activations were not counted, and what an operation on them costs differs between processors."""
-- why = "Many processors run operations on denormal numbers in microcode: a hundred cycles or more instead of one."
-- cost = "Numbers below 1.2e-38 become zero."
-- unless = "The model needs numbers that small; training normally does not."
-- needs = ["denormal_counts"]
-- [fix]
-- pytorch = "torch.set_flush_denormal(True)"
-- tensorflow = """tf.config.experimental has no switch: the runtime flushes in its own threads; weight decay or
-- clipping keeps numbers away from there"""
-- jax = "XLA flushes by default; no --xla_cpu_enable_fast_math=false"
-- any = "flush-to-zero and denormals-are-zero in the control register of every thread"
-- [params]
-- denormal_pct = { type = "DOUBLE", default = 0.1, doc = "found above this share of the elements, in percent" }
SELECT rank, format('{:.2f} % of {:,} elements of parameters and gradients are denormal.',
    100.0 * n_denormal / n_elements, n_elements) AS problem,
    NULL AS place, CAST(NULL AS DOUBLE) AS saving_ns,
    'low: there are denormal numbers; whether they cost time is not recorded' AS confidence,
    [format('{:,} of {:,}', n_denormal, n_elements)] AS evidence
FROM processes
WHERE n_denormal > $denormal_pct / 100 * n_elements AND coalesce(flags->>'$."cpu.flush_denormal"', 'false') <> 'true'
ORDER BY rank
