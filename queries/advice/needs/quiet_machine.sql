-- title = "A machine that did nothing else"
-- record = "a machine that runs nothing else"
-- missing = "the machine was busy with something else: threads got less processor time than their operators took"
SELECT EXISTS (FROM raw.ranks r JOIN contention c USING (rank) WHERE c.is_contended IS NOT TRUE)
