-- title = "The plan, pass by pass"
-- doc = """The fastest way of each pass that fits under the cap. Memory that nobody knows is not taken to fit: such a
-- way is chosen under a cap only where nothing known fits, and says so."""
-- cannot = "No timed convolution algorithms to choose from; `traceview study` measures or imports them."
-- leave_out = ["setting", "ways"]
-- [params]
-- network = { type = "VARCHAR", default = "", doc = "a network; empty for all" }
-- images = { type = "BIGINT", default = 0, doc = "a batch; 0 for all" }
-- cap_bytes = { type = "BIGINT", default = -1, doc = "workspace that any pass may use; -1 for no cap" }
-- [columns]
-- network = "network, in lower case"
-- batch = "images"
-- layer = "layer"
-- pass = "fprop, dgrad, wgrad or backward"
-- algorithm = "the choice; of two gradients both, where they differ; (nothing fits) where none is known to fit"
-- implementation = "library and implementation"
-- time_ns = "as measured or published"
-- default_ns = "of what runs where nobody chooses"
-- times_as_fast = "the default over the choice"
-- workspace_bytes = "as measured or published, else by model, of the whole batch at once; NULL where unknown"
-- ways = "timed ways to compute this pass"
-- setting = "device, threads and type"
-- [headings]
-- default_ns = "default"
-- times_as_fast = "times as fast"
WITH option AS (
    SELECT *, coalesce(setting, '') AS held_by, if($cap_bytes < 0, is_fastest,
        coalesce(from_bytes <= $cap_bytes AND coalesce($cap_bytes < below_bytes, true), false)) AS is_chosen
    FROM plan_options
    WHERE ($network = '' OR network = lower($network)) AND ($images = 0 OR batch = $images)
), chosen AS (
    SELECT held_by, network, batch, layer, pass, min(position) AS position, any_value(ways) AS ways,
        any_value((contender, ran, time_ns, memory_bytes)) FILTER (is_chosen) AS choice,
        min(time_ns) FILTER (is_default) AS default_ns
    FROM option GROUP BY held_by, network, batch, layer, pass
), judged AS (
    SELECT *, max(ways) OVER whole AS most_ways FROM chosen
    WINDOW whole AS (PARTITION BY held_by, network, batch)
)
SELECT network, batch, layer, pass,
    coalesce(choice[1], '(nothing fits)') || if($cap_bytes >= 0 AND choice[3] > 0 AND choice[4] IS NULL,
        ' (memory unknown)', '') AS algorithm,
    choice[2] AS implementation, choice[3] AS time_ns, default_ns, default_ns / choice[3] AS times_as_fast,
    choice[4] AS workspace_bytes, ways, held_by AS setting
FROM judged
-- With one way to compute everything there is nothing to choose.
WHERE most_ways > 1
ORDER BY network, held_by, batch, position, layer,
    list_position(['fprop', 'dgrad', 'wgrad', 'backward'], pass)
