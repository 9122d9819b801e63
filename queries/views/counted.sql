-- doc = """The activities that reports per step count: launched in steps that are not warm-up and running inside one,
-- with the part of their time inside; everything where there are no steps."""
-- [columns]
-- alone_ns = "its time inside the steps, less what overlaps work that started earlier on the same device"
-- rank_alone_ns = "the same over all devices of its rank"
-- mean_ns = "alone_ns over the devices of its rank: sums of it are what a device of the rank spends on average"
SELECT b.* EXCLUDE (is_counted, is_carried, step_alone_ns, step_rank_alone_ns, between_ns)
    REPLACE (step_alone_ns AS alone_ns, step_rank_alone_ns AS rank_alone_ns),
    b.step_alone_ns / greatest(c.n_devices, 1) AS mean_ns
FROM busy b JOIN (SELECT rank, n_devices FROM scope) c ON c.rank = b.rank WHERE b.is_counted
