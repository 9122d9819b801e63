-- title = "Conditions"
-- doc = "Each framework's account of itself and of the model that it computed."
-- cannot = "No framework has times here."
-- leave_out = ["loss", "source", "discarded", "steps", "year"]
-- [columns]
-- framework = "as --frameworks names it"
-- version = "as it says"
-- year = "in which that version came out"
-- model = "which was computed"
-- mode = "forward, gradient (loss and gradients), train"
-- batch = "samples per step"
-- threads_seen = "threads that it says it uses"
-- layout = "of images"
-- optimizer = "of the training run"
-- parameters = "numbers that the model learns"
-- loss = "of the last step of a process"
-- steps = "steps timed in each process"
-- discarded = "first steps that were left out"
-- source = "where it was measured"
SELECT framework, version, CAST(year AS VARCHAR) AS year, model, mode, batch, threads_seen, layout, optimizer,
    parameters, loss, steps, discarded, source
FROM framework_cells WHERE NOT is_published
ORDER BY model, framework, batch, threads, layout, list_position(['forward', 'gradient', 'train'], mode),
    device, source, differs
