-- doc = """Iterations of an inference engine, by its marks: SGLang's `step[DECODE bs=32]`, vLLM's
-- `execute_context_2(64)_generation_1(1)` with or without lengths, TensorRT-LLM's `_forward_step 3: 1 ctx reqs, 2 gen
-- reqs`. Where one mark is inside of another, what the outer one does not tell is the inner one's. Work that
-- is launched between marks is of no iteration."""
-- materialize = true
-- empty_without = ["raw.ranges"]
-- types = """rank INTEGER, iteration BIGINT, mark VARCHAR, phase VARCHAR, context_requests BIGINT,
-- context_tokens BIGINT, generation_requests BIGINT, generation_tokens BIGINT, requests BIGINT, tokens BIGINT,
-- cached_tokens BIGINT,
-- start_ns BIGINT, end_ns BIGINT, until_ns BIGINT, time_ns BIGINT, busy_ns BIGINT"""
-- [columns]
-- iteration = "its place in the order of time, from 0"
-- mark = "the mark, as recorded"
-- phase = "prefill, decode, mixed (requests of both in one batch), idle, or another word of the engine's"
-- context_requests = "requests whose prompt, or a part of it, is read"
-- context_tokens = "tokens of these"
-- generation_requests = "requests that get their next token"
-- generation_tokens = "tokens of these: one each, or more where tokens are guessed ahead"
-- requests = "all of them"
-- tokens = "of all of them; NULL where the mark tells requests alone"
-- cached_tokens = "tokens that these attend to, where the mark tells"
-- end_ns = "end of the mark on the host"
-- until_ns = "start of the next one"
-- time_ns = """from its mark's start to the end of what it launched, at most to the next; of a single one only its
-- work on the devices, of which the host may run far ahead"""
-- busy_ns = "time of devices in which anything that it launched ran"
WITH told AS (
    SELECT name,
        -- Total, requests and tokens of prompts, requests and tokens of generation; TensorRT-LLM tells requests alone.
        regexp_extract(name, '^execute_(?:\d+_)?context_(\d{1,9})\((?:sq)?(\d{1,12})(?:sk(\d{1,12}))?\w*\)'
            || '_generation_(\d{1,9})\((?:sq)?(\d{1,12})(?:sk(\d{1,12}))?\w*\)',
            ['nc', 'tc', 'kc', 'ng', 'tg', 'kg']) AS vllm,
        regexp_extract(name, '^step\[([A-Z_]+)(?: bs=(\d{1,9}))?(?: toks=(\d{1,12}))?', ['word', 'n', 'tokens'])
            AS sglang,
        regexp_extract(name, '_forward_step(?: \d+)?: (\d{1,9}) ctx reqs, (\d{1,9}) gen reqs', ['nc', 'ng']) AS trt
    FROM (SELECT DISTINCT name FROM raw.ranges WHERE kind IN ('user', 'nvtx')
        AND regexp_matches(name, '^(step\[[A-Z_]+[ \]]|execute_(\d+_)?(new|cached|context|generation|diffusion)_\d'
            || '|(\[Executor\] )?_forward_step( \d+)?: \d+ ctx reqs, )'))
), parsed AS (
    SELECT name,
        CASE WHEN sglang.word IN ('EXTEND', 'PREFILL') THEN 'prefill' WHEN sglang.word <> '' THEN lower(sglang.word)
            END AS word,
        TRY_CAST(coalesce(nullif(vllm.nc, ''), nullif(trt.nc, ''), if(sglang.word IN ('EXTEND', 'PREFILL'), sglang.n,
            NULL)) AS BIGINT) AS context_requests,
        TRY_CAST(coalesce(nullif(vllm.tc, ''), if(sglang.word IN ('EXTEND', 'PREFILL'), sglang.tokens, NULL))
            AS BIGINT) AS context_tokens,
        TRY_CAST(coalesce(nullif(vllm.ng, ''), nullif(trt.ng, ''), if(sglang.word = 'DECODE', sglang.n, NULL))
            AS BIGINT) AS generation_requests,
        TRY_CAST(coalesce(nullif(vllm.tg, ''), if(sglang.word = 'DECODE', coalesce(nullif(sglang.tokens, ''),
            sglang.n), NULL)) AS BIGINT) AS generation_tokens,
        TRY_CAST(nullif(vllm.kc, '') AS BIGINT) + TRY_CAST(nullif(vllm.kg, '') AS BIGINT) AS cached_tokens
    FROM told
), marked AS (
    SELECT r.rank, r.start_ns, r.start_ns + r.dur_ns AS end_ns, p.*, max(r.start_ns + r.dur_ns) OVER (
        PARTITION BY r.rank ORDER BY r.start_ns, r.dur_ns DESC, r.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
        AS covered_ns
    FROM raw.ranges r JOIN parsed p ON p.name = r.name WHERE r.kind IN ('user', 'nvtx')
), outer_mark AS (
    SELECT *, row_number() OVER (PARTITION BY rank ORDER BY start_ns) - 1 AS iteration,
        lead(start_ns) OVER (PARTITION BY rank ORDER BY start_ns) AS until_ns
    FROM marked WHERE covered_ns IS NULL OR start_ns >= covered_ns
), inner_mark AS (
    SELECT DISTINCT ON (o.rank, o.iteration) o.rank, o.iteration, i.* EXCLUDE (rank, name, start_ns, end_ns, covered_ns)
    FROM outer_mark o JOIN marked i ON i.rank = o.rank AND i.start_ns > o.start_ns AND i.end_ns <= o.end_ns
    ORDER BY o.rank, o.iteration, i.start_ns
), joined AS (
    SELECT o.* EXCLUDE (word, context_requests, context_tokens, generation_requests, generation_tokens, cached_tokens),
        coalesce(o.word, i.word) AS word, coalesce(o.context_requests, i.context_requests) AS context_requests,
        coalesce(o.context_tokens, i.context_tokens) AS context_tokens,
        coalesce(o.generation_requests, i.generation_requests) AS generation_requests,
        coalesce(o.generation_tokens, i.generation_tokens) AS generation_tokens,
        coalesce(o.cached_tokens, i.cached_tokens) AS cached_tokens
    FROM outer_mark o LEFT JOIN inner_mark i ON i.rank = o.rank AND i.iteration = o.iteration
), work AS (
    -- What an iteration launched; on a CPU, and of a device whose launches are not recorded, what began in it.
    SELECT b.rank, m.iteration, min(b.start_ns) AS from_ns, max(b.end_ns) AS to_ns, sum(b.alone_ns) AS busy_ns
    FROM busy b ASOF JOIN outer_mark m ON m.rank = b.rank AND coalesce(b.launched_ns, b.start_ns) >= m.start_ns
    WHERE coalesce(b.launched_ns, b.start_ns) <= m.end_ns
    GROUP BY ALL
), alone AS (
    SELECT rank FROM outer_mark GROUP BY rank HAVING count(*) = 1
)
SELECT j.rank, j.iteration, j.name AS mark,
    coalesce(CASE WHEN j.context_requests > 0 AND j.generation_requests > 0 THEN 'mixed'
        WHEN j.context_requests > 0 THEN 'prefill' WHEN j.generation_requests > 0 THEN 'decode'
        WHEN j.context_requests = 0 AND j.generation_requests = 0 THEN 'idle' END, j.word, 'not told') AS phase,
    j.context_requests, j.context_tokens, j.generation_requests, j.generation_tokens,
    coalesce(j.context_requests + coalesce(j.generation_requests, 0), j.generation_requests) AS requests,
    if(coalesce(j.context_requests, j.generation_requests) IS NULL, NULL,
        if(coalesce(j.context_requests, 0) = 0, 0, j.context_tokens)
        + if(coalesce(j.generation_requests, 0) = 0, 0, j.generation_tokens)) AS tokens, j.cached_tokens, j.start_ns,
    j.end_ns, j.until_ns,
    CAST(if(j.rank IN (FROM alone), w.to_ns - w.from_ns,
        greatest(least(coalesce(w.to_ns, j.end_ns), coalesce(j.until_ns, w.to_ns, j.end_ns)), j.end_ns) - j.start_ns)
        AS BIGINT) AS time_ns,
    CAST(coalesce(w.busy_ns, 0) AS BIGINT) AS busy_ns
FROM joined j LEFT JOIN work w ON w.rank = j.rank AND w.iteration = j.iteration
