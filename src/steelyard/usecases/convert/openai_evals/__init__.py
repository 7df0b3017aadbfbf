"""Convert what OpenAI Evals holds: data files, exports and samples."""
