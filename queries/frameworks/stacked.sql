-- title = "One step by layer and pass"
-- doc = """One bar for each framework: its layers forward, then backward, then what is of neither. From one recording
-- of each with the profiler on, or from a table of published times of layers; bars of different sources are not to be
-- held against each other. Published times of whole training steps, which hold both passes, have a bar of their own.
-- Layers whose names begin alike (conv2/filter and conv2/relu, inception3a.one and inception3a.five) are one, by as few
-- parts of the names as make four groups of a framework; of many groups those that take the most stand alone."""
-- cannot = "No times of layers: traceview study frameworks records them after its times, study import reads tables."
-- leave_out = ["position"]
-- [chart]
-- kind = "bars"
-- label = "what"
-- group = "framework"
-- parts = ["busy_ns"]
-- segment = ["layer", "pass"]
-- [params]
-- most = { type = "BIGINT", default = 12, doc = "groups of layers that stand alone" }
-- [columns]
-- what = "model, conditions, and device and publication of an imported time; whether of whole training steps"
-- framework = "as --frameworks names it; with the version of an imported time"
-- pass = "forward, backward, or other; both of whole steps, or where the source does not tell"
-- position = "place of the layer, by its name"
-- layer = "as the framework names it"
-- busy_ns = "per step, overlaps counted once"
WITH told AS (
    SELECT concat_ws(', ', model, 'batch ' || batch, threads || if(threads = 1, ' thread', ' threads'), layout,
        device, source, if(source IS NOT NULL AND mode = 'train', 'whole training steps', NULL)) AS what,
        concat_ws(' ', framework, version) AS framework, coalesce(layer, '(no layer)') AS layer,
        coalesce(pass, if(mode IN ('forward', 'backward'), mode, 'both')) AS pass, sum(busy_ns) AS busy_ns
    FROM raw.framework_parts WHERE form IS NULL AND busy_ns > 0 AND (source IS NULL OR layer IS NOT NULL)
    GROUP BY ALL
), deep AS (
    SELECT what, framework, string_split_regex(layer, '[/.]') AS parts, unnest(range(1, 5)) AS depth FROM told
), split AS (
    SELECT what, framework, depth, count(DISTINCT parts[1:depth]) AS n FROM deep GROUP BY ALL
), chosen AS (
    SELECT what, framework, coalesce(min(depth) FILTER (n >= 4), max(depth)) AS depth FROM split GROUP BY ALL
), timed AS (
    SELECT what, framework, array_to_string(string_split_regex(layer, '[/.]')[1:depth], '/') AS layer, pass,
        sum(busy_ns) AS busy_ns
    FROM told JOIN chosen USING (what, framework) GROUP BY what, framework, 3, pass
), sized AS (
    SELECT what, layer, max(whole_ns) AS whole_ns FROM (
        SELECT what, framework, layer, sum(busy_ns) AS whole_ns FROM timed GROUP BY ALL)
    GROUP BY ALL
), placed AS (
    SELECT what, layer, row_number() OVER (PARTITION BY what ORDER BY whole_ns DESC, layer) <= $most
        OR layer = '(no layer)' AS is_alone
    FROM sized
), named AS (
    SELECT t.what, framework, pass, if(is_alone, layer, '(other layers)') AS layer, sum(busy_ns) AS busy_ns
    FROM timed t JOIN placed USING (what, layer) GROUP BY ALL
)
SELECT what, framework, pass,
    dense_rank() OVER (PARTITION BY what ORDER BY starts_with(layer, '('), layer) AS position, layer, busy_ns
FROM named
ORDER BY what, sum(busy_ns) OVER (PARTITION BY what, framework), framework,
    list_position(['forward', 'backward', 'both', 'other'], pass), position
