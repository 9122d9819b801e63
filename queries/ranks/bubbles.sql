-- title = "Pipeline bubbles"
-- doc = """Part of a step in which a rank neither computes nor copies, where ranks send to each other. In a pipeline of
-- p stages and m micro-batches that is at least (p - 1) / (m + p - 1) of the step, if all stages take equally long."""
-- cannot = "No rank sends to another one (send, recv): no pipeline."
-- top = 16
-- [columns]
-- rank = "process of the job"
-- messages = "sent or received {per step|in the recording}"
-- step_ns = "the step; the whole recording without steps"
-- compute_ns = "something but communication ran, overlaps counted once"
-- message_ns = "of the rest, in messages or collectives"
-- bubble_ns = "the rest of the step"
-- bubble_pct = "messages and rest, of the step"
-- [headings]
-- bubble_pct = "not computing of {step|recording}"
-- [fractions]
-- messages = "messages{/step| (mean)}"
WITH sent AS (
    SELECT rank, count(*) / any_value(per) AS messages FROM matched_calls
    WHERE is_counted AND what IN ('send', 'recv', 'send_recv') GROUP BY rank
), exposed AS (
    SELECT rank, sum(step_exposed_ns / per) AS message_ns FROM exchanges WHERE is_counted GROUP BY rank
), computed AS (
    SELECT rank, sum(greatest(end_ns - greatest(start_ns, coalesce(until_ns, start_ns)), 0) / per) AS compute_ns
    FROM (SELECT rank, start_ns, end_ns, per, max(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns DESC, id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
        FROM counted WHERE category <> 'communication')
    GROUP BY rank
), whole AS (
    SELECT s.rank, s.messages, c.step_ns, least(coalesce(p.compute_ns, 0), c.step_ns) AS compute_ns,
        least(e.message_ns, c.step_ns - least(coalesce(p.compute_ns, 0), c.step_ns)) AS message_ns
    FROM sent s JOIN scope c ON c.rank = s.rank JOIN exposed e ON e.rank = s.rank
    LEFT JOIN computed p ON p.rank = s.rank
)
SELECT rank, messages, step_ns, compute_ns, message_ns, step_ns - compute_ns - message_ns AS bubble_ns,
    100.0 * (step_ns - compute_ns) / nullif(step_ns, 0) AS bubble_pct
FROM whole
ORDER BY rank
