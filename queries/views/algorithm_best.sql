-- doc = """The fastest implementation of each algorithm for each timed problem, with its place among the algorithms
-- that were timed there. Times are compared within one setting (device, threads, type) only."""
-- [columns]
-- label = "network and layer; the shortest where a problem has several names"
-- contender = "the algorithm; where it is not known, the library in brackets"
-- time_ns = "of the fastest implementation"
-- implementations = "timed implementations of this algorithm"
-- place = "1 is the fastest; NULL where too few runs differ too much to rank them"
-- is_ahead = "whether it is the fastest of several, and its interval reaches that of no other that is ranked"
-- doubt = "what speaks against the time: other programs at work, few runs that differ"
-- algorithms = "algorithms timed for this problem and direction"
-- best_ns = "time of the fastest of them that is ranked"
-- ratio = "time over that of the fastest"
WITH timed AS (
    SELECT *, concat_ws(' ', backend, implementation) AS ran
    FROM algorithm_times WHERE is_timed
), labelled AS (
    SELECT setting, problem, min_by(label, (len(label), label)) AS label, min_by(shape, (len(shape), shape)) AS shape
    FROM timed GROUP BY setting, problem
), fastest AS (
    SELECT setting, problem, batch, direction, contender, any_value(pass) AS pass,
        min_by(time_ns, (is_wide, time_ns)) AS time_ns, bool_and(is_wide) AS is_wide,
        count(DISTINCT ran) AS implementations,
        min_by((ran, backend, wall_low_ns, wall_high_ns, workspace_bytes, model_workspace_bytes, model_flop, flop,
            error, status, method, n, doubt), (is_wide, time_ns, ran, number)) AS fast
    FROM timed GROUP BY setting, problem, batch, direction, contender
), summed AS (
    -- Where somebody gives one time for both gradients, the sum of the two stands beside it.
    SELECT setting, problem, batch, 'backward' AS direction, contender, 'backward' AS pass,
        CAST(sum(time_ns) AS BIGINT) AS time_ns, bool_or(is_wide) AS is_wide,
        if(count(fast[3]) > 0, CAST(sum(coalesce(fast[3], time_ns)) AS BIGINT), NULL) AS low_ns,
        if(count(fast[4]) > 0, CAST(sum(coalesce(fast[4], time_ns)) AS BIGINT), NULL) AS high_ns,
        max(implementations) AS implementations,
        min_by(fast, direction) AS fast, max(fast[5]) AS workspace_bytes, sum(fast[7]) AS model_flop,
        CAST(sum(fast[8]) AS BIGINT) AS flop
    FROM fastest WHERE direction IN ('dgrad', 'wgrad') GROUP BY setting, problem, batch, contender HAVING count(*) = 2
), raced AS (
    SELECT *, fast[3] AS low_ns, fast[4] AS high_ns, fast[5] AS workspace_bytes, fast[7] AS model_flop,
        fast[8] AS flop
    FROM fastest
    UNION ALL BY NAME
    SELECT b.* FROM summed b SEMI JOIN (FROM fastest WHERE direction = 'backward') f
        ON f.setting IS NOT DISTINCT FROM b.setting AND f.problem = b.problem AND f.batch IS NOT DISTINCT FROM b.batch
    ANTI JOIN (FROM fastest WHERE direction = 'backward') o
        ON o.setting IS NOT DISTINCT FROM b.setting AND o.problem = b.problem AND o.batch IS NOT DISTINCT FROM b.batch
            AND o.contender = b.contender
)
SELECT f.setting, f.problem, l.label, l.shape, f.batch, f.direction, f.pass, f.contender, f.time_ns, f.implementations,
    f.fast[1] AS implementation, f.fast[2] AS backend, f.low_ns, f.high_ns, f.workspace_bytes,
    f.fast[6] AS model_workspace_bytes, f.model_flop, f.flop, f.fast[9] AS error, f.fast[10] AS status,
    f.fast[11] AS method, f.fast[12] AS n,
    if(f.is_wide, NULL, row_number() OVER ranked) AS place,
    count(*) OVER problem AS algorithms, min(if(f.is_wide, NULL, f.time_ns)) OVER problem AS best_ns,
    f.time_ns / best_ns AS ratio, f.fast[13] AS doubt,
    coalesce(place = 1, false) AND algorithms >= 2 AND coalesce(coalesce(f.high_ns, f.time_ns)
        < min(coalesce(f.low_ns, f.time_ns)) FILTER (NOT f.is_wide) OVER (ranked
        ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING), true) AS is_ahead
FROM raced f JOIN labelled l ON l.setting IS NOT DISTINCT FROM f.setting AND l.problem = f.problem
WINDOW problem AS (PARTITION BY f.setting, f.problem, f.batch, f.direction),
    ranked AS (problem ORDER BY f.is_wide, f.time_ns, f.contender)
