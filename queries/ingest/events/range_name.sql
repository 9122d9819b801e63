-- title = "The name of a range without what says its kind"
-- doc = """The macro `range_name(name, domain)`: modules and phases are marked by a word before their name. Where
-- nvtx-plugins mark a layer's gradient, its message is the forward one's with `grad` behind."""
CREATE OR REPLACE MACRO range_name(name, domain := NULL) AS CASE
    WHEN starts_with(name, 'Optimizer.step#') THEN 'optimizer'
    WHEN starts_with(name, 'enumerate(DataLoader)#') THEN 'data'
    WHEN starts_with(name, '{''Module'': ''') THEN regexp_extract(name, '^.''Module'': ''([^'']*)', 1)
    WHEN starts_with(name, 'ProfilerStep#') THEN regexp_replace(name, ', op_id = \d+$', '')
    WHEN regexp_matches(domain, '^(gradient|backward)$', 'i') THEN regexp_replace(name, ' grad$', '')
    ELSE regexp_replace(name, '^(traceview\.(phase|module): |layer:)', '')
END
