-- doc = "Every run after the first with what it is compared with: the first."
-- [columns]
-- run = "number of the run; the first is 0"
-- label = "B, C, ..."
-- base_ns = "step time of A; of its whole recording without steps"
-- step_ns = "the same of the run"
-- diff_ns = "their difference"
-- ratio = "the run's over A's, of all recordings together; NULL where one of them takes no time"
-- share_of_ns = "the same where shares of it mean something: beyond the noise, and 1 % of A's time or more"
-- is_whole = "whether whole recordings are compared"
-- is_log = "whether one of the two is a log of average times, which tells nothing of kernels and calls"
-- is_busy = "whether the machine was busy during one of two single recordings"
-- differing = "conditions that differ, in words"
-- unknown = "whether nothing tells that both ran the same model"
-- is_ranked = "whether the two may be ranked: both are known to have done the same work"
-- unchecked = "conditions that one of the two does not record, in words"
SELECT r.run, chr(CAST(65 + r.run AS INTEGER)) AS label, b.step_ns AS base_ns, r.step_ns,
    r.step_ns - b.step_ns AS diff_ns, coalesce(e.ratio, nullif(r.step_ns, 0) / nullif(b.step_ns, 0)) AS ratio,
    if(abs(r.step_ns - b.step_ns) < 0.01 * b.step_ns OR coalesce(e.low <= 1 AND e.high >= 1, false), NULL,
        nullif(r.step_ns - b.step_ns, 0)) AS share_of_ns,
    NOT (b.has_steps AND r.has_steps) AS is_whole, b.is_log OR r.is_log AS is_log,
    coalesce(e.recordings = 2, true) AND (SELECT coalesce(bool_or(m.is_busy), false) FROM machine m
        WHERE m.run IN (0, r.run)) AS is_busy,
    coalesce(k.differing, '') AS differing, coalesce(k.unknown, true) AS unknown,
    coalesce(k.differing, '') = '' AND NOT coalesce(k.unknown, true) AS is_ranked,
    coalesce(k.unchecked, '') AS unchecked
FROM run r JOIN run b ON b.run = 0 LEFT JOIN estimate e ON e.run = r.run
LEFT JOIN (
    SELECT run, string_agg(condition, ', ' ORDER BY position) FILTER (verdict = 'differs') AS differing,
        bool_or(verdict = 'not recorded' AND condition = 'model') AS unknown,
        string_agg(condition || if(verdict = 'not recorded (same command)',
            ' (taken for the same, since both ran the same command)', ''), ', ' ORDER BY position)
            FILTER (starts_with(verdict, 'not recorded')) AS unchecked
    FROM condition GROUP BY run
) k ON k.run = r.run
WHERE r.run > 0
ORDER BY r.run
