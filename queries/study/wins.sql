-- title = "Wins by algorithm"
-- doc = """Wins of each algorithm in the problems (shape, batch and direction) for which at least two were timed. Where
-- the interval of the fastest reaches that of another nobody wins; where no algorithm wins all, the best plan chooses
-- by layer and pass."""
-- cannot = "No timed convolution algorithms in this capture; `traceview study` measures or imports them."
-- leave_out = ["setting", "worst_ratio"]
-- [columns]
-- setting = "device, threads and type"
-- direction = "fprop, dgrad or wgrad; backward where both gradients are one time"
-- algorithm = "see docs/vocabulary.md; in brackets the library where it is not known"
-- problems = "problems for which it and another one were timed"
-- wins = "of them those where it was the fastest, and its interval reaches that of no other"
-- win_pct = "wins of its problems"
-- median_ratio = "time over that of the fastest, median"
-- worst_ratio = "the largest of these"
-- [headings]
-- win_pct = "of problems"
SELECT setting, direction, contender AS algorithm, count(*) AS problems, count(*) FILTER (is_ahead) AS wins,
    100.0 * count(*) FILTER (is_ahead) / count(*) AS win_pct, median(ratio) AS median_ratio, max(ratio) AS worst_ratio
FROM algorithm_best WHERE algorithms >= 2
GROUP BY setting, direction, contender
ORDER BY setting, list_position(['fprop', 'dgrad', 'wgrad', 'backward'], direction), wins DESC, problems DESC, algorithm
