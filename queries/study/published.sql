-- title = "Published beside measured"
-- doc = """Problems that were both measured here and published, whatever the batch. Devices differ, so what may be
-- compared is the place of each algorithm, its time over that of the fastest there, and the rate."""
-- cannot = "No problem of this capture is both measured and published; `traceview study import` adds published times."
-- leave_out = ["image_ns", "implementation", "effective_flop_per_s"]
-- [columns]
-- label = "network and layer"
-- direction = "fprop, dgrad or wgrad"
-- algorithm = "see docs/vocabulary.md"
-- status = "measured or published"
-- setting = "device, threads and type"
-- batch = "images"
-- time_ns = "of the fastest implementation"
-- image_ns = "time per image"
-- place = "among the algorithms timed there, with this batch"
-- ratio = "time over that of the fastest of them"
-- effective_flop_per_s = "FLOPs of the direct method over time"
-- implementation = "library and implementation"
WITH shared AS (
    SELECT problem, direction FROM algorithm_best GROUP BY problem, direction
    HAVING bool_or(status = 'measured') AND bool_or(status = 'published')
)
SELECT b.label, b.direction, b.contender AS algorithm, b.status, b.setting, b.batch, b.time_ns,
    b.time_ns / b.batch AS image_ns, b.place, b.ratio, 1e9 * b.flop / b.time_ns AS effective_flop_per_s,
        b.implementation
FROM algorithm_best b JOIN shared USING (problem, direction)
ORDER BY b.problem, list_position(['fprop', 'dgrad', 'wgrad', 'backward'], b.direction), b.contender, b.status,
    b.setting,
    b.batch
