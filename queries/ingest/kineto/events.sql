-- title = "Kineto: everything else"
-- doc = "Events that no other table takes, with their arguments as JSON; process and thread names among them."
SELECT
    id, coalesce(start_ns, 0) AS start_ns, greatest(coalesce(dur_ns, 0), 0) AS dur_ns, pid, tid,
    cat AS category, ph AS phase, name,
    nullif(CAST(json_extract(line, '$.args') AS VARCHAR), 'null') AS args
FROM event
WHERE (start_ns IS NOT NULL OR ph = 'M')
    AND (ph NOT IN ('X', 's', 'f')
        OR (ph = 'X' AND dur_ns IS NOT NULL AND (cat IS NULL OR cat NOT IN ('kernel', 'memcpy', 'gpu_memcpy', 'memset',
            'gpu_memset', 'cpu_op', 'operator', 'user_annotation', 'gpu_user_annotation', 'python_function', 'runtime',
            'driver', 'cuda_runtime', 'cuda_driver', 'xpu_runtime', 'xpu_driver', 'mtia_runtime', 'glow_runtime',
            'privateuse1_runtime', 'privateuse1_driver'))))
    AND (name IS NULL OR name <> '[memory]')
