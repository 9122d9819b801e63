-- title = "The name of a range without what says its kind"
-- doc = "The macro `range_name(name)`: modules and phases are marked by a word of traceview before their name."
CREATE OR REPLACE MACRO range_name(name) AS regexp_replace(name, '^traceview\.(phase|module): ', '')
