-- title = "Kind of a collective in one spelling"
-- doc = """The macro `collective_kind(recorded)`: all_reduce, all_gather, reduce_scatter, all_to_all or send_recv of a
-- kind or name as libraries write it (allreduce, AllReduce, _allgather_base); any other in lower case."""
CREATE OR REPLACE MACRO collective_kind(recorded) AS
    CASE WHEN regexp_matches(recorded, '(?i)^_*all[_-]?reduce') THEN 'all_reduce'
        WHEN regexp_matches(recorded, '(?i)^_*all[_-]?gather') THEN 'all_gather'
        WHEN regexp_matches(recorded, '(?i)^_*reduce[_-]?scatter') THEN 'reduce_scatter'
        WHEN regexp_matches(recorded, '(?i)^_*all[_-]?to[_-]?all') THEN 'all_to_all'
        WHEN regexp_matches(recorded, '(?i)^_*send[_-]?recv') THEN 'send_recv' ELSE lower(recorded) END
