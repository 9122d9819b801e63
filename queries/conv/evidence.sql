-- title = "What decided the algorithm"
-- doc = "The kernels or primitives that the verdicts rest on."
-- cannot = "No convolution operator in this trace."
-- [columns]
-- direction = "fprop, dgrad or wgrad"
-- algorithm = "the verdict"
-- confidence = "what it rests on"
-- evidence = "kernels or primitives of the arithmetic and its transforms"
-- calls = "calls in the recording"
SELECT direction, algorithm, confidence, array_to_string(evidence, '; ') AS evidence, count(*) AS calls
FROM conv_calls
WHERE direction IS NOT NULL
GROUP BY ALL
ORDER BY calls DESC, direction, algorithm, confidence, evidence
