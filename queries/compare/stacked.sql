-- title = "One step by layer and pass"
-- doc = """One bar for each run: its layers forward, then backward, then what is of neither, in the order of their
-- first use. Layers whose names begin alike (conv2/filter and conv2/relu, inception3a.one and inception3a.five) are
-- one, by as few parts of the names as make four groups of a run; of many groups those that take the most stand
-- alone."""
-- cannot = "No run names its layers."
-- leave_out = ["position"]
-- [chart]
-- kind = "bars"
-- label = "run"
-- parts = ["busy_ns"]
-- segment = ["layer", "pass"]
-- [columns]
-- run = "run"
-- pass = "forward, backward, or other; both where a log does not tell"
-- position = "place of the layer, in the order of first use"
-- layer = "as the run names it"
-- busy_ns = "per step and rank, overlaps counted once"
-- share_pct = "of all device time of the run"
-- [headings]
-- share_pct = "of device time"
WITH deep AS (
    SELECT run, string_split_regex(layer, '[/.]') AS parts, unnest(range(1, 5)) AS depth FROM layer
), split AS (
    SELECT run, depth, count(DISTINCT parts[1:depth]) AS n FROM deep GROUP BY ALL
), chosen AS (
    SELECT run, coalesce(min(depth) FILTER (n >= 4), max(depth)) AS depth FROM split GROUP BY run
), grouped AS (
    SELECT run, array_to_string(string_split_regex(layer, '[/.]')[1:depth], '/') AS layer, min(position) AS position,
        sum(forward_ns) AS forward_ns, sum(backward_ns) AS backward_ns, sum(total_ns) AS total_ns
    FROM layer JOIN chosen USING (run) GROUP BY run, 2
), timed AS (
    SELECT run, layer, position, total_ns, unnest([
        {pass: 'forward', busy_ns: forward_ns}, {pass: 'backward', busy_ns: backward_ns},
        {pass: if(is_log, 'both', 'other'), busy_ns: total_ns - forward_ns - backward_ns}]) AS part
    FROM grouped JOIN run USING (run)
    -- Several implementations of the same layers do not add up.
    WHERE run IN (SELECT run FROM cell)
), placed AS (
    SELECT *, dense_rank() OVER (PARTITION BY run ORDER BY total_ns DESC, layer) <= 12 AS is_alone FROM timed
), stacked AS (
    SELECT run, part.pass, if(is_alone, position, NULL) AS position, if(is_alone, layer, '(other layers)') AS layer,
        sum(part.busy_ns) AS busy_ns
    FROM placed GROUP BY ALL
    UNION ALL
    SELECT run, 'other', NULL, '(no layer)', sum(c.busy_ns) - (SELECT sum(l.total_ns) FROM layer l WHERE l.run = c.run)
    FROM cell c WHERE run IN (SELECT run FROM layer) GROUP BY run
)
SELECT chr(CAST(65 + run AS INTEGER)) AS run, pass, position, layer, busy_ns,
    100.0 * busy_ns / nullif(sum(busy_ns) OVER (PARTITION BY run), 0) AS share_pct
FROM stacked
-- Less than a nanosecond is what rounding leaves.
WHERE busy_ns >= 1
ORDER BY run, list_position(['forward', 'backward', 'both', 'other'], pass), position NULLS LAST, layer
