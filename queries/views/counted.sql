-- title = "counted"
-- doc = """The activities that reports per step count: launched in steps that are not warm-up and running inside one,
-- with the part of their time inside; everything where there are no steps."""
-- [columns]
-- alone_ns = "the part of its time inside the steps that nothing earlier on its device covers"
-- rank_alone_ns = "the same over all devices of its rank"
SELECT * EXCLUDE (is_counted, is_carried, step_alone_ns, step_rank_alone_ns, between_ns)
    REPLACE (step_alone_ns AS alone_ns, step_rank_alone_ns AS rank_alone_ns)
FROM busy WHERE is_counted
