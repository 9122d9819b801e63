-- title = "What a range is, by its name"
-- doc = """The macro `range_kind(name)`: steps of profilers and of usual training loops, and what traceview itself
-- marks."""
CREATE OR REPLACE MACRO range_kind(name) AS CASE
    WHEN regexp_matches(name, '^(ProfilerStep#|((train(ing)?[ _])?(step|iteration|iter|batch)[ _:#=]{0,2}))\d+$', 'i')
        THEN 'step'
    WHEN starts_with(name, 'traceview.phase: ') THEN 'phase'
    WHEN starts_with(name, 'traceview.module: ') THEN 'module'
    ELSE 'nvtx'
END
