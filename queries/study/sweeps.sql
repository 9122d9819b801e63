-- title = "One parameter, all others equal"
-- doc = """Timed problems that differ in one parameter alone (padding aside, which keeps sizes equal): how time
-- follows it. `--set parameter=filter` shows one of batch, channels, image, filters, filter, stride."""
-- cannot = "No timed problems that differ in one parameter alone."
-- leave_out = ["setting", "effective_flop_per_s", "time_ratio"]
-- [chart]
-- kind = "curves"
-- panel = ["parameter", "others", "direction"]
-- x = "value"
-- y = "time_ns"
-- line = "algorithm"
-- [params]
-- parameter = { type = "VARCHAR", doc = "only this one: batch, channels, image, filters, filter or stride" }
-- [columns]
-- parameter = "what varies: batch, channels, image (its side), filters, filter (its side), stride"
-- others = "what does not"
-- direction = "fprop, dgrad or wgrad; backward where both gradients are one time"
-- algorithm = "see docs/vocabulary.md"
-- value = "of the parameter"
-- time_ns = "of the fastest implementation"
-- time_ratio = "over the time at the smallest value"
-- effective_flop_per_s = "FLOPs of the direct method over time"
-- doubt = "other programs at work (processor time where one thread computed), few runs that differ"
-- setting = "device, threads and type"
WITH sized AS (
    SELECT DISTINCT b.setting, b.batch, b.direction, b.contender AS algorithm, b.time_ns, b.doubt, b.flop, b.problem,
        t.in_channels, t.out_channels, t.out_height, t.out_width, t.filter_height, t.filter_width, t.stride_h,
            t.stride_w,
        t.dilation_h, t.groups
    FROM algorithm_best b JOIN algorithm_times t ON t.problem = b.problem AND t.batch IS NOT DISTINCT FROM b.batch
), said AS (
    SELECT *, [
        {'name': 'batch', 'value': batch, 'said': concat('batch ', batch)},
        {'name': 'channels', 'value': in_channels, 'said': concat(in_channels, ' channels')},
        {'name': 'image', 'value': out_height, 'said': concat('to ', out_height, 'x', out_width)},
        {'name': 'filters', 'value': out_channels, 'said': concat('k', out_channels)},
        {'name': 'filter', 'value': filter_height, 'said': concat(filter_height, 'x', filter_width)},
        {'name': 'stride', 'value': stride_h, 'said': concat('s', stride_h, if(stride_w <> stride_h, 'x' || stride_w,
            ''),
            if(dilation_h > 1, ' d' || dilation_h, ''), if(groups > 1, ' g' || groups, ''))}
    ] AS parts
    FROM sized
), one AS (
    SELECT setting, direction, algorithm, time_ns, doubt, flop, parts, unnest(parts) AS part FROM said
), held AS (
    SELECT * EXCLUDE (parts, part), part.name AS parameter, part.value AS value,
        array_to_string(list_transform(list_filter(parts, lambda p: p.name <> part.name), lambda p: p.said), ', ')
            AS others
    FROM one
), varied AS (
    SELECT setting, direction, algorithm, parameter, others, value, min(time_ns) AS time_ns, any_value(flop) AS flop,
        min_by(doubt, time_ns) AS doubt
    FROM held GROUP BY ALL
)
SELECT parameter, others, direction, algorithm, value, time_ns,
    time_ns / first_value(time_ns) OVER (PARTITION BY setting, direction, algorithm, parameter, others ORDER BY value)
        AS time_ratio,
    1e9 * flop / time_ns AS effective_flop_per_s, doubt, setting
FROM varied
WHERE coalesce(parameter = $parameter, true)
QUALIFY count(*) OVER (PARTITION BY setting, direction, algorithm, parameter, others) >= 2
ORDER BY list_position(['batch', 'channels', 'image', 'filters', 'filter', 'stride'], parameter), setting, others,
    list_position(['fprop', 'dgrad', 'wgrad', 'backward'], direction), algorithm, value
