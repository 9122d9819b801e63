-- title = "Tables without rows"
-- doc = "Tables of a connection that hold nothing, each with its columns as a table is made of them."
SELECT if(schema_name = 'main', '', schema_name || '.') || table_name,
    string_agg(format('"{}" {}', column_name, data_type), ', ' ORDER BY column_index)
FROM duckdb_columns() JOIN duckdb_tables() t USING (database_name, schema_name, table_name)
WHERE t.estimated_size = 0 AND NOT t.temporary GROUP BY ALL
