-- title = "Hit rate of the rules that choose an algorithm"
-- doc = """The order in which `report conv --admissible` ranks algorithms, against what was the fastest, or against
-- what a library chose where only that was published. The rules are about GPUs only. Some were derived from these very
-- publications: there the rate says how well they summarise them."""
-- cannot = "No algorithms timed on a GPU in this capture; the rules are those of cuDNN on GPUs."
-- leave_out = ["setting", "family_hits", "worst_loss"]
-- [columns]
-- model = "network, or set of layers"
-- basis = "fastest of several, or chosen by the library"
-- problems = "problems (shape, batch and direction) with a rule"
-- hits = "the rule's choice is that algorithm"
-- hit_pct = "hits of the problems with a rule"
-- family_hits = "it is of the same family: GEMM, FFT, Winograd, direct"
-- without_rule = "problems of which no rule says anything"
-- worst_loss = "time of the rule's choice over that of the fastest, at most, where both were timed"
-- misses = "choice of the rule -> fastest, with how often"
-- setting = "device, threads and type"
-- [headings]
-- hit_pct = "of problems"
WITH miss AS (
    SELECT setting, model, basis, concat(chosen, ' -> ', fastest, ' (', count(*), ')') AS said, count(*) AS n
    FROM algorithm_rules WHERE NOT is_hit GROUP BY setting, model, basis, chosen, fastest
), missed AS (
    SELECT setting, model, basis, string_agg(said, ', ' ORDER BY n DESC, said) AS misses FROM miss
    GROUP BY setting, model, basis
), rate AS (
    SELECT setting, model, basis, count(chosen) AS problems, count(*) FILTER (is_hit) AS hits,
        count(*) FILTER (is_family_hit) AS family_hits, count(*) - count(chosen) AS without_rule,
            max(loss) AS worst_loss
    FROM algorithm_rules GROUP BY setting, model, basis
)
SELECT r.model, r.basis, r.problems, r.hits, 100.0 * r.hits / nullif(r.problems, 0) AS hit_pct, r.family_hits,
    r.without_rule, r.worst_loss, m.misses, r.setting
FROM rate r LEFT JOIN missed m ON m.setting IS NOT DISTINCT FROM r.setting AND m.model IS NOT DISTINCT FROM r.model
    AND m.basis = r.basis
ORDER BY r.setting, r.problems DESC, r.model, r.basis
