-- doc = """Names of Python frames of the user's own code, and of libraries of models: neither of a framework, nor of
-- another installed package or the standard library."""
-- [columns]
-- name = "the frame, as recorded"
-- file = "path as recorded: often from the folder that it was imported from"
-- line = "number of the line"
-- is_of_models = "whether it is of a library of models, which counts where a program has no code of its own"
WITH different AS MATERIALIZED (
    -- There are few: as a condition it would be asked of each row.
    SELECT DISTINCT name FROM raw.ranges WHERE kind = 'python'
    UNION SELECT DISTINCT unnest(string_split(call_stack, ';')) FROM raw.ops WHERE call_stack IS NOT NULL
), named AS (
    SELECT name, regexp_extract(name, '^(.+)\((\d+)\): (.*)$', ['file', 'line', 'function']) AS said FROM different
    WHERE regexp_matches(name, '^[^<].*\(\d+\): ')
        AND NOT regexp_matches(name, '[/\\](site-packages|dist-packages|lib/python\d[.\d]*|torchinductor_\w+)[/\\]'
            || '|(^|[/\\])(traceview_inject|collectors[/\\]\w+_profiler\.py)')
)
SELECT n.name, n.said.file AS file, TRY_CAST(n.said.line AS INTEGER) AS line, n.said.function AS function,
    p.kind IS NOT NULL AS is_of_models
FROM named n LEFT JOIN (SELECT kind, unnest(names) AS name FROM names.package) p
    ON p.name = regexp_extract(n.said.file, '^([^/\\]*?)(\.pyx?)?([/\\]|$)', 1)
WHERE p.kind IS NULL OR p.kind = 'models'
