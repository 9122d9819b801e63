-- title = "nsys: kernels, calls and graphs that were traced as a whole"
-- doc = "Says why there are no kernels, where there are none."
SELECT
    (SELECT count(*) FROM stage.kernels WHERE name <> '[CUDA graph]') AS n_kernels,
    (SELECT count(*) FROM stage.api_calls) AS n_calls,
    (SELECT count(*) FROM stage.kernels WHERE name = '[CUDA graph]') AS n_graphs
