-- doc = """Bytes that an iteration of an inference engine has to read to make the next token of each request: weights
-- of its products, and keys and values of the tokens that it attends to, by the costs of its operators. Of the replay
-- of a graph they are those of its capture, if that was recorded."""
-- empty_without = ["iterations"]
-- types = """rank INTEGER, iteration BIGINT, tokens BIGINT, weight_bytes DOUBLE, cache_bytes DOUBLE,
-- n_products BIGINT, n_attentions BIGINT, bytes_per_s DOUBLE, least_ns DOUBLE"""
-- [columns]
-- tokens = "requests that get their next token, times the tokens of each"
-- weight_bytes = "operands and results of products whose sizes are known"
-- cache_bytes = "the same of attention, keys and values of all tokens attended to; NULL where that of any call is not"
-- n_products = "products whose sizes are not known: operators, and kernels of no operator whose cost is known"
-- n_attentions = "calls of attention whose bytes are not known"
-- bytes_per_s = "bandwidth of the device's memory"
-- least_ns = "these bytes over it"
WITH call AS (
    SELECT DISTINCT k.op_id, o.rank, o.pid, o.tid, o.start_ns, o.start_ns + o.dur_ns AS end_ns, k.family, k.bytes
    FROM op_costs k JOIN raw.ops o ON o.id = k.op_id WHERE k.family IN ('gemm', 'attention')
), made AS (
    SELECT i.rank, i.iteration, i.generation_tokens AS tokens, b.op_id, count(*) FILTER (b.category = 'gemm') AS n_gemms
    FROM busy b ASOF JOIN iterations i ON i.rank = b.rank AND coalesce(b.launched_ns, b.start_ns) >= i.start_ns
    WHERE i.phase = 'decode' AND i.generation_tokens > 0 AND b.kind <> 'op'
        AND coalesce(b.launched_ns, b.start_ns) <= i.end_ns
    GROUP BY ALL
), done AS (
    -- What is in no such call is one row.
    SELECT m.rank, m.iteration, m.tokens, if(o.start_ns + o.dur_ns <= c.end_ns, c, NULL) AS call,
        sum(m.n_gemms) AS n_gemms
    FROM made m LEFT JOIN raw.ops o ON o.id = m.op_id
    ASOF LEFT JOIN call c ON c.rank = o.rank AND c.pid = o.pid AND c.tid = o.tid AND o.start_ns >= c.start_ns
    GROUP BY ALL
), read AS (
    SELECT rank, iteration, any_value(tokens) AS tokens, sum(bytes) FILTER (family = 'gemm') AS weight_bytes,
        if(bool_or(family = 'attention' AND bytes IS NULL), NULL, sum(bytes) FILTER (family = 'attention'))
            AS cache_bytes, CAST(count(*) FILTER (family = 'gemm' AND bytes IS NULL)
            + coalesce(sum(n_gemms) FILTER (family IS NULL), 0) AS BIGINT) AS n_products,
        count(*) FILTER (family = 'attention' AND bytes IS NULL) AS n_attentions
    FROM (SELECT *, call.family, call.bytes FROM done) GROUP BY rank, iteration
), able AS (
    SELECT rank, max(memory_bytes_per_s) AS bytes_per_s FROM device_peaks WHERE is_used GROUP BY rank
)
SELECT r.rank, r.iteration, r.tokens, CAST(r.weight_bytes AS DOUBLE) AS weight_bytes,
    CAST(r.cache_bytes AS DOUBLE) AS cache_bytes, r.n_products, r.n_attentions, a.bytes_per_s,
    1e9 * (r.weight_bytes + coalesce(r.cache_bytes, 0)) / a.bytes_per_s AS least_ns
FROM read r LEFT JOIN able a ON a.rank = r.rank
WHERE r.weight_bytes > 0
