-- title = "Elementwise operators one after the other"
-- doc = """Chains of operators that a single kernel could do (arithmetic on each element, norms, reductions,
-- conversions) over one tensor: residual and norm, rotary embeddings, bias and activation. Each reads the tensor and
-- writes it; fused, it stays in registers in between. The bound is their time, less what overlaps earlier work on the
-- device, less the least that one kernel takes for each chain: to read a tensor of that size once and to write it
-- once, in the narrowest type of the chain, at the memory's bandwidth, and no less than the shortest kernel of all (of
-- 2 us at most). Where the bandwidth is not known it is the shortest call of the chain that goes over the whole
-- tensor. A chain that is the same operators several times (queries and keys) counts as that many. Launches that go
-- too are not part of the bound: what the device waits for them is in `host_bound`."""
-- why = """Such operators compute little: each takes as long as its tensor takes to go through the memory. One kernel
-- for all of them moves it once."""
-- cost = "Compiling takes from seconds to minutes, and again for new shapes; results differ in the last bits."
-- unless = """Shapes change in every step, or another rule's change (fused attention, a fused norm) takes the chain
-- away."""
-- needs = ["operator_sizes", "linked_work"]
-- sees = "elementwise"
-- removes = "unfused_chains"
-- [fix]
-- pytorch = """torch.compile(model), or of its blocks; or one operator where there is one:
-- torch.nn.functional.rms_norm, layer_norm or gelu in place of the formula, and fused kernels of libraries for norms,
-- rotary embeddings and losses"""
-- tensorflow = "tf.function(jit_compile=True)"
-- keras = "model.compile(..., jit_compile=True)"
-- jax = "jax.jit around all of the step"
-- any = "a compiler that fuses elementwise operators, or one operator for each chain"
-- [params]
-- chains_step_pct = { type = "DOUBLE", default = 3, doc = "found above this share of the step, in percent" }
-- full_part = { type = "DOUBLE", default = 0.5, doc = """part of the elements of a chain's largest tensor from which
-- an operator goes over the whole tensor""" }
WITH chain AS (
    SELECT rank, chain_id, any_value(direction) AS direction, arg_min(module, place) AS module, any_value(per) AS per,
        any_value(step_ns) AS step_ns, sum(own_ns) AS own_ns, any_value(largest) AS elements,
        -- Sorted when gathered: to gather in order takes more memory for each chain.
        list_transform(list_sort(list({'place': place, 'op': regexp_replace(op_name, '^\w+::', '')})),
            lambda x: x.op) AS ops,
        min(CASE WHEN dtype IN ('fp16', 'bf16') THEN 2 WHEN dtype IN ('fp32', 'tf32') OR dtype IS NULL THEN 4
            WHEN dtype IN ('fp64', 'int64') THEN 8 ELSE 1 END) * any_value(largest)
            * if(arg_max(family, place) = 'reduction', 1, 2) AS bytes,
        max(memory_bytes_per_s) AS memory_bytes_per_s,
        min(own_ns) FILTER (elements >= $full_part * largest) AS whole_ns
    FROM unfused_chains GROUP BY rank, chain_id
), shortest AS (
    SELECT rank, min(least_ns) AS least_ns FROM op_floors GROUP BY rank
), repeated AS (
    -- How often the same operators come again.
    SELECT *, coalesce(list_max(list_filter(range(2, len(ops) // 2 + 1), lambda n: len(ops) % n = 0
            AND list_bool_and(list_transform(range(1, len(ops) + 1), lambda i:
                ops[i] = ops[(i - 1) % (len(ops) // n) + 1])))), 1) AS times
    FROM chain
), bounded AS (
    SELECT r.*, greatest(own_ns - times * greatest(coalesce(1e9 * bytes / memory_bytes_per_s / per, whole_ns),
            least(s.least_ns, 2000) / per), 0) AS lost_ns,
        alike(coalesce(module, '(no module)')) AS place, if(times > 1, format('{} x ({})', times,
            array_to_string(ops[1:len(ops) // times], ', ')), array_to_string(ops, ', ')) AS said
    FROM repeated r JOIN shortest s ON s.rank = r.rank
), kinds AS (
    SELECT rank, place, said, direction, count(DISTINCT module) AS n_modules, sum(1 / per) AS chains,
        sum(own_ns) AS own_ns, sum(lost_ns) AS lost_ns, any_value(step_ns) AS step_ns, max(elements) AS elements,
        bool_and(memory_bytes_per_s IS NOT NULL) AS is_rated
    FROM bounded GROUP BY rank, place, said, direction
), ordered AS (
    SELECT *, row_number() OVER (PARTITION BY rank ORDER BY lost_ns DESC, place, said, direction) AS number FROM kinds
)
SELECT rank,
    format('{:.1f} chains of elementwise operators take {:.3f} ms; one kernel for each has to take {:.3f} ms.',
        sum(chains), sum(own_ns) / 1e6, (sum(own_ns) - sum(lost_ns)) / 1e6) AS problem,
    format('Mostly {} in {}{}', arg_max(said, lost_ns),
        if(arg_max(n_modules, lost_ns) > 1, arg_max(n_modules, lost_ns) || ' modules ', ''), arg_max(place, lost_ns))
        AS place,
    sum(lost_ns) AS saving_ns,
    if(bool_and(is_rated), 'medium: the order and the sizes of the operators are recorded, not which tensor each uses; '
        || 'no kernel reaches the bandwidth that the bound rests on', 'low: without the bandwidth of the memory the '
        || 'bound is what the slower operators of a chain take, and which tensor each uses is not recorded')
        AS confidence,
    list(format('{}{}{}: {}: {:.1f} times, {:.3f} ms, fused at least {:.3f} ms', place,
        if(n_modules > 1, format(' ({} modules)', n_modules), ''), if(direction = 'backward', ' backward', ''), said,
        chains, own_ns / 1e6, (own_ns - lost_ns) / 1e6) ORDER BY number) FILTER (number <= 8)
        || if(max(number) > 8, [format('{} smaller kinds of chains: {:.3f} ms, fused at least {:.3f} ms',
            max(number) - 8, sum(own_ns) FILTER (number > 8) / 1e6, sum(own_ns - lost_ns) FILTER (number > 8) / 1e6)],
            []) AS evidence
FROM ordered GROUP BY rank
HAVING 100.0 * sum(lost_ns) > $chains_step_pct * any_value(step_ns)
ORDER BY rank
