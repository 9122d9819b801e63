-- doc = """Forward pass, gradient and update of one framework, version and model under the same conditions. Gradient
-- is the run of loss and gradients less the forward run, update the training run less that of the gradients; their
-- standard deviations are those of both runs added in squares. Where the run of gradients takes longer than a whole
-- training step, by more than twice that deviation (5 % where one process tells none), it does more than a step does,
-- as where a framework hands gradients out: then neither gradient nor update is told. A step that took less than the
-- run of gradients by chance tells no update."""
-- [columns]
-- label = "framework, with its version where several were measured"
-- forward_ns = "forward run"
-- gradient_ns = "gradients alone: the run of forward pass and gradients less the forward run"
-- both_ns = "forward pass and gradients, one run"
-- together_ns = "gradient and update: the training run less the forward run"
-- update_ns = "update alone: the training run less that of forward pass and gradients"
-- training_ns = "whole training step"
-- n = "processes of each, the least"
-- busy = "of these, processes in which other programs took a tenth of the cores, in the run that has most"
-- differs = "conditions that are not as asked"
WITH one AS (
    SELECT framework, version, max(year) AS year, model, batch, threads, layout, device, is_published,
        source, list_sort(list_distinct(flatten(list(string_split(coalesce(differs, ''), '+'))))) AS differs,
        max(reason) AS reason, min(n) AS n, max(busy) AS busy,
        max(mean_ns) FILTER (mode = 'forward') AS forward_ns, max(sd_ns) FILTER (mode = 'forward') AS forward_sd_ns,
        max(mean_ns) FILTER (mode = 'gradient') AS both_ns, max(sd_ns) FILTER (mode = 'gradient') AS both_sd_ns,
        max(mean_ns) FILTER (mode = 'train') AS training_ns, max(sd_ns) FILTER (mode = 'train') AS training_sd_ns
    FROM framework_cells
    GROUP BY framework, version, model, batch, threads, layout, device, is_published, source
), told AS (
    SELECT * REPLACE (if(both_ns - training_ns
            > coalesce(2 * sqrt(training_sd_ns ** 2 + both_sd_ns ** 2), 0.05 * training_ns), NULL, both_ns) AS both_ns)
    FROM one
)
SELECT * REPLACE (list_filter(differs, lambda name: name <> '') AS differs,
        if(both_ns IS NULL, NULL, both_sd_ns) AS both_sd_ns),
    if(min(coalesce(version, '')) OVER own = max(coalesce(version, '')) OVER own, framework,
        concat_ws(' ', framework, version)) AS label,
    both_ns - forward_ns AS gradient_ns,
    if(both_ns IS NULL, NULL, sqrt(both_sd_ns ** 2 + forward_sd_ns ** 2)) AS gradient_sd_ns,
    if(training_ns < both_ns, NULL, training_ns - both_ns) AS update_ns,
    if(update_ns IS NULL, NULL, sqrt(training_sd_ns ** 2 + both_sd_ns ** 2)) AS update_sd_ns,
    training_ns - forward_ns AS together_ns
FROM told WINDOW own AS (PARTITION BY framework, is_published)
