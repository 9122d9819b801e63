-- doc = """Framework of each rank: as recorded, else as the namespaces in the names of its kernels tell
-- (classify/frameworks.toml); and whether it serves a model: by the marks of an inference engine (SGLang, vLLM,
-- TensorRT-LLM) or by its operators, where no gradients are computed."""
-- [columns]
-- rank = "process of the job"
-- framework = "in lower case; NULL where it is not known"
-- name = "as it is written; NULL where it is not known"
-- is_engine = "whether it is of an inference engine"
WITH named AS (
    SELECT k.rank, arg_min(f.name, f.position) AS name, arg_min(f.title, f.position) AS title
    FROM (SELECT DISTINCT rank, name FROM raw.kernels) k JOIN names.framework f ON regexp_matches(k.name, f.kernels)
    WHERE k.rank IN (SELECT rank FROM captures WHERE framework IS NULL) GROUP BY k.rank
), engine AS (
    SELECT rank FROM raw.ranges WHERE kind IN ('user', 'nvtx') AND regexp_matches(name,
        '^step\[[A-Z_]+[ \]]|^execute_(\d+_)?(context|generation)_\d|_forward_step( \d+)?: \d+ ctx reqs, ')
    UNION SELECT rank FROM raw.ops WHERE starts_with(name, 'vllm::') OR starts_with(name, '_C_cache_ops::')
        OR starts_with(name, 'sglang::') OR starts_with(name, 'sgl_kernel::') OR starts_with(name, 'trtllm::')
)
SELECT c.rank, coalesce(lower(any_value(c.framework)), any_value(n.name)) AS framework,
    coalesce(any_value(c.framework), any_value(n.title)) AS name,
    c.rank IN (FROM engine) AND c.rank NOT IN (SELECT rank FROM raw.ops WHERE is_backward) AS is_engine
FROM captures c LEFT JOIN named n USING (rank)
GROUP BY c.rank
