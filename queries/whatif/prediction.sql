-- title = "The step without these costs"
-- doc = """Each cost alone, then all together; moments that several of them would take away count once. Layout is all
-- that only changes the layout of tensors, transposes that the model needs included."""
-- cannot = "Nothing of this was found in the steps of this trace."
-- [params.costs]
-- type = "VARCHAR"
-- doc = "costs, joined by commas; all when left out"
-- [params.costs.choices]
-- layout = "all that only changes the layout of tensors, transposes that the model needs included"
-- firstlayer = "the gradient of the network's input"
-- copies = "copies between host and device, less what overlaps work that started earlier"
-- pointwise = "unfused biases and activations of the forward pass"
-- launches = "idle time of the device because the host launched its next work too late"
-- data = "idle time while the host loads data; on a CPU all of the loading in the step's own thread"
-- allocations = "idle time while the host allocates or frees device memory"
-- communication = "exposed communication"
-- [columns]
-- rank = "process of the job"
-- without = "what would be gone"
-- removed_ns = "its time{, per step| in the recording}, counted once"
-- removed_pct = "of the {step|recording}"
-- step_ns = "the step as it is; the whole recording without steps"
-- predicted_ns = "the step without it"
-- speedup = "the step as it is over the step without it"
-- [headings]
-- removed_pct = "of {step|recording}"
WITH chosen AS (
    SELECT DISTINCT trim(cost) AS cost
    FROM (SELECT cost FROM removable WHERE $costs IS NULL UNION ALL SELECT unnest(string_split($costs, ',')))
), moment AS (
    -- On a CPU an operator is several rows, one for each piece of its own time.
    SELECT cost, rank, id, is_idle, sum(saved_ns) AS saved_ns FROM removable
    WHERE cost IN (SELECT cost FROM chosen) AND saved_ns > 0 GROUP BY ALL
), gone AS (
    SELECT rank, cost AS without, sum(saved_ns) AS removed_ns, 0 AS is_all FROM moment GROUP BY rank, cost
    UNION ALL
    SELECT rank, 'all together', sum(saved_ns), 1
    -- Idle time has one cause; what runs may be gone for several reasons.
    FROM (SELECT rank, max(saved_ns) AS saved_ns FROM moment GROUP BY rank, id, if(is_idle, cost, NULL)) GROUP BY rank
), bounded AS (
    SELECT g.rank, g.without, g.is_all, least(g.removed_ns, s.step_ns) AS removed_ns, s.step_ns
    FROM gone g JOIN scope s ON s.rank = g.rank
)
SELECT rank, without, removed_ns, 100.0 * removed_ns / nullif(step_ns, 0) AS removed_pct, step_ns,
    step_ns - removed_ns AS predicted_ns,
    step_ns / nullif(step_ns - removed_ns, 0) AS speedup
FROM bounded
ORDER BY rank, is_all, removed_ns DESC, without
