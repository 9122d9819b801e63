-- doc = """Every timed way to compute each pass of each layer of a network, from any measured or published times, and
-- when a plan takes it. A layer has the times of every row of its shape, batch and setting, whoever gave them. Where
-- somebody gives one time for both gradients, `backward` is one pass, and the two gradients of one library or of two
-- are a way to compute it."""
-- [columns]
-- setting = "what has to be equal where times are compared: device, threads, type"
-- network = "network, in lower case"
-- layer = "layer, as its most detailed source names it"
-- position = "place of the layer in that source"
-- pass = "fprop, dgrad, wgrad or backward"
-- contender = "the algorithm; where it is not known, the library in brackets; of two gradients both, where they differ"
-- ran = "library and implementation"
-- memory_bytes = "workspace as measured or published, else by model, of the whole batch at once; NULL where unknown"
-- is_default = "whether it is what runs if nobody chooses: PyTorch's own, or the choice of a library's heuristic"
-- is_fastest = "whether a plan without a memory cap takes it"
-- from_bytes = "the least cap under which a plan takes it; NULL where it takes it under none"
-- below_bytes = "the cap from which on it takes another; NULL where it never does"
-- ways = "ways to compute this pass that were timed"
WITH timed AS (
    SELECT setting, lower(coalesce(model, '')) AS network, coalesce(layer, label) AS layer, coalesce(source, '')
            AS source,
        number, problem, batch, direction, contender, concat_ws(' ', backend, implementation) AS ran, time_ns,
        coalesce(workspace_bytes, model_workspace_bytes) AS memory_bytes,
        backend = 'torch' AND layout_in = 'nchw' OR coalesce(implementation ILIKE '%heuristic%', false) AS is_default
    FROM algorithm_times WHERE is_timed
), named AS (
    SELECT setting, network, batch, problem, source, layer, min(number) AS position,
        count(*) OVER (PARTITION BY setting, network, batch, problem, source) AS n
    FROM timed GROUP BY setting, network, batch, problem, source, layer
), place AS (
    -- Sources name a layer in different words; the one that tells most layers of a shape apart counts.
    SELECT n.* FROM named n SEMI JOIN (
        SELECT setting, network, batch, problem, arg_min(source, (-n, len(layer), source)) AS source
        FROM named GROUP BY setting, network, batch, problem
    ) s ON s.setting IS NOT DISTINCT FROM n.setting AND s.network = n.network
        AND s.batch IS NOT DISTINCT FROM n.batch AND s.problem = n.problem AND s.source = n.source
), way AS (
    SELECT setting, batch, problem, direction, contender, ran,
        min_by((time_ns, memory_bytes), (time_ns, number)) AS best, bool_or(is_default) AS is_default
    FROM timed GROUP BY ALL
), single AS (
    SELECT setting, batch, problem, direction, contender, ran, CAST(best[1] AS BIGINT) AS time_ns,
        best[2] AS memory_bytes, is_default
    FROM way
), edge AS (
    -- Of one direction the ways that no other one beats in time and memory.
    SELECT * FROM single
    WHERE direction IN ('dgrad', 'wgrad')
    QUALIFY time_ns < coalesce(min(time_ns) OVER (PARTITION BY setting, batch, problem, direction
            ORDER BY memory_bytes NULLS LAST, time_ns, ran ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        9223372036854775807) OR row_number() OVER (PARTITION BY setting, batch, problem, direction, contender
            ORDER BY time_ns, ran) = 1
), both_told AS (
    SELECT DISTINCT setting, batch, problem FROM single WHERE direction = 'backward'
), pairs AS (
    SELECT d.setting, d.batch, d.problem, 'backward' AS direction,
        if(d.contender = w.contender, d.contender, d.contender || ' + ' || w.contender) AS contender,
        if(d.ran = w.ran, d.ran, d.ran || ' + ' || w.ran) AS ran, d.time_ns + w.time_ns AS time_ns,
        greatest(d.memory_bytes, w.memory_bytes) + 0 * d.memory_bytes * w.memory_bytes AS memory_bytes,
        d.is_default AND w.is_default AS is_default
    FROM edge d JOIN edge w ON w.setting IS NOT DISTINCT FROM d.setting AND w.batch IS NOT DISTINCT FROM d.batch
        AND w.problem = d.problem AND d.direction = 'dgrad' AND w.direction = 'wgrad'
    SEMI JOIN both_told b ON b.setting IS NOT DISTINCT FROM d.setting AND b.batch IS NOT DISTINCT FROM d.batch
        AND b.problem = d.problem
), every AS (
    SELECT s.* FROM single s ANTI JOIN both_told b ON s.direction IN ('dgrad', 'wgrad')
        AND b.setting IS NOT DISTINCT FROM s.setting AND b.batch IS NOT DISTINCT FROM s.batch AND b.problem = s.problem
    UNION ALL FROM pairs
), known AS (
    -- Under a cap the fastest that fits; the more memory, the faster.
    SELECT *, lead(memory_bytes) OVER (PARTITION BY setting, batch, problem, direction ORDER BY memory_bytes)
        AS below_bytes
    FROM (
        FROM every WHERE memory_bytes IS NOT NULL
        QUALIFY time_ns < coalesce(min(time_ns) OVER (PARTITION BY setting, batch, problem, direction
            ORDER BY memory_bytes, time_ns, ran ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 9223372036854775807)
    )
), unknown AS (
    -- What nobody knows the memory of is taken where nothing that is known fits.
    SELECT * FROM every WHERE memory_bytes IS NULL
    QUALIFY row_number() OVER (PARTITION BY setting, batch, problem, direction ORDER BY time_ns, ran) = 1
), judged AS (
    SELECT e.*, row_number() OVER pass = 1 AS is_fastest, count(*) OVER pass AS ways,
        min(e.memory_bytes) OVER pass AS least_bytes
    FROM every e
    WINDOW pass AS (PARTITION BY e.setting, e.batch, e.problem, e.direction ORDER BY e.time_ns, e.ran
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
)
SELECT p.setting, p.network, p.batch, p.layer, p.position, p.problem, j.direction AS pass, j.contender, j.ran,
    j.time_ns, j.memory_bytes, j.is_default, j.is_fastest,
    CASE WHEN k.ran IS NOT NULL THEN k.memory_bytes WHEN u.ran IS NOT NULL THEN 0 END AS from_bytes,
    CASE WHEN k.ran IS NOT NULL THEN k.below_bytes WHEN u.ran IS NOT NULL THEN j.least_bytes END AS below_bytes,
    j.ways
FROM place p JOIN judged j ON j.setting IS NOT DISTINCT FROM p.setting AND j.batch IS NOT DISTINCT FROM p.batch
    AND j.problem = p.problem
LEFT JOIN known k ON k.setting IS NOT DISTINCT FROM j.setting AND k.batch IS NOT DISTINCT FROM j.batch
    AND k.problem = j.problem AND k.direction = j.direction AND k.contender = j.contender AND k.ran = j.ran
    AND k.memory_bytes = j.memory_bytes
LEFT JOIN unknown u ON u.setting IS NOT DISTINCT FROM j.setting AND u.batch IS NOT DISTINCT FROM j.batch
    AND u.problem = j.problem AND u.direction = j.direction AND u.contender = j.contender AND u.ran = j.ran
    AND j.memory_bytes IS NULL
