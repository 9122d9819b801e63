-- title = "By phase"
-- doc = """Iterations as the engine marks them, most time first; prefill reads prompts, decode makes the next token
-- of each request, a mixed batch does both. SGLang tells requests of a decode batch, which have one token each. Ranks
-- that do the same iteration count once, with their mean time. An iteration is its mark and what was launched in it:
-- work launched between two marks, such as a sampler's or a draft model's where an engine calls it there, is of none,
-- and neither in the time nor in the rates; how often iterations begin says how long it takes with that. Where tokens
-- are guessed ahead, more of them are computed than requests have: how many of these stay is not marked."""
-- cannot = """No iterations of an inference engine are marked here (SGLang's step[DECODE bs=32], vLLM's
-- execute_context_0(0)_generation_32(32), TensorRT-LLM's _forward_step)."""
-- leave_out = ["cached_tokens", "share_pct", "busy_ns"]
-- [columns]
-- phase = "prefill, decode, mixed, or another word of the engine's"
-- iterations = "how many"
-- requests = "in an iteration, mean"
-- prompt_tokens = "tokens of prompts read, in an iteration, mean"
-- new_tokens = "tokens of decoding requests, guessed ones too, in an iteration, mean"
-- cached_tokens = "tokens that are attended to, in an iteration, mean"
-- time_ns = "of an iteration, mean; of a single one its work on the devices"
-- busy_ns = "of it with work on a device, mean"
-- every_ns = "from the start of an iteration to that of the next one, mean: work and waiting between them are in it"
-- token_ns = "time over tokens, prompts' and new ones; NULL where marks tell requests alone"
-- tokens_per_s = "tokens over time, without what is between iterations"
-- share_pct = "of the time of all iterations"
-- [headings]
-- every_ns = "begin every"
-- new_tokens = "decoding tokens"
-- cached_tokens = "attended tokens"
-- tokens_per_s = "tokens in iterations"
-- share_pct = "of the iterations"
-- token_ns = "per token"
-- [fractions]
-- requests = "requests/iteration"
-- prompt_tokens = "prompt tokens/iteration"
-- new_tokens = "decoding tokens/iteration"
-- cached_tokens = "tokens attended to/iteration"
WITH ranked AS (
    SELECT phase, iteration, any_value(requests) AS requests, any_value(context_tokens) AS context_tokens,
        any_value(generation_tokens) AS generation_tokens, any_value(cached_tokens) AS cached_tokens,
        any_value(tokens) AS tokens,
        avg(time_ns) AS time_ns, avg(busy_ns) AS busy_ns, avg(until_ns - start_ns) AS every_ns
    FROM iterations GROUP BY phase, iteration, mark
)
SELECT phase, count(*) AS iterations, avg(requests) AS requests, avg(context_tokens) AS prompt_tokens,
    avg(generation_tokens) AS new_tokens, avg(cached_tokens) AS cached_tokens, avg(time_ns) AS time_ns,
    avg(busy_ns) AS busy_ns, avg(every_ns) AS every_ns,
    if(count(tokens) = count(*), sum(time_ns) / nullif(sum(tokens), 0), NULL) AS token_ns,
    if(count(tokens) = count(*), 1e9 * sum(tokens) / nullif(sum(time_ns), 0), NULL) AS tokens_per_s,
    100.0 * sum(time_ns) / nullif(sum(sum(time_ns)) OVER (), 0) AS share_pct
FROM ranked
GROUP BY phase
ORDER BY sum(time_ns) DESC NULLS LAST, phase
