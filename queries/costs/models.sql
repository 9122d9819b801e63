-- doc = "Operators that have a model, and its name."
SELECT unnest(CAST($names AS VARCHAR[])) AS name, unnest(CAST($models AS VARCHAR[])) AS model
