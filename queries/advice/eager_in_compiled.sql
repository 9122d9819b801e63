-- title = "Operators that the compiler left as they are"
-- doc = """Operators that code of torch.compile calls by their ATen functions because no code was made for them (sort,
-- scans, distances, and random numbers), without products, convolutions, attention and collectives, for which libraries
-- are meant, operators of other libraries, and copies. The bound is their time, less what overlaps work that started
-- earlier on the device, less the least that the device takes to move each of their tensors once, where that is
-- known."""
-- why = """No kernel fuses across such an operator: what it reads is written to memory first, and what it gives is read
-- again."""
-- cost = "Other rounding; more memory, where what is written in its place is not fused."
-- unless = "The operator is needed as it is, and nothing simpler gives the same."
-- needs = ["compiled_code"]
-- [fix]
-- pytorch = """an operator that Inductor makes code for, where it gives the same (amax in place of a sort of which the
-- end alone is read); or a kernel in Triton (torch.library.triton_op)"""
-- any = "operators that the compiler has code for"
-- [params]
-- eager_step_pct = { type = "DOUBLE", default = 2, doc = "found above this share of the step, in percent" }
WITH mixed AS (
    -- What lies there beside graphs, or between other regions, runs outside of any graph.
    SELECT DISTINCT parent_id FROM raw.ops WHERE parent_id IS NOT NULL
        AND regexp_matches(name, '^CompiledFunction|CompiledFxGraph|^Torch-Compiled Region: ')
), called AS (
    SELECT o.id, o.name, o.rank, o.pid, o.tid, o.start_ns, o.start_ns + o.dur_ns AS end_ns, o.layer
    FROM raw.ops o JOIN raw.ops p ON p.id = o.parent_id
    WHERE (regexp_matches(p.name, '^CompiledFunction|CompiledFxGraph')
            OR starts_with(p.name, 'Torch-Compiled Region: ') AND p.id NOT IN (FROM mixed))
        -- Another library's operator is there on purpose; inputs of a replayed graph are copied to where it reads them.
        AND starts_with(o.name, 'aten::') AND NOT contains(o.name, 'copy')
), work AS (
    SELECT c.rank, c.id, c.category, c.mean_ns / c.per AS own_ns, c.per, c.step_ns, o.pid, o.tid, o.start_ns AS at_ns
    FROM counted c JOIN raw.ops o ON o.id = c.op_id
), floor AS (
    SELECT op_id, sum(least(own_ns, 1e9 * bytes / per / memory_bytes_per_s)) AS floor_ns FROM op_floors
    WHERE op_id IN (SELECT id FROM called) AND bytes * memory_bytes_per_s IS NOT NULL GROUP BY op_id
), call AS (
    SELECT c.rank, c.id, c.name, any_value(c.layer) AS layer, sum(w.own_ns) AS own_ns,
        max(1 / w.per) AS calls, any_value(w.step_ns) AS step_ns, any_value(f.floor_ns) AS floor_ns,
        bool_or(w.category IN ('gemm', 'conv', 'attention', 'communication', 'rnn')) AS is_library
    FROM work w ASOF JOIN called c ON c.rank = w.rank AND c.pid IS NOT DISTINCT FROM w.pid
        AND c.tid IS NOT DISTINCT FROM w.tid AND w.at_ns >= c.start_ns
    LEFT JOIN floor f ON f.op_id = c.id
    WHERE w.at_ns < c.end_ns GROUP BY c.rank, c.id, c.name
), kinds AS (
    SELECT rank, name, sum(calls) AS calls, sum(own_ns) AS own_ns,
        sum(own_ns - least(coalesce(floor_ns, 0), own_ns)) AS lost_ns,
        bool_and(floor_ns IS NOT NULL) AS has_floor, any_value(step_ns) AS step_ns
    FROM call WHERE NOT is_library GROUP BY rank, name
)
SELECT rank,
    format('Compiled code calls operators that it has no code for {:.1f} times, {:.3f} ms in all.', sum(calls),
        sum(own_ns) / 1e6) AS problem,
    'Mostly ' || arg_max(name, lost_ns) AS place, sum(lost_ns) AS saving_ns,
    'low: that they are called is recorded; whether other operators give the same, and how fast these are, is not'
        AS confidence,
    list(format('{}: {:.1f} calls, {:.3f} ms{}', name, calls, own_ns / 1e6, if(has_floor, format(', {:.3f} ms at least',
        (own_ns - lost_ns) / 1e6), '')) ORDER BY lost_ns DESC, name)[:10] AS evidence
FROM kinds GROUP BY rank
HAVING 100.0 * sum(lost_ns) > $eager_step_pct * any_value(step_ns)
ORDER BY rank
