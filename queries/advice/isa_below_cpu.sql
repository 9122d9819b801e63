-- title = "Narrower vector instructions than the processor supports"
-- doc = """The CPU library, or a variable, says that it uses at most an instruction set narrower than the processor's;
-- or no implementation's name shows a wider one: then those alone count whose names show one. The bound is the share of
-- the primitives' time by which wider vectors could shorten it; over SSE also by fused multiply-adds, which SSE lacks:
-- one instruction instead of two."""
-- why = "Each instruction processes a half or a quarter of the values it could."
-- cost = "Wide vectors lower the clock of some older processors."
-- unless = """The limit is there so that different machines give equal results, or a virtual machine hides the wider
-- instructions."""
-- needs = ["primitives", "simd"]
-- [fix]
-- pytorch = "unset ONEDNN_MAX_CPU_ISA (DNNL_MAX_CPU_ISA) and ATEN_CPU_CAPABILITY"
-- tensorflow = """unset ONEDNN_MAX_CPU_ISA (DNNL_MAX_CPU_ISA); a build for the processor (-march=native) for what is
-- not oneDNN"""
-- any = "unset ONEDNN_MAX_CPU_ISA (DNNL_MAX_CPU_ISA)"
-- [params]
-- isa_step_pct = { type = "DOUBLE", default = 1, doc = """found where the bound is more than this share of the step, in
-- percent""" }
WITH narrow AS (
    SELECT rank, used_simd_bits, simd_bits, environment->>'$.ONEDNN_MAX_CPU_ISA' AS max_isa,
        1 - used_simd_bits / simd_bits / if(used_simd_bits = 128, 2, 1) AS gain,
        coalesce(regexp_matches(max_isa, if(used_simd_bits = 128, '(?i)^sse', '(?i)^avx(2|$)')), false)
            OR rank IN (SELECT rank FROM raw.captures WHERE format = 'onednn' AND metadata->>'$.isa' IS NOT NULL)
            AS is_said
    FROM processes
    WHERE used_simd_bits < simd_bits
), used AS (
    SELECT c.rank, p.kind || ' ' || coalesce(nullif(p.impl, ''), '(no name)') AS impl,
        count(*) / any_value(c.per) AS calls,
        sum(c.mean_ns / c.per) AS own_ns, any_value(c.step_ns) AS step_ns
    FROM counted c JOIN primitives p ON p.id = c.id JOIN narrow n ON n.rank = c.rank
    WHERE n.is_said OR regexp_matches(p.impl, 'avx|sse') GROUP BY ALL
)
SELECT n.rank,
    format(if(any_value(n.is_said), 'The library uses vectors of {} bits', 'Names of implementations show vectors of '
        || '{} bits at most') || ', the processor has {}{}.', any_value(n.used_simd_bits), any_value(n.simd_bits),
        coalesce(' (ONEDNN_MAX_CPU_ISA=' || any_value(n.max_isa) || ')', '')) AS problem,
    NULL AS place, sum(u.own_ns) * any_value(n.gain) AS saving_ns,
    if(any_value(n.is_said), 'high that they are narrower', 'medium: no name shows wider ones')
        || '; memory-bound primitives gain less' AS confidence,
    list(format('{}: {:.1f} calls and {:.3f} ms', u.impl, u.calls, u.own_ns / 1e6)
        ORDER BY u.own_ns DESC, u.impl) AS evidence
FROM narrow n JOIN used u USING (rank)
GROUP BY n.rank
HAVING 100.0 * sum(u.own_ns) * any_value(n.gain) > $isa_step_pct * any_value(u.step_ns)
ORDER BY n.rank
