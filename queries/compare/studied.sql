-- title = "Convolution algorithms that were measured"
-- doc = """Passes that both studies (`traceview study`) timed, of the same shape and with the same algorithm, by the
-- fastest implementation in each and by the times that each study compares itself. Where no setting is the same on
-- both sides, devices or threads differ."""
-- cannot = "There are no two runs in which the same pass of a convolution was measured with the same algorithm."
-- leave_out = ["setting", "base_setting", "base_implementation", "implementation"]
-- [columns]
-- run = "run"
-- shape = "channels x height x width, filters, filter size, stride, padding, dilation, groups"
-- batch = "images"
-- direction = "fprop, dgrad, wgrad; backward for both gradients"
-- algorithm = "see docs/vocabulary.md"
-- base_ns = "time of A"
-- total_ns = "time of the run"
-- ratio = "the run's over A's"
-- fastest = """in which of the two no other algorithm that both timed is faster: both, A, the run's letter, or neither;
-- never of fewer than six times that lie far apart"""
-- others_pct = """largest share of the cores that other programs took: from 10 on processor times are compared where
-- one thread computed, and others tell of those programs too"""
-- base_implementation = "library and implementation of A"
-- implementation = "library and implementation of the run"
-- base_setting = "device, threads and type of A"
-- setting = "device, threads and type of the run"
-- [headings]
-- others_pct = "others, of the cores"
WITH met AS (
    SELECT p.run, p.label, t.shape, t.batch, t.direction, t.algorithm, b.time_ns AS base_ns, t.time_ns AS total_ns,
        b.is_wide AS is_base_wide, t.is_wide, b.implementation AS base_implementation, t.implementation,
        b.setting AS base_setting, t.setting, greatest(b.others_pct, t.others_pct) AS others_pct
    FROM pair p JOIN timed_pass t ON t.run = p.run JOIN timed_pass b ON b.run = 0 AND b.shape = t.shape
        AND b.batch = t.batch AND b.direction = t.direction AND b.algorithm = t.algorithm
    QUALIFY b.setting = t.setting OR NOT bool_or(b.setting = t.setting) OVER (PARTITION BY p.run)
), placed AS (
    SELECT *, NOT is_base_wide AND base_ns = min(base_ns) FILTER (NOT is_base_wide) OVER problem AS is_base_best,
        NOT is_wide AND total_ns = min(total_ns) FILTER (NOT is_wide) OVER problem AS is_best
    FROM met WINDOW problem AS (PARTITION BY run, shape, batch, direction, base_setting, setting)
)
SELECT label AS run, shape, batch, direction, algorithm, base_ns, total_ns, total_ns / base_ns AS ratio,
    CASE WHEN is_base_best AND is_best THEN 'both' WHEN is_base_best THEN 'A' WHEN is_best THEN label ELSE 'neither' END
        AS fastest, others_pct,
    base_implementation, implementation, base_setting, setting
FROM placed
ORDER BY placed.run, base_setting, setting, shape, batch,
    list_position(['fprop', 'dgrad', 'wgrad', 'backward'], direction), total_ns, algorithm
