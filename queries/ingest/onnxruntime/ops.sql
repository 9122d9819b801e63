-- title = "ONNX Runtime: nodes"
-- doc = "The span of a node's kernel; the name is the node's, which is its layer, and its operator behind a colon."
SELECT
    id, start_ns, dur_ns, pid, tid,
    regexp_replace(name, '_kernel_time$', '') || coalesce(':' || (args ->> '$.op_name'), '') AS name,
    CAST(to_json(json_extract(args, '$.input_type_shape[*].*')) AS VARCHAR) AS shapes,
    CAST(to_json(list_transform(json_extract(args, '$.input_type_shape[*]'),
        lambda x: json_keys(x)[1])) AS VARCHAR) AS types,
    CAST(to_json(json_extract(args, '$.output_type_shape[*].*')) AS VARCHAR) AS output_shapes,
    args ->> '$.provider' AS backend,
    nullif(regexp_replace(name, '_kernel_time$', ''), '') AS module_hierarchy
FROM event
WHERE ph = 'X' AND cat = 'Node' AND name LIKE '%\_kernel\_time' ESCAPE '\' AND start_ns IS NOT NULL
    AND dur_ns IS NOT NULL
