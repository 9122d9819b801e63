-- title = "What if"
-- doc = """The step computed again with some durations changed. Everything still starts after what it waits for, and
-- another path may then be the longest. Not changed: what is launched, on which stream, and how long everything else
-- takes. --what-if of advise, in contrast, closes up the device's timeline. Findings of advise are ordered by what they
-- can save on the path."""
-- cannot = "Nothing that takes time was recorded: no critical path."
-- kernels = ["what"]
-- leave_out = ["step_ns"]
-- [columns]
-- scenario = "what is changed"
-- what = "of which kernel, operator, category or layer"
-- step_ns = "the step as recorded"
-- changed_ns = "the step with the change"
-- saved_ns = "what that saves"
-- saved_pct = "of the {step|recording}"
-- advice = "rules of advise that are about this time"
-- [headings]
-- saved_pct = "saved of {step|recording}"
WITH rule AS (
    FROM (VALUES ('no launch overhead', 'host_bound'), ('no host time', 'host_bound, host_waits'),
        ('no data loading', 'data_loading'), ('communication takes no time', 'exposed_communication, small_buckets'),
        ('no rank waits for another', 'straggler, rank_skew'), ('twice as fast: all conv', 'slow_algorithm'),
        ('twice as fast: all gemm', 'tensor_cores_unused'),
        ('twice as fast: all layout_transpose', 'layout_in_convolutions, layout_between_operators'),
        ('twice as fast: all memcpy_htod', 'pageable_copies'), ('twice as fast: all memcpy_dtoh', 'repeated_copies'),
        ('twice as fast: all bias', 'unfused_bias_activation'),
        ('twice as fast: all activation', 'unfused_bias_activation')) r(scenario, advice)
)
SELECT if(contains(s.scenario, ': '), regexp_extract(s.scenario, '^(.*?): ', 1), s.scenario) AS scenario,
    nullif(regexp_extract(s.scenario, '(?s)^.*?: (.*)$', 1), '') AS what, s.step_ns, s.changed_ns,
    s.step_ns - s.changed_ns AS saved_ns, 100.0 * (s.step_ns - s.changed_ns) / nullif(s.step_ns, 0) AS saved_pct,
    r.advice
FROM critical_scenario s LEFT JOIN rule r ON r.scenario = s.scenario
ORDER BY s.step_ns - s.changed_ns DESC, s.scenario
