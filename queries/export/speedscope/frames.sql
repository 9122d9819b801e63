-- title = "speedscope: frames"
-- doc = "One JSON object per text, in the order of its number."
SELECT CAST(to_json({name: text}) AS VARCHAR) AS frame FROM export_text ORDER BY iid
