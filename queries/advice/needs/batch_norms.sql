-- title = "Batch normalisations"
-- record = "training with these operators"
-- missing = "the trace holds no batch normalisation"
SELECT EXISTS (FROM counted WHERE category = 'batch_norm')
