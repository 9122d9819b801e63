-- doc = """Per rank, how much of the time of its devices the view op_costs explains: of what was launched in the steps
-- that count, without steps of the whole recording. Sums of durations."""
-- [columns]
-- total_ns = "all work of the devices"
-- covered_ns = "calls whose cost is known"
-- unknown_ns = "calls with a model whose cost is not known"
-- covered_pct = "covered, of all work"
WITH step AS (
    SELECT rank, step FROM step_times WHERE NOT is_warmup
), work AS (
    SELECT b.rank, sum(b.dur_ns) AS total_ns,
        coalesce(sum(b.dur_ns) FILTER (b.category = 'communication'), 0) AS sent_ns
    FROM busy b JOIN scope s ON s.rank = b.rank LEFT JOIN step t ON t.rank = b.rank AND t.step = b.step
    -- Where no launch is known, what starts in a step is of it.
    WHERE NOT s.has_steps OR t.step IS NOT NULL OR b.launched_ns IS NULL AND b.step IS NULL AND b.starts_in_step
    GROUP BY b.rank
), cost AS (
    SELECT rank, coalesce(sum(busy_ns) FILTER (reason IS NULL AND family <> 'collective'), 0) AS computed_ns,
        coalesce(sum(busy_ns) FILTER (reason IS NULL AND family = 'collective'), 0) AS exchanged_ns,
        coalesce(sum(busy_ns) FILTER (reason IS NOT NULL), 0) AS unknown_ns
    FROM op_rooflines GROUP BY rank
)
SELECT w.rank, CAST(w.total_ns AS BIGINT) AS total_ns,
    -- What exchanges beside the operators of a processor is no work of it.
    CAST(coalesce(c.computed_ns + least(c.exchanged_ns, w.sent_ns), 0) AS BIGINT) AS covered_ns,
    CAST(coalesce(c.unknown_ns, 0) AS BIGINT) AS unknown_ns,
    100.0 * covered_ns / nullif(w.total_ns, 0) AS covered_pct
FROM work w LEFT JOIN cost c USING (rank)
