-- title = "Batch normalisations"
-- missing = "the trace holds no batch normalisation"
SELECT EXISTS (FROM counted WHERE category = 'batch_norm')
