-- doc = "A row for each sample of a counter: memory allocated, utilisation, power."
SELECT * FROM raw.counters
