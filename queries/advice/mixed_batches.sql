-- title = "Prompts read between tokens"
-- doc = """Iterations of an inference engine that read prompts while other requests wait for their next token, and take
-- longer than iterations that make tokens alone, both in the middle (median). Those whose prompts have fewer tokens
-- than they make are left out, and iterations with fewer than half as many requests. The prompts have to be read
-- anyway: all requests together save nothing, only the wait for one token becomes shorter."""
-- why = "Every request in the batch gets its token when the prompts in it, or their parts, have been read."
-- cost = "Smaller parts of prompts take more iterations: the first token of a new request comes later."
-- unless = "Only how many tokens come in a second matters, not when each of them does."
-- needs = ["engine_iterations"]
-- [fix]
-- pytorch = """smaller parts of prompts in one batch: vLLM --max-num-batched-tokens, SGLang --chunked-prefill-size with
-- --enable-mixed-chunk off; or prompts on devices of their own (disaggregated prefill)"""
-- any = "smaller parts of prompts in one batch, or prompts on devices of their own"
-- [params]
-- mixed_times = { type = "DOUBLE", default = 3, doc = "found where they take this many times as long" }
WITH beside AS (
    SELECT *, avg(generation_requests) FILTER (phase = 'mixed') OVER (PARTITION BY rank) AS usual FROM iterations
    WHERE phase = 'decode' OR phase = 'mixed' AND coalesce(context_tokens >= generation_requests, true)
), phase AS (
    SELECT rank, count(*) FILTER (phase = 'decode') AS n_decode, median(time_ns) FILTER (phase = 'decode') AS decode_ns,
        count(*) FILTER (phase = 'mixed') AS n_mixed, median(time_ns) FILTER (phase = 'mixed') AS mixed_ns,
        avg(generation_requests) FILTER (phase = 'mixed') AS requests,
        avg(context_tokens) FILTER (phase = 'mixed') AS prompt_tokens
    FROM beside WHERE phase = 'mixed' OR 2 * generation_requests >= usual GROUP BY rank
)
SELECT rank,
    format('Requests that wait for their next token wait {:.3f} ms where prompts are read beside them, {:.3f} ms where '
        || 'not.', mixed_ns / 1e6, decode_ns / 1e6) AS problem,
    format('In {} of {} iterations that make tokens', n_mixed, n_mixed + n_decode) AS place, NULL AS saving_ns,
    if(n_mixed > 1, 'high for the times; what a token may take is not recorded', 'low: one such iteration alone')
        AS confidence,
    [format('{:.1f} requests wait in such a batch{}', requests,
        coalesce(format(', which reads {:.0f} tokens of prompts', prompt_tokens), ''))] AS evidence
FROM phase WHERE n_decode > 1 AND n_mixed > 0 AND mixed_ns > $mixed_times * decode_ns
ORDER BY rank
