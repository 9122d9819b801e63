-- title = "pair"
-- doc = "Every run after the first with what it is compared with: the first."
-- [columns]
-- run = "number of the run; the first is 0"
-- label = "B, C, ..."
-- base_ns = "step time of A; of its whole recording without steps"
-- step_ns = "the same of the run"
-- diff_ns = "their difference"
-- is_whole = "whether whole recordings are compared"
-- is_log = "whether one of the two is a log of average times, which tells nothing of kernels and calls"
-- differing = "conditions that differ, in words; empty where the two may be ranked"
-- unchecked = "conditions that one of the two does not record, in words"
SELECT r.run, chr(CAST(65 + r.run AS INTEGER)) AS label, b.step_ns AS base_ns, r.step_ns,
    r.step_ns - b.step_ns AS diff_ns,
    NOT (b.has_steps AND r.has_steps) AS is_whole, b.is_log OR r.is_log AS is_log,
    (SELECT coalesce(string_agg(c.condition, ', ' ORDER BY c.position), '') FROM condition c
        WHERE c.run = r.run AND c.verdict = 'differs') AS differing,
    (SELECT coalesce(string_agg(c.condition, ', ' ORDER BY c.position), '') FROM condition c
        WHERE c.run = r.run AND c.verdict = 'not recorded') AS unchecked
FROM run r JOIN run b ON b.run = 0
WHERE r.run > 0
ORDER BY r.run
