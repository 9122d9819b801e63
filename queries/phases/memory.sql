-- title = "What the memory allows in decode"
-- doc = """To make the next token of each request, weights are read once for all of them, and keys and values of each.
-- These bytes at the memory's bandwidth bound the tokens per second of as many requests; where a length is recorded
-- nowhere, the weights alone do, and fewer tokens are possible than the bound says."""
-- cannot = """No iteration that makes the next token of each request has products whose sizes are recorded: record
-- shapes (record_shapes=True), of a graph those of its capture (--capture)."""
-- leave_out = ["iterations", "rank", "busy_ns"]
-- [columns]
-- rank = "process of the job"
-- new_tokens = "tokens that an iteration computes, guessed ones too"
-- iterations = "iterations that compute this number of tokens"
-- weight_bytes = "of products, mean of these iterations"
-- cache_bytes = "keys and values of all tokens attended to, mean; NULL where they are not known"
-- busy_ns = "of an iteration with work on a device, mean"
-- least_ns = "of an iteration: these bytes at the bandwidth of the device"
-- tokens_per_s = "these tokens over the time of an iteration, without what is between iterations"
-- most_tokens_per_s = "these tokens over the least time: an upper bound"
-- counted = "what the bound rests on"
-- [headings]
-- new_tokens = "decoding tokens"
-- tokens_per_s = "tokens in iterations"
-- most_tokens_per_s = "at most"
-- [fractions]
-- new_tokens = "decoding tokens/iteration"
SELECT d.rank, d.tokens AS new_tokens, count(*) AS iterations, avg(d.weight_bytes) AS weight_bytes,
    if(count(d.cache_bytes) = count(*), avg(d.cache_bytes), NULL) AS cache_bytes, avg(i.busy_ns) AS busy_ns,
    avg(d.least_ns) AS least_ns, 1e9 * d.tokens / nullif(avg(i.time_ns), 0) AS tokens_per_s,
    1e9 * d.tokens / avg(d.least_ns) AS most_tokens_per_s,
    CASE WHEN count(d.cache_bytes) = count(*) THEN 'weights, keys and values'
        WHEN sum(d.n_attentions) > 0 THEN 'weights alone: lengths of keys and values are not recorded'
        ELSE 'weights alone: no attention with known sizes' END
        || if(sum(d.n_products) > 0, format('; not of {} products', sum(d.n_products)), '') AS counted
FROM decode_bytes d JOIN iterations i ON i.rank = d.rank AND i.iteration = d.iteration
GROUP BY d.rank, d.tokens
ORDER BY sum(i.time_ns) DESC, d.rank, d.tokens
