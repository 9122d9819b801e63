-- title = "Tables without rows"
-- doc = "Tables of a connection that hold nothing, each with its columns as a table is made of them."
SELECT if(schema_name = 'main', '', schema_name || '.') || table_name,
    -- From the statement that would make it: to list columns asks all views for theirs, too.
    regexp_extract(sql, '(?s)\((.*)\)', 1)
FROM duckdb_tables() WHERE estimated_size = 0 AND NOT temporary
