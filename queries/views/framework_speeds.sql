-- title = "framework_speeds"
-- doc = """Forward pass, gradient and update of one framework and model under the same conditions. Gradient is the run
-- of loss and gradients less the forward run, update the training run less that of the gradients; their standard
-- deviations are those of both runs added in squares."""
-- [columns]
-- forward_ns = "forward run"
-- gradient_ns = "gradients alone: the run of forward pass and gradients less the forward run"
-- both_ns = "forward pass and gradients, one run"
-- update_ns = "update alone: the training run less that of forward pass and gradients"
-- training_ns = "whole training step"
-- n = "processes of each, the least"
-- busy = "processes in which other programs took a tenth of the cores"
-- differs = "conditions that are not as asked"
WITH one AS (
    SELECT framework, max(version) AS version, max(year) AS year, model, batch, threads, layout, device, is_published,
        source, list_sort(list_distinct(flatten(list(string_split(coalesce(differs, ''), '+'))))) AS differs,
        max(reason) AS reason, min(n) AS n, sum(busy) AS busy,
        max(mean_ns) FILTER (mode = 'forward') AS forward_ns, max(sd_ns) FILTER (mode = 'forward') AS forward_sd_ns,
        max(mean_ns) FILTER (mode = 'gradient') AS both_ns, max(sd_ns) FILTER (mode = 'gradient') AS both_sd_ns,
        max(mean_ns) FILTER (mode = 'train') AS training_ns, max(sd_ns) FILTER (mode = 'train') AS training_sd_ns
    FROM framework_cells
    GROUP BY framework, model, batch, threads, layout, device, is_published, source
)
SELECT * REPLACE (list_filter(differs, lambda name: name <> '') AS differs, CAST(busy AS BIGINT) AS busy),
    both_ns - forward_ns AS gradient_ns, sqrt(both_sd_ns ** 2 + forward_sd_ns ** 2) AS gradient_sd_ns,
    training_ns - both_ns AS update_ns, sqrt(training_sd_ns ** 2 + both_sd_ns ** 2) AS update_sd_ns
FROM one
