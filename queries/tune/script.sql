-- title = "How to put it into the script"
-- doc = """Lines that keep each part of the best, with what it adds to the others, for the shell (export, unset) or in
-- Python: there ... stands for what the script passes already, and model, images, optimizer, loader, dataset and
-- options (of ONNX Runtime's sessions) for its own names. tune --apply does it without a change of the script."""
-- cannot = "Nothing was shown to be faster, so there is nothing to put into the script."
-- [headings]
-- adds = "times as fast as without it"
-- [columns]
-- option = "part of the best combination"
-- adds = "step time of the best without this part over that with it, with its 95 % interval"
-- lines = "lines for this framework"
-- do_not_use_if = "when not to"
SELECT name AS option,
    format('{:.2f}', adds) || coalesce(format(' ({:.2f} to {:.2f})', adds_low, adds_high), '') AS adds,
    how AS lines, "unless" AS do_not_use_if
FROM raw.tune_options
WHERE in_best AND kind = 'option' AND EXISTS (FROM raw.tune_options WHERE in_best AND verdict = 'faster')
ORDER BY place
