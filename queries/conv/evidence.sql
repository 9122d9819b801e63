-- title = "Kernels used to identify the algorithm"
-- doc = "Kernels or primitives of the calls, and how certain the result is."
-- cannot = "No convolution whose direction is known in this trace."
-- leave_out = ["calls"]
-- kernels = ["evidence"]
-- [columns]
-- direction = "fprop, dgrad or wgrad"
-- algorithm = "algorithm that they identify"
-- confidence = "how certain, and why"
-- evidence = "math kernels and transforms"
-- calls = "calls in the recording"
SELECT direction, algorithm, confidence, array_to_string(evidence, '; ') AS evidence, count(*) AS calls
FROM conv_calls
WHERE direction IS NOT NULL
GROUP BY ALL
ORDER BY calls DESC, direction, algorithm, confidence, evidence
