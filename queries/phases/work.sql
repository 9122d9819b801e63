-- title = "Work by phase"
-- doc = """Device time of an iteration by what it is for, mean of the iterations of the phase and of the ranks;
-- overlaps counted once. What writes keys and values into the cache, or moves them there, is a row of its own."""
-- cannot = "No iterations of an inference engine are marked here."
-- rest = ["calls", "busy_ns", "share_pct"]
-- [columns]
-- phase = "as above"
-- work = "category of the kernels; KV cache for what fills the cache of keys and values or looks its places up"
-- calls = "in an iteration"
-- busy_ns = "time on the devices of an iteration"
-- share_pct = "of the phase's"
-- [headings]
-- share_pct = "of the phase"
-- [fractions]
-- calls = "calls/iteration"
WITH done AS (
    SELECT i.phase, b.alone_ns,
        if(regexp_matches(coalesce(b.op_name, ''), '^_C_cache_ops::|kv_cache_(update|write|copy)|store_cache')
            OR regexp_matches(b.name, '(?i)reshape_and_cache|store_?kv_?cache|concat_and_cache_mla|set_kv_buffer'
                || '|kv_indices|gather_cache|_kv_cache_(copy|write|update|store)|(copy|swap)_blocks_kernel'),
            'KV cache', b.category) AS work
    FROM busy b ASOF JOIN iterations i ON i.rank = b.rank AND coalesce(b.launched_ns, b.start_ns) >= i.start_ns
    WHERE coalesce(b.launched_ns, b.start_ns) <= i.end_ns
), counted AS (
    SELECT phase, count(*) AS n FROM iterations GROUP BY phase
)
SELECT d.phase, d.work, count(*) / any_value(c.n) AS calls, sum(d.alone_ns) / any_value(c.n) AS busy_ns,
    100.0 * sum(d.alone_ns) / nullif(sum(sum(d.alone_ns)) OVER (PARTITION BY d.phase), 0) AS share_pct
FROM done d JOIN counted c ON c.phase = d.phase
GROUP BY d.phase, d.work
ORDER BY sum(sum(d.alone_ns)) OVER (PARTITION BY d.phase) DESC, d.phase, busy_ns DESC, d.work
