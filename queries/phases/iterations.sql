-- title = "Iterations"
-- doc = "In the order of time."
-- cannot = "No iterations of an inference engine are marked here."
-- leave_out = ["rank", "cached_tokens", "busy_ns"]
-- [columns]
-- rank = "process of the job"
-- iteration = "number, from 0"
-- phase = "as above"
-- prompts = "requests whose prompt is read"
-- prompt_tokens = "tokens of these"
-- decoding = "requests that get their next token"
-- new_tokens = "tokens of these, guessed ones too"
-- cached_tokens = "tokens that are attended to"
-- time_ns = "of the iteration"
-- busy_ns = "of it with work on a device"
-- token_ns = "time over tokens"
-- [headings]
-- new_tokens = "decoding tokens"
-- cached_tokens = "attended tokens"
-- token_ns = "per token"
SELECT rank, iteration, phase, context_requests AS prompts, context_tokens AS prompt_tokens,
    generation_requests AS decoding, generation_tokens AS new_tokens, cached_tokens, time_ns, busy_ns,
    time_ns / nullif(tokens, 0) AS token_ns
FROM iterations
ORDER BY iteration, rank
