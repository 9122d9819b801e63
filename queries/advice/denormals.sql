-- title = "Denormal numbers"
-- doc = """Parameters, gradients and states of the optimizer that are too small for a normal floating-point number, as
-- traceview collect counted them at the end of a recording on a CPU, while the processor does not flush them to zero.
-- What they cost differs between processors and was measured with the recording. Where products with them are slow no
-- bound can be stated, because activations were not counted. Where only square roots are, the bound is what the roots
-- of the optimizer's denormal squares (Adam, RMSprop, Adagrad) take longer, shared among the threads."""
-- why = """Many processors run operations on denormal numbers in microcode: a hundred cycles or more instead of one;
-- some only square roots and divisions."""
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
-- slow_ns = { type = "DOUBLE", default = 0.5, doc = """a product is slow where that of a denormal number takes so much
-- longer, in nanoseconds""" }
SELECT rank, format('{:.2f} % of {:,} elements of parameters, gradients and states of the optimizer are denormal{}.',
        100.0 * n_denormal / n_elements, n_elements,
        if(n_denormal_squares > 0, format(', {:,} of them squares whose root is taken in each step',
            n_denormal_squares), '')) AS problem,
    NULL AS place,
    CASE WHEN denormal_multiply_ns < $slow_ns
        THEN coalesce(n_denormal_squares, 0) * denormal_sqrt_ns / greatest(coalesce(threads, 1), 1) END AS saving_ns,
    CASE WHEN denormal_multiply_ns < $slow_ns
        THEN 'medium: the cost of a denormal number was measured on this processor, the steps were not'
        ELSE 'low: there are denormal numbers; whether they cost time is not recorded' END AS confidence,
    list_filter([format('{:,} of {:,}', n_denormal, n_elements),
        format('a square root of one takes {:.1f} ns longer on this processor, a product {:.1f} ns',
            denormal_sqrt_ns, denormal_multiply_ns)], lambda x: x IS NOT NULL) AS evidence
FROM processes
WHERE n_denormal > $denormal_pct / 100 * n_elements AND coalesce(flags->>'$."cpu.flush_denormal"', 'false') <> 'true'
    AND (denormal_multiply_ns IS NULL OR denormal_multiply_ns >= $slow_ns OR n_denormal_squares * denormal_sqrt_ns > 0)
ORDER BY rank
