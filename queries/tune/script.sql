-- title = "How to put it into the script"
-- doc = """Lines that keep each part of the best, for the shell (export, unset) or in Python: there ... stands for what
-- the script passes already, and model, images, optimizer, loader, dataset and options (of ONNX Runtime's sessions) for
-- its own names. tune --apply does it without a change of the script."""
-- cannot = "Nothing was shown to be faster, so there is nothing to put into the script."
-- [columns]
-- option = "part of the best combination"
-- lines = "lines for this framework"
-- do_not_use_if = "when not to"
SELECT name AS option, how AS lines, "unless" AS do_not_use_if
FROM raw.tune_options
WHERE in_best AND kind = 'option' AND EXISTS (FROM raw.tune_options WHERE in_best AND verdict = 'faster')
ORDER BY place
