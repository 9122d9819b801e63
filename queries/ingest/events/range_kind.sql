-- title = "What a range is, by its name and domain"
-- doc = """The macro `range_kind(name, domain)`: steps of profilers and of usual training loops, what PyTorch marks
-- itself under emit_nvtx, modules of hooks that write them (`layer:`, the dictionaries of PytHooks in SGLang, vLLM and
-- others, nvtx-plugins in their usual domains), and what traceview itself marks."""
CREATE OR REPLACE MACRO range_kind(name, domain := NULL) AS CASE
    WHEN regexp_matches(name, '^(ProfilerStep#|((train(ing)?[ _])?(step|iteration|iter|batch)[ _:#=]{0,2}))\d+'
        || '(, op_id = \d+)?$', 'i') THEN 'step'
    WHEN starts_with(name, 'traceview.phase: ') OR starts_with(name, 'Optimizer.step#')
        OR starts_with(name, 'enumerate(DataLoader)#') THEN 'phase'
    WHEN starts_with(name, 'traceview.module: ') OR starts_with(name, 'layer:')
        OR starts_with(name, '{''Module'': ''') OR regexp_matches(domain, '^(forward|gradient|backward)$', 'i')
        THEN 'module'
    ELSE 'nvtx'
END
