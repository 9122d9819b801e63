-- title = "Attention"
-- doc = """Which implementation of attention ran: the back-end that scaled_dot_product_attention chose (flash,
-- mem_efficient, cudnn, math), a library's kernel, or products and softmax that the program writes out itself. Where
-- the math one ran, what was given to it is said, as recorded: a mask, the type, the head size, dropout."""
-- cannot = "No attention whose operators and sizes are recorded."
-- leave_out = ["direction", "modules"]
-- [columns]
-- backend = "what ran"
-- op_name = "operator; of attention in parts that of its products"
-- module = "where, numbers of its name left out"
-- modules = "modules of that name"
-- direction = "forward or backward"
-- calls = "per step and rank, without steps in the recording"
-- busy_ns = "time on the device of these"
-- busy_pct = "of all work on the devices that counts"
-- given = "of the math path and of attention in parts: what was given, as recorded"
-- [headings]
-- busy_pct = "of busy time"
-- [fractions]
-- calls = "calls{/step|}"
WITH math AS (
    SELECT rank, pid, tid, start_ns, start_ns + dur_ns AS end_ns, shapes, inputs FROM raw.ops
    WHERE name = 'aten::_scaled_dot_product_attention_math'
), instance AS (
    SELECT rank, softmax_id, is_backward, any_value(module) AS module, any_value(per) AS per, sum(own_ns) AS own_ns,
        any_value(dtype) FILTER (part = 'product') AS dtype, max(d) AS d, bool_or(is_masked) AS is_masked,
        any_value(op_name) FILTER (part = 'product') AS op_name,
        arg_min({pid: pid, tid: tid, start_ns: start_ns}, start_ns) FILTER (part = 'product') AS first
    FROM unfused_attention GROUP BY rank, softmax_id, is_backward
), parted AS (
    SELECT i.rank, i.op_name, i.module, if(i.is_backward, 'backward', 'forward') AS direction, i.per, i.own_ns,
        m.rank IS NOT NULL AND i.first.start_ns < m.end_ns AS is_math,
        if(is_math, 'math', 'in parts: products and softmax') AS backend,
        format('mask {}, {}, head size {}', if(if(is_math, coalesce(m.shapes->>'$[3]', '[]') <> '[]', i.is_masked),
            'given', 'none'), coalesce(i.dtype, 'type not known'), i.d)
            || if(is_math, ', dropout ' || coalesce(nullif(m.inputs->>'$[4]', ''), 'not recorded'), '') AS given
    FROM instance i ASOF LEFT JOIN math m ON m.rank = i.rank AND m.pid IS NOT DISTINCT FROM i.first.pid
        AND m.tid IS NOT DISTINCT FROM i.first.tid AND i.first.start_ns >= m.start_ns
), fused AS (
    SELECT rank, op_name, module, coalesce(direction, 'forward') AS direction, per, own_ns,
        CASE WHEN regexp_matches(op_name, '(?i)flash_?attn|flash_attention') THEN 'flash'
            WHEN contains(op_name, 'efficient_attention') THEN 'mem_efficient'
            WHEN contains(op_name, 'cudnn_attention') THEN 'cudnn' ELSE 'another kernel' END AS backend,
        CAST(NULL AS VARCHAR) AS given
    FROM op_floors WHERE family = 'attention'
), ran AS (
    FROM (SELECT * EXCLUDE (is_math) FROM parted UNION ALL BY NAME FROM fused)
), busy_time AS (
    SELECT sum(mean_ns / per) AS all_ns FROM counted WHERE kind <> 'op'
)
SELECT backend, op_name, alike(coalesce(module, '(no module)')) AS module, count(DISTINCT module) AS modules, direction,
    sum(1.0 / per) AS calls, sum(own_ns) AS busy_ns, 100.0 * sum(own_ns) / (SELECT nullif(all_ns, 0) FROM busy_time)
        AS busy_pct, given
FROM ran
GROUP BY backend, op_name, alike(coalesce(module, '(no module)')), direction, given
ORDER BY busy_ns DESC, backend, op_name, module, direction, given
