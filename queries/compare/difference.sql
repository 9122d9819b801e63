-- title = "Where the difference goes"
-- doc = """By category, with overlapping work counted once, and idle time by cause, so that the parts add up to the
-- step (of several devices of a rank the mean); what ran between two steps comes last and is in no step. The share is
-- of the difference of the whole step and not stated where that is within the noise. Parts that changed the other
-- way have negative shares, and the others then share more than 100 %. Bars are drawn for differences beyond the
-- noise. Where the layers of a log add up to more than its step, the time in no layer is below zero."""
-- cannot = "There is only one run, or nothing ran in any."
-- bar = "beyond_ns"
-- leave_out = ["beyond_ns", "base_calls", "calls", "ratio", "share_pct"]
-- first = 8
-- without = ["beyond_ns", "base_calls", "calls", "share_pct"]
-- [chart]
-- kind = "pair"
-- label = "part"
-- before = "base_ns"
-- after = "busy_ns"
-- [columns]
-- run = "run"
-- part = "category (docs/vocabulary.md), idle and its cause, or in brackets what is neither"
-- base_calls = "kernels, copies, primitives or operators of A"
-- calls = "of the run"
-- base_ns = "time of A"
-- busy_ns = "time of the run"
-- diff_ns = "difference"
-- low_ns = """lower end of its 95 % interval, where there are steps or recordings enough to tell; of the whole step
-- that of the ratio"""
-- high_ns = "upper end"
-- beyond_ns = "the difference again, where that interval leaves out zero"
-- ratio = "the run's over A's"
-- share_pct = "of the difference of the whole step"
-- [headings]
-- share_pct = "of difference"
SELECT p.label AS run, part, base_calls, calls, d.base_ns, d.busy_ns, d.diff_ns, low_ns, high_ns,
    if(is_beyond AND NOT p.is_busy, d.diff_ns, NULL) AS beyond_ns, d.busy_ns / nullif(d.base_ns, 0) AS ratio,
    100.0 * d.diff_ns / p.share_of_ns AS share_pct
FROM part_pair d JOIN pair p USING (run)
ORDER BY p.run, place, abs(d.diff_ns) DESC, part
